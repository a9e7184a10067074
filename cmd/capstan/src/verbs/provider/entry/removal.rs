//! Taking an entry out of the text of a configuration file.

use api::ProviderType;
use manifest::Value;

use super::{Block, LAYOUT, Refusal, field, provider_list, read};

/// An entry of the list, by name and type as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct ListedEntry {
    pub(in super::super) name: String,
    pub(in super::super) provider_type: String,
}

/// Returns the entries in the text of a configuration file, in their order.
/// # Errors
/// The text is no YAML, or its `providers` is no list.
pub(in super::super) fn listed(text: &str) -> Result<Vec<ListedEntry>, Refusal> {
    let fields = read(text)?;
    let (_, list) = provider_list(&fields)?;
    let text = |value: &Value, name: &str| field(value, name).unwrap_or_default().to_owned();
    let entry = |value| ListedEntry { name: text(value, "name"), provider_type: text(value, "type") };
    Ok(list.iter().map(entry).collect())
}

/// Takes all entries of a provider out of the text, and touches nothing else: comments around an entry stay.
/// # Errors
/// A `Refusal`; the text is then to be left as it is.
pub(in super::super) fn without(text: &str, name: &str, of: ProviderType) -> Result<String, Refusal> {
    let before = read(text)?;
    let (key, list) = provider_list(&before)?;
    let is_meant =
        |value: &Value| field(value, "name") == Some(name) && field(value, "type") == Some(of.as_str());
    let block = Block::find(text).ok_or(Refusal::Layout { found: LAYOUT })?;
    if block.starts.len() != list.len() + 1 {
        return Err(Refusal::Layout { found: "is written in one line" });
    }
    let mut is_removed = vec![false; block.lines.len()];
    for (at, _) in list.iter().enumerate().filter(|(_, value)| is_meant(value)) {
        // Comments and empty lines behind the last line of an entry are about the next one.
        let lines = &block.lines[block.starts[at]..block.starts[at + 1]];
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let end = lines.iter().rposition(is_content).map_or(0, |last| last + 1);
        is_removed[block.starts[at]..block.starts[at] + end].fill(true);
    }
    let kept: Vec<&Value> = list.iter().filter(|value| !is_meant(value)).collect();
    let mut edited = String::with_capacity(text.len());
    for (at, line) in block.lines.iter().enumerate().filter(|(at, _)| !is_removed[*at]) {
        match line.split_once(':') {
            Some((key, rest)) if at == block.key && kept.is_empty() => edited.extend([key, ": []", rest]),
            _ => edited.push_str(line),
        }
    }
    let mut expected = before.clone();
    let kept = Value::Array(kept.into_iter().cloned().collect());
    if let Some(list) = key.and_then(|key| expected.get_mut(&key)) {
        *list = kept;
    }
    if read(&edited).ok() == Some(expected) { Ok(edited) } else { Err(Refusal::Layout { found: LAYOUT }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(text: &str) -> Result<String, Refusal> {
        without(text, "mine", ProviderType::Infrastructure)
    }

    #[test]
    fn an_entry_goes_and_comments_around_it_stay() {
        let text = "# tokens\nA: 1\nproviders:\n  # first\n  - name: a\n    url: x\n    type: CoreProvider\n  # mine\n  \
                    - url: y # here\n    name: mine\n    # inside\n    type: InfrastructureProvider\n\n  # last\n  - {name: b, \
                    url: z, type: CoreProvider}\nB: 2 # end\n";
        let expected = "# tokens\nA: 1\nproviders:\n  # first\n  - name: a\n    url: x\n    type: CoreProvider\n  # mine\n\n  \
                        # last\n  - {name: b, url: z, type: CoreProvider}\nB: 2 # end\n";
        assert_eq!(removed(text).unwrap(), expected);
    }

    #[test]
    fn the_last_entry_leaves_an_empty_list_and_a_repeated_one_goes_with_it() {
        let entry = "- name: mine\r\n  type: InfrastructureProvider\r\n  url: y\r\n";
        let text = format!("Providers: # ours\r\n{entry}{entry}B: 2\r\n");
        assert_eq!(removed(&text).unwrap(), "Providers: [] # ours\r\nB: 2\r\n");
    }

    #[test]
    fn a_list_in_one_line_is_left_alone() {
        let text = "providers: [{name: mine, type: InfrastructureProvider, url: y}]\n";
        assert!(matches!(removed(text), Err(Refusal::Layout { .. })));
    }
}
