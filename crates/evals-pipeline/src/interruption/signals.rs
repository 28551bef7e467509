//! The signals that interrupt a run, for each kind of system.

pub(super) use self::system::Signals;

#[cfg(unix)]
mod system {
    use std::future::poll_fn;
    use std::io;
    use std::task::Poll;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// SIGINT (Ctrl-C), SIGHUP (a closed terminal) and SIGTERM (`timeout`, CI systems, containers).
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
            // `nohup`, and a shell that starts a command in the background, set these to be ignored.
            let bit = |kind: &SignalKind| 1_u64 << (kind.as_raw_value() - 1);
            let handled = kinds.filter(|kind| ignored & bit(kind) == 0);
            handled.map(signal).collect::<io::Result<_>>().map(Self)
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

    /// The signals that this process was started to ignore, as a mask with bit 0 for signal 1.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or_default()
    }

    /// On systems without `/proc`: ignores hangups (bit 0) where neither output is a terminal, as under `nohup`.
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
