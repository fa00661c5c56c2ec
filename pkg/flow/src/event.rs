//! What a flow tells while it runs.

use std::{sync::Arc, time::Duration};

use serde::Serialize;

/// Where a task is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It runs.
    Started,
    /// It is done.
    Succeeded,
    /// It failed, with this sentence.
    Failed(String),
    /// It did not run, because a task that it needs failed or the flow was cancelled.
    Skipped,
}

/// A step of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// The task's name, as people read it ("ensure router interface").
    pub task: String,
    /// Where it is.
    pub state: TaskState,
    /// Since the task started.
    pub elapsed: Duration,
    /// Tasks that have ended, this one included.
    pub done: usize,
    /// Tasks in all.
    pub total: usize,
}

impl Event {
    /// How far the flow is, in percent.
    pub fn percent(&self) -> u8 {
        u8::try_from(self.done * 100 / self.total.max(1)).unwrap_or(100)
    }
}

/// Who listens. A listener must not block.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event) + Send + Sync>);

impl Events {
    /// Calls `listener` for each event.
    pub fn to(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// Nobody listens.
    pub fn ignore() -> Self {
        Self::to(|_| {})
    }

    pub(crate) fn send(&self, event: Event) {
        (self.0)(event);
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}
