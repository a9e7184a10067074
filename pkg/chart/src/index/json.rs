//! An index in JSON: values of other charts are skipped without being stored.

use std::borrow::Cow;
use std::fmt;

use manifest::Value;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Found, has_api_version};

/// Finds a chart in an index. None if the text is not a JSON object with such entries.
pub(super) fn find(text: &str, chart: &str) -> Option<Found> {
    if !text.trim_ascii_start().starts_with('{') {
        return None;
    }
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    IndexSeed { chart, found: &mut found }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(found)
}

struct IndexSeed<'a> {
    chart: &'a str,
    found: &'a mut Found,
}

impl<'de> DeserializeSeed<'de> for IndexSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for IndexSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<Cow<'_, str>>()? {
            match &*name {
                "apiVersion" => {
                    let value = fields.next_value::<Value>()?;
                    self.found.has_api_version = has_api_version(Some(&value));
                }
                "entries" => {
                    fields.next_value_seed(EntriesSeed { chart: self.chart, found: self.found })?;
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct EntriesSeed<'a> {
    chart: &'a str,
    found: &'a mut Found,
}

impl<'de> DeserializeSeed<'de> for EntriesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntriesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the charts of an index")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(name) = entries.next_key::<Cow<'_, str>>()? {
            if name == self.chart {
                self.found.versions = Some(entries.next_value()?);
            } else {
                entries.next_value::<IgnoredAny>()?;
                self.found.names.push(name.into_owned());
            }
        }
        Ok(())
    }
}
