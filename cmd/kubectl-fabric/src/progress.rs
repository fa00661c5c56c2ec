//! How far a flow is: bars on a terminal, plain lines elsewhere. Always on standard error.

use std::{
    collections::HashMap,
    io::IsTerminal,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use fabric_flow::{Event, Events, Options, TaskState};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Paint;

/// Shows the events of one flow.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<Shown>>);

struct Shown {
    paint: Paint,
    bars: Option<Bars>,
}

struct Bars {
    all: MultiProgress,
    overall: ProgressBar,
    running: HashMap<String, ProgressBar>,
}

impl Progress {
    /// Bars when standard error is a terminal.
    pub(crate) fn new(paint: Paint) -> Self {
        let bars = std::io::stderr().is_terminal().then(Bars::new);
        Self(Arc::new(Mutex::new(Shown { paint, bars })))
    }

    /// How a flow runs: it tells its steps, and Ctrl-C stops it.
    pub(crate) fn options(&self) -> Options {
        let shown = self.0.clone();
        let events = Events::to(move |event| shown.lock().unwrap_or_else(PoisonError::into_inner).show(&event));
        let options = Options { events, ..Options::default() };
        let cancel = options.cancel.clone();
        let shown = self.0.clone();
        tokio::spawn(async move {
            stop_wanted().await;
            cancel.cancel();
            let text = "stopping: what runs may end, so that what it made is recorded; once more gives up at once";
            shown.lock().unwrap_or_else(PoisonError::into_inner).line(text);
            stop_wanted().await;
            std::process::exit(crate::exit::Exit::Interrupted.code().into());
        });
        options
    }

    /// Takes the bars away.
    pub(crate) fn end(&self) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bars) = shown.bars.take() {
            bars.overall.finish_and_clear();
            // A bar that cannot be cleared stays; nothing depends on it.
            let _ = bars.all.clear();
        }
    }
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
    fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let overall = all.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template("  {bar:30.cyan} {pos}/{len} {elapsed}") {
            overall.set_style(style.progress_chars("━╸─"));
        }
        Self { all, overall, running: HashMap::new() }
    }

    fn start(&mut self, task: &str) {
        let bar = self.all.insert_before(&self.overall, ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("  {spinner:.cyan} {msg} {elapsed:.dim}") {
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
            None => eprintln!("{text}"),
        }
    }
}
