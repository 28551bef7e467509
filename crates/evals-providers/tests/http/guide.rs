//! The service that `docs/targets-reference.md` shows, asked as a target.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use evals_providers::HttpTarget;
use evals_targets::{Request, Target, TargetAddress, TargetSettings};

use super::traffic;

const GUIDE: &str = include_str!("../../../../docs/targets-reference.md");

#[tokio::test]
async fn the_service_of_the_guide_answers() {
    let services = GUIDE.split("```python\n").skip(1);
    let mut services = services.filter_map(|part| Some(part.split_once("\n```")?.0));
    let service = services.find(|block| block.contains("http.server"));
    let port = free_port();
    let service = service.unwrap().replace("8000", &port.to_string());
    let mut python = Command::new("python3");
    let started = python.args(["-c", &service]).stderr(Stdio::null()).spawn();
    let Ok(service) = started else {
        eprintln!("skipped: `python3` is not installed");
        return;
    };
    let _service = Running(service);
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(
            began.elapsed() < Duration::from_mins(1),
            "it does not listen"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let address = format!("http://127.0.0.1:{port}/ask");
    let settings = TargetSettings::at(address.parse::<TargetAddress>().unwrap());
    let target = HttpTarget::new(&settings, traffic(1), |_| None).unwrap();
    let request = Request::question("q1", "What is the capital of France?");
    let reply = target.ask(&request).await.unwrap();
    assert_eq!(reply.answer, Some("Paris".into()));
    let documents = reply.documents.unwrap();
    assert_eq!(documents[0].id.as_deref(), Some("france"));
    let other = target
        .ask(&Request::question("q2", "Where?"))
        .await
        .unwrap();
    assert_eq!(other.documents, Some(Vec::new()));
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback is there");
    listener.local_addr().expect("it is bound").port()
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It fails where the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
