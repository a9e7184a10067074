use std::fmt::Write as _;

use snapbox::{assert_data_eq, str};

use super::*;

/// A Component with a clock.
struct Lab {
    spec: ComponentSpec,
    status: ComponentStatus,
    generation: i64,
    is_deleting: bool,
    seconds: i64,
    seen: String,
}

impl Lab {
    fn new(requeue: &str) -> Self {
        let spec = ComponentSpec { requeue_interval: Some(requeue.to_owned()), ..ComponentSpec::default() };
        Self {
            spec,
            status: ComponentStatus::default(),
            generation: 1,
            is_deleting: false,
            seconds: 0,
            seen: String::new(),
        }
    }

    fn run(&mut self, outcome: &Outcome) -> Duration {
        let run = Circumstances {
            spec: &self.spec,
            generation: self.generation,
            is_deleting: self.is_deleting,
            attempts: 0,
            now: Timestamp::from_second(self.seconds).unwrap(),
        };
        let delay = record_outcome(&mut self.status, outcome, run);
        let ready = self.status.ready().unwrap();
        let (state, gens) = (self.status.state.unwrap(), (self.generation, self.status.observed_generation));
        let line = format!(
            "gen={}/{} state={state:?} Ready={} reason={} msg={} next={delay:?}",
            gens.0, gens.1, ready.status, ready.reason, ready.message
        );
        writeln!(self.seen, "{line}").unwrap();
        delay
    }
}

fn retry(message: &str, after: Option<Duration>) -> Outcome {
    Outcome::Retry { message: message.to_owned(), after }
}

// Row: CMP-19, ENG-08, ENG-09, ENG-39, ENG-41
#[test]
fn a_component_goes_through_the_states_of_the_peer() {
    let mut lab = Lab::new("9m");
    lab.run(&Outcome::FirstSeen);
    lab.run(&Outcome::Processing);
    lab.run(&Outcome::Ready);
    lab.run(&Outcome::Ready);
    lab.generation = 2;
    lab.run(&Outcome::Restarting);
    lab.run(&retry("source revision (a) does not match specified revision (b)", Some(REFERENCE_RETRY)));
    lab.run(&Outcome::Failed { message: "error reconciling dependent resources: boom".to_owned() });
    lab.run(&Outcome::Suspended);
    lab.is_deleting = true;
    lab.run(&retry("deletion blocked by depending component ns/dep", None));
    lab.run(&Outcome::DeletionBlocked { message: "deletion blocked: crd x is still in use".to_owned() });
    lab.run(&Outcome::Deleting);
    assert_data_eq!(
        &lab.seen,
        str![[r#"
gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen next=1ms
gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready next=50ms
gen=1/1 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled next=1ms
gen=1/1 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled next=540s
gen=2/2 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes next=1ms
gen=2/2 state=Pending Ready=Unknown reason=Retrying msg=Source revision (a) does not match specified revision (b) next=10s
gen=2/2 state=Error Ready=False reason=Error msg=Error reconciling dependent resources: boom next=5ms
gen=2/2 state=Pending Ready=Unknown reason=Suspended msg=Reconciliation is suspended next=540s
gen=2/2 state=DeletionPending Ready=Unknown reason=DeletionRetrying msg=Deletion blocked by depending component ns/dep next=540s
gen=2/2 state=Deleting Ready=Unknown reason=DeletionBlocked msg=Deletion blocked: crd x is still in use next=1.05s
gen=2/2 state=Deleting Ready=Unknown reason=DeletionProcessing msg=Deletion of dependent resources triggered; waiting until dependent resources are deleted next=50ms

"#]]
    );
}

// Row: CMP-22, CMP-23, CMP-24, CMP-25, ENG-42, ENG-44
#[test]
fn the_timeout_turns_processing_into_an_error_until_the_objects_are_ready() {
    let mut lab = Lab::new("5s");
    for seconds in [0, 4, 5, 9] {
        lab.seconds = seconds;
        lab.run(&Outcome::Processing);
    }
    lab.run(&Outcome::Restarting);
    lab.run(&Outcome::Processing);
    lab.seconds = 14;
    lab.run(&Outcome::Processing);
    lab.run(&Outcome::Ready);
    let states: Vec<&str> = lab.seen.lines().filter_map(|line| line.split(' ').nth(3)).collect();
    assert_eq!(
        states,
        [
            "reason=Processing",
            "reason=Processing",
            "reason=Timeout",
            "reason=Timeout",
            "reason=Restarting",
            "reason=Processing",
            "reason=Timeout",
            "reason=Ready"
        ]
    );
}

// Row: CMP-20, CMP-21, ENG-40, ENG-41, ENG-84
#[test]
fn intervals_fall_back_to_the_requeue_interval() {
    let mut spec = ComponentSpec::default();
    let of = |spec: &ComponentSpec| {
        let Intervals { requeue, retry, timeout, reapply } = Intervals::of(spec);
        [requeue, retry, timeout, reapply].map(|one| one.as_secs())
    };
    assert_eq!(of(&spec), [600, 600, 600, 3600]);
    spec.requeue_interval = Some("1m30s".to_owned());
    assert_eq!(of(&spec), [90, 90, 90, 3600]);
    spec.retry_interval = Some("2s".to_owned());
    spec.timeout = Some("5s".to_owned());
    spec.reapply_interval = Some("0s".to_owned());
    assert_eq!(of(&spec), [90, 2, 5, 3600]);
}

// Row: ENG-06, ENG-07
#[test]
fn the_applied_generation_follows_success_only() {
    let mut lab = Lab::new("1m");
    lab.generation = 3;
    lab.status.last_attempted_digest = "sha256:1".to_owned();
    lab.run(&Outcome::Processing);
    assert_eq!((lab.status.observed_generation, lab.status.applied_generation), (3, 0));
    assert_eq!(lab.status.last_applied_at, None);
    lab.seconds = 7;
    lab.run(&Outcome::Ready);
    assert_eq!((lab.status.applied_generation, lab.status.last_applied_digest.as_str()), (3, "sha256:1"));
    assert_eq!(lab.status.last_applied_at.as_deref(), Some("1970-01-01T00:00:07Z"));
}

// Row: ENG-38
#[test]
fn waiting_and_errors_back_off_up_to_a_limit() {
    let waits = [0, 4, 5, 20, 50, 1000].map(|attempts| waiting_delay(attempts).as_millis());
    assert_eq!(waits, [50, 800, 1000, 2000, 10_000, 10_000]);
    assert_eq!([0, 1, 40].map(|attempts| error_delay(attempts).as_millis()), [5, 10, 600_000]);
}

// Row: D-542
#[test]
fn a_long_message_is_shortened() {
    let mut lab = Lab::new("1m");
    lab.run(&Outcome::Failed { message: format!("cannot render: {}: boom", "a".repeat(4 << 20)) });
    let message = &lab.status.ready().unwrap().message;
    assert!(message.len() <= 8192, "{}", message.len());
    assert!(message.starts_with("Cannot render") && message.ends_with(": boom"), "{message}");
}
