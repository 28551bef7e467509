//! Translates the models that embed, answer and judge.

use std::env;

use serde_json::Value;

use super::super::tree::{Entry, Tree};
use super::section::{Section, text};

/// The provider of a model that names none.
const OLLAMA: &str = "ollama";

/// The default addresses of LM Studio and vLLM.
const LM_STUDIO: &str = "http://localhost:1234";
const VLLM: &str = "http://localhost:8000";

/// An environment variable from which haiku.rag, too, takes the address of Ollama.
const OLLAMA_VARIABLE: &str = "OLLAMA_BASE_URL";

/// Addresses in the section `providers`. For vLLM there is one for each role.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    vllm_embeddings: Option<Entry>,
    vllm_qa: Option<Entry>,
    vllm_rerank: Option<Entry>,
    lm_studio: Option<Entry>,
}

impl Addresses {
    /// Removes them from the section `providers`.
    pub(super) fn take(tree: &mut Tree) -> Self {
        let from_environment = env::var(OLLAMA_VARIABLE).ok().filter(|url| !url.is_empty());
        if let Some(url) = from_environment {
            let mut providers = Section::of_or_new(tree, "providers", None);
            providers.put_if_absent(OLLAMA, None, Tree::Mapping(Vec::new()));
            if let Some(mut ollama) = providers.inner(OLLAMA) {
                ollama.put_if_absent("base_url", None, Tree::Leaf(Value::String(url)));
            }
        }
        let Some(mut providers) = Section::of(tree, "providers") else {
            return Self::default();
        };
        if let Some(mut ollama) = providers.inner_mut(OLLAMA) {
            without_v1(&mut ollama);
        }
        let mut found = Self::default();
        if let Some(mut vllm) = providers.inner_mut("vllm") {
            found.vllm_embeddings = vllm.take("embeddings_base_url");
            found.vllm_qa = vllm.take("qa_base_url");
            found.vllm_rerank = vllm.take("rerank_base_url");
        }
        if let Some(mut studio) = providers.inner_mut("lm_studio") {
            found.lm_studio = studio.take("base_url");
        }
        for name in ["vllm", "lm_studio"] {
            if providers
                .inner_mut(name)
                .is_some_and(|rest| rest.is_empty())
            {
                providers.take(name);
            }
        }
        found
    }

    /// The address of vLLM's reranker, and its line.
    pub(super) fn vllm_rerank(&self) -> Option<(&str, Option<u64>)> {
        written(self.vllm_rerank.as_ref())
    }
}

/// An address and its line. An empty text stands for no address.
fn written(entry: Option<&Entry>) -> Option<(&str, Option<u64>)> {
    let entry = entry?;
    let address = text(&entry.value).filter(|address| !address.is_empty())?;
    Some((address, entry.line))
}

/// Turns `{provider: …, model: NAME, …}` of the first layout into `{model: {provider: …, name: NAME, …}}`, and moves `fields` along.
///
/// An empty provider stands for no model.
pub(super) fn nest(section: &mut Section<'_>, fields: &[&str]) {
    let is_flat = section.get("provider").is_some()
        || section
            .get("model")
            .is_some_and(|model| text(&model.value).is_some());
    if !is_flat {
        return;
    }
    let provider = section.take("provider");
    let name = section.take("model");
    let mut moved: Vec<Entry> = fields
        .iter()
        .filter_map(|field| section.take(field))
        .collect();
    let is_empty = |entry: &Entry| text(&entry.value).is_some_and(str::is_empty);
    let line = provider
        .as_ref()
        .or(name.as_ref())
        .and_then(|entry| entry.line);
    if provider.as_ref().or(name.as_ref()).is_some_and(is_empty) {
        return;
    }
    if let Some(Entry {
        value: Tree::Mapping(inner),
        ..
    }) = name
    {
        // The section mixes both layouts, and the second one wins.
        moved.extend(inner);
    } else {
        let name = name.filter(|entry| !is_empty(entry));
        moved.extend(name.map(|entry| Entry {
            key: "name".to_owned(),
            ..entry
        }));
    }
    if moved.iter().all(|entry| entry.key != "provider") {
        moved.extend(provider);
    }
    section.put("model", line, Tree::Mapping(moved));
}

/// The provider of `model`, which is Ollama unless another is named.
pub(super) fn provider(model: &mut Section<'_>) -> String {
    if model.text("provider").is_none() {
        let line = model.line("provider").or_else(|| model.line("name"));
        model.put_text("provider", line, OLLAMA);
    }
    model.text("provider").unwrap_or(OLLAMA).to_owned()
}

/// Translates the embedding model of `section`.
pub(super) fn embedding(section: &mut Section<'_>, addresses: &Addresses) {
    let Some(mut model) = section.inner_mut("model") else {
        return;
    };
    match provider(&mut model).as_str() {
        "sentence-transformers" => {
            let line = model.line("provider");
            model.put_text("provider", line, "local");
            // A name without an owner is a model of the library's own.
            if let Some(name) = model.text("name").filter(|name| !name.contains('/')) {
                let name = format!("sentence-transformers/{name}");
                model.put_text("name", None, name);
            }
        }
        provider => set_address(
            &mut model,
            provider,
            addresses,
            addresses.vllm_embeddings.as_ref(),
        ),
    }
}

/// Translates the chat model at `key` of `section`.
pub(super) fn chat(section: &mut Section<'_>, key: &str, addresses: &Addresses) {
    let Some(mut model) = section.inner_mut(key) else {
        return;
    };
    let provider = provider(&mut model);
    set_address(&mut model, &provider, addresses, addresses.vllm_qa.as_ref());
    if let Some(thinking) = model.take("enable_thinking") {
        set_thinking(&mut model, &provider, thinking);
    }
}

/// Sets the address of a model behind a server as this program expects it: without `/v1` for Ollama, with `/v1` for others.
fn set_address(
    model: &mut Section<'_>,
    provider: &str,
    addresses: &Addresses,
    vllm: Option<&Entry>,
) {
    let (address, usual) = match provider {
        OLLAMA => return without_v1(model),
        "vllm" => (vllm, VLLM),
        "lm_studio" => (addresses.lm_studio.as_ref(), LM_STUDIO),
        _ => return,
    };
    let own = model
        .text("base_url")
        .map(|url| (url, model.line("base_url")));
    let (address, line) = own.or_else(|| written(address)).unwrap_or((usual, None));
    let address = with_v1(address);
    model.put_text("base_url", line, address);
}

/// Sets whether a model reasons: `think` for Ollama, `reasoning_effort` for all others.
fn set_thinking(model: &mut Section<'_>, provider: &str, thinking: Entry) {
    let Entry { line, value, .. } = thinking;
    let level = |thinks: bool| if thinks { "high" } else { "low" };
    let in_levels = provider != OLLAMA || model.text("name").is_some_and(takes_levels);
    let value = match value {
        Tree::Leaf(Value::Null) => return,
        Tree::Leaf(Value::Bool(thinks)) if in_levels => Tree::Leaf(level(thinks).into()),
        value => value,
    };
    let field = if provider == OLLAMA {
        "think"
    } else {
        "reasoning_effort"
    };
    model.put_if_absent(field, line, value);
}

/// Whether a model of Ollama takes levels of reasoning and cannot be told not to reason.
fn takes_levels(name: &str) -> bool {
    name.rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with("gpt-oss"))
}

fn without_v1(section: &mut Section<'_>) {
    let Some(address) = section.text("base_url") else {
        return;
    };
    let plain = address.trim_end_matches('/');
    if let Some(root) = plain.strip_suffix("/v1") {
        let root = root.to_owned();
        section.put_text("base_url", None, root);
    }
}

/// The base address of a server that speaks `OpenAI`'s protocol.
pub(super) fn with_v1(address: &str) -> String {
    let address = address.trim_end_matches('/');
    if address.ends_with("/v1") {
        address.to_owned()
    } else {
        format!("{address}/v1")
    }
}
