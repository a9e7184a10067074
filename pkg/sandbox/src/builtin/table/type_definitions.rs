//! Parser of `shapes.txt`: the definitions of the built-in kinds and their parts.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct TypeDefinitions {
    definitions: Vec<TypeDefinition>,
    by_name: HashMap<Arc<str>, DefinitionId>,
}

/// The index of a definition in [`TypeDefinitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DefinitionId(usize);

#[derive(Debug)]
pub(crate) struct TypeDefinition {
    /// The full name, such as `io.k8s.api.core.v1.PodSpec`.
    pub(crate) name: Arc<str>,
    /// True for kinds: the texts `apiVersion` and `kind` exist but are not in the list of fields.
    pub(crate) is_kind: bool,
    /// True if merges replace the value as a whole.
    pub(crate) atomic: bool,
    pub(crate) kind: DefinitionKind,
}

/// The form of a definition.
#[derive(Debug)]
pub(crate) enum DefinitionKind {
    /// An object with these fields, sorted by name.
    Fields(Vec<Field>),
    /// Text of this OpenAPI format.
    Text(&'static str),
    /// A number with a unit, written as text or as a number.
    Quantity,
    /// A whole number or text.
    IntOrString,
    Object,
    Any,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) value: ValueType,
    pub(crate) required: bool,
    pub(crate) default: FieldDefault,
    /// The list merge rule of server-side apply.
    pub(crate) apply_list_type: ApplyListType,
    /// True if merges replace the value as a whole and OpenAPI documents this rule.
    pub(crate) atomic: bool,
    /// True if merges treat the fields of the object one by one, regardless of its definition.
    pub(crate) granular: bool,
    /// True for a pointer in Go, which distinguishes zero from absent.
    pub(crate) is_pointer: bool,
    /// True if JSON contains the field even if its value is empty.
    pub(crate) is_always_written: bool,
    /// The allowed values of a text or of the texts in a list or map; empty if every value is allowed.
    pub(crate) allowed_values: Vec<String>,
    /// The list rule of strategic merge patches.
    pub(crate) list_merge: ListMerge,
    /// True if a strategic merge patch may list the fields to retain.
    pub(crate) retain_keys: bool,
    /// True if a strategic merge patch replaces the object as a whole.
    pub(crate) replaces: bool,
    /// The protobuf field number, preceded by the numbers of enclosing messages. Empty if protobuf lacks the field.
    pub(crate) protobuf_numbers: Vec<u32>,
    /// The table line without name and numbers; equal for equal fields.
    table_line: &'static str,
}

/// The type of a field, an item or a map value.
#[derive(Debug)]
pub(crate) enum ValueType {
    Bool,
    Int32,
    Int64,
    Double,
    Text,
    /// Bytes as base64.
    Bytes,
    Object,
    Shape(DefinitionId),
    List(Box<ElementType>),
    /// An object with arbitrary field names.
    Map(Box<ElementType>),
}

/// The type of list items or map values.
#[derive(Debug)]
pub(crate) struct ElementType {
    pub(crate) value: ValueType,
    /// True if the OpenAPI default of an item is the empty value.
    pub(crate) has_zero_default: bool,
}

/// The OpenAPI default of a missing field.
#[derive(Debug)]
pub(crate) enum FieldDefault {
    None,
    /// The empty value of the type.
    Zero,
    Value(Value),
}

/// The list rule of strategic merge patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListMerge {
    Replace,
    /// Adds missing values.
    Items,
    /// Merges items with equal values of this field.
    ByKey(&'static str),
}

/// The list merge rule of server-side apply.
#[derive(Debug)]
pub(crate) enum ApplyListType {
    Atomic,
    /// Each value is merged separately.
    Set,
    /// Items with equal values of these fields are merged.
    Map(Vec<Arc<str>>),
}

impl DefinitionId {
    /// The position in [`TypeDefinitions::iter`].
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

impl Field {
    /// True if JSON keeps an empty scalar. Otherwise Go omits an unset scalar from JSON but writes the empty value to
    /// protobuf.
    pub(crate) fn keeps_empty(&self) -> bool {
        use ValueType::{Bool, Double, Int32, Int64, Text};
        (self.is_pointer || self.is_always_written)
            && matches!(self.value, Bool | Int32 | Int64 | Double | Text)
    }

    /// The table line without name and numbers; equal for equal fields of one package.
    pub(super) fn table_line(&self) -> &'static str {
        self.table_line
    }
}

impl ValueType {
    pub(crate) fn zero(&self) -> Value {
        match self {
            Self::Bool => json!(false),
            Self::Int32 | Self::Int64 | Self::Double => json!(0),
            Self::Text | Self::Bytes => json!(""),
            Self::List(_) => json!([]),
            Self::Object | Self::Shape(_) | Self::Map(_) => json!({}),
        }
    }
}

impl TypeDefinitions {
    /// Parses the table.
    pub(super) fn read(table: &'static str) -> Result<Self, String> {
        let names = names(table)?;
        let mut reader = TableReader { names: &names, package: "" };
        let mut shapes: Vec<TypeDefinition> = Vec::new();
        for line in lines(table) {
            if let Some((_, name)) = package(line) {
                reader.package = name;
            } else if let Some(field) = line.strip_prefix("  ") {
                let fields = shapes.last_mut().map(|shape| &mut shape.kind);
                let Some(DefinitionKind::Fields(fields)) = fields else {
                    return Err(format!("`{line}` belongs to no definition"));
                };
                fields.push(reader.field(field)?);
            } else {
                shapes.push(reader.definition(line)?);
            }
        }
        let by_name =
            shapes.iter().enumerate().map(|(id, shape)| (Arc::clone(&shape.name), DefinitionId(id)));
        Ok(Self { by_name: by_name.collect(), definitions: shapes })
    }

    /// Returns the definition with an index.
    pub(crate) fn get(&self, id: DefinitionId) -> &TypeDefinition {
        &self.definitions[id.0]
    }

    /// All definitions in the order of the table.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TypeDefinition> {
        self.definitions.iter()
    }

    pub(crate) fn find(&self, package: &str, name: &str) -> Option<DefinitionId> {
        self.by_name.get(&*format!("{package}.{name}")).copied()
    }
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#'))
}

/// Returns alias and name of a package line.
fn package(line: &'static str) -> Option<(&'static str, &'static str)> {
    line.strip_prefix("package ")?.split_once(' ')
}

/// All names of definitions: `(package, name)` and `(alias, name)`.
type DefinitionIds = HashMap<(&'static str, &'static str), DefinitionId>;

fn names(table: &'static str) -> Result<DefinitionIds, String> {
    let mut names = DefinitionIds::new();
    let mut owner = None;
    let mut count = 0;
    for line in lines(table).filter(|line| !line.starts_with(' ')) {
        if let Some(package) = package(line) {
            owner = Some(package);
            continue;
        }
        let (alias, package) = owner.ok_or_else(|| format!("`{line}` belongs to no package"))?;
        let name = line.split(' ').next().unwrap_or(line);
        names.insert((alias, name), DefinitionId(count));
        names.insert((package, name), DefinitionId(count));
        count += 1;
    }
    Ok(names)
}

struct TableReader<'a> {
    names: &'a DefinitionIds,
    package: &'static str,
}

impl TableReader<'_> {
    fn definition(&self, line: &'static str) -> Result<TypeDefinition, String> {
        let (name, words) = line.split_once(' ').unwrap_or((line, ""));
        let form = match words.strip_prefix("= ") {
            None => DefinitionKind::Fields(Vec::new()),
            Some("quantity") => DefinitionKind::Quantity,
            Some("int-or-string") => DefinitionKind::IntOrString,
            Some("object") => DefinitionKind::Object,
            Some("any") => DefinitionKind::Any,
            Some(form) => DefinitionKind::Text(
                form.strip_prefix("string ")
                    .ok_or_else(|| format!("`{line}` has no known kind of definition"))?,
            ),
        };
        let has = |wanted: &str| words.split(' ').any(|word| word == wanted);
        let name = format!("{}.{name}", self.package).into();
        Ok(TypeDefinition { name, is_kind: has("kind"), atomic: has("atomic"), kind: form })
    }

    fn field(&self, line: &'static str) -> Result<Field, String> {
        let (name, rest) = line.split_once(' ').ok_or_else(|| format!("field `{line}` has no type"))?;
        let (words, numbers) = rest.rsplit_once(" =").unwrap_or((rest, ""));
        let numbers =
            if numbers.is_empty() { Ok(Vec::new()) } else { numbers.split('.').map(str::parse).collect() };
        let (kind, more) = words.split_once(' ').unwrap_or((words, ""));
        let mut field = Field {
            name,
            value: self.value(kind)?,
            required: false,
            default: FieldDefault::None,
            apply_list_type: ApplyListType::Atomic,
            atomic: false,
            granular: false,
            is_pointer: false,
            is_always_written: false,
            allowed_values: Vec::new(),
            list_merge: ListMerge::Replace,
            retain_keys: false,
            replaces: false,
            protobuf_numbers: numbers.map_err(|_| format!("field `{line}` has an invalid number"))?,
            table_line: words,
        };
        more.split_whitespace().try_for_each(|word| add_word(&mut field, word))?;
        Ok(field)
    }

    fn value(&self, word: &'static str) -> Result<ValueType, String> {
        let inside = |open, close| word.strip_prefix(open)?.strip_suffix(close);
        if let Some(items) = inside('[', ']') {
            return Ok(ValueType::List(Box::new(self.inner(items)?)));
        }
        if let Some(values) = inside('{', '}') {
            return Ok(ValueType::Map(Box::new(self.inner(values)?)));
        }
        Ok(match word {
            "bool" => ValueType::Bool,
            "int32" => ValueType::Int32,
            "int64" => ValueType::Int64,
            "double" => ValueType::Double,
            "string" => ValueType::Text,
            "bytes" => ValueType::Bytes,
            "object" => ValueType::Object,
            name => {
                let key = name.split_once('.').unwrap_or((self.package, name));
                ValueType::Shape(*self.names.get(&key).ok_or_else(|| format!("unknown type `{name}`"))?)
            }
        })
    }

    fn inner(&self, word: &'static str) -> Result<ElementType, String> {
        let kind = word.strip_prefix('*');
        Ok(ElementType { value: self.value(kind.unwrap_or(word))?, has_zero_default: kind.is_none() })
    }
}

fn add_word(field: &mut Field, word: &'static str) -> Result<(), String> {
    let unknown = || format!("`{word}` is not an attribute of a field");
    let (word, value) = match word.split_once('(') {
        Some((word, value)) => (word, Some(value.strip_suffix(')').ok_or_else(unknown)?)),
        None => (word, None),
    };
    match (word, value) {
        ("required", None) => field.required = true,
        ("zero", None) => field.default = FieldDefault::Zero,
        ("default", Some(value)) => {
            field.default = FieldDefault::Value(serde_json::from_str(value).map_err(|_| unknown())?);
        }
        ("enum", Some(values)) => {
            field.allowed_values = values.split(',').map(|value| value.replace('_', " ")).collect();
        }
        ("set", None) => field.apply_list_type = ApplyListType::Set,
        ("map", Some(keys)) => {
            field.apply_list_type = ApplyListType::Map(keys.split(',').map(Arc::from).collect());
        }
        ("atomic", None) => field.atomic = true,
        ("granular", None) => field.granular = true,
        ("pointer", None) => field.is_pointer = true,
        ("always", None) => field.is_always_written = true,
        ("merge", None) => field.list_merge = ListMerge::Items,
        ("merge", Some(key)) => field.list_merge = ListMerge::ByKey(key),
        ("retain", None) => field.retain_keys = true,
        ("replace", None) => field.replaces = true,
        _ => return Err(unknown()),
    }
    Ok(())
}
