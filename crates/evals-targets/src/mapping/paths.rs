//! The path of each field of a reply: those of our own format, or those that the settings name.

use super::path::Path;
use crate::settings::{ResponseSettings, SettingsProblem};

/// The path of each field that is read.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub(super) id: Option<Path>,
    pub(super) error: Option<Path>,
    pub(super) answer: Option<Path>,
    /// Another name of the answer, for files of outputs.
    pub(super) output: Option<Path>,
    pub(super) documents: Option<Path>,
    pub(super) document: DocumentPaths,
    pub(super) citations: Option<Path>,
    pub(super) refused: Option<Path>,
    pub(super) usage: Option<Path>,
    pub(super) input_tokens: Option<Path>,
    pub(super) output_tokens: Option<Path>,
    pub(super) model: Option<Path>,
    pub(super) latency_seconds: Option<Path>,
    pub(super) latency_ms: Option<Path>,
    pub(super) version: Option<Path>,
    pub(super) tool_calls: Option<Path>,
    pub(super) spans: Option<Path>,
    pub(super) attributes: Option<Path>,
    pub(super) metrics: Option<Path>,
}

/// The path of each field of a document. Fields that the settings do not name have the names of our own format.
#[derive(Clone, Debug)]
pub(super) struct DocumentPaths {
    pub(super) id: Path,
    pub(super) score: Path,
    pub(super) title: Path,
    pub(super) text: Path,
    /// Whether a document may be an id alone. It may not if the settings say where its id is.
    pub(super) may_be_an_id: bool,
}

impl Paths {
    /// The paths of our own format.
    pub(super) fn own() -> Self {
        let own = |name: &str| Some(Path::own(name, &format!("$.{name}")));
        Self {
            id: own("id"),
            error: own("error"),
            answer: own("answer"),
            output: own("output"),
            documents: own("documents"),
            document: DocumentPaths::own(),
            citations: own("citations"),
            refused: own("refused"),
            usage: own("usage"),
            model: own("model"),
            latency_seconds: own("latency_seconds"),
            latency_ms: own("latency_ms"),
            version: own("version"),
            tool_calls: own("tool_calls"),
            spans: own("spans"),
            attributes: own("attributes"),
            metrics: own("metrics"),
            // They are inside `usage`.
            input_tokens: None,
            output_tokens: None,
        }
    }

    pub(super) fn configured(settings: &ResponseSettings) -> Result<Self, SettingsProblem> {
        let path = |key: &str, text: &Option<String>| {
            let path = text.as_deref().map(|text| Path::configured(key, text));
            path.transpose()
        };
        let usage = &settings.usage;
        Ok(Self {
            id: path("id", &settings.id)?,
            error: path("error", &settings.error)?,
            answer: path("answer", &settings.answer)?,
            output: None,
            documents: path("documents", &settings.documents)?,
            document: DocumentPaths::configured(settings)?,
            citations: path("citations", &settings.citations)?,
            refused: path("refused", &settings.refused)?,
            usage: None,
            input_tokens: path("usage.input_tokens", &usage.input_tokens)?,
            output_tokens: path("usage.output_tokens", &usage.output_tokens)?,
            model: path("model", &settings.model)?,
            latency_seconds: path("latency_seconds", &settings.latency_seconds)?,
            latency_ms: path("latency_ms", &settings.latency_ms)?,
            version: path("version", &settings.version)?,
            tool_calls: path("tool_calls", &settings.tool_calls)?,
            spans: None,
            attributes: path("attributes", &settings.attributes)?,
            metrics: path("metrics", &settings.metrics)?,
        })
    }
}

impl DocumentPaths {
    fn own() -> Self {
        let own = |name: &str| Path::own(name, &format!("$.{name}"));
        Self {
            id: own("id"),
            score: own("score"),
            title: own("title"),
            text: own("text"),
            may_be_an_id: true,
        }
    }

    fn configured(settings: &ResponseSettings) -> Result<Self, SettingsProblem> {
        let path = |key: &str, text: &Option<String>, own: Path| match text {
            Some(text) => Path::configured(key, text),
            None => Ok(own),
        };
        let own = Self::own();
        Ok(Self {
            id: path("document_id", &settings.document_id, own.id)?,
            score: path("document_score", &settings.document_score, own.score)?,
            title: path("document_title", &settings.document_title, own.title)?,
            text: path("document_text", &settings.document_text, own.text)?,
            may_be_an_id: settings.document_id.is_none(),
        })
    }
}
