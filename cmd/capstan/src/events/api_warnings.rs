/// The API warnings that `--hide-api-warnings` hides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ApiWarnings {
    /// Deprecations, and finalizers of Cluster API without their own domain.
    Known,
    All,
    #[default]
    None,
}

impl ApiWarnings {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "default" => Some(Self::Known),
            "all" => Some(Self::All),
            "none" => Some(Self::None),
            _ => None,
        }
    }

    /// True if this warning is hidden.
    /// Source: Cluster API v1.14, util/apiwarnings (DefaultHandler).
    pub(super) fn hides(self, text: &str) -> bool {
        let is_known = || {
            let finalizer = text.starts_with("metadata.finalizers:")
                && text.contains("cluster.x-k8s.io")
                && text.contains("prefer a domain-qualified finalizer name");
            finalizer || text.contains("is deprecated; use ")
        };
        match self {
            Self::Known => is_known(),
            Self::All => true,
            Self::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ApiWarnings;

    #[test]
    fn known_warnings_of_cluster_api_are_hidden_by_default() {
        let deprecated =
            "cluster.x-k8s.io/v1beta1 Cluster is deprecated; use cluster.x-k8s.io/v1beta2 Cluster";
        let finalizer = "metadata.finalizers: \"cluster.cluster.x-k8s.io\": prefer a domain-qualified finalizer name \
                         including a path (/) to avoid accidental conflicts with other finalizer writers";
        let foreign = "metadata.finalizers: \"mine\": prefer a domain-qualified finalizer name to avoid accidental \
                       conflicts with other finalizer writers";
        let other = "unknown field \"spec.slip\"";
        let hidden =
            |warnings: ApiWarnings| [deprecated, finalizer, foreign, other].map(|text| warnings.hides(text));
        assert_eq!(hidden(ApiWarnings::Known), [true, true, false, false]);
        assert_eq!(hidden(ApiWarnings::All), [true; 4]);
        assert_eq!(hidden(ApiWarnings::None), [false; 4]);
        let parsed = ["default", "all", "none", "some"].map(ApiWarnings::parse);
        let known = [Some(ApiWarnings::Known), Some(ApiWarnings::All), Some(ApiWarnings::None), None];
        assert_eq!(parsed, known);
    }
}
