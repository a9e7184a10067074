#![no_main]
//! Every input parses or fails. A parsed stream, printed and parsed again, gives equal objects.

use libfuzzer_sys::fuzz_target;
use manifest::{Value, YamlLimits, read_stream, write_stream};

fuzz_target!(|bytes: &[u8]| {
    let limits = YamlLimits::default();
    let Ok(stream) = read_stream(bytes, &limits) else { return };
    if stream.objects.iter().any(|object| has_merge_key(&Value::Object(object.as_map().clone()))) {
        return;
    }
    // `write_stream` leaves the last line without a line feed.
    let text = write_stream(&stream.objects) + "\n";
    let back = read_stream(text.as_bytes(), &limits);
    assert_eq!(back.map(|stream| stream.objects), Ok(stream.objects), "{text}");
});

/// Go prints the key `<<` without quotes, and so does `write_stream`; a reader takes the key for a merge.
fn has_merge_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_merge_key),
        Value::Object(fields) => fields.iter().any(|(key, value)| key == "<<" || has_merge_key(value)),
        _ => false,
    }
}
