use api::{
    output::CertManagerPlan,
    plan::{SavedComponents, SavedPlan, SavedRequest},
};
use apply::LeaseHolder;
use component::{BatchError, BatchPlan, PlanPurpose};
use inventory::ManagementCluster;
use management::{DiffDetail, PlannedComponent, new_salt, plan_origin, save_component};

use super::{
    controller_wait,
    hub::Hub,
    inputs::{InputFlags, Inputs, warn_suspended},
    report::{print, report},
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, LeaseFlags, OutputFormat, ServerFlags},
    suggested_commands::quoted,
    ui::format_count,
    verbs::lifecycle::{self, PlanFlags},
};

const COMMAND: &str = "component apply";
const RESUME_HINT: &str = "re-run the same command to resume";

/// Apply Components, and wait until their objects are ready
///
/// Renders Components and applies their objects, each Component after its dependencies. Secrets and sources in the files take
/// the place of those of the cluster. Objects that left a Component are deleted last. If a controller works on the cluster, the
/// command stores the Components and waits for the controller, which needs their Secrets and sources on the cluster. Re-run the
/// command to resume an interrupted run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component apply -f components/
  {bin} component apply web.yaml --dry-run --diff

  # Files of a folder instead of spec.sourceRef
  {bin} component apply web.yaml --source ./manifests

  # Review a plan, then execute it
  {bin} component apply components/ --out plan.json
  {bin} component apply --plan plan.json")]
pub(crate) struct Apply {
    #[command(flatten)]
    inputs: InputFlags,

    #[command(flatten)]
    plan: PlanFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

impl Apply {
    pub(super) fn without_writing(mut self) -> Self {
        self.plan = self.plan.with_dry_run();
        self
    }
}

pub(super) fn run(args: &Apply, session: &mut Session) -> Result<(), Failure> {
    let format = args.plan.show.format()?;
    let saved = args.plan.read_saved_plan(COMMAND, session)?;
    let request = request(args, saved.as_ref(), session)?;
    if args.plan.is_saved() {
        check_savable(&request)?;
    }
    let inputs = Inputs::read(&request, session)?;
    let run = ApplyRun { args, format, saved, request, inputs };
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    if args.plan.is_plan_only() {
        return run.show(&cluster, session);
    }
    // Planning happens under the lease, so that the plan includes changes by the previous run.
    let result = args
        .lease
        .hold(COMMAND, &[&cluster], session, |clusters, session| run.execute(&clusters[0], session))?;
    session.show_cluster_result(args.server.pace.progress, result);
    Ok(())
}

/// Returns the request of the flags, or of a saved plan.
fn request(args: &Apply, saved: Option<&SavedPlan>, session: &Session) -> Result<SavedComponents, Failure> {
    match saved.map(|saved| &saved.request) {
        None => args.inputs.request(&args.server.kube, session),
        Some(SavedRequest::Components(request)) => {
            let names_anything = !args.inputs.is_empty(session);
            lifecycle::check_plan_alone(names_anything, "files, `--source`, `--values` or `--namespace`")?;
            Ok(request.clone())
        }
        Some(other) => Err(lifecycle::wrong_command(other)),
    }
}

/// Refuses requests that a later run could not repeat, or that have secrets.
fn check_savable(request: &SavedComponents) -> Result<(), Failure> {
    if request.files.iter().any(|file| file == "-") {
        return Err(Failure::user("a plan cannot be saved for Components of stdin")
            .hint("write the Components to a file first"));
    }
    if request.source.as_deref().is_some_and(has_password) {
        return Err(Failure::user("a plan cannot be saved with a password in the URL of `--source`")
            .hint("remove the password from the URL, and configure credentials of the host"));
    }
    Ok(())
}

/// True if a URL has a password. A user name alone is no secret.
fn has_password(place: &str) -> bool {
    let rest = place.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

struct ApplyRun<'a> {
    args: &'a Apply,
    format: OutputFormat,
    saved: Option<SavedPlan>,
    request: SavedComponents,
    inputs: Inputs,
}

impl ApplyRun<'_> {
    fn show(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<(), Failure> {
        let hub = session.block_on(Hub::open(cluster))?;
        let plan = self.plan(&hub, PlanPurpose::Show, session)?;
        warn_suspended(&plan, session.messages());
        self.args.plan.write_plan(|| self.save(&hub, &plan, new_salt()?, session), session)?;
        let diffs = self.args.plan.show.diffs(self.format);
        print(&report(COMMAND, plan.plans(), diffs, false), diffs, self.format, session)
    }

    fn execute(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<String, Failure> {
        let purpose = if self.saved.is_some() { PlanPurpose::Show } else { PlanPurpose::Execute };
        let hub = session.block_on(Hub::open(cluster))?;
        // What a controller has written until now is part of the plan.
        let controller = session.block_on(controller_wait::find_controller(&hub))?;
        let mut plan = self.plan(&hub, purpose, session)?;
        warn_suspended(&plan, session.messages());
        let is_done = match &controller {
            Some(controller) => {
                session.execute(self.hand_over(&hub, &plan, controller, session), RESUME_HINT)?
            }
            None => false,
        };
        if !is_done {
            if controller.is_some() {
                plan = self.plan(&hub, purpose, session)?;
            }
            let work = self.inputs.batch(&hub);
            session.execute(Box::pin(work.apply(&mut plan, self.saved.is_some())), RESUME_HINT)?;
        }
        let report = report(COMMAND, plan.plans(), DiffDetail::Hidden, true);
        session.print(self.format, &report, |_, _| String::new())?;
        let count = format_count(report.components.len(), "Component");
        let writes = session.writes().suffix();
        Ok(if report.changes { format!("applied {count}{writes}") } else { format!("{count} unchanged") })
    }

    /// Lets a controller execute the plan. Returns false if it has ended before.
    async fn hand_over(
        &self,
        hub: &Hub,
        plan: &BatchPlan,
        controller: &LeaseHolder,
        session: &Session,
    ) -> Result<bool, Failure> {
        if let Some(refusal) = self.controller_refusal(hub, plan, session).await? {
            return Err(
                refusal.cause(format!("a controller works on the Components of this cluster: {controller}"))
            );
        }
        session.messages().status(format!("waiting for the controller: {controller}"));
        let stored = self.inputs.batch(hub).store(plan).await.map_err(BatchError::from)?;
        controller_wait::wait_until_ready(hub, &stored, session.messages()).await
    }

    /// Returns the reason why a controller, which reads everything from the cluster, cannot execute the plan.
    async fn controller_refusal(
        &self,
        hub: &Hub,
        plan: &BatchPlan,
        session: &Session,
    ) -> Result<Option<Failure>, Failure> {
        if self.request.source.is_some() || !self.request.values.is_empty() {
            let failure = Failure::new(Kind::Conflict, "cannot apply with `--source` or `--values`");
            let hint = "set `spec.sourceRef` and `spec.values` of the Components, or stop the controller";
            return Ok(Some(failure.hint(hint)));
        }
        let unstored = self.inputs.batch(hub).unstored_objects(plan).await.map_err(BatchError::from)?;
        if unstored.is_empty() {
            return Ok(None);
        }
        let failure = Failure::new(Kind::Conflict, "cannot apply with Secrets and sources of files");
        let failure = unstored.iter().map(ToString::to_string).fold(failure, Failure::cause);
        let home = session.environment().home();
        let files = self.request.files.iter().filter(|file| *file != "-");
        let flags = files.map(|file| format!("-f {}", quoted(file, home)));
        let command: Vec<_> = std::iter::once("kubectl apply".to_owned()).chain(flags).collect();
        let command = command.join(" ");
        let hint = format!("apply these objects with `{command}` and try again, or stop the controller");
        Ok(Some(failure.hint(hint)))
    }

    /// Plans, and checks that a saved plan is still valid.
    fn plan(&self, hub: &Hub, purpose: PlanPurpose, session: &Session) -> Result<BatchPlan, Failure> {
        let work = self.inputs.batch(hub);
        let plan = session.block_on(async { Box::pin(work.plan(purpose)).await.map_err(Failure::from) })?;
        if let Some(saved) = &self.saved {
            let salt = saved.salt.clone().unwrap_or_default();
            let mut now = self.save(hub, &plan, salt, session)?;
            if self.args.plan.allows_any_user() {
                now.user.clone_from(&saved.user);
            }
            lifecycle::check_unchanged(saved, &now)?;
        }
        Ok(plan)
    }

    fn save(
        &self,
        hub: &Hub,
        plan: &BatchPlan,
        salt: String,
        session: &Session,
    ) -> Result<SavedPlan, Failure> {
        let origin = session.block_on(plan_origin(&hub.cluster))?;
        let one = |plan: &component::ComponentPlan| {
            let input = self.inputs.component(plan)?;
            let planned = PlannedComponent {
                manifest: &input.checked.object,
                revision: &plan.source.artifact.revision,
                digest: &plan.source.artifact.digest,
                objects: &plan.objects,
            };
            Some(save_component(planned, &salt))
        };
        Ok(SavedPlan {
            format: SavedPlan::FORMAT,
            request: SavedRequest::Components(self.request.clone()),
            cluster: origin.cluster,
            user: origin.user,
            cert_manager: CertManagerPlan::default(),
            providers: Vec::new(),
            components: plan.plans().filter_map(one).collect(),
            salt: Some(salt),
        })
    }
}
