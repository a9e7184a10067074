//! The sets of functions.

use super::registry::Functions;

impl Functions {
    /// The functions of Go's `text/template`.
    pub fn text() -> Self {
        let mut functions = Self::default();
        super::builtin::add(&mut functions);
        functions
    }

    /// The functions of Go and sprig. The environment and the network stay out: `env` and `expandenv` are unknown.
    pub fn sprig() -> Self {
        let mut functions = Self::text();
        super::strings::add(&mut functions);
        super::lists::add(&mut functions);
        super::dicts::add(&mut functions);
        super::numbers::add(&mut functions);
        super::defaults::add(&mut functions);
        super::types::add(&mut functions);
        super::paths::add(&mut functions);
        super::encoding::add(&mut functions);
        super::crypto::add(&mut functions);
        super::random::add(&mut functions);
        super::regexes::add(&mut functions);
        super::semver::add(&mut functions);
        super::urls::add(&mut functions);
        super::dates::add(&mut functions);
        super::data::add_sprig(&mut functions);
        functions
    }

    /// The functions of Go, sprig and Helm. `lookup` finds nothing, as without a cluster; a host may replace it.
    pub fn helm() -> Self {
        let mut functions = Self::sprig();
        super::data::add_helm(&mut functions);
        super::helm::add(&mut functions);
        functions
    }

    /// The functions of Go, sprig and the runtime of components, which fail on bad input. The host adds those that need
    /// files or a cluster.
    pub fn component() -> Self {
        let mut functions = Self::sprig();
        super::data::add_strict(&mut functions);
        super::component::add(&mut functions);
        functions
    }
}
