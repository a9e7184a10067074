use std::error::Error;

use super::{
    apply, bundle, git, inner::innermost, management, members, provider, repository, rollout, sandbox,
    settings, workload,
};
use crate::{failure::chain, suggested_commands::on_target};

/// The hints of every error in a chain, outermost first, those of an error that holds several behind its own.
pub(crate) fn for_error(error: &(dyn Error + 'static)) -> Vec<String> {
    let rules = [
        settings::hints,
        provider::hints,
        repository::hints,
        git::hints,
        bundle::hints,
        sandbox::hints,
        apply::hints,
        management::hints,
        rollout::hints,
        workload::hints,
    ];
    let of_one = |error| -> Vec<String> {
        let error = innermost(error);
        let own = rules.into_iter().flat_map(|rule| rule(error));
        own.chain(members::errors(error).into_iter().flat_map(for_error)).collect()
    };
    let mut is_on_target = false;
    let mut hints = Vec::new();
    for error in chain(error) {
        is_on_target |= management::is_on_target(error);
        let own = of_one(error).into_iter();
        hints.extend(own.map(|hint| if is_on_target { on_target(&hint) } else { hint }));
    }
    hints
}

/// The error as one of type `T`, also where it was boxed to keep its parent small.
pub(super) fn as_error<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    error.downcast_ref::<T>().or_else(|| error.downcast_ref::<Box<T>>().map(AsRef::as_ref))
}

/// `` `a`, `b` or `c` ``
pub(super) fn one_of(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::one_of;

    #[test]
    fn names_are_listed_as_a_sentence_has_them() {
        assert_eq!(one_of(&["a"]), "`a`");
        assert_eq!(one_of(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
