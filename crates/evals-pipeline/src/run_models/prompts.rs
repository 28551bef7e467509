//! The prompts of a run: the user's files, or else the bundled ones.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use evals_evaluators::JudgePrompts;
use evals_guard::regular_file::{self, FileError};
use evals_questions::QuestionPrompts;
use evals_rag::Prompt;
use evals_rag::rag_judges::JudgeTemplates;
use evals_runs::directories::Directories;

/// The size limit of a prompt, in bytes.
const LARGEST: u64 = 16_000_000;

/// A prompt, and where it comes from.
#[derive(Debug)]
pub struct FoundPrompt {
    /// The parsed template.
    pub prompt: Prompt,
    /// The user's file; `None` for the bundled prompt.
    pub file: Option<PathBuf>,
}

/// The prompts for answering, judging and reranking.
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
}

impl Prompts {
    /// Finds each prompt. A file with the name of a bundled prompt in `./prompts` or in the user's configuration folder replaces it.
    pub(crate) fn find(directories: &Directories) -> Result<Self> {
        Ok(Self {
            answer: find(directories, Prompt::answer())?,
            agent: find(directories, Prompt::agent())?,
            agent_passages: find(directories, Prompt::agent_passages())?,
            judge: find(directories, Prompt::judge())?,
            refusal: find(directories, Prompt::refusal())?,
            judges: JudgeTemplates::default().try_map(|it| find(directories, it))?,
            rerank_pointwise: find(directories, Prompt::rerank_pointwise())?,
            rerank_listwise: find(directories, Prompt::rerank_listwise())?,
        })
    }

    /// Finds the prompts of the evaluators of dataset files in the same way.
    pub(crate) fn of_evaluators(directories: &Directories) -> Result<JudgePrompts> {
        let bundled = JudgePrompts::default();
        Ok(JudgePrompts {
            rubric: find(directories, bundled.rubric)?,
            g_eval: find(directories, bundled.g_eval)?,
            judge: find(directories, bundled.judge)?,
            decomposed: bundled.decomposed.try_map(|it| find(directories, it))?,
        })
    }

    /// Finds the prompt of the judge of passages in the same way.
    pub(crate) fn grade(directories: &Directories) -> Result<Prompt> {
        find(directories, Prompt::grade())
    }

    /// Finds the prompts of test sets in the same way.
    pub(crate) fn of_questions(directories: &Directories) -> Result<QuestionPrompts> {
        QuestionPrompts::default().try_map(|it| find(directories, it))
    }

    /// All prompts that a file can replace, by name.
    pub fn replaceable(directories: &Directories) -> Result<Vec<FoundPrompt>> {
        let of_evaluators = JudgePrompts::default();
        let bundled = [
            Prompt::agent_passages(),
            Prompt::agent(),
            Prompt::answer(),
            of_evaluators.g_eval,
            Prompt::judge(),
        ];
        let decomposed = JudgeTemplates::default();
        let decomposed = decomposed.all().map(Clone::clone);
        let questions = QuestionPrompts::default();
        let questions = questions.all().clone();
        let others = [
            Prompt::grade(),
            Prompt::refusal(),
            Prompt::rerank_listwise(),
            Prompt::rerank_pointwise(),
            of_evaluators.rubric,
        ];
        let all = bundled.into_iter().chain(decomposed);
        let all = all.chain(questions).chain(others);
        let found = all.map(|it| locate(directories, it));
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

fn find(directories: &Directories, bundled: Prompt) -> Result<Prompt> {
    Ok(locate(directories, bundled)?.prompt)
}

fn locate(directories: &Directories, bundled: Prompt) -> Result<FoundPrompt> {
    for folder in directories.prompts() {
        let path = folder.join(bundled.name());
        match regular_file::read_named(&path, LARGEST) {
            // Digests are keyed by file name, so that they do not depend on the folder.
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
    Ok(FoundPrompt {
        prompt: bundled,
        file: None,
    })
}
