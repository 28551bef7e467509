//! The prompts of a run: the user's files, or else the bundled ones.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use evals_evaluators::JudgePrompts;
use evals_guard::regular_file::{self, FileError};
use evals_messages::nearest;
use evals_questions::QuestionPrompts;
use evals_rag::Prompt;
use evals_rag::rag_judges::JudgeTemplates;
use evals_runs::directories::Directories;

/// The size limit of a prompt, in bytes.
const LARGEST: u64 = 16_000_000;

/// The files that the settings name (`prompts:`), by the name of the prompt that each replaces.
type Files = BTreeMap<String, String>;

/// A prompt, and where it comes from.
#[derive(Debug)]
pub struct FoundPrompt {
    /// The parsed template.
    pub prompt: Prompt,
    /// The user's file; `None` for the bundled prompt.
    pub file: Option<PathBuf>,
}

/// The prompts for answering, judging, reranking, rewriting and playing a user.
#[derive(Debug, Clone)]
pub struct Prompts {
    pub(crate) answer: Prompt,
    pub(crate) agent: Prompt,
    pub(crate) agent_passages: Prompt,
    pub(crate) judge: Prompt,
    pub(crate) refusal: Prompt,
    /// The prompts of judges that decide claim by claim.
    pub(crate) judges: JudgeTemplates,
    pub(crate) rerank_pointwise: Prompt,
    pub(crate) rerank_listwise: Prompt,
    pub(crate) rewrite: Prompt,
    pub(crate) user: Prompt,
}

impl Prompts {
    /// Finds each prompt. A file with the name of a bundled prompt in `./prompts` or in the user's configuration folder replaces it,
    /// or the file that the settings name.
    pub(crate) fn find(directories: &Directories, files: &Files) -> Result<Self> {
        let find = finder(directories, files)?;
        Ok(Self {
            answer: find(Prompt::answer())?,
            agent: find(Prompt::agent())?,
            agent_passages: find(Prompt::agent_passages())?,
            judge: find(Prompt::judge())?,
            refusal: find(Prompt::refusal())?,
            judges: JudgeTemplates::default().try_map(&find)?,
            rerank_pointwise: find(Prompt::rerank_pointwise())?,
            rerank_listwise: find(Prompt::rerank_listwise())?,
            rewrite: find(Prompt::rewrite())?,
            user: find(Prompt::user())?,
        })
    }

    /// Finds the prompts of the evaluators of dataset files in the same way.
    pub(crate) fn of_evaluators(directories: &Directories, files: &Files) -> Result<JudgePrompts> {
        let find = finder(directories, files)?;
        let bundled = JudgePrompts::default();
        Ok(JudgePrompts {
            rubric: find(bundled.rubric)?,
            g_eval: find(bundled.g_eval)?,
            judge: find(bundled.judge)?,
            decomposed: bundled.decomposed.try_map(&find)?,
        })
    }

    /// Finds the prompt of the judge of passages in the same way.
    pub(crate) fn grade(directories: &Directories, files: &Files) -> Result<Prompt> {
        finder(directories, files)?(Prompt::grade())
    }

    /// Finds the prompts of test sets in the same way.
    pub(crate) fn of_questions(
        directories: &Directories,
        files: &Files,
    ) -> Result<QuestionPrompts> {
        QuestionPrompts::default().try_map(finder(directories, files)?)
    }

    /// All prompts that a file can replace, by name. An empty file counts as none here: it may be the one that the shell has opened for the
    /// text that is about to be printed.
    pub fn replaceable(directories: &Directories, files: &Files) -> Result<Vec<FoundPrompt>> {
        check(files)?;
        let found = bundled().into_iter().map(|bundled| {
            let found = locate(directories, files, bundled.clone())?;
            let is_empty = found.prompt.text().trim().is_empty();
            Ok(if is_empty {
                FoundPrompt {
                    prompt: bundled,
                    file: None,
                }
            } else {
                found
            })
        });
        found.collect()
    }

    /// The digests of the prompts in use, by file name.
    pub(crate) fn digests<'p>(
        used: impl IntoIterator<Item = &'p Prompt>,
    ) -> BTreeMap<String, String> {
        let digest = |prompt: &Prompt| (prompt.name().to_owned(), prompt.digest().to_owned());
        used.into_iter().map(digest).collect()
    }
}

/// All bundled prompts that a file can replace, by name.
fn bundled() -> Vec<Prompt> {
    let of_evaluators = JudgePrompts::default();
    let first = [
        Prompt::agent_passages(),
        Prompt::agent(),
        Prompt::answer(),
        of_evaluators.g_eval,
        Prompt::judge(),
    ];
    let decomposed = JudgeTemplates::default();
    let decomposed = decomposed.all().into_iter().cloned();
    let questions = QuestionPrompts::default();
    let questions = questions.all().into_iter().cloned();
    let others = [
        Prompt::grade(),
        Prompt::refusal(),
        Prompt::rerank_listwise(),
        Prompt::rerank_pointwise(),
        Prompt::rewrite(),
        of_evaluators.rubric,
        Prompt::user(),
    ];
    let all = first.into_iter().chain(decomposed);
    all.chain(questions).chain(others).collect()
}

/// The name of a prompt in the settings: `answer` for `answer.md.jinja`.
fn key(prompt: &Prompt) -> &str {
    prompt.name().trim_end_matches(".md.jinja")
}

/// Refuses the setting `prompts` if it names an unknown prompt.
fn check(files: &Files) -> Result<()> {
    let bundled = bundled();
    let known = || bundled.iter().map(key);
    match files.keys().find(|it| known().all(|known| known != *it)) {
        None => Ok(()),
        Some(unknown) => bail!(
            "`prompts.{unknown}`: no prompt is called `{unknown}`{}",
            nearest::did_you_mean(nearest::of(unknown, known()))
        ),
    }
}

/// What finds a prompt in place of a bundled one.
fn finder<'f>(
    directories: &'f Directories,
    files: &'f Files,
) -> Result<impl Fn(Prompt) -> Result<Prompt> + 'f> {
    check(files)?;
    Ok(|bundled| {
        let found = locate(directories, files, bundled)?;
        match found.file {
            Some(file) if found.prompt.text().trim().is_empty() => {
                bail!("prompt `{}` is empty", file.display())
            }
            _ => Ok(found.prompt),
        }
    })
}

fn locate(directories: &Directories, files: &Files, bundled: Prompt) -> Result<FoundPrompt> {
    let named = files.get(key(&bundled));
    let name = named.map_or(bundled.name(), String::as_str);
    for folder in directories.prompts() {
        let path = folder.join(name);
        match regular_file::read_named(&path, LARGEST) {
            // Digests are keyed by the name of the bundled prompt, so that runs with different files can be compared.
            Ok(text) => {
                let prompt = Prompt::new(bundled.name(), text)
                    .with_context(|| format!("cannot use prompt `{}`", path.display()))?;
                let file = Some(path);
                return Ok(FoundPrompt { prompt, file });
            }
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(name) = named.filter(|it| *it != bundled.name()) {
        let folders = directories.prompts().map(|it| it.display().to_string());
        bail!(
            "`prompts.{}`: there is no `{name}` in `{}`",
            key(&bundled),
            folders.join("` or `")
        );
    }
    Ok(FoundPrompt {
        prompt: bundled,
        file: None,
    })
}
