//! Realistic replies of real hosts, built from the parts that tests need.

use super::{FakeHost, Reply};

/// A release on github.com: plain downloads that redirect to storage, the release by tag, its assets.
#[derive(Clone, Debug)]
pub struct GitHubRelease {
    repository: String,
    tag: String,
    files: Vec<(String, Vec<u8>)>,
    private: bool,
    id: u64,
}

impl GitHubRelease {
    /// A public release without files. `repository` is `owner/repo`.
    pub fn new(repository: &str, tag: &str) -> Self {
        // Assets of different releases must have different ids.
        let id = tag.bytes().fold(7_u64, |id, byte| (id * 31 + u64::from(byte)) % 1_000_000) * 100;
        Self { repository: repository.to_owned(), tag: tag.to_owned(), files: Vec::new(), private: false, id }
    }

    /// Adds an asset.
    #[must_use]
    pub fn file(mut self, name: &str, body: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), body.into()));
        self
    }

    /// Makes plain downloads return 404, as in private repositories.
    #[must_use]
    pub fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// The release in the format of the REST API.
    pub fn json(&self) -> String {
        let Self { repository, tag, id, .. } = self;
        let assets: Vec<String> = self
            .files
            .iter()
            .zip(id + 1..)
            .map(|((name, body), asset)| {
                let (size, api) = (body.len(), "https://api.github.com");
                format!(
                    r#"{{"url":"{api}/repos/{repository}/releases/assets/{asset}","id":{asset},"name":"{name}","state":"uploaded","content_type":"application/octet-stream","size":{size},"browser_download_url":"https://github.com/{repository}/releases/download/{tag}/{name}"}}"#
                )
            })
            .collect();
        let prerelease = tag.contains('-');
        format!(
            r#"{{"url":"https://api.github.com/repos/{repository}/releases/{id}","id":{id},"tag_name":"{tag}","name":"{tag}","draft":false,"prerelease":{prerelease},"assets":[{}]}}"#,
            assets.join(",")
        )
    }

    /// Scripts all addresses of the release on a host.
    pub fn publish(&self, host: &FakeHost) {
        let Self { repository, tag, id, .. } = self;
        let api = format!("api.github.com/repos/{repository}/releases");
        host.on(format!("{api}/tags/{tag}"), Reply::json(200, self.json()));
        for ((name, body), asset) in self.files.iter().zip(id + 1..) {
            let storage = format!("objects.githubusercontent.com/{repository}/{tag}/{name}?sig=s3cret");
            host.on(&*storage, Reply::file(body.clone()));
            let redirect = Reply::redirect(&format!("https://{storage}"));
            host.on(format!("{api}/assets/{asset}"), redirect.clone());
            if !self.private {
                host.on(format!("github.com/{repository}/releases/download/{tag}/{name}"), redirect);
            }
        }
    }
}

/// One page of the list of releases, with a link to the next page, if any.
pub fn github_releases_page(repository: &str, tags: &[&str], next: Option<&str>) -> Reply {
    let releases: Vec<String> = tags.iter().map(|tag| GitHubRelease::new(repository, tag).json()).collect();
    let page = Reply::json(200, format!("[{}]", releases.join(",")));
    match next {
        Some(next) => {
            let last = "https://api.github.com/repositories/1/releases?per_page=100&page=9";
            page.header("link", &format!(r#"<{next}>; rel="next", <{last}>; rel="last""#))
        }
        None => page,
    }
}
