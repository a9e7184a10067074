use component::{
    Component, ComponentKey, ComponentPlan, StoredComponents, deletion_blocker, dependency_order,
};
use management::DiffDetail;

use super::{
    controller_wait,
    files::read_components,
    hub::{Hub, Selection, component_keys},
    report::{print, report},
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, LeaseFlags, ServerFlags},
    verbs::lifecycle::{ShowFlags, parse_duration},
};

/// Delete Components and their objects
///
/// Deletes Components after the Components that depend on them, each with its objects. Nothing is deleted while objects of other
/// owners use a definition of a Component. If a controller works on the cluster, the command waits for it. Re-run the command to
/// resume an interrupted deletion: Components of files that are gone are skipped.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component delete web -n shop
  {bin} component delete -f components/

  # Preview the deletion
  {bin} component delete shop/web --dry-run")]
pub(crate) struct Delete {
    /// Names of Components, with or without NAMESPACE/
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Files or folders with the Components; repeatable
    #[arg(short = 'f', long = "filename", id = "files", value_name = "FILE|DIR", conflicts_with = "names")]
    files: Vec<String>,

    /// Namespace of the Components [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Maximum time for the deletion of one Component [default: its timeout]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    #[command(flatten)]
    show: ShowFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(super) fn run(args: &Delete, session: &mut Session) -> Result<(), Failure> {
    let format = args.show.format()?;
    let keys = args.keys(session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    if args.show.is_show_only() {
        let hub = session.block_on(Hub::open(&cluster))?;
        let plans = args.plan(&hub, &keys, session)?;
        let diffs = args.show.diffs(format);
        return print(&report("component delete", &plans, diffs, false), diffs, format, session);
    }
    let timeout = args.timeout.as_deref().map(parse_duration).transpose()?;
    let deleted = args.lease.hold("component delete", &[&cluster], session, |clusters, session| {
        let hub = session.block_on(Hub::open(&clusters[0]))?;
        // What a controller has written until now is part of the plans.
        let controller = session.block_on(controller_wait::find_controller(&hub))?;
        let mut plans = args.plan(&hub, &keys, session)?;
        let work = async {
            for (at, plan) in plans.iter().enumerate() {
                hub.runs().check_deletable(plan, &plans[..at]).await?;
            }
            if let Some(controller) = &controller {
                session.messages().status(format!("waiting for the controller: {controller}"));
            }
            for plan in &mut plans {
                let timeout =
                    timeout.unwrap_or_else(|| component::Intervals::of(&plan.component.spec).timeout);
                if controller.is_none() {
                    hub.runs().delete(plan, timeout).await?;
                } else if !controller_wait::delete(&hub, plan, timeout, session.messages()).await?
                    && let Some(left) = hub.store.get(&plan.key).await?
                {
                    let mut rest = hub.runs().plan_deletion(left).await?;
                    hub.runs().delete(&mut rest, timeout).await?;
                }
            }
            Ok::<_, Failure>(())
        };
        session.execute(work, "re-run the same command to delete the remaining objects")?;
        let report = report("component delete", &plans, DiffDetail::Hidden, true);
        session.print(format, &report, |_, _| String::new())?;
        Ok(plans.len())
    })?;
    let result = format!("deleted {}", crate::ui::format_count(deleted, "Component"));
    session.show_cluster_result(args.server.pace.progress, result);
    Ok(())
}

impl Delete {
    fn keys(&self, session: &mut Session) -> Result<Vec<ComponentKey>, Failure> {
        if self.names.is_empty() && self.files.is_empty() {
            return Err(Failure::user("the Components are missing: name them, or use `--filename`"));
        }
        if self.files.is_empty() {
            return component_keys(
                &self.names,
                self.namespace.as_deref(),
                &self.server.kube,
                session.environment(),
            );
        }
        let namespace = self.server.kube.namespace(self.namespace.as_deref(), session.environment())?;
        let found = read_components(&self.files, &namespace, session)?;
        Ok(found.components.iter().map(|one| ComponentKey::of(&one.component)).collect())
    }

    /// Plans the deletions, dependents first. Components of files may be deleted already.
    fn plan(
        &self,
        hub: &Hub,
        keys: &[ComponentKey],
        session: &Session,
    ) -> Result<Vec<ComponentPlan>, Failure> {
        session.block_on(async {
            if self.files.is_empty() {
                return plan(hub, hub.select(&Selection::Named(keys.to_vec())).await?).await;
            }
            let found = hub.select_existing(keys).await?;
            let known = found.keys();
            for key in keys.iter().filter(|key| !known.contains(key)) {
                session.messages().status(format!("skipped Component `{key}`, which does not exist"));
            }
            plan(hub, found).await
        })
    }
}

async fn plan(hub: &Hub, selected: StoredComponents) -> Result<Vec<ComponentPlan>, Failure> {
    let (keys, selected) = (selected.keys(), selected.readable()?);
    // A Component that cannot be read may depend on the others.
    let all = hub.store.list().await?.readable()?;
    let others: Vec<Component> =
        all.into_iter().filter(|one| !keys.contains(&ComponentKey::of(one))).collect();
    let blocked: Vec<String> = selected
        .iter()
        .filter_map(|one| Some(format!("{}: {}", ComponentKey::of(one), deletion_blocker(one, &others)?)))
        .collect();
    if !blocked.is_empty() {
        let failure = Failure::new(Kind::Conflict, "cannot delete Components that others depend on");
        let failure = blocked.into_iter().fold(failure, Failure::cause);
        return Err(failure.hint("delete the depending Components with the same command"));
    }
    // Components that wait for each other are deleted in the given order.
    let order = dependency_order(&selected).unwrap_or_else(|_| (0..selected.len()).collect());
    let mut plans = Vec::new();
    for at in order.into_iter().rev() {
        plans.push(hub.runs().plan_deletion(selected[at].clone()).await?);
    }
    Ok(plans)
}
