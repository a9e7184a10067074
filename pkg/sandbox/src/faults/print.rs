//! Faults in command line syntax.

use std::fmt;

use super::{Effect, Fault, RequestFilter};

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
