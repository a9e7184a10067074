use std::error::Error;

use apply::EngineError;
use inventory::Problems;
use management::{DeleteError, LifecycleError, NotReady, RenderError, UpgradeError};
use mover::MoveError;

use super::{inner::innermost, rules::as_error};
use crate::{events::in_one_line, failure::chain};

/// So many are told one by one; the rest is counted.
const SHOWN: usize = 20;

/// An error that stands for several.
enum Member<'a> {
    Text(String),
    Error(&'a (dyn Error + 'static)),
}

/// What an error that holds several is made of, each in one line; nothing for all other errors.
pub(crate) fn members(error: &(dyn Error + 'static)) -> Vec<String> {
    let members = of(error);
    let more = members.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> = members.iter().take(SHOWN).map(line).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The errors among them, which may have hints of their own.
pub(super) fn errors<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    let error_of = |member: Member<'a>| match member {
        Member::Text(_) => None,
        Member::Error(error) => Some(error),
    };
    of(error).into_iter().filter_map(error_of).collect()
}

fn line(member: &Member<'_>) -> String {
    match member {
        Member::Text(text) => text.clone(),
        Member::Error(error) => chain(*error).map(ToString::to_string).collect::<Vec<_>>().join(": "),
    }
}

fn of<'a>(error: &'a (dyn Error + 'static)) -> Vec<Member<'a>> {
    let error = innermost(error);
    if let Some(error) = as_error::<EngineError>(error) {
        return of_engine(error);
    }
    if let Some(Problems { problems }) = as_error::<Problems>(error) {
        // A single one is the message itself.
        let several = problems.iter().filter(|_| problems.len() > 1);
        return several.map(|problem| Member::Text(problem.text.clone())).collect();
    }
    if let Some(LifecycleError::Resolve { errors, .. }) = as_error(error) {
        return each(errors);
    }
    if let Some(RenderError::Resolve { errors }) = as_error(error) {
        return each(errors);
    }
    if let Some(UpgradeError::NoWayBack { reasons }) = as_error(error) {
        // A single one is the message itself.
        return texts(reasons.iter().filter(|_| reasons.len() > 1).cloned());
    }
    match as_error(error) {
        Some(DeleteError::Unknown { providers, .. }) => return each(providers),
        // Their hints all say the same, as the hint of the whole does.
        Some(DeleteError::InUse { providers }) => {
            let definitions = providers.iter().flat_map(|(_, definitions)| definitions);
            return texts(definitions.map(ToString::to_string));
        }
        _ => {}
    }
    if let Some(error) = as_error::<MoveError>(error) {
        return of_move(error);
    }
    if let Some(NotReady { blockers, .. }) = as_error(error) {
        return texts(blockers.iter().map(in_one_line));
    }
    Vec::new()
}

fn of_engine(error: &EngineError) -> Vec<Member<'_>> {
    match error {
        EngineError::Bad { objects } => each(objects),
        EngineError::Impossible { objects } => each(objects),
        EngineError::InUse { definitions } => each(definitions),
        EngineError::Writes { failed } => failed.iter().map(|(_, error)| Member::Error(error)).collect(),
        EngineError::Api(_) => Vec::new(),
    }
}

fn of_move(error: &MoveError) -> Vec<Member<'_>> {
    match error {
        // Each names its object itself.
        MoveError::Objects { failures, .. } => {
            failures.iter().map(|(_, error)| Member::Error(error)).collect()
        }
        MoveError::Differs { differences } => {
            texts(differences.iter().map(|(object, what)| format!("{object}: {what}")))
        }
        // A single one is named in the message itself.
        MoveError::Blocked { objects, .. }
        | MoveError::Unsettled { objects }
        | MoveError::Awake { objects }
            if objects.len() > 1 =>
        {
            texts(objects.iter().map(ToString::to_string))
        }
        _ => Vec::new(),
    }
}

fn texts<'a>(texts: impl Iterator<Item = String>) -> Vec<Member<'a>> {
    texts.map(Member::Text).collect()
}

fn each<E: Error + 'static>(errors: &[E]) -> Vec<Member<'_>> {
    errors.iter().map(|error| Member::Error(error)).collect()
}

#[cfg(test)]
mod tests {
    use apply::{Impossible, ObjectKey, WriteError};
    use inventory::Problem;
    use management::NotChosen;

    use super::*;

    #[test]
    fn each_write_that_failed_names_its_object_once() {
        let object = ObjectKey { kind: "Namespace".to_owned(), name: "a".to_owned(), ..ObjectKey::default() };
        let theirs = Impossible::Owned { object: object.clone(), theirs: "other".to_owned() };
        let failed = (0..25).map(|_| (object.clone(), WriteError::Impossible(theirs.clone()))).collect();
        let lines = members(&EngineError::Writes { failed });
        assert_eq!(lines.len(), SHOWN + 1);
        assert_eq!(lines[0], "Namespace a belongs to `other`");
        assert_eq!(lines[SHOWN], "and 5 more");
    }

    #[test]
    fn reasons_that_a_text_cannot_hold_are_told_one_by_one() {
        let not_chosen = |provider: &str| NotChosen {
            provider: provider.to_owned(),
            problem: "is not installed".to_owned(),
        };
        let unknown = DeleteError::Unknown {
            providers: vec![not_chosen("infrastructure-aws"), not_chosen("addon-helm")],
            installed: Vec::new(),
        };
        assert_eq!(
            members(&unknown),
            ["`infrastructure-aws` is not installed", "`addon-helm` is not installed"]
        );
        let reasons = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(members(&UpgradeError::NoWayBack { reasons }), ["one", "two"]);
    }

    #[test]
    fn a_single_problem_is_not_told_twice() {
        let problem = |text: &str| Problem { text: text.to_owned(), hint: None, can_be_ignored: false };
        let problems =
            |texts: &[&str]| Problems { problems: texts.iter().map(|text| problem(text)).collect() };
        assert_eq!(members(&problems(&["one"])), Vec::<String>::new());
        assert_eq!(members(&problems(&["one", "two"])), ["one", "two"]);
    }

    #[test]
    fn each_reason_not_to_go_back_is_told_by_itself() {
        let no_way = |reasons: &[&str]| UpgradeError::NoWayBack {
            reasons: reasons.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(no_way(&["one"]).to_string(), "cannot go back: one");
        assert_eq!(members(&no_way(&["one"])), Vec::<String>::new());
        assert_eq!(no_way(&["one", "two"]).to_string(), "cannot go back, for 2 reasons");
        assert_eq!(members(&no_way(&["one", "two"])), ["one", "two"]);
    }
}
