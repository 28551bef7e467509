//! `evaluations doctor`: checks everything that a run needs.

use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_data::{Greeting, Hub, HubSettings};
use evals_messages::{quantity, visible};
use evals_models::{ChatRequest, Embedder, Message, Reranker};
use evals_targets::{Request, TargetAddress, TargetSettings};

use crate::choices::{self, Choices};
use crate::cli::{DoctorArgs, TargetArgs};
use crate::downloads;
use crate::exit::Exit;
use crate::models::{
    ConfiguredModel, ConfiguredModels, LocalModel, ModelKind, Servers, embedded, embedder,
    prompted, reranker,
};
use crate::session::{Session, named_models};
use crate::settings::{self, Resolved};
use crate::targets;
use crate::terminal::{Printer, printable};

/// Limit on the reply to the request that only checks whether a model answers, in tokens.
const PROBE_TOKENS: u32 = 16;

/// The question that a system under test is asked.
const PROBE: &str = "What do you know?";

/// Most models of a server that are named.
const LISTED: usize = 8;

/// Most characters of a model's name in the list of its server. A server may send any text as a name.
const LISTED_NAME: usize = 100;

/// Free space that needs no note: a collection of a million passages takes about this much.
const COMFORTABLE_BYTES: u64 = 2_000_000_000;

/// The result of one check.
enum Finding {
    Good(String),
    /// Works, but the user may want to know.
    Note(String),
    /// Prevents a run. `remedy` says how to fix it.
    Bad {
        what: String,
        remedy: String,
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
            Finding::Bad { what, remedy } => {
                bad += 1;
                format!("bad   {what}\n      {remedy}\n")
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
                remedy: "correct the file, or name another one with --config".to_owned(),
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
    if let Some(target) = &resolved.settings.target {
        let mut servers = Servers::new(&resolved, &models, session.printer, 0).without_retries();
        let folder = &session.directories.working;
        findings.push(runtime.block_on(check_target(&mut servers, &resolved, target, folder)));
    }
    Ok(findings)
}

fn resolve(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Resolved> {
    let models = named_models(arguments.model.as_ref(), arguments.judge.as_ref());
    let target = targets::layers(session, &target_arguments(arguments))?;
    let mut layers: Vec<_> = target.file.into_iter().collect();
    let options = models.into_iter().chain(target.options);
    layers.extend(session.user_layers(&arguments.settings, options)?);
    let resolved = settings::resolve(layers)?;
    targets::chosen(&resolved, &target_arguments(arguments))?;
    Ok(resolved)
}

fn target_arguments(arguments: &DoctorArgs) -> TargetArgs {
    TargetArgs {
        target: arguments.target.clone(),
        target_version: None,
    }
}

/// Opens every model and sends it a short request.
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
            what: "judge: not set, but answers of a chat model need one".to_owned(),
            remedy: "set `evaluations.judge`, or name one with --judge PROVIDER:NAME".to_owned(),
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
    let shown: Vec<String> = shown.iter().map(|name| listed_name(name)).collect();
    Finding::Good(format!(
        "`{server}` has {}: {}{more}",
        quantity::of(models.len(), "model"),
        shown.join(", ")
    ))
}

/// A name from a server on one line, cut if it is too long.
fn listed_name(name: &str) -> String {
    let name = visible::line(name);
    match name.char_indices().nth(LISTED_NAME) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name,
    }
}

/// Opens the configured reranker, if there is one.
async fn check_reranker(
    printer: &Printer,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Option<Finding> {
    models.reranker.as_ref()?;
    let bad = |error: anyhow::Error| Finding::Bad {
        what: format!("reranker: {error:#}"),
        remedy: "profiles without `+rerank` still work".to_owned(),
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
                    "reranker: {model} is not in the hub cache; the first run that reranks downloads it"
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

/// Checks the name of an embedded model as a run does.
fn check_embedded(role: &str, resolved: &Resolved, model: &ConfiguredModel) -> Finding {
    match embedded::check_name(resolved, model) {
        Ok(()) => Finding::Good(format!("{role}: {model}, part of this program")),
        Err(error) => Finding::Bad {
            what: format!("{role}: {error}"),
            remedy: "use that model, or a model behind a server".to_owned(),
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
            remedy: format!(
                "check the settings `{}` and `providers.{}`",
                model.role.path(),
                model.settings.provider
            ),
        },
    }
}

/// Asks the system under test one question.
async fn check_target(
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    settings: &TargetSettings,
    folder: &Path,
) -> Finding {
    let Some(address) = &settings.address else {
        unreachable!("checked settings have an address");
    };
    let asked = async {
        let target = match address {
            TargetAddress::Http(_) => servers.service(settings, NonZeroUsize::MIN)?,
            TargetAddress::Chat { provider, name } => {
                let model = ConfiguredModel::under_test(&resolved.settings, provider, name);
                prompted(servers.chat(&model).await?, settings, folder)?
            }
            TargetAddress::Exec(_) | TargetAddress::Outputs(_) | TargetAddress::Trec(_) => {
                return anyhow::Ok(None);
            }
        };
        let mut request = Request::question("doctor", PROBE);
        request.k = Some(resolved.settings.search.limit.get());
        Ok(Some(target.ask(&request).await?))
    };
    match asked.await {
        Ok(None) => Finding::Note(format!(
            "target: `{address}` is not behind a server; a run with `--limit 1` tries it"
        )),
        Ok(Some(reply)) => {
            let time = reply
                .timings
                .first()
                .map_or(0.0, |it| it.duration.as_secs_f64());
            let is_given = reply.answer.is_some_and(|answer| !answer.is_null());
            let answer = if is_given { "an answer" } else { "no answer" };
            let documents = reply.documents.map_or_else(
                || "no documents".to_owned(),
                |documents| quantity::of(documents.len(), "document"),
            );
            Finding::Good(format!(
                "target: `{address}` replies within {time:.1} s with {answer} and {documents}"
            ))
        }
        Err(error) => Finding::Bad {
            what: format!("target: {error:#}"),
            remedy: "docs/targets.md shows what a target is sent and may reply".to_owned(),
        },
    }
}

fn check_price(role: &str, resolved: &Resolved, model: &ConfiguredModel) -> Option<Finding> {
    let price = choices::prices(resolved).of(&model.identity());
    price.input.is_none().then(|| {
        Finding::Note(format!(
            "{role}: no price for `{}`, so its cost is unknown; set one under `prices`",
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
            "embedder: `{}` is not in the hub cache; the first run that needs vectors downloads it",
            models.embedder.settings.name
        )),
        Err(error) => Finding::Bad {
            what: format!("embedder: {error:#}"),
            remedy: "profiles without embeddings, such as --profile bm25, still work".to_owned(),
        },
    }
}

/// Opens the embedding model; `None` if it has to be downloaded first, because doctor downloads nothing.
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

/// Counts the databases that earlier runs built.
fn indexes(session: &Session<'_>) -> Finding {
    let folder = session.directories.data.join("dbs");
    let databases = fs::read_dir(&folder).map_or(0, |entries| entries.flatten().count());
    Finding::Note(match databases {
        0 => "indexes: none yet; the first run of a dataset builds one".to_owned(),
        count => format!(
            "indexes: databases of {} in {}; if the settings change, a run builds a new index and keeps the old one",
            quantity::of(count, "dataset"),
            folder.display()
        ),
    })
}

/// Checks that a folder, or its nearest existing parent, is writable and has free space.
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
            remedy: "set EVALUATIONS_DATA_DIR to a folder that you can write to".to_owned(),
        }],
    }
}

fn check_room(folder: &Path) -> Finding {
    match fs4::available_space(folder) {
        Ok(free) if free >= COMFORTABLE_BYTES => {
            Finding::Good(format!("free disk: {}", gigabytes(free)))
        }
        Ok(free) => Finding::Note(format!(
            "free disk: {}; enough for the samples, but large collections need more",
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
            "hub cache: {} (the first download creates it)",
            folder.display()
        )),
        None => Finding::Bad {
            what: "hub cache: no home folder found".to_owned(),
            remedy: "set HF_HOME to a folder of your own".to_owned(),
        },
    };
    let mut findings = vec![cache];
    if settings.offline {
        findings.push(Finding::Note(
            "hub: offline because HF_HUB_OFFLINE is set; only cached and bundled datasets can be run"
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
            what: format!("hub token: rejected by {}", settings.endpoint),
            remedy: "set HF_TOKEN to a valid token, or remove it: public datasets need no token, but the hub rejects an invalid one"
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
