//! Requests and answers on a connection.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::reaction::{Ending, Reaction, Saying};
use super::{Ledger, Received, Script, sound};

/// Nothing takes longer: neither a request to arrive nor silence.
const LONGEST: Duration = Duration::from_secs(30);
/// No body is larger.
const LARGEST: usize = 16 << 20;

/// Answers the requests of one connection until it ends.
pub(super) async fn serve(stream: TcpStream, script: &Script, ledger: &Ledger) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = timeout(LONGEST, read(&mut stream)).await?? {
        let before = ledger.enter(&request);
        let saying = Saying::of("ok");
        match script(&request, before) {
            Reaction::Say(saying) => say(&mut stream, &request, &saying, ledger).await?,
            Reaction::Sound => say(&mut stream, &request, &saying, ledger).await?,
            Reaction::Status(status, headers, body) => {
                write(&mut stream, status, &headers, &body).await?;
            }
            Reaction::Hang => {
                sleep(LONGEST).await;
                return Ok(());
            }
            Reaction::Drip(pieces, pause) => drip(&mut stream, &pieces, pause).await?,
            Reaction::Lines(lines, ending) => {
                let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
                if stream_body(&mut stream, "application/x-ndjson", &lines, ending).await? {
                    return Ok(());
                }
            }
            Reaction::Events(events, ending) => {
                if stream_body(
                    &mut stream,
                    "text/event-stream; charset=utf-8",
                    &events,
                    ending,
                )
                .await?
                {
                    return Ok(());
                }
            }
            Reaction::Reset => {
                half(&mut stream).await?;
                stream.get_ref().set_zero_linger()?;
                return Ok(());
            }
            Reaction::Close => return half(&mut stream).await,
        }
    }
    Ok(())
}

async fn say(
    stream: &mut BufReader<TcpStream>,
    request: &Received,
    saying: &Saying,
    ledger: &Ledger,
) -> Result<()> {
    sleep(saying.after).await;
    let (kind, body) = sound::answer(request, saying);
    // Before it is written: whoever has read the answer finds it counted.
    ledger.succeed(request);
    write(stream, 200, &[("content-type", kind.to_owned())], &body).await
}

async fn read(stream: &mut BufReader<TcpStream>) -> Result<Option<Received>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next(), words.next());
    let headers = read_headers(stream).await?;
    let length = headers.get("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > LARGEST {
        return Err(Error::new(ErrorKind::InvalidData, "the body is too large"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Received {
        method: method.unwrap_or_default(),
        path: path.unwrap_or_default(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        bytes: body,
    }))
}

async fn read_headers(stream: &mut BufReader<TcpStream>) -> Result<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.split_once(':') else {
            return Ok(headers);
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

async fn write(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    headers: &[(&str, String)],
    body: &[u8],
) -> Result<()> {
    let mut answer = format!("HTTP/1.1 {status} -\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        answer.extend([name, ": ", value, "\r\n"]);
    }
    answer += "\r\n";
    let mut answer = answer.into_bytes();
    answer.extend_from_slice(body);
    stream.write_all(&answer).await?;
    stream.flush().await
}

async fn drip(stream: &mut BufReader<TcpStream>, pieces: &[String], pause: Duration) -> Result<()> {
    let length: usize = pieces.iter().map(String::len).sum();
    let head = format!("HTTP/1.1 200 -\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    for piece in pieces {
        stream.write_all(piece.as_bytes()).await?;
        stream.flush().await?;
        sleep(pause).await;
    }
    Ok(())
}

/// Writes each piece of a body as a chunk of its own. Returns whether the connection ends with it.
async fn stream_body(
    stream: &mut BufReader<TcpStream>,
    kind: &str,
    pieces: &[String],
    ending: Ending,
) -> Result<bool> {
    let head =
        format!("HTTP/1.1 200 -\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    for piece in pieces {
        let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
        stream.write_all(chunk.as_bytes()).await?;
        stream.flush().await?;
    }
    match ending {
        Ending::Whole => stream.write_all(b"0\r\n\r\n").await?,
        Ending::Cut => return Ok(true),
        Ending::Silence => {
            sleep(LONGEST).await;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes less than it promises.
async fn half(stream: &mut BufReader<TcpStream>) -> Result<()> {
    let answer = "HTTP/1.1 200 -\r\ncontent-length: 1000\r\n\r\n{\"choices\": [{\"message\": {";
    stream.write_all(answer.as_bytes()).await?;
    stream.flush().await
}
