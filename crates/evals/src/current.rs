//! The scope of the task that is running, for code that no scope was passed to.

use crate::TaskScope;

tokio::task_local! {
    static CURRENT: TaskScope;
}

/// The scope of the task that this code runs in; `None` outside a task.
///
/// The scope belongs to the task's own future. Code that the task moved to another tokio task or thread has none: pass it a
/// clone of the scope, or run it with the scope as [`TaskScope::within`] does.
pub fn current_scope() -> Option<TaskScope> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Records an attribute in the task that this code runs in, as [`TaskScope::attribute`] does. Does nothing outside a task.
pub fn set_attribute(name: impl Into<String>, value: impl Into<serde_json::Value>) {
    if let Some(scope) = current_scope() {
        scope.attribute(name, value);
    }
}

/// Adds to a metric of the task that this code runs in, as [`TaskScope::add_metric`] does. Does nothing outside a task.
pub fn add_metric(name: impl Into<String>, value: f64) {
    if let Some(scope) = current_scope() {
        scope.add_metric(name, value);
    }
}

impl TaskScope {
    /// Runs code for which this scope is the [current one](current_scope), such as a part of the task that runs on another thread.
    pub async fn within<R>(&self, code: impl Future<Output = R>) -> R {
        CURRENT.scope(self.clone(), code).await
    }
}
