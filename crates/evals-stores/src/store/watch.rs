use std::sync::Arc;
use std::time::Duration;

/// Is told, in one line, when a file is waited for that another process may have locked. It must not block.
pub type Watch = Arc<dyn Fn(&str) + Send + Sync>;

/// How long an access may take before somebody is told. A commit takes a thousandth of it.
pub(super) const SILENCE: Duration = Duration::from_secs(2);
