//! The process that drives a browser, on a free port of the loopback interface.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long the process may take to begin.
const START: Duration = Duration::from_mins(1);

/// A running chromedriver. It ends with the value.
pub(crate) struct Chromedriver {
    process: Child,
    address: String,
}

impl Chromedriver {
    pub(crate) fn start() -> Self {
        let program = env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
        // Port 0 lets the system choose one, which chromedriver then prints.
        let mut process = Command::new(&program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("`{program}` does not start: {error}"));
        let stdout = process.stdout.take().expect("stdout is piped");
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            // The thread reads on, so that the pipe never fills.
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some((_, port)) = line.split_once("started successfully on port ") {
                    _ = sender.send(port.trim_end_matches('.').to_owned());
                }
            }
        });
        let port = receiver
            .recv_timeout(START)
            .expect("chromedriver prints its port");
        Self {
            process,
            address: format!("http://127.0.0.1:{port}"),
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
