/// What a field can hold, as Go's decoder sees it.
#[derive(Debug)]
pub(super) enum Kind {
    /// A string.
    Text,
    /// A boolean.
    Bool,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// Any number.
    Float,
    /// Bytes, in base64.
    Bytes,
    /// An amount with a unit, see [`super::quantity`].
    Quantity,
    /// A point in time, see [`super::time`].
    Time,
    /// A span of time, see [`super::duration`].
    Duration,
    /// An integer of 32 bits or a string.
    IntOrText,
    /// Any JSON, left as it is.
    Raw,
    /// A JSON schema or a boolean.
    SchemaOrBool,
    /// A JSON schema or a list of them; anything else reads as nothing.
    SchemaOrList,
    /// A JSON schema or a list of strings; anything else reads as nothing.
    SchemaOrTexts,
    /// A value that may be absent; unlike others it counts as something even when it is zero.
    Ptr(&'static Kind),
    /// A list.
    List(&'static Kind),
    /// A mapping with keys of the author's choice.
    Map(&'static Kind),
    /// A mapping with fields of the table.
    Struct(&'static Fields),
}

/// One field of a struct.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in JSON.
    pub(super) name: &'static str,
    /// Whether it is written even when it holds nothing.
    pub(super) required: bool,
    /// What it can hold.
    pub(super) kind: Kind,
}

/// The fields of a struct, sorted by name.
#[derive(Debug)]
pub(super) struct Fields {
    list: &'static [Field],
    any_required: bool,
}

impl Fields {
    pub(super) const fn new(list: &'static [Field]) -> Self {
        let mut any_required = false;
        let mut index = 0;
        while index < list.len() {
            any_required |= list[index].required;
            index += 1;
        }
        Self { list, any_required }
    }

    /// Finds a field by its name, in the exact case.
    pub(super) fn get(&self, name: &str) -> Option<&'static Field> {
        self.list.binary_search_by(|field| field.name.cmp(name)).ok().map(|index| &self.list[index])
    }

    /// Lists the fields that are always written.
    pub(super) fn required(&self) -> impl Iterator<Item = &'static Field> {
        // Schemas have none, and there are tens of thousands of them in a set of CRDs.
        let list = if self.any_required { self.list } else { &[] };
        list.iter().filter(|field| field.required)
    }

    /// Whether every name is smaller than the next, which looking one up relies on.
    #[cfg(test)]
    pub(super) fn is_sorted(&self) -> bool {
        self.list.is_sorted_by(|a, b| a.name < b.name)
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> &'static [Field] {
        self.list
    }
}

macro_rules! is_required {
    (required) => {
        true
    };
    (optional) => {
        false
    };
}

/// Lists structs with their fields, one static for each.
macro_rules! structs {
    ($($name:ident { $($field:literal $presence:ident $kind:expr,)* })*) => {
        $(pub(super) static $name: Fields = Fields::new(&[
            $(Field { name: $field, required: is_required!($presence), kind: $kind },)*
        ]);)*
    };
}

pub(super) use {is_required, structs};
