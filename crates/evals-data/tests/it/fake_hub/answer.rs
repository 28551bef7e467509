//! The answers of the fake hub.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use super::{COMMIT, Fault, REPO};

/// An answer, before a fault changes it.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: b"{\"error\":\"refused\"}".to_vec(),
        }
    }

    pub(super) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn send(self, mut stream: TcpStream, fault: Option<Fault>) -> std::io::Result<()> {
        let mut answer = self;
        let mut sent = None;
        match fault {
            Some(Fault::Status(status)) => answer = Self::status(status),
            Some(Fault::ErrorCode(status, code)) => {
                answer = Self::status(status).header("X-Error-Code", code);
            }
            Some(Fault::RateLimited(pause)) => {
                answer = Self::status(429).header("Retry-After", pause);
            }
            Some(Fault::ErrorPage) => answer = Self::ok("<html>We are busy</html>"),
            Some(Fault::Short) => answer.body.truncate(answer.body.len() / 2),
            Some(Fault::Altered) => {
                let middle = answer.body.len() / 2;
                answer.body[middle] ^= 1;
            }
            Some(Fault::Cut | Fault::Stall) => sent = Some(answer.body.len() / 2),
            Some(Fault::NextIsFirst) => {
                let first = format!(
                    "https://huggingface.co/api/datasets/{REPO}/tree/{COMMIT}?recursive=true"
                );
                answer = answer.header("Link", format!("<{first}>; rel=\"next\""));
            }
            Some(Fault::Huge) => answer = Self::ok(vec![b' '; 70 << 20]),
            Some(Fault::SentOn) => answer = Self::status(302).header("Location", "/round"),
            Some(Fault::Hang) => thread::sleep(Duration::from_secs(2)),
            Some(Fault::Reset) | None => {}
        }
        let Self {
            status,
            headers,
            body,
        } = answer;
        write!(
            stream,
            "HTTP/1.1 {status} Status\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        )?;
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n")?;
        }
        stream.write_all(b"\r\n")?;
        stream.write_all(&body[..sent.unwrap_or(body.len())])?;
        if fault == Some(Fault::Stall) {
            thread::sleep(Duration::from_secs(30));
        }
        Ok(())
    }
}
