//! The plan of batches: which models use them, and what else changes in the run.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Result, bail};
use evals::CaseTimeout;
use evals_models::ModelIdentity;
use evals_settings::{Batch, ChatKind, Layer, Resolved, Role, SettingsError, Tree};
use evals_targets::TargetAddress;
use evals_terminal::Printer;

use crate::choices;
use crate::models::{ConfiguredChat, ConfiguredModel, ConfiguredModels};

/// The most requests of one batch, and the most cases that run at the same time.
const MOST: usize = 50_000;

/// A model that answers or judges.
#[derive(Debug)]
pub(crate) struct Caller<'m> {
    pub(crate) role: &'static str,
    pub(crate) model: &'m ConfiguredChat,
    /// Why its calls are direct, for a reason other than the kind of the model.
    pub(crate) direct: Option<&'static str>,
}

impl Caller<'_> {
    fn reason(&self) -> Option<&'static str> {
        match self.model.settings.kind {
            ChatKind::Embedded(_) => Some("runs in this process"),
            ChatKind::Ollama(_) => Some("Ollama does not support batches"),
            ChatKind::OpenAi(_) => self.direct,
        }
    }
}

/// The layer of `--batch`.
pub(crate) fn layer(batch: bool) -> Option<Layer> {
    batch.then(|| Layer::option("`--batch`", "batch.enabled", Tree::Leaf(true.into())))
}

/// Checks that batches can be used, with and without a budget, notes which calls go in them, and enters the models in `resolved`. Nothing to
/// do unless the settings switch batches on.
pub(crate) fn plan(
    printer: &Printer,
    resolved: &mut Resolved,
    (no_cache, budget): (bool, Option<f64>),
    callers: &[Caller<'_>],
) -> Result<()> {
    let batch = &resolved.settings.batch;
    if !batch.enabled {
        return Ok(());
    }
    check(resolved, batch)?;
    if no_cache {
        bail!(
            "`--batch` needs the cache of replies, which keeps paid replies until their cases are finished; leave out `--no-cache`"
        );
    }
    let (direct, batched): (Vec<_>, Vec<_>) =
        callers.iter().partition(|caller| caller.reason().is_some());
    let named = |caller: &&Caller<'_>| format!("{} `{}`", caller.role, caller.model);
    let reasons: Vec<String> = direct
        .iter()
        .map(|caller| {
            format!(
                "{} ({})",
                named(caller),
                caller.reason().unwrap_or_default()
            )
        })
        .collect();
    if batched.is_empty() {
        let reasons = if reasons.is_empty() {
            "no model answers or judges".to_owned()
        } else {
            reasons.join(", ")
        };
        bail!(
            "no model of this command can use batches: {reasons}; leave out `--batch`, or set a model behind a server that speaks OpenAI's protocol"
        );
    }
    if budget.is_some() {
        batched
            .iter()
            .try_for_each(|caller| check_bound(resolved, caller))?;
    }
    let batched: Vec<String> = batched.iter().map(named).collect();
    let directly = if reasons.is_empty() {
        String::new()
    } else {
        format!("; directly: {}", reasons.join(", "))
    };
    printer.note(&format!("in batches: {}{directly}", batched.join(", ")));
    resolved.batched = models(resolved, callers);
    Ok(())
}

/// The models whose calls all go in batches: those of the callers, unless the run also asks the same model directly.
pub(super) fn models(resolved: &Resolved, callers: &[Caller<'_>]) -> Vec<ModelIdentity> {
    let (direct, batched): (Vec<_>, Vec<_>) =
        callers.iter().partition(|caller| caller.reason().is_some());
    let mut models: Vec<_> = batched.iter().map(|it| it.model.identity()).collect();
    let others = others(resolved);
    models.retain(|model| {
        let is_direct = direct
            .iter()
            .any(|caller| caller.model.identity() == *model);
        !is_direct && !others.contains(model)
    });
    models
}

/// The models that the search or the target asks. Their calls are direct.
fn others(resolved: &Resolved) -> Vec<ModelIdentity> {
    let models = ConfiguredModels::of(&resolved.settings);
    let mut direct = vec![models.embedder.identity()];
    direct.extend(models.reranker.iter().map(ConfiguredModel::identity));
    direct.extend(models.rewriter.iter().map(ConfiguredModel::identity));
    direct.extend(models.user.iter().map(ConfiguredModel::identity));
    let target = resolved.settings.target.as_ref();
    if let Some(TargetAddress::Chat { provider, name }) =
        target.and_then(|target| target.address.as_ref())
    {
        direct.push(ModelIdentity::new(provider, name));
    }
    direct
}

/// Fails for a caller whose batches may cost any amount, because the budget is checked before a batch is submitted.
fn check_bound(resolved: &Resolved, Caller { role, model, .. }: &Caller<'_>) -> Result<()> {
    let price = choices::prices(resolved).of(&model.identity());
    if price.input.is_none() || price.output.is_none() {
        bail!(
            "`--budget` with `--batch` needs the price of {role} `{model}`: set `prices: {{{name}: {{input: …, output: …}}}}`, in USD \
             per million tokens (0 for a model that you host)",
            name = model.settings.name
        );
    }
    if model.settings.max_tokens().is_some() {
        return Ok(());
    }
    let key = model.role.path();
    let own = match model.role {
        Role::Answerer => &resolved.settings.qa.model,
        _ => &resolved.settings.evaluations.judge,
    };
    let is_set_here = own.name == model.settings.name;
    // All judges of a panel have the first judge's limit. An evaluator in a dataset file sets the limit of its model.
    let file = if is_set_here {
        ""
    } else {
        " (for a model that a dataset file names: `model_settings: {max_tokens: …}` of its evaluator)"
    };
    bail!(
        "`--budget` with `--batch` needs a limit on the replies of {role} `{model}`, because the most that a batch may cost must be known \
         before it is submitted; set `{key}.max_tokens`{file}"
    )
}

fn check(resolved: &Resolved, batch: &Batch) -> Result<(), SettingsError> {
    let seconds = [
        ("batch.poll_interval", batch.poll_interval, 3_600.0),
        ("batch.quiet", batch.quiet, 3_600.0),
    ];
    for (path, value, most) in seconds {
        if !(value.is_finite() && value > 0.0 && value <= most) {
            let message = format!("must be more than 0 seconds and at most {most}");
            return Err(resolved.bad_value(path, &message));
        }
    }
    if !(0.0..=1.0).contains(&batch.discount) {
        return Err(resolved.bad_value("batch.discount", &"must be between 0 and 1"));
    }
    if batch.max_requests.get() > MOST {
        return Err(resolved.bad_value("batch.max_requests", &"must be at most 50000"));
    }
    Ok(())
}

/// How many of `cases` run at the same time: with batches all of them, so that one batch gets their requests.
pub(crate) fn concurrency(
    resolved: &Resolved,
    without: NonZeroUsize,
    cases: usize,
) -> NonZeroUsize {
    if resolved.settings.batch.enabled {
        let cases = NonZeroUsize::new(cases.min(MOST));
        cases.unwrap_or(without).max(without)
    } else {
        without
    }
}

/// The time limit of a case. A case that waits for batches has no limit, because the server limits their time.
pub(crate) fn case_timeout(resolved: &Resolved, limit: CaseTimeout) -> CaseTimeout {
    if resolved.settings.batch.enabled {
        CaseTimeout::new(Duration::MAX)
    } else {
        limit
    }
}

/// The line of a report about batches.
pub(crate) fn fact(resolved: &Resolved) -> Option<(String, String)> {
    let batch = &resolved.settings.batch;
    batch.enabled.then(|| {
        let text = format!(
            "priced at {} off; the time of replies that came in batches is unknown",
            super::prices::percent(batch.discount)
        );
        ("batches".to_owned(), text)
    })
}
