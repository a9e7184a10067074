//! The log of the controller: one event a line, in the forms of the logger of other controllers.
//! Source: controller-runtime (flags).

use apply::{Event, RequestEffect};
use clap::ValueEnum;
use controller::ControllerEvent;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::ui::Messages;

/// The flags of the log.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Log flags")]
pub(crate) struct LogFlags {
    /// Log debug lines for people
    #[arg(long = "zap-devel")]
    is_development: bool,

    /// Form of lines: json or console [default: json]
    #[arg(long = "zap-encoder", value_name = "FORM", value_enum, hide_possible_values = true)]
    encoder: Option<Encoder>,

    /// Lowest level: debug, info, error, panic, or a number for debug [default: info]
    #[arg(long = "zap-log-level", value_name = "LEVEL", value_parser = level)]
    lowest_level: Option<LogLevel>,

    /// Without effect: no log line has a stack trace
    #[arg(long = "zap-stacktrace-level", value_name = "LEVEL", value_enum, hide_possible_values = true)]
    stack_trace_level: Option<StackTraceLevel>,

    /// Form of times
    #[arg(long = "zap-time-encoding", value_name = "FORM", value_enum, default_value_t)]
    times: TimeEncoding,
}

/// A level of stack traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StackTraceLevel {
    Info,
    Error,
    Panic,
}

/// A form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Encoder {
    /// One JSON object
    Json,
    /// Time, level and message, then all other fields as JSON
    Console,
}

/// A level of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum LogLevel {
    /// Requests to the cluster.
    Debug,
    /// Steps.
    #[default]
    Info,
    /// Steps that fail.
    Error,
    /// Nothing.
    Panic,
}

/// A form of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TimeEncoding {
    /// Seconds since 1970
    Epoch,
    /// Milliseconds since 1970
    Millis,
    /// Nanoseconds since 1970
    Nano,
    /// 2026-01-02T03:04:05.678Z
    #[default]
    Iso8601,
    /// 2026-01-02T03:04:05Z
    Rfc3339,
    /// 2026-01-02T03:04:05.678901234Z
    Rfc3339nano,
}

/// Writes events as log lines.
#[derive(Clone)]
pub(super) struct ControllerLog {
    lowest: LogLevel,
    encoder: Encoder,
    times: TimeEncoding,
    messages: Messages,
}

impl LogFlags {
    /// Returns the log on stderr.
    pub(super) fn log(self, messages: &Messages) -> ControllerLog {
        let (encoder, lowest) = if self.is_development {
            (Encoder::Console, LogLevel::Debug)
        } else {
            (Encoder::Json, LogLevel::Info)
        };
        ControllerLog {
            lowest: self.lowest_level.unwrap_or(lowest),
            encoder: self.encoder.unwrap_or(encoder),
            times: self.times,
            messages: messages.clone(),
        }
    }
}

impl ControllerLog {
    /// Logs an event of the controller.
    pub(super) fn controller(&self, event: &ControllerEvent) {
        let level = if event.is_error() { LogLevel::Error } else { LogLevel::Info };
        if let Ok(Value::Object(fields)) = serde_json::to_value(event) {
            self.write(level, fields);
        }
    }

    /// Logs an event of the connection to the cluster.
    pub(super) fn server(&self, event: &Event) {
        let (level, fields) = match event {
            Event::Requested { request, effect } => {
                let is_write = *effect == RequestEffect::Write;
                (LogLevel::Debug, json!({"msg": "request", "request": request, "write": is_write}))
            }
            Event::WaitingForLease { holder } => {
                (LogLevel::Info, json!({"msg": "waiting", "holder": holder.to_string()}))
            }
            Event::Retrying { action, reason, .. } => {
                (LogLevel::Debug, json!({"msg": "retrying", "action": action, "error": reason}))
            }
            Event::Warning { text, action } => {
                (LogLevel::Info, json!({"msg": "warning", "action": action, "warning": text}))
            }
            _ => return,
        };
        if let Value::Object(fields) = fields {
            self.write(level, fields);
        }
    }

    fn write(&self, level: LogLevel, fields: Map<String, Value>) {
        if level >= self.lowest {
            self.messages.write_plain(&self.line(level, fields, Timestamp::now()));
        }
    }

    fn line(&self, level: LogLevel, mut fields: Map<String, Value>, now: Timestamp) -> String {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Error | LogLevel::Panic => "error",
        };
        let time = self.times.format(now);
        let message = fields.remove("msg").unwrap_or_default();
        for value in fields.values_mut() {
            if let Value::String(text) = value {
                *text = api::shortened(std::mem::take(text));
            }
        }
        let rest = Value::Object(fields).to_string();
        match self.encoder {
            // Time, level and message come first, so that people find them.
            Encoder::Json => {
                let rest = rest.strip_prefix('{').filter(|rest| *rest != "}").map(|rest| format!(",{rest}"));
                let rest = rest.as_deref().unwrap_or("}");
                format!("{{\"ts\":{time},\"level\":\"{level}\",\"msg\":{message}{rest}\n")
            }
            Encoder::Console => {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let rest = if rest == "{}" { String::new() } else { format!("\t{rest}") };
                format!("{}\t{}\t{}{rest}\n", text(&time), level.to_uppercase(), text(&message))
            }
        }
    }
}

impl TimeEncoding {
    fn format(self, now: Timestamp) -> Value {
        let text = |form: &str| now.strftime(form).to_string().into();
        match self {
            Self::Epoch => json!(now.as_duration().as_secs_f64()),
            Self::Millis => json!(now.as_duration().as_millis_f64()),
            Self::Nano => i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX).into(),
            Self::Iso8601 => text("%Y-%m-%dT%H:%M:%S%.3fZ"),
            Self::Rfc3339 => text("%Y-%m-%dT%H:%M:%SZ"),
            Self::Rfc3339nano => text("%Y-%m-%dT%H:%M:%S%.9fZ"),
        }
    }
}

/// Parses the value of `--zap-log-level`.
fn level(text: &str) -> Result<LogLevel, String> {
    match text {
        "debug" => Ok(LogLevel::Debug),
        "info" => Ok(LogLevel::Info),
        "error" => Ok(LogLevel::Error),
        "panic" => Ok(LogLevel::Panic),
        number if number.parse::<u8>().is_ok_and(|number| number > 0) => Ok(LogLevel::Debug),
        _ => Err("expected debug, info, error, panic, or a number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn log_of(encoder: Encoder, times: TimeEncoding) -> ControllerLog {
        let messages = Messages::new(Box::new(std::io::sink()), false);
        ControllerLog { lowest: LogLevel::Info, encoder, times, messages }
    }

    #[test]
    fn lines_have_the_forms_of_the_flags() {
        let event = ControllerEvent::Waiting { holder: "`controller` on `pod-1`".to_owned() };
        let Value::Object(fields) = serde_json::to_value(event).unwrap() else { panic!("no object") };
        let now: Timestamp = "2026-01-02T03:04:05.678901234Z".parse().unwrap();
        let line = |encoder, times| log_of(encoder, times).line(LogLevel::Info, fields.clone(), now);
        let times = TimeEncoding::value_variants().iter().map(|times| line(Encoder::Json, *times));
        assert_data_eq!(
            times.collect::<String>() + &line(Encoder::Console, TimeEncoding::Rfc3339),
            str![[r#"
{"ts":1767323045.6789012,"level":"info","msg":"waiting","holder":"`controller` on `pod-1`"}
{"ts":1767323045678.9011,"level":"info","msg":"waiting","holder":"`controller` on `pod-1`"}
{"ts":1767323045678901234,"level":"info","msg":"waiting","holder":"`controller` on `pod-1`"}
{"ts":"2026-01-02T03:04:05.678Z","level":"info","msg":"waiting","holder":"`controller` on `pod-1`"}
{"ts":"2026-01-02T03:04:05Z","level":"info","msg":"waiting","holder":"`controller` on `pod-1`"}
{"ts":"2026-01-02T03:04:05.678901234Z","level":"info","msg":"waiting","holder":"`controller` on `pod-1`"}
2026-01-02T03:04:05Z	INFO	waiting	{"holder":"`controller` on `pod-1`"}

"#]]
        );
    }

    #[test]
    fn long_errors_are_shortened() {
        let Value::Object(fields) = json!({"msg": "failed", "error": "a".repeat(1 << 20)}) else { panic!() };
        let line =
            log_of(Encoder::Json, TimeEncoding::Epoch).line(LogLevel::Error, fields, Timestamp::UNIX_EPOCH);
        assert!(line.len() < 9000 && line.contains("a…a"), "{}", line.len());
    }

    #[test]
    fn numbers_are_levels_of_debug() {
        for (text, expected) in
            [("debug", LogLevel::Debug), ("5", LogLevel::Debug), ("error", LogLevel::Error)]
        {
            assert_eq!(level(text), Ok(expected), "{text}");
        }
        for wrong in ["0", "-1", "warn", ""] {
            assert!(level(wrong).is_err(), "{wrong}");
        }
    }
}
