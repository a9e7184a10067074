use api::{
    ProviderId,
    plan::{SavedReference, SavedRequest},
};
use management::{LifecyclePlan, ProvidersRequest};

use crate::Failure;

/// References of a saved plan as a request.
pub(crate) fn requested(saved: &[SavedReference]) -> ProvidersRequest {
    let one = |saved: &SavedReference| (saved.provider.clone(), saved.version.clone());
    ProvidersRequest { providers: saved.iter().map(one).collect() }
}

/// A request as references of a saved plan.
pub(crate) fn references<'a>(
    providers: impl IntoIterator<Item = (&'a ProviderId, Option<&'a String>)>,
) -> Vec<SavedReference> {
    let one = |(provider, version): (&ProviderId, Option<&String>)| SavedReference {
        provider: provider.clone(),
        version: version.cloned(),
    };
    providers.into_iter().map(one).collect()
}

/// The providers a plan brings, in the versions it settled on.
pub(crate) fn settled(plan: &LifecyclePlan) -> Vec<SavedReference> {
    let comes =
        plan.providers.iter().filter(|provider| provider.to.is_some() && provider.from != provider.to);
    references(comes.map(|provider| (&provider.id, provider.to.as_ref())))
}

/// A plan goes with the verb it was made for.
pub(crate) fn plan_of_another(request: &SavedRequest) -> Failure {
    Failure::user(format!("it is a plan of `{}`", request.command()))
}

/// What may not be said beside a saved plan, which says it already.
pub(crate) fn nothing_beside_a_plan(names_anything: bool, flags: &str) -> Result<(), Failure> {
    if names_anything {
        return Err(Failure::user(format!("`--plan` says it all: it cannot be used together with {flags}")));
    }
    Ok(())
}
