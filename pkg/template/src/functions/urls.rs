//! `urlParse` and `urlJoin`.
//!
//! Source: sprig 3.3 url.go, Go 1.26 net/url.

use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Map, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[("urlParse", "s", parse), ("urlJoin", "m", join)];

/// Sets of characters that may stand unescaped in a part of a URL, besides letters, digits and `-_.~`.
const PATH: &str = "$&+,/:;=@!'()*[]";
const FRAGMENT: &str = "$&+,/:;=?@!()*'[]";
const USER: &str = "$&+,;=";
const HOST: &str = "!$&'()*+,;=:[]<>\"";

#[derive(Default)]
struct Url {
    scheme: String,
    opaque: String,
    user: Option<(String, Option<String>)>,
    host: String,
    path: String,
    query: String,
    fragment: String,
}

fn parse(_: &mut dyn Engine, args: &[Value]) -> Result {
    let text = args.utf8(0);
    let url = Url::parse(&text).map_err(|reason| {
        let quoted = crate::format::quoted(text.as_bytes());
        Fault::new(format!("unable to parse url: parse {quoted}: {reason}"))
    })?;
    let hostname = url.hostname().to_owned();
    let user = url.user_text().unwrap_or_default();
    let fields = [
        ("scheme", url.scheme),
        ("host", url.host),
        ("hostname", hostname),
        ("path", url.path),
        ("query", url.query),
        ("opaque", url.opaque),
        ("fragment", url.fragment),
        ("userinfo", user),
    ];
    Ok(Value::map(fields.into_iter().map(|(key, value)| (key, Value::string(value)))))
}

fn join(_: &mut dyn Engine, args: &[Value]) -> Result {
    let map = args.map(0);
    let user = field(&map, "userinfo")?;
    let user = if user.is_empty() {
        None
    } else {
        let text = format!("proto://{user}@host");
        let parsed = Url::parse(&text).map_err(|reason| {
            let quoted = crate::format::quoted(text.as_bytes());
            Fault::new(format!("unable to parse userinfo in dict: parse {quoted}: {reason}"))
        })?;
        parsed.user
    };
    let url = Url {
        scheme: field(&map, "scheme")?,
        host: field(&map, "host")?,
        path: field(&map, "path")?,
        query: field(&map, "query")?,
        opaque: field(&map, "opaque")?,
        fragment: field(&map, "fragment")?,
        user,
    };
    Ok(url.text().into())
}

fn field(map: &Map, key: &str) -> std::result::Result<String, Fault> {
    match map.get(key.as_bytes()) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_str().into_owned()),
        Some(value) => {
            let kind = value.kind().name();
            Err(Fault::new(format!("unable to parse {key} key, must be of type string, but {kind} found")))
        }
    }
}

impl Url {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7F) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = Self { fragment: unescaped(fragment)?, ..Self::default() };
        if text == "*" {
            "*".clone_into(&mut url.path);
            return Ok(url);
        }
        let (scheme, mut rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        if let Some((before, query)) = rest.split_once('?') {
            (rest, url.query) = (before, query.to_owned());
        }
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                rest.clone_into(&mut url.opaque);
                return Ok(url);
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_authority = !url.scheme.is_empty() || !rest.starts_with("///");
        if let Some(authority) = rest.strip_prefix("//").filter(|_| has_authority) {
            let end = authority.find('/').unwrap_or(authority.len());
            rest = &authority[end..];
            url.authority(&authority[..end])?;
        }
        url.path = unescaped(rest)?;
        Ok(url)
    }

    fn authority(&mut self, authority: &str) -> std::result::Result<(), String> {
        let host = match authority.rsplit_once('@') {
            None => authority,
            Some((user, host)) => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                if !user.chars().all(allowed) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                self.user = Some(match user.split_once(':') {
                    Some((name, password)) => (unescaped(name)?, Some(unescaped(password)?)),
                    None => (unescaped(user)?, None),
                });
                host
            }
        };
        let port = match host.rfind(']') {
            Some(end) => &host[end + 1..],
            None => host.rfind(':').map_or("", |at| &host[at..]),
        };
        let is_port = port.is_empty()
            || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
        if host.starts_with('[') && !host.contains(']') {
            return Err("missing ']' in host".to_owned());
        }
        if !is_port {
            return Err(format!("invalid port {} after host", crate::format::quoted(port.as_bytes())));
        }
        if let Some(bad) = host.chars().find(|c| matches!(c, ' ' | '^' | '`' | '{' | '|' | '}' | '\\')) {
            let quoted = crate::format::quoted(bad.encode_utf8(&mut [0; 4]).as_bytes());
            return Err(format!("invalid character {quoted} in host name"));
        }
        self.host = unescaped(host)?;
        Ok(())
    }

    fn hostname(&self) -> &str {
        if let Some(end) = self.host.find(']').filter(|_| self.host.starts_with('[')) {
            return &self.host[1..end];
        }
        self.host.split_once(':').map_or(&self.host, |(name, _)| name)
    }

    fn user_text(&self) -> Option<String> {
        let (name, password) = self.user.as_ref()?;
        let name = escaped(name, USER);
        Some(password.as_ref().map_or(name.clone(), |password| format!("{name}:{}", escaped(password, USER))))
    }

    fn text(&self) -> String {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out = format!("{}:", self.scheme);
        }
        if self.opaque.is_empty() {
            if !self.scheme.is_empty() || !self.host.is_empty() || self.user.is_some() {
                if !self.host.is_empty() || !self.path.is_empty() || self.user.is_some() {
                    out += "//";
                }
                if let Some(user) = self.user_text() {
                    out += &format!("{user}@");
                }
                out += &escaped(&self.host, HOST);
            }
            let path = if self.path == "*" { "*".to_owned() } else { escaped(&self.path, PATH) };
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.push('/');
            }
            let first = path.split('/').next().unwrap_or_default();
            if out.is_empty() && first.contains(':') {
                out += "./";
            }
            out += &path;
        } else {
            out += &self.opaque;
        }
        if !self.query.is_empty() {
            out += &format!("?{}", self.query);
        }
        if !self.fragment.is_empty() {
            out += &format!("#{}", escaped(&self.fragment, FRAGMENT));
        }
        out
    }
}

/// Splits off the scheme.
fn scheme(text: &str) -> std::result::Result<(&str, &str), String> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn unescaped(text: &str) -> std::result::Result<String, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'%' {
            out.push(*byte);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            let shown = crate::format::quoted(&rest[..rest.len().min(3)]);
            return Err(format!("invalid URL escape {shown}"));
        };
        out.push(code);
        rest = &after[2..];
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn escaped(text: &str, allowed: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if byte.is_ascii_alphanumeric()
            || "-_.~".contains(character)
            || (byte.is_ascii() && allowed.contains(character))
        {
            out.push(character);
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}
