//! `evaluations view` as a process, and requests to it that are written by hand, so that they can lie.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A viewer that runs until the test ends.
pub(crate) struct Viewer {
    child: Child,
    address: String,
}

/// An answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The lines before the body.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A stream of events.
pub(crate) struct Events(BufReader<TcpStream>);

impl Viewer {
    /// Starts the command and reads the address that it prints.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut address).unwrap();
        let address = address.trim_end().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self { child, address }
    }

    /// The address that was printed.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn port(&self) -> u16 {
        let rest = self.address.strip_prefix("http://127.0.0.1:").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// What a browser sends as the host.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// The token that the printed address holds.
    pub(crate) fn token(&self) -> &str {
        self.address.split('/').nth(3).unwrap()
    }

    /// The path of a page with the token.
    pub(crate) fn path(&self, page: &str) -> String {
        format!("/{}{page}", self.token())
    }

    /// Asks for a page as the user's browser does.
    pub(crate) fn get(&self, page: &str) -> Answer {
        self.ask("GET", &self.path(page), &[("Host", &self.host())], "")
    }

    /// Asks with exactly these headers.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut text = String::new();
        let mut stream = self.send(method, path, headers, body);
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        Answer {
            status: status.parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Sends what the page at `page` takes, as our own script does.
    pub(crate) fn send_json(&self, page: &str, body: &str) -> Answer {
        let origin = format!("http://{}", self.host());
        let headers = [
            ("Host", &*self.host()),
            ("Origin", &origin),
            ("Content-Type", "application/json"),
            ("X-Evaluations-View", "1"),
        ];
        self.ask("POST", &self.path(page), &headers, body)
    }

    /// Opens a stream of events as the user's browser does.
    pub(crate) fn follow(&self, page: &str) -> Events {
        let path = self.path(page);
        let stream = self.send("GET", &path, &[("Host", &self.host())], "");
        let mut events = Events(BufReader::new(stream));
        let head = events.block();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("text/event-stream"), "{head}");
        events
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nConnection: close\r\n").unwrap();
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        write!(stream, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream
    }

    /// Interrupts the viewer as Ctrl-C does, and returns its exit code.
    #[cfg(unix)]
    pub(crate) fn interrupt(&mut self) -> Option<i32> {
        let sent = Command::new("kill")
            .args(["-s", "INT", &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "));
        let found = lines.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }
}

impl Events {
    /// The next event. Sizes of chunks and comments, which keep the connection open, are left out.
    pub(crate) fn event(&mut self) -> String {
        loop {
            let block = self.block();
            let lines = block
                .lines()
                .filter(|line| line.contains(": ") && !line.starts_with(':'));
            let event = lines.collect::<Vec<_>>().join("\n");
            if !event.is_empty() {
                return event;
            }
        }
    }

    /// The lines up to the next empty one.
    fn block(&mut self) -> String {
        let mut block = String::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).unwrap();
            assert!(read > 0, "the stream ended after {block}");
            if line.trim().is_empty() && !block.is_empty() {
                return block;
            }
            block.push_str(&line);
        }
    }
}
