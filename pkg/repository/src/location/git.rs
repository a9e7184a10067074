use std::borrow::Cow;

use transport::{address::percent_decode, names::check_file};
use url::Url;

use super::{GitLocation, GitReference, LocationError};

/// Parses `git+…://{remote}//{folder/}{file}?ref=…`. An ssh remote may contain a user, because `git@` is not secret.
pub(super) fn parse(url: &Url) -> Result<GitLocation, LocationError> {
    let refuse = |problem: &str| LocationError::GitForm { problem: problem.to_owned() };
    let is_ssh = url.scheme() == "git+ssh";
    if url.password().is_some() || (!is_ssh && !url.username().is_empty()) {
        return Err(LocationError::HasCredential);
    }
    let (repository, inside) =
        url.path().split_once("//").ok_or_else(|| refuse("`//` is missing after the repository"))?;
    if repository.is_empty() {
        return Err(refuse("the repository is missing"));
    }
    let inside = percent_decode(inside);
    check_file(&inside).map_err(|_| refuse("the part after `//` is not a plain file path"))?;
    let (folder, file) = inside.rsplit_once('/').unwrap_or(("", &inside));
    let host = match (url.scheme(), url.host_str()) {
        ("git+file", None) => String::new(),
        ("git+file", Some(_)) => {
            return Err(refuse("write the URL of a local repository with three slashes: git+file:///path"));
        }
        (_, None) => return Err(refuse("the host is missing")),
        (_, Some(host)) => {
            let user = if url.username().is_empty() { String::new() } else { format!("{}@", url.username()) };
            url.port().map_or_else(|| format!("{user}{host}"), |port| format!("{user}{host}:{port}"))
        }
    };
    let scheme = url.scheme().trim_start_matches("git+");
    Ok(GitLocation {
        remote: format!("{scheme}://{host}{repository}"),
        folder: folder.to_owned(),
        file: file.to_owned(),
        reference: reference(url)?,
    })
}

fn reference(url: &Url) -> Result<GitReference, LocationError> {
    let refuse = |problem: String| LocationError::GitForm { problem };
    let (mut tree_ish, mut version) = (None, None);
    for (key, value) in url.query_pairs() {
        match &*key {
            "ref" => tree_ish = Some(value),
            "version" => version = Some(value),
            other => return Err(refuse(format!("`{other}` is neither `ref` nor `version`"))),
        }
    }
    let is_version = |text: &str| api::Version::parse(text).is_ok();
    let tree_ish = tree_ish.unwrap_or(Cow::Borrowed("latest"));
    // Git would read a leading dash as an option.
    if tree_ish.is_empty() || tree_ish.starts_with('-') || tree_ish.contains(char::is_whitespace) {
        return Err(refuse("`ref` is not a valid branch, tag or commit".to_owned()));
    }
    match (&*tree_ish, version) {
        (_, Some(version)) if !is_version(&version) => {
            Err(refuse(format!("`{version}` is not a semantic version")))
        }
        (tree_ish, Some(version)) => {
            Ok(GitReference::Pinned { tree_ish: tree_ish.to_owned(), version: version.into_owned() })
        }
        ("latest", None) => Ok(GitReference::Latest),
        (tag, None) if is_version(tag) => Ok(GitReference::Tag(tag.to_owned())),
        (other, None) => {
            Err(refuse(format!("`{other}` is not a semantic version; add a version with `&version=v1.2.3`")))
        }
    }
}
