//! The prompts of rerankers whose files do not state them, exactly as in the code of their authors.

use crate::settings::RerankPrompt;
use crate::tokenizer::Tokens;

/// The model card of Qwen3-Reranker.
const QWEN3_PREFIX: &str = "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the \
                            Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n";
const QWEN3_SUFFIX: &str = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
const QWEN3_INSTRUCTION: &str =
    "Given a web search query, retrieve relevant passages that answer the query";

/// The package mxbai-rerank, version 0.1.6.
const MXBAI_PREFIX: &str = "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful \
                            assistant.<|im_end|>\n<|im_start|>user\n";
const MXBAI_TASK: &str = "You are a search relevance expert who evaluates how well documents match search queries. For each \
                          query-document pair, carefully analyze the semantic relationship between them, then provide your \
                          binary relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:";
const MXBAI_SUFFIX: &str = "<|im_end|>\n<|im_start|>assistant\n";
const SEPARATOR: &str = "\n";

/// The default window of a prompt in the code of both authors.
const WINDOW: usize = 8192;

impl RerankPrompt {
    /// The text before the pair, in pieces that are tokenized separately.
    pub(super) fn prefix(self) -> &'static [&'static str] {
        match self {
            Self::Qwen3 => &[QWEN3_PREFIX],
            Self::Mxbai => &[MXBAI_PREFIX],
        }
    }

    /// The text after the pair, in pieces that are tokenized separately.
    pub(super) fn suffix(self) -> &'static [&'static str] {
        match self {
            Self::Qwen3 => &[QWEN3_SUFFIX],
            Self::Mxbai => &[SEPARATOR, MXBAI_TASK, MXBAI_SUFFIX],
        }
    }

    /// The window of a prompt of which `fixed` tokens do not depend on the pair.
    pub(super) fn window(self, fixed: usize) -> usize {
        match self {
            Self::Qwen3 => WINDOW,
            Self::Mxbai => WINDOW + fixed,
        }
    }

    /// The tokens of a pair, at most `room` of them, and whether they were truncated. Truncation cuts the document first.
    pub(super) fn pair(
        self,
        tokens: &Tokens,
        instruction: Option<&str>,
        (query, text): (&str, &str),
        room: usize,
    ) -> Result<(Vec<u32>, bool), tokenizers::Error> {
        match self {
            Self::Qwen3 => {
                let instruction = instruction.unwrap_or(QWEN3_INSTRUCTION);
                let pair =
                    format!("<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {text}");
                let mut ids = tokens.plain(&pair)?;
                let is_cut = ids.len() > room;
                ids.truncate(room);
                Ok((ids, is_cut))
            }
            Self::Mxbai => {
                let instruction = instruction
                    .map(|instruction| format!("instruction: {instruction}{SEPARATOR}"))
                    .unwrap_or_default();
                let mut ids = tokens.plain(&format!("{instruction}query: {query}"))?;
                // A quarter of the room is reserved for the document.
                let most = room * 3 / 4;
                let is_query_cut = ids.len() > most;
                ids.truncate(most);
                ids.extend(tokens.plain(SEPARATOR)?);
                ids.extend(tokens.plain(&format!("document: {text}"))?);
                let is_cut = is_query_cut || ids.len() > room;
                ids.truncate(room);
                Ok((ids, is_cut))
            }
        }
    }

    /// The positive and the negative answer.
    pub(super) fn answers(self) -> [&'static str; 2] {
        match self {
            Self::Qwen3 => ["yes", "no"],
            Self::Mxbai => ["1", "0"],
        }
    }
}
