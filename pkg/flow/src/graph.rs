//! Tasks and what they depend on.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    time::Duration,
};

use futures::future::BoxFuture;

/// A task of a flow.
pub struct Task<'a, E> {
    pub(crate) name: String,
    pub(crate) after: BTreeSet<String>,
    pub(crate) timeout: Duration,
    pub(crate) run: BoxFuture<'a, Result<(), E>>,
}

impl<'a, E> Task<'a, E> {
    /// A task that does `run` once. `timeout` bounds it; the flow calls it failed then.
    pub fn new(
        name: impl Into<String>,
        timeout: Duration,
        run: impl Future<Output = Result<(), E>> + Send + 'a,
    ) -> Self {
        Self { name: name.into(), after: BTreeSet::new(), timeout, run: Box::pin(run) }
    }

    /// Starts only after these have succeeded. Those that are not part of the flow are checked in [`Graph::add`].
    pub fn after(mut self, names: &[&str]) -> Self {
        self.after.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }
}

/// A flow that cannot be run as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Two tasks have one name.
    #[error("task {0:?} is there twice")]
    Duplicate(String),
    /// A task waits for one that does not exist.
    #[error("task {task:?} waits for {missing:?}, which is not part of the flow")]
    Unknown {
        /// Who waits.
        task: String,
        /// For whom.
        missing: String,
    },
    /// Tasks wait for each other.
    #[error("tasks wait for each other: {}", .0.join(", "))]
    Cycle(Vec<String>),
}

/// Tasks by name.
pub struct Graph<'a, E> {
    pub(crate) tasks: Vec<Task<'a, E>>,
}

impl<E> Default for Graph<'_, E> {
    fn default() -> Self {
        Self { tasks: Vec::new() }
    }
}

impl<'a, E> Graph<'a, E> {
    /// An empty flow.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task.
    pub fn add(&mut self, task: Task<'a, E>) {
        self.tasks.push(task);
    }

    /// Adds a task if `wanted`; its dependents then need [`Graph::has`].
    pub fn add_if(&mut self, wanted: bool, task: Task<'a, E>) {
        if wanted {
            self.add(task);
        }
    }

    /// Whether a task of this name is part of the flow.
    pub fn has(&self, name: &str) -> bool {
        self.tasks.iter().any(|task| task.name == name)
    }

    /// Forgets dependencies on tasks that are not part of this flow: a graph whose optional tasks were left out.
    pub fn drop_absent_dependencies(&mut self) {
        let names: BTreeSet<String> = self.tasks.iter().map(|task| task.name.clone()).collect();
        for task in &mut self.tasks {
            task.after.retain(|name| names.contains(name));
        }
    }

    pub(crate) fn check(&self) -> Result<(), GraphError> {
        let mut waits: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for task in &self.tasks {
            if waits.insert(&task.name, task.after.iter().map(String::as_str).collect()).is_some() {
                return Err(GraphError::Duplicate(task.name.clone()));
            }
        }
        for task in &self.tasks {
            if let Some(missing) = task.after.iter().find(|name| !waits.contains_key(name.as_str())) {
                return Err(GraphError::Unknown { task: task.name.clone(), missing: missing.clone() });
            }
        }
        while let Some(free) = waits.iter().find(|(_, after)| after.is_empty()).map(|(name, _)| *name) {
            waits.remove(free);
            for after in waits.values_mut() {
                after.remove(free);
            }
        }
        if waits.is_empty() { Ok(()) } else { Err(GraphError::Cycle(waits.keys().map(ToString::to_string).collect())) }
    }
}
