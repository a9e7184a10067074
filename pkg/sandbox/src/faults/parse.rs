//! The command line syntax of faults: its parser and printer.

use std::{fmt, time::Duration};

use super::{Effect, Fault, RequestFilter};
use crate::builtin;

const CODES: [u16; 7] = [403, 409, 410, 429, 500, 503, 504];
const CODE_LIST: &str = "403, 409, 410, 429, 500, 503, 504";
const VERBS: [&str; 9] =
    ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "write"];
/// Built-in groups whose names contain no dot.
const GROUPS: [&str; 5] = ["apps", "autoscaling", "batch", "policy", "*"];

/// See [`Fault::parse`].
pub(super) fn fault(text: &str) -> Result<Fault, String> {
    let mut parts = text.split(',').map(str::trim);
    let effect = effect(parts.next().unwrap_or_default())?;
    let mut fault = Fault { requests: RequestFilter::default(), skip: 0, times: None, effect };
    let mut set: Vec<&str> = Vec::new();
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!("unknown fault setting `{part}`; valid settings: {SETTINGS}"));
        };
        if set.contains(&key) {
            return Err(format!("`{key}` is set twice"));
        }
        set.push(key);
        match key {
            "verb" => fault.requests.verb = verb(value)?,
            "resource" => (fault.requests.group, fault.requests.resource) = resource(value)?,
            "namespace" => value.clone_into(&mut fault.requests.namespace),
            "name" => value.clone_into(&mut fault.requests.name),
            "skip" => fault.skip = count(key, value)?,
            "times" => fault.times = Some(count(key, value)?),
            _ => return Err(format!("unknown fault setting `{key}`; valid settings: {SETTINGS}")),
        }
    }
    if fault.effect == Effect::DropWatch && !matches!(&*fault.requests.verb, "" | "watch") {
        return Err(format!("`drop-watch` applies to watches, not to the verb `{}`", fault.requests.verb));
    }
    if fault.effect == Effect::DropWatch {
        "watch".clone_into(&mut fault.requests.verb);
    }
    Ok(fault)
}

const SETTINGS: &str = "verb=, resource=, namespace=, name=, skip=, times=";

fn effect(text: &str) -> Result<Effect, String> {
    let (word, value) = match text.split_once(':') {
        Some((word, value)) => (word, Some(value)),
        None => (text, None),
    };
    if let Ok(code) = word.parse::<u16>() {
        return answer(code, value);
    }
    let effect = match word {
        "latency" => return latency(value.unwrap_or_default()),
        "cut-before" => Effect::CutBefore,
        "cut-after" => Effect::CutAfter,
        "drop-watch" => Effect::DropWatch,
        "kill" => Effect::Kill,
        "forbid" => Effect::Forbid,
        _ => {
            return Err(format!(
                "unknown effect `{word}`; valid effects: latency:TIME, cut-before, cut-after, drop-watch, kill, forbid, and \
                 the status codes {CODE_LIST}"
            ));
        }
    };
    match value {
        None => Ok(effect),
        Some(value) => Err(format!("`{word}` does not accept the value `{value}`")),
    }
}

fn answer(code: u16, value: Option<&str>) -> Result<Effect, String> {
    if !CODES.contains(&code) {
        return Err(format!("unsupported status code `{code}`; valid codes: {CODE_LIST}"));
    }
    let Some(value) = value else {
        // The real server's default for 429.
        let retry_after_seconds = (code == 429).then_some(1);
        return Ok(Effect::Answer { code, retry_after_seconds });
    };
    if !matches!(code, 429 | 500 | 503 | 504) {
        return Err(format!(
            "`{code}` does not accept the value `{value}`; only 429, 500, 503 and 504 accept seconds"
        ));
    }
    match value.parse() {
        Ok(seconds) => Ok(Effect::Answer { code, retry_after_seconds: Some(seconds) }),
        Err(_) => Err(format!("`{value}` is not a number of seconds until the retry, such as `{code}:2`")),
    }
}

fn latency(text: &str) -> Result<Effect, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let duration = match (number.parse(), unit) {
        (Ok(number), "ms") => Some(Duration::from_millis(number)),
        (Ok(number), "s") => Some(Duration::from_secs(number)),
        _ => None,
    };
    duration
        .map(Effect::Latency)
        .ok_or_else(|| format!("`{text}` is not a latency, such as `latency:20ms` or `latency:2s`"))
}

fn verb(text: &str) -> Result<String, String> {
    if VERBS.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("unknown verb `{text}`; valid verbs: {}", VERBS.join(", ")))
}

/// Returns the group, and the plural with its subresource.
fn resource(text: &str) -> Result<(String, String), String> {
    let wrong = || {
        format!(
            "invalid resource `{text}`; write pods, pods/status, apps/deployments or apps/deployments/scale"
        )
    };
    let parts: Vec<_> = text.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(wrong());
    }
    let is_group = |part: &str| part.contains('.') || GROUPS.contains(&part);
    let (group, resource) = match parts[..] {
        [plural] => ("", plural.to_owned()),
        [group, plural] if is_group(group) => (group, plural.to_owned()),
        [plural, subresource] => ("", format!("{plural}/{subresource}")),
        [group, plural, subresource] => (group, format!("{plural}/{subresource}")),
        _ => return Err(wrong()),
    };
    if group.is_empty() && resource != "*" {
        require_core(&resource)?;
    }
    Ok((group.to_owned(), resource))
}

/// Refuses a resource outside the core group that lacks its group, because it would match no request.
fn require_core(resource: &str) -> Result<(), String> {
    let plural = resource.split('/').next().unwrap_or_default();
    let named: Vec<_> = builtin::resources().iter().filter(|known| &*known.plural == plural).collect();
    if named.iter().any(|known| known.group.is_empty()) {
        return Ok(());
    }
    let group = named.first().map_or("GROUP", |known| &known.group);
    Err(format!("`{plural}` is no resource of the core group; write {group}/{resource} or */{resource}"))
}

fn count(key: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{key}={text}` is not a number of requests, such as `{key}=3`"))
}

impl fmt::Display for Fault {
    /// Writes the syntax that [`Fault::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.effect, self.requests)?;
        if self.skip > 0 {
            write!(f, ",skip={}", self.skip)?;
        }
        self.times.map_or(Ok(()), |times| write!(f, ",times={times}"))
    }
}

impl fmt::Display for RequestFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, group, resource, namespace, name } = self;
        if !verb.is_empty() {
            write!(f, ",verb={verb}")?;
        }
        match (&**group, &**resource) {
            ("", "") => {}
            ("", resource) => write!(f, ",resource={resource}")?,
            (group, "") => write!(f, ",resource={group}/*")?,
            (group, resource) => write!(f, ",resource={group}/{resource}")?,
        }
        if !namespace.is_empty() {
            write!(f, ",namespace={namespace}")?;
        }
        if name.is_empty() { Ok(()) } else { write!(f, ",name={name}") }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency(time) => write!(f, "latency:{}ms", time.as_millis()),
            Self::Answer { code, retry_after_seconds: None } => write!(f, "{code}"),
            Self::Answer { code, retry_after_seconds: Some(seconds) } => write!(f, "{code}:{seconds}"),
            Self::CutBefore => f.write_str("cut-before"),
            Self::CutAfter => f.write_str("cut-after"),
            Self::DropWatch => f.write_str("drop-watch"),
            Self::Kill => f.write_str("kill"),
            Self::Forbid => f.write_str("forbid"),
        }
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn parsed(text: &str) -> Fault {
        fault(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
    }

    #[test]
    fn faults_are_parsed_from_their_text() {
        let found = parsed("429:2,verb=create,resource=secrets,times=3");
        assert_eq!(found.effect, Effect::Answer { code: 429, retry_after_seconds: Some(2) });
        assert_eq!(
            (&*found.requests.verb, &*found.requests.resource, found.times),
            ("create", "secrets", Some(3))
        );
        let found = parsed("cut-after,verb=write,skip=17,times=1,namespace=n,name=x");
        assert_eq!((found.effect, found.skip), (Effect::CutAfter, 17));
        assert_eq!((&*found.requests.namespace, &*found.requests.name), ("n", "x"));
        assert_eq!(parsed("latency:20ms").effect, Effect::Latency(Duration::from_millis(20)));
        assert_eq!(parsed("latency:2s").effect, Effect::Latency(Duration::from_secs(2)));
        assert_eq!(parsed("503").effect, Effect::Answer { code: 503, retry_after_seconds: None });
        assert_eq!(parsed("drop-watch").requests.verb, "watch");
        assert_eq!((parsed("kill,skip=40").effect, parsed("kill,skip=40").times), (Effect::Kill, None));
    }

    #[test]
    fn a_resource_may_have_a_group_and_a_subresource() {
        for (text, group, resource) in [
            ("pods", "", "pods"),
            ("pods/status", "", "pods/status"),
            ("apps/deployments", "apps", "deployments"),
            ("apps/deployments/scale", "apps", "deployments/scale"),
            ("cluster.x-k8s.io/machines", "cluster.x-k8s.io", "machines"),
            ("*/machines", "*", "machines"),
            ("*", "", "*"),
        ] {
            let found = parsed(&format!("500,resource={text}")).requests;
            assert_eq!((&*found.group, &*found.resource), (group, resource), "{text}");
        }
    }

    #[test]
    fn an_invalid_fault_lists_the_valid_values() {
        let errors: Vec<String> = [
            "",
            "explode",
            "418",
            "409:2",
            "429:soon",
            "kill:9",
            "latency",
            "latency:20",
            "latency:99999999999999999999s",
            "500,verb=post",
            "500,resource=a/b/c/d",
            "500,resource=",
            "500,resource=deployments/scale",
            "500,resource=machines",
            "500,times=-1",
            "500,colour=red",
            "500,always",
            "500,skip=1,skip=2",
            "drop-watch,verb=get",
        ]
        .iter()
        .map(|text| fault(text).unwrap_err())
        .collect();
        assert_data_eq!(
            errors.join("\n"),
            str![[r#"
unknown effect ``; valid effects: latency:TIME, cut-before, cut-after, drop-watch, kill, forbid, and the status codes 403, 409, 410, 429, 500, 503, 504
unknown effect `explode`; valid effects: latency:TIME, cut-before, cut-after, drop-watch, kill, forbid, and the status codes 403, 409, 410, 429, 500, 503, 504
unsupported status code `418`; valid codes: 403, 409, 410, 429, 500, 503, 504
`409` does not accept the value `2`; only 429, 500, 503 and 504 accept seconds
`soon` is not a number of seconds until the retry, such as `429:2`
`kill` does not accept the value `9`
`` is not a latency, such as `latency:20ms` or `latency:2s`
`20` is not a latency, such as `latency:20ms` or `latency:2s`
`99999999999999999999s` is not a latency, such as `latency:20ms` or `latency:2s`
unknown verb `post`; valid verbs: get, list, watch, create, update, patch, delete, deletecollection, write
invalid resource `a/b/c/d`; write pods, pods/status, apps/deployments or apps/deployments/scale
invalid resource ``; write pods, pods/status, apps/deployments or apps/deployments/scale
`deployments` is no resource of the core group; write apps/deployments/scale or */deployments/scale
`machines` is no resource of the core group; write GROUP/machines or */machines
`times=-1` is not a number of requests, such as `times=3`
unknown fault setting `colour`; valid settings: verb=, resource=, namespace=, name=, skip=, times=
unknown fault setting `always`; valid settings: verb=, resource=, namespace=, name=, skip=, times=
`skip` is set twice
`drop-watch` applies to watches, not to the verb `get`
"#]]
        );
    }
}

#[cfg(test)]
mod print_tests {
    use super::*;

    #[test]
    fn printed_faults_survive_a_round_trip() {
        for text in [
            "429:2,verb=create,resource=secrets,times=3",
            "latency:20ms",
            "cut-after,verb=write,skip=17,times=1",
            "500,resource=apps/deployments/scale,namespace=team,name=web",
            "drop-watch,verb=watch",
            "kill,skip=40",
            "forbid,resource=pods/status",
            "409,resource=*",
        ] {
            let fault = Fault::parse(text).unwrap();
            assert_eq!(fault.to_string(), text);
            assert_eq!(Fault::parse(&fault.to_string()).unwrap(), fault);
        }
    }
}
