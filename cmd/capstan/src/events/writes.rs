use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// How many objects a run has changed so far. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writes(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    answered: AtomicUsize,
    any_sent: AtomicBool,
}

impl Writes {
    /// How many the server has answered.
    pub(crate) fn count(&self) -> usize {
        self.0.answered.load(Ordering::Relaxed)
    }

    /// Whether any was sent, answered or not.
    pub(crate) fn any_sent(&self) -> bool {
        self.0.any_sent.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.0.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// As many, all of them sent.
    #[cfg(test)]
    pub(crate) fn of(answered: usize) -> Self {
        Self(Arc::new(Counted { answered: answered.into(), any_sent: true.into() }))
    }

    /// Notes a request, such as `PATCH /api/v1/namespaces/a?force=true`, when it may change something.
    pub(super) fn sent(&self, request: &str) {
        let asks = request.starts_with("GET ")
            || request.contains("dryRun=All")
            || request.starts_with("POST /apis/authorization.k8s.io/");
        if !asks {
            self.0.any_sent.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_may_change_something_count_as_sent() {
        for (request, expected) in [
            ("GET /api/v1/namespaces?limit=500", false),
            ("PATCH /api/v1/namespaces/a?dryRun=All&fieldManager=capstan", false),
            ("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", false),
            ("POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews", false),
            ("PATCH /api/v1/namespaces/a?fieldManager=capstan", true),
            ("DELETE /api/v1/namespaces/a", true),
        ] {
            let writes = Writes::default();
            writes.sent(request);
            assert_eq!(writes.any_sent(), expected, "{request}");
        }
    }
}
