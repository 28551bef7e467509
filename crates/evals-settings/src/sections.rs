//! The sections of the settings, with their defaults.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::LazyLock;

use evals_questions::QuestionSettings;
use evals_rag::VectorSearch;
use evals_rag::answering::AgentAnswerer;
use evals_rag::rag_judges::{JudgedMeasure, RagJudges};
use evals_rag::targets::History;
use evals_targets::TargetSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::judges::{self, PanelSettings, RubricSettings};
use crate::model::{
    self, ChatKind, Connection, EMBEDDED, EmbeddedEmbedderSettings, EmbedderKind, Model, ModelKind,
    RerankerKind, Role,
};
use crate::store::StoreSection;
use crate::tune::Tune;

/// The end of the name of a search profile whose results are reranked.
pub const RERANK: &str = "+rerank";

/// Everything that can be set for a run, apart from its dataset; see `docs/settings.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How texts become vectors.
    pub embeddings: Embeddings,
    /// How documents are cut into chunks.
    pub processing: Processing,
    /// How chunks are searched.
    pub search: Search,
    /// How search results are reranked.
    pub reranking: Reranking,
    /// The model that answers questions.
    pub qa: Qa,
    /// How answers are judged, and how many cases run at the same time.
    pub evaluations: Evaluations,
    /// Files in place of bundled prompts: `answer: terse.md.jinja` reads `prompts/terse.md.jinja`; see `docs/settings.md`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
    /// Which questions `evaluations questions` writes; see `docs/test-sets.md`.
    #[serde(skip_serializing_if = "is_default")]
    pub questions: QuestionSettings,
    /// Answers and verdicts from the batch endpoints of servers; see `docs/batch.md`.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: Batch,
    /// Address, key and limits of each provider.
    pub providers: BTreeMap<String, Provider>,
    /// USD per million tokens, by model name. The cost of a model without a price is unknown, not 0.
    pub prices: BTreeMap<String, Price>,
    /// How to reach an index in an object store; see `docs/stores.md`.
    #[serde(skip_serializing_if = "is_default")]
    pub store: StoreSection,
    /// Settings of which `run` tries every value, in every combination: dotted keys, each with its values; see `docs/comparing.md`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub matrix: BTreeMap<String, Vec<Value>>,
    /// Which settings `evaluations tune` tries; see `docs/tune.md`.
    #[serde(skip_serializing_if = "is_default")]
    pub tune: Tune,
    /// How questions that are turns of conversations are asked; see `docs/conversations.md`.
    #[serde(skip_serializing_if = "is_default")]
    pub conversations: Conversations,
    /// The system under test in place of the pipeline that the settings above describe; see `docs/targets.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSettings>,
}

impl Settings {
    /// How the servers of models are reached.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (Role, &Connection)> {
        let reranker = self.reranking.model.as_ref();
        let rewriter = self.search.rewriter.as_ref();
        let user = self.conversations.user.as_ref();
        let of_roles = [
            (Role::Embedder, self.embeddings.model.kind.connection()),
            (Role::Answerer, self.qa.model.kind.connection()),
            (Role::Judge, self.evaluations.judge.kind.connection()),
            (Role::Reranker, reranker.and_then(|it| it.kind.connection())),
            (Role::Rewriter, rewriter.and_then(|it| it.kind.connection())),
            (Role::User, user.and_then(|it| it.kind.connection())),
        ];
        of_roles
            .into_iter()
            .filter_map(|(role, connection)| Some((role, connection?.1)))
    }

    /// Most earlier turns of its conversation that our own pipeline reads for a question.
    pub fn turns_read(&self) -> usize {
        match self.search.history {
            SearchHistory::Turns(turns) => turns,
            SearchHistory::Model(ByModel::Rewrite) => self.conversations.turns.get(),
        }
    }
}

/// How texts become vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Embeddings {
    /// The embedding model.
    pub model: Model<EmbedderKind>,
}

impl Default for Embeddings {
    fn default() -> Self {
        let vector_dim = NonZeroUsize::new(256);
        Self {
            model: Model {
                provider: EMBEDDED.to_owned(),
                name: "static-minilm".to_owned(),
                kind: EmbedderKind::Embedded(EmbeddedEmbedderSettings { vector_dim }),
            },
        }
    }
}

/// How documents are cut into chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Processing {
    /// Largest chunk, in tokens of the embedded tokenizer. `null` keeps documents whole.
    pub chunk_size: Option<NonZeroUsize>,
    /// Tokens at the end of a chunk that the next one repeats.
    pub chunk_overlap: usize,
}

impl Default for Processing {
    fn default() -> Self {
        Self {
            chunk_size: NonZeroUsize::new(256),
            chunk_overlap: 0,
        }
    }
}

/// How chunks are searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Passages given to the answering model.
    pub limit: NonZeroUsize,
    /// Neighbouring chunks on each side of a passage that the answering model is given too.
    pub context_radius: u32,
    /// `unranked`, `bm25`, `semantic` or `hybrid`.
    pub profile: String,
    /// How `hybrid` fuses its two rankings.
    pub fusion: Fusion,
    /// How a search finds the nearest vectors: by comparing every vector, or by an approximate index; see `docs/bench-index.md`.
    #[serde(skip_serializing_if = "is_default")]
    pub index: VectorSearch,
    /// How the earlier turns of its conversation count for a question.
    #[serde(skip_serializing_if = "is_default")]
    pub history: SearchHistory,
    /// The model that rewrites questions with `history: rewrite`. `null`: `qa.model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewriter: Option<Model<ChatKind>>,
    /// Questions that the retrieval benchmark searches one by one, to measure latency. It searches the others all at once. `null`: 100.
    pub latency_sample: Option<NonZeroUsize>,
}

impl Default for Search {
    fn default() -> Self {
        let limit = NonZeroUsize::new(5).expect("5 is not 0");
        Self {
            limit,
            context_radius: 0,
            profile: "hybrid".to_owned(),
            fusion: Fusion::default(),
            index: VectorSearch::default(),
            history: SearchHistory::default(),
            rewriter: None,
            latency_sample: None,
        }
    }
}

/// How the earlier turns of its conversation count for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number of turns, or `rewrite` for a model that rewrites questions"
)]
pub enum SearchHistory {
    /// As many of the last turns: their questions stand before it in a search, and the answering model reads them. 0: none.
    Turns(usize),
    /// A model makes one question of it and its last `conversations.turns`, for the search. The answering model reads both.
    Model(ByModel),
}

/// What a model makes of the earlier turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ByModel {
    /// A question that can be understood by itself.
    Rewrite,
}

impl Default for SearchHistory {
    /// Earlier turns do not count.
    fn default() -> Self {
        Self::Turns(0)
    }
}

impl SearchHistory {
    /// Whether a model rewrites questions.
    pub fn is_rewritten(self) -> bool {
        matches!(self, Self::Model(ByModel::Rewrite))
    }
}

/// How `hybrid` fuses its two rankings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fusion {
    /// `rrf`, `linear` or `log-bm25`.
    pub method: FusionMethod,
    /// The constant of reciprocal rank fusion.
    pub k: NonZeroU32,
    /// The share of the semantic score in `linear`, between 0 and 1.
    pub weight: f64,
}

impl Default for Fusion {
    fn default() -> Self {
        let k = NonZeroU32::new(60).expect("60 is not 0");
        Self {
            method: FusionMethod::Rrf,
            k,
            weight: 0.5,
        }
    }
}

/// A method of fusing two rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FusionMethod {
    /// Reciprocal rank fusion.
    Rrf,
    /// A weighted sum of normalised scores.
    Linear,
    /// The semantic score plus the logarithm of the BM25 score.
    LogBm25,
}

/// How search results are reranked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reranking {
    /// The reranker; `null` for none.
    pub model: Option<Model<RerankerKind>>,
    /// Documents that the reranker reads for each question; with 0, nothing is reranked.
    pub candidates: usize,
    /// Whether an `llm` reranker scores each passage alone or orders many at once.
    pub mode: RerankMode,
    /// Most passages in one request to an `http` reranker.
    pub batch_size: NonZeroUsize,
}

impl Default for Reranking {
    fn default() -> Self {
        Self {
            model: None,
            candidates: 50,
            mode: RerankMode::default(),
            batch_size: NonZeroUsize::new(32).expect("32 is not 0"),
        }
    }
}

/// How a chat model reranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RerankMode {
    /// One call for each passage, which the model scores.
    Pointwise,
    /// One call for twenty passages, which the model puts into order.
    #[default]
    Listwise,
}

/// The model that answers questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Qa {
    /// The answering model.
    pub model: Model<ChatKind>,
    /// Most tokens of passages in the prompt, or in one search result of an agent. The best passages come first.
    pub context_tokens: NonZeroUsize,
    /// `single`: the model is given passages. `agent`: it searches by itself, with the search as a tool.
    pub mode: QaMode,
    /// Limits of `agent`.
    pub agent: Agent,
}

/// Who searches for the passages that an answer is made from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QaMode {
    /// The program searches once, for the question.
    #[default]
    Single,
    /// The answering model searches, as often as it decides to.
    Agent,
}

/// Limits of an answering model that searches by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// Most calls of the model for one question, the one that answers included. At least 2.
    pub max_steps: NonZeroU32,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            max_steps: AgentAnswerer::MAX_STEPS,
        }
    }
}

impl Default for Qa {
    fn default() -> Self {
        Self {
            model: Model::named(EMBEDDED, "extractive"),
            context_tokens: NonZeroUsize::new(4096).expect("4096 is not 0"),
            mode: QaMode::default(),
            agent: Agent::default(),
        }
    }
}

/// How answers are judged, and how many cases run at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Evaluations {
    /// The model that judges answers. The default judges answers of the embedded answerer only; other answerers need a judge of your
    /// choice.
    pub judge: Model<ChatKind>,
    /// Whether the judge also decides which answers are refusals, at one more call for each answer. Otherwise the dataset's phrases
    /// decide.
    pub judge_refusals: bool,
    /// Further judges, which decide claim by claim; see `docs/judges.md`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "judges::names")]
    pub judges: Vec<JudgedMeasure>,
    /// Criteria with levels in words, by the name of their score; see `docs/judges.md`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rubrics: BTreeMap<String, RubricSettings>,
    /// Several judges, or one asked several times, whose votes are counted.
    #[serde(skip_serializing_if = "is_default")]
    pub panel: PanelSettings,
    /// Most tokens of passages in one request of `judges`. More passages are shown in several requests.
    #[serde(skip_serializing_if = "is_default_context")]
    pub judge_context_tokens: NonZeroUsize,
    /// Test cases that run at the same time.
    pub concurrency: NonZeroUsize,
    /// Time limit for answering and judging one case, in seconds, including waiting and retries.
    pub case_timeout: f64,
}

impl Default for Evaluations {
    fn default() -> Self {
        let concurrency = NonZeroUsize::new(4).expect("4 is not 0");
        Self {
            judge: Model::named(EMBEDDED, "overlap"),
            judge_refusals: false,
            judges: Vec::new(),
            rubrics: BTreeMap::new(),
            panel: PanelSettings::default(),
            judge_context_tokens: RagJudges::CONTEXT_TOKENS,
            concurrency,
            case_timeout: 900.0,
        }
    }
}

/// How questions that are turns of conversations are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Conversations {
    /// The answers in the history of a request to a target. `gold`: the reference answers. `live`: its own, one turn after the other.
    /// `simulated`: its own, to a user whom a model plays.
    pub history: History,
    /// Most turns in a history, also for `search.history: rewrite`. The oldest are left out. With `simulated`, most turns of a conversation.
    pub turns: NonZeroUsize,
    /// The model that plays the user with `history: simulated`. `null`: `qa.model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Model<ChatKind>>,
}

impl Default for Conversations {
    fn default() -> Self {
        Self {
            history: History::Gold,
            turns: NonZeroUsize::new(50).expect("50 is not 0"),
            user: None,
        }
    }
}

/// Whether nothing is set. Manifests leave such a section out, so that they are the same as those of versions without it.
fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn is_default_context(tokens: &NonZeroUsize) -> bool {
    *tokens == RagJudges::CONTEXT_TOKENS
}

/// Answers and verdicts from the batch endpoints of servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Batch {
    /// Whether answers and verdicts go in batches, as with `--batch`.
    pub enabled: bool,
    /// The share of the price that a batch saves, between 0 and 1.
    pub discount: f64,
    /// The time that the server has to complete a batch, as the server writes it.
    pub window: String,
    /// Seconds between two requests for the state of a batch.
    pub poll_interval: f64,
    /// The program submits a batch when no new request has come for so many seconds.
    pub quiet: f64,
    /// Most requests in one batch.
    pub max_requests: NonZeroUsize,
    /// Whether the first call to each model is direct, so that a wrong key or setting causes an error at once.
    pub first_direct: bool,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            enabled: false,
            discount: 0.5,
            window: "24h".to_owned(),
            poll_interval: 30.0,
            quiet: 2.0,
            max_requests: NonZeroUsize::new(50_000).expect("50,000 is not 0"),
            first_direct: true,
        }
    }
}

/// Address, key and limits of a provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// The server's address.
    #[serde(
        serialize_with = "model::redacted_address",
        skip_serializing_if = "Option::is_none"
    )]
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Time limit of one request, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Most requests in flight at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<NonZeroUsize>,
    /// Most requests per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<NonZeroU32>,
    /// Most tokens per minute, of prompts and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Attempts at one request before it counts as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<NonZeroU32>,
}

/// USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the answer. Models that only embed or rerank have no such price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<f64>,
}

/// The JSON Schema of a settings file, for editors.
pub fn json_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(Settings).to_value());
    &SCHEMA
}
