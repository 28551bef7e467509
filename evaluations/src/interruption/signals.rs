//! The signals that interrupt a run, on each kind of system.

pub(super) use self::system::Signals;

#[cfg(unix)]
mod system {
    use std::future::poll_fn;
    use std::io;
    use std::task::Poll;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// Ctrl-C, the end of a terminal, and what `timeout`, a CI system or a container sends to end a process.
    pub(in super::super) struct Signals(Vec<Signal>);

    impl Signals {
        pub(in super::super) fn listen() -> io::Result<Self> {
            let ignored = ignored();
            let kinds = [
                SignalKind::interrupt(),
                SignalKind::terminate(),
                SignalKind::hangup(),
            ];
            let kinds = kinds.into_iter();
            // `nohup`, and a shell that puts a command into the background, do not want it to end.
            let bit = |kind: &SignalKind| 1_u64 << (kind.as_raw_value() - 1);
            let heeded = kinds.filter(|kind| ignored & bit(kind) == 0);
            heeded.map(signal).collect::<io::Result<_>>().map(Self)
        }

        pub(in super::super) async fn next(&mut self) {
            poll_fn(|context| {
                let mut received = false;
                for signal in &mut self.0 {
                    received |= matches!(signal.poll_recv(context), Poll::Ready(Some(())));
                }
                if received {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
    }

    /// The signals that whoever started this process has it ignore, bit 0 for signal 1.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or_default()
    }

    /// Where the system does not tell, a process without a terminal for its output is taken to be started by `nohup`.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn ignored() -> u64 {
        use std::io::IsTerminal as _;

        let is_attached = io::stdout().is_terminal() || io::stderr().is_terminal();
        u64::from(!is_attached)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    /// Ctrl-C.
    pub(in super::super) struct Signals;

    impl Signals {
        pub(in super::super) fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        pub(in super::super) async fn next(&mut self) {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
