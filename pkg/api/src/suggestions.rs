/// Returns up to three candidates similar to a mistyped name, most similar first and without duplicates.
/// A candidate is similar if it starts with the name or has a small edit distance: at most 2, or 1 for names
/// of 3 or 4 letters.
pub fn similar_names<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = name.to_ascii_lowercase();
    let allowed = match typed.chars().count() {
        // Names of one or two letters have no suggestions: one changed letter makes a different word.
        0..=2 => return Vec::new(),
        3..=4 => 1,
        _ => 2,
    };
    let mut matches: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let lower = candidate.to_ascii_lowercase();
            let distance = strsim::osa_distance(&typed, &lower);
            let begins = typed.len() >= 3 && lower.starts_with(&typed);
            (distance <= allowed || begins).then_some((distance, candidate))
        })
        .collect();
    matches.sort_unstable();
    matches.dedup_by_key(|(_, candidate)| *candidate);
    matches.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::similar_names;

    #[test]
    fn a_typing_error_is_recognised() {
        let providers = ["aws", "azure", "docker", "vsphere", "vcluster"];
        assert_eq!(similar_names("dokcer", providers), ["docker"]);
        assert_eq!(similar_names("vsp", providers), ["vsphere"]);
        assert_eq!(similar_names("awz", providers), ["aws"]);
    }

    #[test]
    fn a_different_word_gets_no_suggestion() {
        assert!(similar_names("openstack", ["aws", "azure"]).is_empty());
        assert!(similar_names("", ["aws"]).is_empty());
        assert!(similar_names("A", ["B", "_"]).is_empty());
        assert!(similar_names("aws", ["aws"]).is_empty());
    }
}
