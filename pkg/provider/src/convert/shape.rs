//! The types of the conversion tables.

/// The fields of one v1beta1 type.
pub(super) struct ConversionTable {
    pub(super) fields: &'static [Field],
    /// Fields shared by several types.
    pub(super) included: &'static [&'static ConversionTable],
}

impl ConversionTable {
    pub(super) fn find(&self, name: &str) -> Option<&'static Field> {
        let own = self.fields.iter().find(|field| field.name == name);
        own.or_else(|| self.included.iter().find_map(|table| table.find(name)))
    }
}

/// The conversion rule of one field.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The target path, relative to the type that contains the field. Empty if the field stays in place.
    pub(super) target_path: &'static [&'static str],
    pub(super) shape: Shape,
}

/// The form of a value and its conversion.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A string; omitted if empty.
    Text,
    /// A string whose empty value is significant.
    TextOrEmpty,
    Boolean,
    Integer,
    /// A whole number; omitted if zero.
    NonZeroInteger,
    IntegerOrText,
    /// A mapping, unchanged.
    Mapping,
    /// Any value, unchanged.
    Any,
    /// A duration, converted to whole seconds.
    Seconds,
    /// An `apiVersion`, converted to its group.
    GroupOfApiVersion,
    /// The namespace of a reference, which v1beta2 takes from the object that contains the reference.
    OwnNamespace,
    /// A mapping by name, converted to a list with `name` in each item, sorted by name.
    NamedList(&'static ConversionTable),
    List(&'static Shape),
    Map(&'static Shape),
    /// A mapping with known fields; omitted if empty.
    Struct(&'static ConversionTable),
    /// A mapping with known fields, whose empty value is significant.
    StructOrEmpty(&'static ConversionTable),
    /// A mapping whose fields move to the type that contains the mapping.
    Flatten(&'static ConversionTable),
    /// A field without a v1beta2 equivalent.
    Dropped,
    /// A field without a v1beta2 equivalent whose value v1beta2 implies.
    DroppedSilently,
}

/// A field that stays in place.
pub(super) const fn same(name: &'static str, shape: Shape) -> Field {
    Field { name, target_path: &[], shape }
}

/// A field that moves to another path.
pub(super) const fn moved(name: &'static str, shape: Shape, to: &'static [&'static str]) -> Field {
    Field { name, target_path: to, shape }
}

/// A type with these fields.
pub(super) const fn table(fields: &'static [Field]) -> ConversionTable {
    ConversionTable { fields, included: &[] }
}
