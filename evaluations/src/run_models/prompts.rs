//! The prompts of a run: the user's files, or else the bundled ones.

use std::collections::BTreeMap;
use std::io;

use anyhow::{Context as _, Result};
use evals_guard::regular_file::{self, FileError};
use evals_rag::Prompt;

use crate::directories::Directories;

/// The size limit of a prompt, in bytes.
const LARGEST: u64 = 16_000_000;

/// The prompts for answering, judging and reranking.
#[derive(Debug, Clone)]
pub(crate) struct Prompts {
    pub(crate) answer: Prompt,
    pub(crate) agent: Prompt,
    pub(crate) agent_passages: Prompt,
    pub(crate) judge: Prompt,
    pub(crate) refusal: Prompt,
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
            rerank_pointwise: find(directories, Prompt::rerank_pointwise())?,
            rerank_listwise: find(directories, Prompt::rerank_listwise())?,
        })
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
    for folder in directories.prompts() {
        let path = folder.join(bundled.name());
        match regular_file::read_named(&path, LARGEST) {
            // Digests are keyed by file name, so that they do not depend on the folder.
            Ok(text) => {
                return Prompt::new(bundled.name(), text)
                    .with_context(|| format!("cannot use prompt `{}`", path.display()));
            }
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bundled)
}
