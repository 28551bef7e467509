//! The objects of one bucket, and the requests of S3 that read and write them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Answer, KEY, Seen};

/// The bucket. No other one exists.
pub(crate) const BUCKET: &str = "bucket";
const MODIFIED: &str = "Sun, 22 Nov 2026 00:00:00 GMT";

/// The objects, and the parts of uploads that are not complete.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    by_key: BTreeMap<String, Vec<u8>>,
    uploads: BTreeMap<u64, BTreeMap<u32, Vec<u8>>>,
    last_upload: u64,
    honours_conditions: bool,
}

impl Objects {
    pub(super) fn new(honours_conditions: bool) -> Self {
        Self {
            honours_conditions,
            ..Self::default()
        }
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.by_key.keys().cloned().collect()
    }

    pub(super) fn delete(&mut self, part: &str) {
        self.by_key.retain(|key, _| !key.contains(part));
    }

    pub(super) fn answer(&mut self, seen: &Seen) -> Answer {
        let credential = format!("Credential={KEY}/");
        if !seen
            .header("authorization")
            .is_some_and(|it| it.contains(&credential))
        {
            return error(403, "InvalidAccessKeyId", "The access key is unknown.");
        }
        let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
        let path = decoded(path);
        let (bucket, key) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        if bucket != BUCKET {
            return error(404, "NoSuchBucket", "The specified bucket does not exist");
        }
        let query = parameters(query);
        match (seen.method.as_str(), query.get("uploadId")) {
            ("GET", _) if query.contains_key("list-type") => self.list(&query),
            ("GET" | "HEAD", _) => self.read(key, seen.header("range")),
            ("PUT", Some(upload)) => {
                let part = query["partNumber"].parse().unwrap();
                let upload = upload.parse().unwrap();
                let parts = self.uploads.get_mut(&upload).unwrap();
                parts.insert(part, seen.body.clone());
                written(&seen.body)
            }
            ("PUT", None) => self.write(key, seen, seen.body.clone()),
            ("POST", None) if query.contains_key("uploads") => self.begin(key),
            ("POST", None) if query.contains_key("delete") => self.delete_all(seen),
            ("POST", Some(upload)) => {
                let parts = self.uploads.remove(&upload.parse().unwrap()).unwrap();
                let body: Vec<u8> = parts.into_values().flatten().collect();
                let tag = tag(&body);
                let outcome = self.write(key, seen, body);
                if outcome.status != 200 {
                    return outcome;
                }
                xml(
                    200,
                    &format!(
                        "<CompleteMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{key}</Key><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
                    ),
                )
            }
            ("DELETE", Some(upload)) => {
                self.uploads.remove(&upload.parse().unwrap());
                plain(204, Vec::new())
            }
            ("DELETE", None) => {
                self.by_key.remove(key);
                plain(204, Vec::new())
            }
            _ => error(501, "NotImplemented", &seen.method),
        }
    }

    fn write(&mut self, key: &str, seen: &Seen, body: Vec<u8>) -> Answer {
        let is_conditional = seen.header("if-none-match") == Some("*");
        if is_conditional && self.honours_conditions && self.by_key.contains_key(key) {
            return error(412, "PreconditionFailed", "The object exists.");
        }
        let answer = written(&body);
        self.by_key.insert(key.to_owned(), body);
        answer
    }

    fn read(&self, key: &str, range: Option<&str>) -> Answer {
        let Some(content) = self.by_key.get(key) else {
            return error(404, "NoSuchKey", "The specified key does not exist.");
        };
        let mut headers = vec![
            ("last-modified".to_owned(), MODIFIED.to_owned()),
            ("etag".to_owned(), tag(content)),
        ];
        let Some((start, end)) = range.map(|range| bounds(range, content.len())) else {
            headers.push(("content-length".to_owned(), content.len().to_string()));
            return Answer {
                status: 200,
                headers,
                body: content.clone(),
            };
        };
        if start >= content.len() {
            return error(416, "InvalidRange", "The range is not satisfiable");
        }
        let stated = format!("bytes {start}-{}/{}", end - 1, content.len());
        headers.push(("content-range".to_owned(), stated));
        Answer {
            status: 206,
            headers,
            body: content[start..end].to_vec(),
        }
    }

    fn begin(&mut self, key: &str) -> Answer {
        self.last_upload += 1;
        self.uploads.insert(self.last_upload, BTreeMap::new());
        xml(
            200,
            &format!(
                "<InitiateMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{key}</Key><UploadId>{}</UploadId></InitiateMultipartUploadResult>",
                self.last_upload
            ),
        )
    }

    fn delete_all(&mut self, seen: &Seen) -> Answer {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        let mut deleted = String::new();
        for piece in body.split("<Key>").skip(1) {
            let key = piece.split("</Key>").next().unwrap();
            self.by_key.remove(key);
            write!(deleted, "<Deleted><Key>{key}</Key></Deleted>").unwrap();
        }
        xml(200, &format!("<DeleteResult>{deleted}</DeleteResult>"))
    }

    fn list(&self, query: &BTreeMap<String, String>) -> Answer {
        let of = |name: &str| query.get(name).map_or("", String::as_str);
        let (prefix, delimiter) = (of("prefix"), of("delimiter"));
        let after = of("start-after").max(of("continuation-token"));
        let most: usize = of("max-keys").parse().unwrap_or(1_000);
        let mut entries = BTreeSet::new();
        let keys = self.by_key.keys().filter(|key| key.starts_with(prefix));
        for key in keys {
            let rest = &key[prefix.len()..];
            let entry = match rest.find(delimiter).filter(|_| !delimiter.is_empty()) {
                Some(end) => key[..prefix.len() + end + delimiter.len()].to_owned(),
                None => key.clone(),
            };
            if entry.as_str() > after {
                entries.insert(entry);
            }
        }
        let is_truncated = entries.len() > most;
        let page: Vec<String> = entries.into_iter().take(most).collect();
        let mut listed = String::new();
        for entry in &page {
            match self.by_key.get(entry).filter(|_| delimiter.is_empty() || !entry.ends_with(delimiter)) {
                Some(content) => write!(
                    listed,
                    "<Contents><Key>{entry}</Key><LastModified>2026-11-22T00:00:00.000Z</LastModified><ETag>{}</ETag><Size>{}</Size><StorageClass>STANDARD</StorageClass></Contents>",
                    tag(content),
                    content.len()
                ),
                None => write!(listed, "<CommonPrefixes><Prefix>{entry}</Prefix></CommonPrefixes>"),
            }
            .unwrap();
        }
        let next = match page.last().filter(|_| is_truncated) {
            Some(last) => format!("<NextContinuationToken>{last}</NextContinuationToken>"),
            None => String::new(),
        };
        xml(
            200,
            &format!(
                "<ListBucketResult><Name>{BUCKET}</Name><Prefix>{prefix}</Prefix><KeyCount>{}</KeyCount><MaxKeys>{most}</MaxKeys><IsTruncated>{is_truncated}</IsTruncated>{next}{listed}</ListBucketResult>",
                page.len()
            ),
        )
    }
}

/// A page of a list without objects.
pub(super) fn empty_page(is_truncated: bool) -> Answer {
    let next = if is_truncated {
        "<NextContinuationToken>next</NextContinuationToken>"
    } else {
        ""
    };
    xml(
        200,
        &format!(
            "<ListBucketResult><Name>{BUCKET}</Name><Prefix></Prefix><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>{is_truncated}</IsTruncated>{next}</ListBucketResult>"
        ),
    )
}

/// An answer that refuses a request with a code of S3.
pub(super) fn refusal(status: u16) -> Answer {
    match status {
        503 => error(503, "SlowDown", "Please reduce your request rate."),
        403 => error(403, "AccessDenied", "Access Denied"),
        _ => error(status, "InternalError", "We encountered an internal error."),
    }
}

fn error(status: u16, code: &str, message: &str) -> Answer {
    xml(
        status,
        &format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>"),
    )
}

fn xml(status: u16, content: &str) -> Answer {
    plain(
        status,
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{content}").into_bytes(),
    )
}

fn plain(status: u16, body: Vec<u8>) -> Answer {
    Answer {
        status,
        headers: Vec::new(),
        body,
    }
}

fn written(body: &[u8]) -> Answer {
    Answer {
        headers: vec![("etag".to_owned(), tag(body))],
        ..plain(200, Vec::new())
    }
}

/// A digest that differs for different contents, in quotes.
fn tag(content: &[u8]) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Start and end of `bytes=1-2`, `bytes=1-` or `bytes=-2`.
fn bounds(range: &str, length: usize) -> (usize, usize) {
    let (start, end) = range
        .strip_prefix("bytes=")
        .unwrap()
        .split_once('-')
        .unwrap();
    match (start.parse(), end.parse::<usize>()) {
        (Ok(start), Ok(last)) => (start, length.min(last + 1)),
        (Ok(start), Err(_)) => (start, length),
        (Err(_), last) => (length.saturating_sub(last.unwrap()), length),
    }
}

fn parameters(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' && tail.len() >= 2 {
            let digits = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap()
}
