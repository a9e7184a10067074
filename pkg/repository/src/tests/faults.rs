//! Every fault, for every way to fetch a file.

use std::{io::Write as _, time::Duration};

use support::host::{FakeHost, GitHubRelease, Reply};
use transport::{CaBundle, Event, RequestFailure, RetryReason, Settings, Timeouts};

use crate::{
    Error, File, RepositoryContext, fetch_template, fetch_url, open,
    testing::{EventLog, github_token, gitlab_token, settings, text},
};

/// A way to fetch a file. Each has its own scripted address, and some send a credential.
#[derive(Clone, Copy, Debug)]
enum Way {
    Download,
    Asset,
    Contents,
    GitLab,
    Folder,
    Plain,
}

const WAYS: [Way; 6] = [Way::Download, Way::Asset, Way::Contents, Way::GitLab, Way::Folder, Way::Plain];

impl Way {
    fn address(self) -> &'static str {
        match self {
            Way::Download => "github.com/o/r/releases/download/v1.0.0/c.yaml",
            Way::Asset => "api.github.com/repos/o/r/releases/assets/5",
            Way::Contents => "api.github.com/repos/o/r/contents/c.yaml?ref=main",
            Way::GitLab => "gitlab.example.org/api/v4/projects/42/packages/generic/p/v1.0.0/c.yaml",
            Way::Folder => "files.example.org/infrastructure-aws/v1.0.0/c.yaml",
            Way::Plain => "files.example.org/c.yaml",
        }
    }

    fn host(self) -> &'static str {
        self.address().split('/').next().unwrap()
    }

    fn token(self) -> Option<&'static str> {
        match self {
            Way::Asset | Way::Contents => Some("Bearer ghp_for_github_only"),
            Way::GitLab => Some("Bearer glpat_for_gitlab_only"),
            Way::Download | Way::Folder | Way::Plain => None,
        }
    }

    /// Settings of this fetch. A download has no GitHub token, so that the API is not tried after it.
    fn settings(self, host: &FakeHost) -> Settings {
        let github_token = if matches!(self, Way::Download) { None } else { github_token() };
        Settings { github_token, gitlab_token: gitlab_token(), ..settings(host) }
    }

    async fn fetch(self, context: &RepositoryContext) -> Result<File, Error> {
        let read = async |url: &str| {
            let repository = open(url, "infrastructure-aws", None, context)?;
            repository.read("v1.0.0", "c.yaml").await
        };
        match self {
            Way::Download | Way::Asset => read("https://github.com/o/r/releases/v1.0.0/c.yaml").await,
            Way::GitLab | Way::Folder => read(&format!("https://{}", self.address())).await,
            Way::Contents => fetch_template(context, "https://github.com/o/r/blob/main/c.yaml").await,
            Way::Plain => fetch_url(context, &format!("https://{}", self.address())).await,
        }
    }

    /// Fetches once with these replies. Returns the result and the number of requests to the scripted address.
    async fn under(self, replies: Vec<Reply>) -> (Result<File, Error>, usize) {
        let host = FakeHost::internet();
        self.script(&host, replies);
        let outcome = self.fetch(&RepositoryContext::new(self.settings(&host))).await;
        let count = host.addresses().iter().filter(|address| *address == self.address()).count();
        (outcome, count)
    }

    fn script(self, host: &FakeHost, replies: Vec<Reply>) {
        let release = r#"{"tag_name":"v1.0.0","assets":[{"id":5,"name":"c.yaml"}]}"#;
        host.on("api.github.com/repos/o/r/releases/tags/v1.0.0", Reply::json(200, release));
        host.on_sequence(self.address(), replies);
    }
}

fn failure(outcome: &Result<File, Error>) -> &RequestFailure {
    &outcome.as_ref().unwrap_err().request().expect("a failed request").failure
}

// Row: D-18
#[tokio::test]
async fn a_temporary_fault_is_retried_until_the_file_arrives() {
    for way in WAYS {
        let retry_now = Reply::status(429).header("retry-after", "0");
        for fault in [Reply::status(500), Reply::status(503), retry_now, Reply::file("longer").cut_after(2)] {
            let (file, count) = way.under(vec![fault.clone(), Reply::file("good")]).await;
            assert_eq!((text(&file.unwrap()), count), ("good", 2), "{way:?} {fault:?}");
        }
    }
}

// Row: D-17
#[tokio::test]
async fn a_permanent_fault_fails_after_three_attempts() {
    for way in WAYS {
        let (outcome, count) = way.under(vec![Reply::json(502, r#"{"message":"Bad Gateway"}"#)]).await;
        assert!(matches!(failure(&outcome), RequestFailure::Status { status: 502, .. }), "{way:?}");
        assert_eq!((count, outcome.unwrap_err().request().unwrap().attempts), (3, 3), "{way:?}");
        let (outcome, count) = way.under(vec![Reply::file("longer").cut_after(2)]).await;
        let truncated = matches!(
            failure(&outcome),
            RequestFailure::Truncated { received_bytes: 2, expected_bytes: Some(6) }
        );
        assert!(truncated && count == 3, "{way:?} {outcome:?}");
    }
}

// Row: D-17
#[tokio::test]
async fn refusals_exhausted_quotas_and_missing_files_are_not_retried() {
    for way in WAYS {
        for (reply, status) in [(Reply::status(401), 401), (Reply::status(403), 403)] {
            let (outcome, count) = way.under(vec![reply]).await;
            let refused = matches!(failure(&outcome), RequestFailure::Unauthorized { status: seen, .. } if *seen == status);
            assert!(refused && count == 1, "{way:?} {outcome:?}");
        }
        let (outcome, count) = way.under(vec![Reply::github_rate_limit(60, 9)]).await;
        assert!(
            matches!(failure(&outcome), RequestFailure::RateLimited { secondary: false, .. }) && count == 1,
            "{way:?}"
        );
        assert_eq!(outcome.unwrap_err().request().unwrap().quota.unwrap().limit, Some(60));
        let patience = Reply::status(429).header("retry-after", "3600");
        let (outcome, count) = way.under(vec![patience]).await;
        let asks_for_more = Some(Duration::from_hours(1));
        let limited = matches!(failure(&outcome), RequestFailure::RateLimited { retry_after, .. } if *retry_after == asks_for_more);
        assert!(limited && count == 1, "{way:?} {outcome:?}");
        let (outcome, count) = way.under(vec![Reply::status(404)]).await;
        assert!(outcome.is_err() && count == 1, "{way:?}");
    }
}

// Row: D-32
#[tokio::test]
async fn a_web_page_instead_of_a_file_is_a_failure() {
    for way in WAYS {
        let (outcome, count) = way.under(vec![Reply::web_page()]).await;
        assert!(matches!(failure(&outcome), RequestFailure::WebPage) && count == 1, "{way:?} {outcome:?}");
    }
}

// Row: D-32
#[tokio::test]
async fn a_web_page_is_recognised_for_any_content_type() {
    let pages = [
        "<!DOCTYPE html>\n<html><body>Sign in</body></html>",
        "\n  <HTML lang=\"en\"><head>",
        "\u{feff}<!doctype html><html>",
        "<!-- proxy 7 --><html><body>",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\">",
    ];
    for way in WAYS {
        for reply in pages.into_iter().flat_map(|page| [Reply::file(page), Reply::text(page)]) {
            let (outcome, count) = way.under(vec![reply]).await;
            assert!(
                matches!(failure(&outcome), RequestFailure::WebPage) && count == 1,
                "{way:?} {outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_file_that_mentions_a_web_page_is_a_file() {
    for file in ["# <!DOCTYPE html>\nkind: ConfigMap\n", "data: {index: \"<html></html>\"}", "<config/>"] {
        let (outcome, _) = Way::Plain.under(vec![Reply::file(file)]).await;
        assert_eq!(text(&outcome.unwrap()), file);
    }
}

// Row: D-20
#[tokio::test]
async fn a_silent_host_is_a_timeout_after_the_idle_time() {
    let idle = Duration::from_secs(1);
    let waits = WAYS.into_iter().flat_map(|way| [(way, 0), (way, 3)]).map(async |(way, silent_after)| {
        let host = FakeHost::internet();
        way.script(&host, vec![Reply::file("slow body").stall_after(silent_after)]);
        let timeouts = Timeouts { idle, ..settings(&host).timeouts };
        let outcome = way.fetch(&RepositoryContext::new(Settings { timeouts, ..way.settings(&host) })).await;
        let timed_out = matches!(failure(&outcome), RequestFailure::TimedOut { waited } if *waited == idle);
        assert!(timed_out, "{way:?} {outcome:?}");
    });
    futures::future::join_all(waits).await;
}

// Row: D-20
#[tokio::test]
async fn a_host_that_sends_byte_by_byte_is_too_slow() {
    let idle = Duration::from_secs(1);
    let waits = [200, 404].map(async |status| {
        let host = FakeHost::internet();
        let slow = Reply::status(status).body(vec![b'x'; 4000]).trickle(Duration::from_millis(20));
        host.on("files.example.org/c.yaml", slow);
        let timeouts = Timeouts { idle, ..settings(&host).timeouts };
        let outcome =
            Way::Plain.fetch(&RepositoryContext::new(Settings { timeouts, ..settings(&host) })).await;
        match failure(&outcome) {
            RequestFailure::TooSlow { .. } => assert_eq!(status, 200),
            RequestFailure::Status { status: 404, message: Some(start) } => {
                assert!(start.len() < 200, "{start}");
            }
            other => panic!("{other:?}"),
        }
    });
    futures::future::join_all(waits).await;
}

#[tokio::test]
async fn a_redirect_to_another_host_is_followed_without_the_credential() {
    for way in WAYS {
        let host = FakeHost::internet();
        // Another host for the client, at another address.
        let other = FakeHost::start(&["storage.example.org"]);
        way.script(&host, vec![Reply::redirect("https://storage.example.org/blob?sig=s3cret")]);
        other.on("storage.example.org/blob?sig=s3cret", Reply::file("stored"));
        let mut settings = way.settings(&host);
        settings.extra_roots.push(other.ca_pem().as_bytes().to_vec());
        settings.resolve.insert("storage.example.org".to_owned(), other.address());
        let file = way.fetch(&RepositoryContext::new(settings)).await.unwrap();
        assert_eq!(text(&file), "stored");
        assert!(!file.source.to_string().contains("s3cret"));
        let first = host.received().into_iter().find(|request| request.address() == way.address()).unwrap();
        assert_eq!(first.header("authorization"), way.token(), "{way:?}");
        let second = other.received().pop().unwrap();
        assert_eq!((second.header("authorization"), second.header("referer")), (None, None), "{way:?}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_port_is_followed_without_the_credential() {
    for way in WAYS {
        let (host, other) = (FakeHost::internet(), FakeHost::start(&[way.host()]));
        let to = format!("https://{}:{}/blob", way.host(), other.address().port());
        way.script(&host, vec![Reply::redirect(&to)]);
        other.on(format!("{}/blob", way.host()), Reply::file("stored"));
        let mut settings = way.settings(&host);
        settings.extra_roots.push(other.ca_pem().as_bytes().to_vec());
        assert_eq!(text(&way.fetch(&RepositoryContext::new(settings)).await.unwrap()), "stored");
        assert_eq!(other.received().pop().unwrap().header("authorization"), None, "{way:?}");
    }
}

// Row: D-33
#[tokio::test]
async fn a_redirect_to_http_or_in_a_loop_is_refused() {
    for way in WAYS {
        let host = FakeHost::internet();
        let plain = format!("{}/c.yaml", host.proxy_url());
        way.script(&host, vec![Reply::redirect(&plain)]);
        host.on("127.0.0.1/c.yaml", Reply::file("stolen"));
        let outcome = way.fetch(&RepositoryContext::new(way.settings(&host))).await;
        assert!(
            matches!(failure(&outcome), RequestFailure::Redirect { reason } if reason.contains("https to http")),
            "{way:?}"
        );
        assert!(host.received().iter().all(|request| request.tls), "{way:?}");
        let (outcome, count) = way.under(vec![Reply::redirect(&format!("https://{}", way.address()))]).await;
        assert_eq!(count, 11, "{way:?}");
        assert!(
            matches!(failure(&outcome), RequestFailure::Redirect { reason } if reason.contains("too many")),
            "{way:?}"
        );
    }
}

// Row: D-34
#[tokio::test]
async fn a_response_over_the_limit_is_refused() {
    for way in WAYS {
        for (size, fits) in [(5000, true), (5001, false)] {
            for reply in
                [Reply::file(vec![b'x'; size]), Reply::file(vec![b'x'; size]).without_content_length()]
            {
                let host = FakeHost::internet();
                way.script(&host, vec![reply]);
                let settings = Settings { max_file_bytes: 5000, ..way.settings(&host) };
                let outcome = way.fetch(&RepositoryContext::new(settings)).await;
                if fits {
                    assert_eq!(outcome.unwrap().bytes.len(), size, "{way:?}");
                } else {
                    assert!(
                        matches!(failure(&outcome), RequestFailure::TooLarge { limit_bytes: 5000 }),
                        "{way:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_lost_connection_is_retried_with_events() {
    let host = FakeHost::internet();
    host.on_sequence("files.example.org/c.yaml", [Reply::close(), Reply::file("good")]);
    let log = EventLog::default();
    let mut settings = settings(&host);
    log.listen(&mut settings);
    assert!(fetch_url(&RepositoryContext::new(settings), "https://files.example.org/c.yaml").await.is_ok());
    let url = "https://files.example.org/c.yaml".to_owned();
    let events = log.events();
    let [started, ended, Event::Retrying { reason, .. }, rest @ ..] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (started, ended),
        (&Event::RequestStarted { url: url.clone() }, &Event::RequestEnded { url: url.clone() })
    );
    assert!(matches!(reason, RetryReason::Connection | RetryReason::Truncated));
    assert!(rest.contains(&Event::Progress { url, received_bytes: 4, total_bytes: Some(4) }), "{rest:?}");
}

#[tokio::test]
async fn an_untrusted_certificate_names_the_host_and_is_not_retried() {
    for way in WAYS {
        let (host, stranger) = (FakeHost::internet(), FakeHost::internet());
        way.script(&host, vec![Reply::file("good")]);
        let mut settings = way.settings(&host);
        settings.resolve.insert(way.host().to_owned(), stranger.address());
        let outcome = way.fetch(&RepositoryContext::new(settings)).await;
        let at = format!("{}:443", way.host());
        assert!(
            matches!(failure(&outcome), RequestFailure::Certificate { host, .. } if *host == at),
            "{way:?} {outcome:?}"
        );
        assert_eq!(outcome.unwrap_err().request().unwrap().attempts, 1);
        assert!(stranger.received().is_empty(), "{way:?}");
    }
}

#[tokio::test]
async fn a_ca_file_makes_a_private_host_trusted() {
    let host = FakeHost::internet();
    host.on("files.example.org/c.yaml", Reply::file("good"));
    let fetch = async |ca: &std::path::Path| {
        let ca_bundles = vec![CaBundle { path: ca.to_owned(), named_by: "SSL_CERT_FILE".to_owned() }];
        let context =
            RepositoryContext::new(Settings { extra_roots: Vec::new(), ca_bundles, ..settings(&host) });
        fetch_url(&context, "https://files.example.org/c.yaml").await
    };
    let mut file = tempfile::NamedTempFile::new().unwrap();
    assert!(
        matches!(fetch(file.path()).await, Err(Error::Transport(transport::Error::CaFile { path, .. })) if path == file.path())
    );
    file.write_all(host.ca_pem().as_bytes()).unwrap();
    assert_eq!(text(&fetch(file.path()).await.unwrap()), "good");
    assert!(matches!(
        fetch("/nonexistent/ca.pem".as_ref()).await,
        Err(Error::Transport(transport::Error::Read { .. }))
    ));
}

#[tokio::test]
async fn an_unreachable_host_is_reported() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for way in WAYS {
        let host = FakeHost::internet();
        way.script(&host, vec![Reply::file("good")]);
        let mut settings = way.settings(&host);
        settings.resolve.insert(way.host().to_owned(), closed);
        let outcome = way.fetch(&RepositoryContext::new(settings)).await;
        let at = format!("{}:443", way.host());
        assert!(
            matches!(failure(&outcome), RequestFailure::Connect { host, .. } if *host == at),
            "{way:?} {outcome:?}"
        );
        assert_eq!(outcome.unwrap_err().request().unwrap().attempts, 3);
    }
}

#[tokio::test]
async fn a_download_without_a_token_stops_after_a_miss() {
    let host = FakeHost::internet();
    GitHubRelease::new("o/r", "v1.0.0").publish(&host);
    assert!(Way::Download.fetch(&RepositoryContext::new(settings(&host))).await.unwrap_err().is_not_found());
    assert_eq!(host.addresses(), [Way::Download.address()]);
}
