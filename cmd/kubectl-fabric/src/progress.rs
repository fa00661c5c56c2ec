//! How far a flow is: bars on a terminal, plain lines elsewhere. Always on standard error.

use std::{
    collections::HashMap,
    io::IsTerminal,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::Duration,
};

use fabric_flow::{Event, Events, Options, TaskState};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{self, Paint};

/// Shows the events of one flow.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<Shown>>);

struct Shown {
    paint: Paint,
    bars: Option<Bars>,
}

struct Bars {
    paint: Paint,
    all: MultiProgress,
    overall: ProgressBar,
    running: HashMap<String, ProgressBar>,
}

impl Progress {
    /// Bars when standard error is a terminal.
    pub(crate) fn new(paint: Paint) -> Self {
        let bars = std::io::stderr().is_terminal().then(|| Bars::new(paint.errors()));
        Self(Arc::new(Mutex::new(Shown { paint: paint.errors(), bars })))
    }

    /// How a flow runs: it tells its steps, and Ctrl-C stops it.
    pub(crate) fn options(&self) -> Options {
        let shown = self.0.clone();
        let events = Events::to(move |event| lock(&shown).show(&event));
        let options = Options { events, ..Options::default() };
        let (cancel, shown) = (options.cancel.clone(), self.0.clone());
        listen();
        *lock(&ON_STOP) = Some(Box::new(move || {
            cancel.cancel();
            lock(&shown)
                .line("stopping: what runs may end, so that what it made is recorded; once more gives up at once");
        }));
        options
    }

    /// Takes the bars away.
    pub(crate) fn end(&self) {
        lock(&ON_STOP).take();
        let mut shown = lock(&self.0);
        if let Some(bars) = shown.bars.take() {
            bars.overall.finish_and_clear();
            // A bar that cannot be cleared stays; nothing depends on it.
            let _ = bars.all.clear();
        }
    }
}

/// What Ctrl-C does to the flow that runs; it is taken by the first one. Signals are the process's, hence this is too.
static ON_STOP: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// Listens from the first flow on; without a flow to stop, Ctrl-C ends the process as it does everywhere.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        tokio::spawn(async {
            loop {
                stop_wanted().await;
                let stop = lock(&ON_STOP).take();
                match stop {
                    Some(stop) => stop(),
                    None => std::process::exit(crate::exit::Exit::Interrupted.code().into()),
                }
            }
        });
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ctrl-C, or what a service manager sends.
async fn stop_wanted() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => if interrupted.is_err() { std::future::pending().await },
        () = terminated => {}
    }
}

impl Bars {
    fn new(paint: Paint) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let overall = all.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template(plain(
            paint,
            "  {bar:30.cyan} {pos}/{len} {elapsed}",
            "  {bar:30} {pos}/{len} {elapsed}",
        )) {
            overall.set_style(style.progress_chars("━╸─"));
        }
        Self { paint, all, overall, running: HashMap::new() }
    }

    fn start(&mut self, task: &str) {
        let bar = self.all.insert_before(&self.overall, ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template(plain(
            self.paint,
            "  {spinner:.cyan} {msg} {elapsed:.dim}",
            "  {spinner} {msg} {elapsed}",
        )) {
            bar.set_style(style);
        }
        bar.set_message(task.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        self.running.insert(task.to_owned(), bar);
    }

    fn end(&mut self, task: &str) {
        if let Some(bar) = self.running.remove(task) {
            bar.finish_and_clear();
            self.all.remove(&bar);
        }
    }
}

/// Bars choose colours by themselves, whatever the user said.
fn plain(paint: Paint, coloured: &'static str, plain: &'static str) -> &'static str {
    if paint.is_on() { coloured } else { plain }
}

impl Shown {
    fn show(&mut self, event: &Event) {
        let (paint, task) = (self.paint, event.task.as_str());
        let took = paint.dim(format!("{:.1} s", event.elapsed.as_secs_f64()));
        if let Some(bars) = &mut self.bars {
            bars.overall.set_length(event.total as u64);
            bars.overall.set_position(event.done as u64);
            if event.state == TaskState::Started {
                bars.start(task);
            } else {
                bars.end(task);
            }
        }
        let line = match &event.state {
            // Without bars two lines a task would say the same twice.
            TaskState::Started => return,
            TaskState::Succeeded => format!("  {} {task} {took}", paint.green("✓")),
            TaskState::Failed(_) => format!("  {} {task} {took}", paint.red("✗")),
            TaskState::Skipped => format!("  {} {task} {}", paint.dim("-"), paint.dim("skipped")),
        };
        self.line(&line);
    }

    fn line(&self, text: &str) {
        match &self.bars {
            // Without a terminal behind it the line is lost, as any line would be.
            Some(bars) => drop(bars.all.println(text)),
            None => output::tell(text),
        }
    }
}
