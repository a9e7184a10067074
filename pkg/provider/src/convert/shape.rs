//! The types of the conversion tables.

/// The fields of one v1beta1 type.
pub(super) struct Table {
    pub(super) fields: &'static [Field],
    /// Fields shared by several types.
    pub(super) more: &'static [&'static Table],
}

impl Table {
    pub(super) fn find(&self, name: &str) -> Option<&'static Field> {
        let own = self.fields.iter().find(|field| field.name == name);
        own.or_else(|| self.more.iter().find_map(|table| table.find(name)))
    }
}

/// The conversion rule of one field.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The target path, relative to the type that contains the field. Empty if the field stays in place.
    pub(super) to: &'static [&'static str],
    pub(super) shape: Shape,
}

/// The form of a value and its conversion.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A string; omitted if empty.
    Text,
    /// A string whose empty value is significant.
    AnyText,
    Boolean,
    Integer,
    /// A whole number; omitted if zero.
    Positive,
    IntegerOrText,
    /// A mapping, unchanged.
    Mapping,
    /// Any value, unchanged.
    Any,
    /// A duration, converted to whole seconds.
    Seconds,
    /// An `apiVersion`, converted to its group.
    GroupOf,
    /// The namespace of a reference, which v1beta2 takes from the object that contains the reference.
    OwnNamespace,
    /// A mapping by name, converted to a list with `name` in each item, sorted by name.
    NamedList(&'static Table),
    List(&'static Shape),
    Map(&'static Shape),
    /// A mapping with known fields; omitted if empty.
    Struct(&'static Table),
    /// A mapping with known fields, whose empty value is significant.
    Kept(&'static Table),
    /// A mapping whose fields move to the type that contains the mapping.
    Flatten(&'static Table),
    /// A field without a v1beta2 equivalent.
    Dropped,
    /// A field without a v1beta2 equivalent whose value v1beta2 implies.
    Implied,
}

/// A field that stays in place.
pub(super) const fn same(name: &'static str, shape: Shape) -> Field {
    Field { name, to: &[], shape }
}

/// A field that moves to another path.
pub(super) const fn moved(name: &'static str, shape: Shape, to: &'static [&'static str]) -> Field {
    Field { name, to, shape }
}

/// A type with these fields.
pub(super) const fn table(fields: &'static [Field]) -> Table {
    Table { fields, more: &[] }
}
