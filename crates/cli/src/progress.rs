//! A progress bar on standard error for long computations.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use counterpoint::watch::Control;
use indicatif::{ProgressBar, ProgressStyle};

/// The bar appears only after this time.
const DELAY: Duration = Duration::from_millis(300);
const REDRAW: Duration = Duration::from_millis(100);
const STEPS: f64 = 1000.0;

/// A progress bar; dropping it removes the bar.
pub(crate) struct Progress {
    done: Arc<AtomicU64>,
    drawer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the bar if standard error is a terminal.
    pub(crate) fn start() -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let drawer = std::io::stderr().is_terminal().then(|| drawer(Arc::clone(&done))).flatten();
        Self { done, drawer }
    }

    /// Reports the fraction of the work that is done.
    pub(crate) fn report(&self, fraction: f64) -> Control {
        self.done.store((fraction * STEPS) as u64, Ordering::Relaxed);
        Control::Continue
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.drawer.take() {
            drop(sender);
            // Errors of drawing are ignored.
            let _ = thread.join();
        }
    }
}

fn drawer(done: Arc<AtomicU64>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (sender, finished) = channel();
    let thread = Builder::new().spawn(move || draw(&done, &finished)).ok()?;
    Some((sender, thread))
}

/// Draws until the sender is dropped.
fn draw(done: &AtomicU64, finished: &Receiver<()>) {
    let more = |wait| finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
    if !more(DELAY) {
        return;
    }
    let bar = ProgressBar::new(STEPS as u64);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:40} {percent} %  {elapsed}") {
        bar.set_style(style);
    }
    while more(REDRAW) {
        bar.set_position(done.load(Ordering::Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}
