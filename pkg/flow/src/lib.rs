//! A graph of tasks that runs as parallel as its dependencies allow, tells what it does, and saves after every task.
//!
//! ```text
//!   ensure network ──► ensure subnet ──┬─► ensure router interface
//!   ensure router ─────────────────────┘        (each: Started, then Succeeded | Failed | Skipped)
//! ```
//!
//! Invariants:
//! * A task starts only after all it depends on have succeeded; after a failure its dependents are skipped, all others run on.
//! * The persist hook runs after **every** task that ran, successful or not, never twice at once.
//! * A cancelled flow starts nothing new; running tasks finish, so that what they made is recorded.
//! * The graph is checked before the first task starts: names are unique, dependencies exist, there is no cycle.

mod event;
mod graph;
mod run;

pub use event::{Event, Events, TaskState};
pub use graph::{Graph, GraphError, Task};
pub use run::{FlowError, Options, Outcome, TaskError, TaskFailure};
