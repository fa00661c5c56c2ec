//! Runs a graph.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    future::Future,
    pin::pin,
    time::{Duration, Instant},
};

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{FuturesUnordered, StreamExt},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    event::{Event, Events, TaskState},
    graph::{Graph, GraphError, Task},
};

/// How a flow runs.
pub struct Options {
    /// Who hears of it.
    pub events: Events,
    /// Stops it: nothing new starts, what runs may finish.
    pub cancel: CancellationToken,
}

impl Default for Options {
    fn default() -> Self {
        Self { events: Events::ignore(), cancel: CancellationToken::new() }
    }
}

/// Why a task failed.
#[derive(Debug, PartialEq, Eq)]
pub enum TaskFailure<E> {
    /// It said so.
    Failed(E),
    /// It did not end in time.
    TimedOut(Duration),
}

/// A task that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskError<E> {
    /// The task's name.
    pub task: String,
    /// Why.
    pub failure: TaskFailure<E>,
}

impl<E: fmt::Display> fmt::Display for TaskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to {:?}: ", self.task)?;
        match &self.failure {
            TaskFailure::Failed(error) => error.fmt(f),
            TaskFailure::TimedOut(limit) => write!(f, "no end after {} s", limit.as_secs()),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for TaskError<E> {}

/// Why a flow did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub enum FlowError<E> {
    /// The graph is wrong; nothing ran.
    Graph(GraphError),
    /// These tasks failed; all that did not need them ran.
    Tasks(Vec<TaskError<E>>),
    /// Cancelled before its end.
    Cancelled,
    /// What was done could not be saved.
    Persist(E),
}

impl<E: fmt::Display> fmt::Display for FlowError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graph(error) => error.fmt(f),
            Self::Tasks(errors) => {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join("; "))
            }
            Self::Cancelled => f.write_str("stopped before its end; what was done is saved"),
            Self::Persist(error) => write!(f, "what was done could not be saved: {error}"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for FlowError<E> {}

/// What a flow did.
#[derive(Debug)]
pub struct Outcome {
    /// Names of the tasks that succeeded, in the order of their ends.
    pub succeeded: Vec<String>,
}

type Ended<E> = (String, Instant, Result<(), TaskFailure<E>>);

impl<'a, E: fmt::Display + Send + 'a> Graph<'a, E> {
    /// Runs every task. `persist` is called after each one that ran.
    pub async fn run<P, F>(self, options: Options, persist: P) -> Result<Outcome, FlowError<E>>
    where
        P: Fn() -> F,
        F: Future<Output = Result<(), E>>,
    {
        self.check().map_err(FlowError::Graph)?;
        let mut run = Run {
            total: self.tasks.len(),
            waiting: self.tasks,
            running: FuturesUnordered::new(),
            succeeded: Vec::new(),
            failed: Vec::new(),
            unreachable: BTreeSet::new(),
            skipped: 0,
            options,
        };
        run.start_ready();
        let mut ended = VecDeque::new();
        while let Some((name, started, result)) = next(&mut ended, &mut run.running).await {
            let saved = saving(persist(), &mut run.running, &mut ended).await;
            run.ended(name, started, result);
            if let Err(error) = saved {
                // Without a record nothing new may be made; what runs already ends and is tried to be saved too.
                run.options.cancel.cancel();
                while let Some((name, started, result)) = next(&mut ended, &mut run.running).await {
                    let _ = saving(persist(), &mut run.running, &mut ended).await;
                    run.ended(name, started, result);
                }
                return Err(FlowError::Persist(error));
            }
            run.start_ready();
        }
        run.finish()
    }
}

type Running<'a, E> = FuturesUnordered<BoxFuture<'a, Ended<E>>>;

/// The next task that has ended, whether while something was saved or not.
async fn next<E>(ended: &mut VecDeque<Ended<E>>, running: &mut Running<'_, E>) -> Option<Ended<E>> {
    match ended.pop_front() {
        Some(earlier) => Some(earlier),
        None => running.next().await,
    }
}

/// Saves while tasks go on: one of them may itself be saving, and then both wait for the same store.
async fn saving<E>(
    persist: impl Future<Output = Result<(), E>>,
    running: &mut Running<'_, E>,
    ended: &mut VecDeque<Ended<E>>,
) -> Result<(), E> {
    let mut persist = pin!(persist);
    loop {
        tokio::select! {
            saved = &mut persist => return saved,
            Some(task) = running.next() => ended.push_back(task),
        }
    }
}

struct Run<'a, E> {
    total: usize,
    waiting: Vec<Task<'a, E>>,
    running: Running<'a, E>,
    succeeded: Vec<String>,
    failed: Vec<TaskError<E>>,
    /// Failed and skipped tasks: who depends on one of them is skipped.
    unreachable: BTreeSet<String>,
    skipped: usize,
    options: Options,
}

impl<'a, E: fmt::Display + Send + 'a> Run<'a, E> {
    fn start_ready(&mut self) {
        self.skip_unreachable();
        if self.options.cancel.is_cancelled() {
            return;
        }
        let (ready, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|task| task.after.iter().all(|name| self.succeeded.contains(name)));
        self.waiting = waiting;
        let ready: Vec<Task<'a, E>> = ready;
        for task in ready {
            self.tell(&task.name, TaskState::Started, Duration::ZERO);
            self.running.push(start(task));
        }
    }

    fn skip_unreachable(&mut self) {
        loop {
            let (skip, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
                .into_iter()
                .partition(|task| task.after.iter().any(|name| self.unreachable.contains(name)));
            self.waiting = waiting;
            if skip.is_empty() {
                return;
            }
            for task in skip {
                self.skipped += 1;
                self.tell(&task.name, TaskState::Skipped, Duration::ZERO);
                self.unreachable.insert(task.name);
            }
        }
    }

    fn ended(&mut self, name: String, started: Instant, result: Result<(), TaskFailure<E>>) {
        match result {
            Ok(()) => {
                self.succeeded.push(name.clone());
                self.tell(&name, TaskState::Succeeded, started.elapsed());
            }
            Err(failure) => {
                let error = TaskError { task: name.clone(), failure };
                self.unreachable.insert(name.clone());
                let text = error.to_string();
                self.failed.push(error);
                self.tell(&name, TaskState::Failed(text), started.elapsed());
            }
        }
    }

    fn tell(&self, task: &str, state: TaskState, elapsed: Duration) {
        let done = self.succeeded.len() + self.failed.len() + self.skipped;
        self.options.events.send(Event { task: task.to_owned(), state, elapsed, done, total: self.total });
    }

    fn finish(mut self) -> Result<Outcome, FlowError<E>> {
        for task in std::mem::take(&mut self.waiting) {
            self.skipped += 1;
            self.tell(&task.name, TaskState::Skipped, Duration::ZERO);
        }
        if !self.failed.is_empty() {
            return Err(FlowError::Tasks(self.failed));
        }
        if self.succeeded.len() < self.total {
            return Err(FlowError::Cancelled);
        }
        Ok(Outcome { succeeded: self.succeeded })
    }
}

fn start<'a, E: Send + 'a>(task: Task<'a, E>) -> BoxFuture<'a, Ended<E>> {
    let span = tracing::info_span!("step", task = %task.name);
    async move {
        let started = Instant::now();
        let result = match tokio::time::timeout(task.timeout, task.run).await {
            Ok(result) => result.map_err(TaskFailure::Failed),
            Err(_) => Err(TaskFailure::TimedOut(task.timeout)),
        };
        (task.name, started, result)
    }
    .instrument(span)
    .boxed()
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(90);

    fn ok(name: &str, after: &[&str]) -> Task<'static, String> {
        Task::new(name, LIMIT, async { Ok(()) }).after(after)
    }

    fn bad(name: &str, after: &[&str]) -> Task<'static, String> {
        Task::new(name, LIMIT, async { Err("no".to_owned()) }).after(after)
    }

    async fn run(tasks: Vec<Task<'static, String>>) -> (Result<Outcome, FlowError<String>>, Vec<Event>) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = heard.clone();
        let mut graph = Graph::new();
        tasks.into_iter().for_each(|task| graph.add(task));
        let options = Options { events: Events::to(move |e| ear.lock().unwrap().push(e)), ..Options::default() };
        let result = graph.run(options, || async { Ok(()) }).await;
        let events = heard.lock().unwrap().clone();
        (result, events)
    }

    #[tokio::test]
    async fn runs_in_the_order_of_dependencies() {
        let (result, events) = run(vec![ok("c", &["b"]), ok("b", &["a"]), ok("a", &[])]).await;
        assert_eq!(result.unwrap().succeeded, ["a", "b", "c"]);
        assert_eq!(events.last().unwrap().percent(), 100);
        assert_eq!(events.len(), 6);
    }

    #[tokio::test]
    async fn a_failure_skips_only_dependents() {
        let (result, events) = run(vec![bad("a", &[]), ok("b", &["a"]), ok("c", &["b"]), ok("d", &[])]).await;
        let FlowError::Tasks(errors) = result.unwrap_err() else { panic!("expected failed tasks") };
        assert_eq!(errors[0].to_string(), "failed to \"a\": no");
        let state = |name: &str| &events.iter().rfind(|e| e.task == name).unwrap().state;
        assert_eq!(
            (state("b"), state("c"), state("d")),
            (&TaskState::Skipped, &TaskState::Skipped, &TaskState::Succeeded)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_saves_by_itself_and_the_hook_may_share_a_store() {
        let store = tokio::sync::Mutex::new(0);
        let save = || async {
            let mut saves = store.lock().await;
            // As an API server, unlike a file, takes its time.
            tokio::time::sleep(Duration::from_secs(1)).await;
            *saves += 1;
            Ok(())
        };
        let mut graph = Graph::new();
        graph.add(Task::new("saves", LIMIT, save()));
        graph.add(ok("ends meanwhile", &[]));
        graph.add(ok("later", &["saves"]));
        let ran = tokio::time::timeout(LIMIT, graph.run(Options::default(), save)).await;
        assert_eq!(ran.expect("no deadlock").unwrap().succeeded, ["ends meanwhile", "saves", "later"]);
        assert_eq!(*store.lock().await, 4, "its own, and one after each task");
    }

    #[tokio::test]
    async fn persists_after_every_task_that_ran() {
        let saves = AtomicUsize::new(0);
        let mut graph = Graph::new();
        [ok("a", &[]), bad("b", &[]), ok("c", &["b"])].into_iter().for_each(|task| graph.add(task));
        let save = || async {
            saves.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        assert!(graph.run(Options::default(), save).await.is_err());
        assert_eq!(saves.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_failed_save_stops_the_flow() {
        let mut graph = Graph::new();
        [ok("a", &[]), ok("b", &["a"])].into_iter().for_each(|task| graph.add(task));
        let error = graph.run(Options::default(), || async { Err("disk full".to_owned()) }).await.unwrap_err();
        assert_eq!(error, FlowError::Persist("disk full".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_without_end_is_told_so() {
        let stuck = Task::new("wait", LIMIT, futures::future::pending::<Result<(), String>>());
        let (result, _) = run(vec![stuck]).await;
        assert_eq!(result.unwrap_err().to_string(), "failed to \"wait\": no end after 90 s");
    }

    #[tokio::test]
    async fn a_cancelled_flow_finishes_what_runs_and_starts_nothing() {
        let cancel = CancellationToken::new();
        let trigger = cancel.clone();
        let mut graph: Graph<'_, String> = Graph::new();
        graph.add(Task::new("a", LIMIT, async move {
            trigger.cancel();
            tokio::task::yield_now().await;
            Ok(())
        }));
        graph.add(ok("b", &["a"]));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = heard.clone();
        let events = Events::to(move |e: Event| ear.lock().unwrap().push((e.task, e.state)));
        let result = graph.run(Options { events, cancel }, || async { Ok(()) }).await;
        assert_eq!(result.unwrap_err(), FlowError::Cancelled);
        let heard = heard.lock().unwrap();
        assert!(heard.contains(&("a".to_owned(), TaskState::Succeeded)));
        assert!(heard.contains(&("b".to_owned(), TaskState::Skipped)));
    }

    #[tokio::test]
    async fn a_wrong_graph_runs_nothing() {
        for (tasks, text) in [
            (vec![ok("a", &[]), ok("a", &[])], "task \"a\" is there twice"),
            (vec![ok("a", &["z"])], "task \"a\" waits for \"z\", which is not part of the flow"),
            (vec![ok("a", &["b"]), ok("b", &["a"])], "tasks wait for each other: a, b"),
        ] {
            let (result, events) = run(tasks).await;
            assert_eq!(result.unwrap_err().to_string(), text);
            assert!(events.is_empty());
        }
    }
}
