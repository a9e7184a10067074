use std::time::Duration;

/// The end of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyEnding {
    /// A complete reply.
    Complete,
    /// Closes the connection after this many bytes of the body.
    CutAfter(usize),
    /// A complete reply without a content length: the end of the connection ends the body.
    NoContentLength,
    /// Sends nothing more after this many bytes of the body.
    StallAfter(usize),
    /// Sends the body byte by byte, with this delay.
    Trickle(Duration),
    /// Closes the connection without a reply.
    Close,
}

/// A scripted reply.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) ending: ReplyEnding,
}

impl Reply {
    /// A reply with a status and no body.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), ending: ReplyEnding::Complete }
    }

    /// A file.
    pub fn file(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200).header("content-type", "application/octet-stream").body(body)
    }

    /// Plain text.
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200).header("content-type", "text/plain; charset=utf-8").body(body)
    }

    /// JSON with a status.
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::status(status).header("content-type", "application/json; charset=utf-8").body(body)
    }

    /// A web page, such as a login page or a captive portal.
    pub fn web_page() -> Self {
        let page = "<!DOCTYPE html>\n<html><body>Sign in</body></html>";
        Self::status(200).header("content-type", "text/html; charset=utf-8").body(page)
    }

    /// A redirect.
    pub fn redirect(to: &str) -> Self {
        Self::status(302).header("location", to)
    }

    /// The reply of GitHub when the hourly request limit is exhausted.
    pub fn github_rate_limit(limit: u64, resets_at: u64) -> Self {
        Self::json(403, r#"{"message":"API rate limit exceeded for 203.0.113.7.","documentation_url":"https://docs.github.com/rest"}"#)
            .header("x-ratelimit-limit", &limit.to_string())
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", &resets_at.to_string())
    }

    /// The reply of GitHub to too many concurrent requests.
    pub fn github_secondary_limit() -> Self {
        Self::json(
            403,
            r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}"#,
        )
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Closes the connection after some bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.ending = ReplyEnding::CutAfter(bytes);
        self
    }

    /// Stops sending after some bytes of the body.
    #[must_use]
    pub fn stall_after(mut self, bytes: usize) -> Self {
        self.ending = ReplyEnding::StallAfter(bytes);
        self
    }

    /// Sends the body byte by byte, with this delay.
    #[must_use]
    pub fn trickle(mut self, every: Duration) -> Self {
        self.ending = ReplyEnding::Trickle(every);
        self
    }

    /// Omits the content length.
    #[must_use]
    pub fn without_content_length(mut self) -> Self {
        self.ending = ReplyEnding::NoContentLength;
        self
    }

    /// Closes the connection without a reply.
    pub fn close() -> Self {
        Self { ending: ReplyEnding::Close, ..Self::status(200) }
    }
}
