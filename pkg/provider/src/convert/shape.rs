//! The words the tables are written in.

/// The fields of one type of v1beta1.
pub(super) struct Table {
    pub(super) fields: &'static [Field],
    /// Fields that several types have in common.
    pub(super) more: &'static [&'static Table],
}

impl Table {
    pub(super) fn find(&self, name: &str) -> Option<&'static Field> {
        let own = self.fields.iter().find(|field| field.name == name);
        own.or_else(|| self.more.iter().find_map(|table| table.find(name)))
    }
}

/// What becomes of one field.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Where it goes, from the type that holds it; empty when it stays.
    pub(super) to: &'static [&'static str],
    pub(super) shape: Shape,
}

/// What a value looks like, and what is done with it.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A string; left out when it is empty.
    Text,
    /// A string that says something when it is empty.
    AnyText,
    Boolean,
    Integer,
    /// A whole number; left out when it is zero.
    Positive,
    IntegerOrText,
    /// A mapping, as it is.
    Mapping,
    /// Anything, as it is.
    Any,
    /// A duration; becomes whole seconds.
    Seconds,
    /// An `apiVersion`; becomes its group.
    GroupOf,
    /// The namespace of a reference, which v1beta2 takes from the object that holds it.
    OwnNamespace,
    /// A mapping by name; becomes a list with `name` in each item, sorted by that.
    NamedList(&'static Table),
    List(&'static Shape),
    Map(&'static Shape),
    /// A mapping with known fields; left out when nothing is in it.
    Struct(&'static Table),
    /// The same, where an empty mapping says something.
    Kept(&'static Table),
    /// A mapping whose fields go to places of the type that holds it.
    Flatten(&'static Table),
    /// Has no place in v1beta2.
    Dropped,
    /// Has no place in v1beta2, where it goes without saying.
    Implied,
}

/// A field that stays where it is.
pub(super) const fn same(name: &'static str, shape: Shape) -> Field {
    Field { name, to: &[], shape }
}

/// A field that goes somewhere else.
pub(super) const fn moved(name: &'static str, shape: Shape, to: &'static [&'static str]) -> Field {
    Field { name, to, shape }
}

/// A type with these fields.
pub(super) const fn table(fields: &'static [Field]) -> Table {
    Table { fields, more: &[] }
}
