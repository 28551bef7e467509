//! Pulling a model that an Ollama server does not have.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_providers::{OllamaModels, PullProgress, ServerSettings, Traffic};
use evals_terminal::{Printer, progress};
use indicatif::{DecimalBytes, ProgressBar};

/// Has the server pull a model that it says is missing. Any other failure is the error of a run without `--pull`.
pub(super) async fn pull_missing(
    printer: &Printer,
    server: &ServerSettings,
    model: &str,
    traffic: Arc<Traffic>,
) -> Result<()> {
    let address = &server.base_url;
    let models = OllamaModels::new(server.clone())?;
    if models.has(model, traffic).await? {
        return Ok(());
    }
    printer.note(&format!("`{address}` has no model `{model}`; pulling it"));
    let mut pull = Pull::new(printer, model);
    let pulled = models.pull(model, |progress| pull.show(progress)).await;
    pull.clear();
    pulled.with_context(|| format!("`ollama:{model}` cannot be pulled"))?;
    printer.note(&format!("pulled `{model}` ({})", DecimalBytes(pull.total)));
    Ok(())
}

/// How far a pull is: a bar on a terminal, elsewhere a line for every tenth.
struct Pull<'p> {
    printer: &'p Printer,
    model: &'p str,
    bar: Option<ProgressBar>,
    /// The tenths that have a line.
    tenths: u128,
    total: u64,
}

impl<'p> Pull<'p> {
    fn new(printer: &'p Printer, model: &'p str) -> Self {
        Self {
            printer,
            model,
            bar: None,
            tenths: 0,
            total: 0,
        }
    }

    fn show(&mut self, progress: &PullProgress) {
        self.total = progress.total;
        if progress.total == 0 {
            return;
        }
        if self.printer.progress().is_hidden() {
            self.print_tenth(progress);
            return;
        }
        let bar = self
            .bar
            .get_or_insert_with(|| progress::bytes(self.printer, self.model, progress.total));
        bar.set_length(progress.total);
        bar.set_position(progress.completed);
    }

    /// Prints a line where the pull has passed a further tenth. A new layer makes the total larger, so the share may shrink.
    fn print_tenth(&mut self, progress: &PullProgress) {
        let tenths = u128::from(progress.completed) * 10 / u128::from(progress.total);
        if tenths > self.tenths {
            self.tenths = tenths;
            self.printer.note(&format!(
                "pulling `{}`: {}0 % of {}",
                self.model,
                tenths,
                DecimalBytes(progress.total)
            ));
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
