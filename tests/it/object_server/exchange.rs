//! Requests and answers of HTTP/1.1 on a connection.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a connection may be idle.
const PATIENCE: Duration = Duration::from_mins(2);

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// As sent, with the parameters.
    pub(crate) path: String,
    /// In the order of the request.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// A header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Whether it writes an object whose key contains `part`.
    pub(crate) fn writes(&self, part: &str) -> bool {
        matches!(self.method.as_str(), "PUT" | "POST") && self.path.contains(part)
    }
}

/// Answers the requests of one connection in turn, until `answer` closes it.
pub(super) async fn serve<F: Future<Output = Option<Answer>>>(
    stream: TcpStream,
    answer: impl Fn(Seen) -> F,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some((line, headers)) = read_head(&mut stream).await? {
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next(), words.next());
        let body = read_body(&mut stream, &headers, true).await?;
        let seen = Seen {
            method: method.unwrap_or_default(),
            path: path.unwrap_or_default(),
            headers,
            body,
        };
        let has_body = seen.method != "HEAD";
        let Some(answer) = answer(seen).await else {
            return Ok(());
        };
        write_answer(stream.get_mut(), &answer, has_body).await?;
    }
    Ok(())
}

/// Sends a request to a server and returns its answer. Keeps the host that the caller signed.
pub(super) async fn pass_on(address: SocketAddr, seen: &Seen) -> io::Result<Answer> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let mut head = format!("{} {} HTTP/1.1\r\n", seen.method, seen.path);
    for (name, value) in &seen.headers {
        if !["connection", "content-length"].contains(&name.as_str()) {
            head.extend([name, ": ", value, "\r\n"]);
        }
    }
    let length = seen.body.len();
    stream.write_all(head.as_bytes()).await?;
    let end = format!("content-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(end.as_bytes()).await?;
    stream.write_all(&seen.body).await?;
    let (line, headers) = read_head(&mut stream)
        .await?
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let has_body = seen.method != "HEAD" && status != Some(204) && status != Some(304);
    let body = if has_body {
        read_body(&mut stream, &headers, false).await?
    } else {
        Vec::new()
    };
    Ok(Answer {
        status: status.ok_or(io::ErrorKind::InvalidData)?,
        headers,
        body,
    })
}

async fn read_head<R: AsyncRead + Unpin>(
    stream: &mut BufReader<R>,
) -> io::Result<Option<(String, Vec<(String, String)>)>> {
    let mut first = String::new();
    if timeout(PATIENCE, stream.read_line(&mut first)).await?? == 0 {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        timeout(PATIENCE, stream.read_line(&mut line)).await??;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok(Some((first.trim_end().to_owned(), headers)));
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

async fn read_body<R: AsyncRead + Unpin>(
    stream: &mut BufReader<R>,
    headers: &[(String, String)],
    is_request: bool,
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if header(headers, "transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).await?;
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            let start = body.len();
            body.resize(start + size, 0);
            stream.read_exact(&mut body[start..]).await?;
            stream.read_line(&mut String::new()).await?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    match header(headers, "content-length").and_then(|length| length.parse().ok()) {
        Some(length) => {
            body.resize(length, 0);
            timeout(PATIENCE, stream.read_exact(&mut body)).await??;
        }
        None if is_request => {}
        None => {
            stream.read_to_end(&mut body).await?;
        }
    }
    Ok(body)
}

async fn write_answer<W: AsyncWrite + Unpin>(
    stream: &mut W,
    answer: &Answer,
    has_body: bool,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", answer.status);
    let own = ["transfer-encoding", "connection", "content-length"];
    for (name, value) in &answer.headers {
        if !own.contains(&name.as_str()) {
            head.extend([name, ": ", value, "\r\n"]);
        }
    }
    let told = header(&answer.headers, "content-length").filter(|_| !has_body);
    let length = told.map_or_else(|| answer.body.len().to_string(), str::to_owned);
    if answer.status != 204 {
        head.extend(["content-length: ", &length, "\r\n"]);
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    if has_body {
        stream.write_all(&answer.body).await?;
    }
    stream.flush().await
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|(written, _)| written == name);
    found.map(|(_, value)| value.as_str())
}
