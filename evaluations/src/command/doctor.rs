//! `evaluations doctor`: is everything there that a run needs?

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_data::{Greeting, Hub, HubSettings};
use evals_messages::quantity;
use evals_models::{ChatRequest, Embedder, Message, Reranker};

use crate::choices::{self, Choices};
use crate::cli::DoctorArgs;
use crate::downloads;
use crate::exit::Exit;
use crate::models::{
    ConfiguredModel, ConfiguredModels, LocalModel, ModelKind, Servers, embedded, embedder, reranker,
};
use crate::session::{Session, named_models};
use crate::settings::{self, Resolved};
use crate::terminal::{Printer, printable};

/// Most tokens of the reply to a question that only finds out whether anybody answers.
const PROBE_TOKENS: u32 = 16;

/// Most models of a server that are named.
const LISTED: usize = 8;

/// Least free space for a comfortable run; a collection of a million passages takes about this much.
const COMFORTABLE_BYTES: u64 = 2_000_000_000;

/// What one check found.
enum Finding {
    Good(String),
    /// Works, but the user may want to know.
    Note(String),
    /// Has to be mended, and how.
    Bad {
        what: String,
        mend: String,
    },
}

pub(super) fn execute(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Exit> {
    let mut findings = check_settings(session, arguments)?;
    findings.extend(check_folder("data folder", &session.directories.data));
    findings.push(indexes(session));
    findings.extend(check_hub(&HubSettings::from_env())?);
    let mut text = String::new();
    let mut bad = 0;
    for finding in findings {
        let line = match finding {
            Finding::Good(what) => format!("ok    {what}\n"),
            Finding::Note(what) => format!("note  {what}\n"),
            Finding::Bad { what, mend } => {
                bad += 1;
                format!("bad   {what}\n      {mend}\n")
            }
        };
        text.push_str(&line);
    }
    session.printer.result(&printable(&text))?;
    Ok(if bad == 0 {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

fn check_settings(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Vec<Finding>> {
    let resolved = resolve(session, arguments).and_then(|resolved| {
        let models = Choices::of(&resolved)?.models;
        Ok((resolved, models))
    });
    let (resolved, models) = match resolved {
        Ok(resolved) => resolved,
        Err(error) => {
            return Ok(vec![Finding::Bad {
                what: format!("settings: {error:#}"),
                mend: "correct the file, or name another with --config".to_owned(),
            }]);
        }
    };
    let origins = resolved.origins();
    let from = if origins.is_empty() {
        "built-in defaults".to_owned()
    } else {
        origins.join(", ")
    };
    let mut findings = vec![Finding::Good(format!("settings: {from}"))];
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    let checks = check_models(session, &resolved, &models, arguments.pull);
    findings.extend(runtime.block_on(checks));
    Ok(findings)
}

fn resolve(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Resolved> {
    let models = named_models(arguments.model.as_ref(), arguments.judge.as_ref());
    let layers = session.user_layers(&arguments.settings, models)?;
    Ok(settings::resolve(layers)?)
}

/// Opens every model and asks it something short.
async fn check_models(
    session: &Session<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
    pull: bool,
) -> Vec<Finding> {
    let mut servers = Servers::new(resolved, models, session.printer, 0)
        .without_retries()
        .pulling(pull);
    let mut findings = vec![check_embedder(session, &mut servers, resolved, models).await];
    findings.extend(check_reranker(session.printer, &mut servers, resolved, models).await);
    for (role, model) in [
        ("answering model", &models.answerer),
        ("judge", &models.judge),
    ] {
        match model.kind {
            ModelKind::Embedded => findings.push(check_embedded(role, resolved, model)),
            ModelKind::Local
            | ModelKind::Ollama
            | ModelKind::OpenAi
            | ModelKind::HttpReranker
            | ModelKind::LlmReranker(_) => {
                findings.push(check_chat(&mut servers, role, model).await);
                findings.extend(check_price(role, resolved, model));
            }
        }
    }
    if models.answerer.kind != ModelKind::Embedded && !resolved.sets("evaluations.judge") {
        findings.push(Finding::Bad {
            what: "judge: none is set for the answers of a model".to_owned(),
            mend: "set `evaluations.judge`, or name one with --judge PROVIDER:NAME".to_owned(),
        });
    }
    findings.extend(
        servers
            .listings()
            .await
            .iter()
            .map(|(server, models)| listing(server, models)),
    );
    findings
}

/// The models of a server, in one line.
fn listing(server: &str, models: &[String]) -> Finding {
    let (shown, more) = models.split_at(models.len().min(LISTED));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if models.is_empty() {
        return Finding::Note(format!("`{server}` has no models"));
    }
    Finding::Good(format!(
        "`{server}` has {}: {}{more}",
        quantity::of(models.len(), "model"),
        shown.join(", ")
    ))
}

/// Has the reranker of the settings, if there is one, put a text into order.
async fn check_reranker(
    printer: &Printer,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Option<Finding> {
    models.reranker.as_ref()?;
    let bad = |error: anyhow::Error| Finding::Bad {
        what: format!("reranker: {error:#}"),
        mend: "profiles without `+rerank` work all the same".to_owned(),
    };
    let model = match reranker::check(resolved, models) {
        Ok(model) => model,
        Err(error) => return Some(bad(error.into())),
    };
    let opened = match model.kind {
        ModelKind::LlmReranker(_) => return Some(check_chat(servers, "reranker", model).await),
        ModelKind::HttpReranker => {
            let batch_size = resolved.settings.reranking.batch_size;
            let opened = servers.reranker(model, batch_size).await;
            opened.map(|reranker| Arc::new(reranker) as Arc<dyn Reranker>)
        }
        ModelKind::Local => match LocalModel::of(resolved, model) {
            Ok(local) if !local.is_here(&downloads::hub()) => {
                return Some(Finding::Note(format!(
                    "reranker: {model} is not here yet; the first run fetches it"
                )));
            }
            Ok(local) => local.open_reranker(printer, &downloads::hub()).await,
            Err(error) => Err(error.into()),
        },
        ModelKind::Embedded | ModelKind::Ollama | ModelKind::OpenAi => {
            Err(reranker::unknown(resolved, model).into())
        }
    };
    Some(match opened {
        Ok(reranker) => Finding::Good(format!("reranker: {}", reranker.identity())),
        Err(error) => bad(error),
    })
}

/// What a run says of an embedded model of that name.
fn check_embedded(role: &str, resolved: &Resolved, model: &ConfiguredModel) -> Finding {
    match embedded::check_name(resolved, model) {
        Ok(()) => Finding::Good(format!("{role}: {model}, part of this program")),
        Err(error) => Finding::Bad {
            what: format!("{role}: {error}"),
            mend: "take that one, or a model behind a server".to_owned(),
        },
    }
}

async fn check_chat(servers: &mut Servers<'_>, role: &str, model: &ConfiguredModel) -> Finding {
    let mut request = ChatRequest::new(vec![Message::user("Reply with the word ok.")]);
    request.max_tokens = NonZeroU32::new(PROBE_TOKENS);
    let asked = async {
        let chat = servers.chat(model).await?;
        anyhow::Ok(chat.chat(&request).await?)
    };
    match asked.await {
        Ok(reply) => Finding::Good(format!(
            "{role}: {model} answers within {:.1} s",
            reply.served.service_time.as_secs_f64()
        )),
        Err(error) => Finding::Bad {
            what: format!("{role}: {error:#}"),
            mend: format!(
                "the settings under `{}` and `providers.{}` say where and how it is asked",
                model.role.path(),
                model.settings.provider
            ),
        },
    }
}

fn check_price(role: &str, resolved: &Resolved, model: &ConfiguredModel) -> Option<Finding> {
    let price = choices::prices(resolved).of(&model.identity());
    price.input.is_none().then(|| {
        Finding::Note(format!(
            "{role}: no price for `{}`; its cost will be shown as unknown (`prices`)",
            model.settings.name
        ))
    })
}

async fn check_embedder(
    session: &Session<'_>,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Finding {
    match embedder(session, servers, resolved, &models.embedder).await {
        Ok(Some(embedder)) => Finding::Good(format!(
            "embedder: {}, {} dimensions",
            embedder.identity(),
            embedder.dimension()
        )),
        Ok(None) => Finding::Note(format!(
            "embedder: `{}` is not in the hub cache; the first run that compares vectors fetches it",
            models.embedder.settings.name
        )),
        Err(error) => Finding::Bad {
            what: format!("embedder: {error:#}"),
            mend: "profiles without embeddings, such as --profile bm25, work all the same"
                .to_owned(),
        },
    }
}

/// Opens the embedding model. A model that is still to be fetched is none, because nothing is fetched here.
async fn embedder(
    session: &Session<'_>,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    model: &ConfiguredModel,
) -> Result<Option<Arc<dyn Embedder>>> {
    embedder::check(resolved, model)?;
    Ok(match model.kind {
        ModelKind::Local => {
            let settings = HubSettings::from_env();
            let may_fetch = !settings.offline;
            let cache = Hub::new(HubSettings {
                offline: true,
                ..settings
            });
            let local = LocalModel::of(resolved, model)?;
            if may_fetch && !local.is_here(&cache) {
                return Ok(None);
            }
            Some(local.open(session.printer, &cache).await?)
        }
        ModelKind::Embedded
        | ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => {
            Some(embedder::open(session.printer, resolved, model, servers).await?)
        }
    })
}

/// The databases that runs have made so far.
fn indexes(session: &Session<'_>) -> Finding {
    let folder = session.directories.data.join("dbs");
    let databases = fs::read_dir(&folder).map_or(0, |entries| entries.flatten().count());
    Finding::Note(match databases {
        0 => "indexes: none yet; the first run of a dataset makes one".to_owned(),
        count => format!(
            "indexes: databases of {} in {}; one that does not fit the settings is built anew beside the old",
            quantity::of(count, "dataset"),
            folder.display()
        ),
    })
}

/// Whether a folder, or the nearest of its parents that exists, can be written and has room.
fn check_folder(label: &str, folder: &Path) -> Vec<Finding> {
    let mut ancestors = folder.ancestors();
    let existing = ancestors.find(|ancestor| ancestor.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new("/"));
    let probe = existing.join(format!(".evaluations-doctor-{}", std::process::id()));
    let written = fs::write(&probe, b"probe").and_then(|()| fs::remove_file(&probe));
    match written {
        Ok(()) => vec![
            Finding::Good(format!("{label}: {}", folder.display())),
            check_room(existing),
        ],
        Err(error) => vec![Finding::Bad {
            what: format!("{label}: cannot write to {}: {error}", existing.display()),
            mend: "set EVALUATIONS_DATA_DIR to a folder that you can write to".to_owned(),
        }],
    }
}

fn check_room(folder: &Path) -> Finding {
    match fs4::available_space(folder) {
        Ok(free) if free >= COMFORTABLE_BYTES => {
            Finding::Good(format!("free disk: {}", gigabytes(free)))
        }
        Ok(free) => Finding::Note(format!(
            "free disk: {}; enough for the samples, a large collection needs more",
            gigabytes(free)
        )),
        Err(error) => Finding::Note(format!("free disk: unknown ({error})")),
    }
}

fn check_hub(settings: &HubSettings) -> Result<Vec<Finding>> {
    let cache = match &settings.cache_dir {
        Some(folder) if folder.is_dir() => {
            Finding::Good(format!("hub cache: {}", folder.display()))
        }
        Some(folder) => Finding::Note(format!(
            "hub cache: {} (made by the first download)",
            folder.display()
        )),
        None => Finding::Bad {
            what: "hub cache: there is no home folder".to_owned(),
            mend: "set HF_HOME to a folder of your own".to_owned(),
        },
    };
    let mut findings = vec![cache];
    if settings.offline {
        findings.push(Finding::Note(
            "hub: offline, as HF_HUB_OFFLINE says; only cached and bundled datasets can be run"
                .to_owned(),
        ));
        return Ok(findings);
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    let greeting = runtime.block_on(Hub::new(settings.clone()).greet());
    findings.push(match &greeting {
        Ok(_) => Finding::Good(format!("hub: {}", settings.endpoint)),
        Err(error) => Finding::Note(format!(
            "hub: {error}; only cached and bundled datasets can be run"
        )),
    });
    findings.push(match (&settings.token, greeting) {
        (None, _) => Finding::Note(
            "hub token: none; only private and gated datasets need one (HF_TOKEN)".to_owned(),
        ),
        (Some(_), Ok(Greeting::TokenRefused)) => Finding::Bad {
            what: format!("hub token: {} refuses it", settings.endpoint),
            mend: "set HF_TOKEN to a valid token, or to none: public datasets need no token, and are refused with a wrong one"
                .to_owned(),
        },
        (Some(_), Ok(Greeting::Reached)) => Finding::Good("hub token: accepted".to_owned()),
        (Some(_), Err(_)) => Finding::Note("hub token: set".to_owned()),
    });
    Ok(findings)
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
