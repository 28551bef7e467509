//! Settings as the libraries' own types, checked before anything is fetched or written.

use std::sync::Arc;

use evals_index::{Chunker, Fusion, Profile, UnknownProfile};
use evals_local::StaticEmbedder;
use evals_rag::prices::{Price, Prices};

use crate::models::fields;
use crate::models::local::LocalModel;
use crate::models::reranker;
use crate::search_profile::{RERANK, SearchProfile, UnknownSearchProfile};
use crate::settings::{self, FusionMethod, Model, Resolved, SettingsError};

/// The provider of what needs neither server nor download.
pub(crate) const EMBEDDED: &str = "embedded";

/// What settings call the embedded model.
const STATIC_MINILM: &str = "static-minilm";

/// What the settings choose.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    /// The profiles to run where the command line names none.
    pub(crate) profiles: Vec<SearchProfile>,
    /// What `hybrid` means.
    pub(crate) hybrid: Profile,
    pub(crate) chunker: Chunker,
}

impl Choices {
    pub(crate) fn of(resolved: &Resolved) -> Result<Self, SettingsError> {
        fields::check(resolved)?;
        let hybrid = Profile::Hybrid(fusion(resolved)?);
        let named = [resolved.settings.search.profile.as_str()];
        let profiles = profiles(named, hybrid, reranker::is_known(resolved))
            .map_err(|unknown| resolved.bad_value("search.profile", &unknown))?;
        Ok(Self {
            profiles,
            hybrid,
            chunker: chunker(resolved)?,
        })
    }
}

/// The profiles that `names` mean, each once, in their order. `all` is every profile, with `hybrid` as the settings
/// have it, and reranked where the settings have a `reranker`.
pub(crate) fn profiles<'n>(
    names: impl IntoIterator<Item = &'n str>,
    hybrid: Profile,
    reranker: bool,
) -> Result<Vec<SearchProfile>, UnknownSearchProfile> {
    let mut profiles: Vec<SearchProfile> = Vec::new();
    for name in names {
        let (base, rerank) = match name.strip_suffix(RERANK) {
            Some(base) => (base, true),
            None => (name, false),
        };
        let mut of_name: Vec<SearchProfile> = bases(base, hybrid)
            .map_err(|unknown| UnknownSearchProfile::new(name, unknown))?
            .into_iter()
            .map(|base| SearchProfile { base, rerank })
            .collect();
        if name == "all" && reranker {
            of_name.push(SearchProfile::from(hybrid).reranked());
        }
        profiles.extend(of_name);
    }
    let mut distinct: Vec<SearchProfile> = Vec::new();
    for profile in profiles {
        if !distinct.contains(&profile) {
            distinct.push(profile);
        }
    }
    Ok(distinct)
}

/// The searches of the index that a name without suffix means.
fn bases(name: &str, hybrid: Profile) -> Result<Vec<Profile>, UnknownProfile> {
    Ok(match name {
        "all" => {
            let (mut profiles, fused) = Profile::all()
                .into_iter()
                .partition::<Vec<_>, _>(|profile| !matches!(profile, Profile::Hybrid(_)));
            profiles.push(hybrid);
            profiles.extend(fused);
            profiles
        }
        "hybrid" => vec![hybrid],
        name => vec![name.parse()?],
    })
}

fn fusion(resolved: &Resolved) -> Result<Fusion, SettingsError> {
    let written = &resolved.settings.search.fusion;
    let fusion = match written.method {
        FusionMethod::Rrf => Fusion::Rrf { k: written.k.get() },
        FusionMethod::Linear => Fusion::Linear {
            weight: written.weight,
        },
        FusionMethod::LogBm25 => Fusion::LogBm25,
    };
    if fusion.is_valid() {
        Ok(fusion)
    } else {
        Err(resolved.bad_value("search.fusion.weight", &"it has to lie between 0 and 1"))
    }
}

fn chunker(resolved: &Resolved) -> Result<Chunker, SettingsError> {
    let processing = &resolved.settings.processing;
    let Some(size) = processing.chunk_size else {
        return Ok(Chunker::whole_documents());
    };
    // Chunks are measured by the embedded tokenizer, whichever model embeds them.
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    Chunker::tokens(size, processing.chunk_overlap, tokenizer)
        .map_err(|error| resolved.bad_value("processing.chunk_overlap", &error))
}

/// Whether a model is part of the program.
pub(crate) fn is_embedded(model: &Model) -> bool {
    model.provider == EMBEDDED
}

/// Whether a model is run in this process, from files.
pub(crate) fn is_local(model: &Model) -> bool {
    model.provider == "local"
}

/// Refuses an embedding model that the settings do not describe rightly, without opening it.
pub(crate) fn check_embedder(resolved: &Resolved) -> Result<(), SettingsError> {
    let model = &resolved.settings.embeddings.model;
    if is_embedded(model) {
        embedder(resolved).map(drop)
    } else if is_local(model) {
        LocalModel::of(resolved).map(drop)
    } else {
        let is_known = |field: &str| !["revision", "dtype", "pooling"].contains(&field);
        refuse_fields(
            resolved,
            ("embeddings.model", model),
            is_known,
            "only a `local` model has such a setting",
        )
    }
}

/// Refuses what is set of the embedding model and means nothing for its kind.
pub(crate) fn refuse_fields(
    resolved: &Resolved,
    (path, model): (&str, &Model),
    is_known: impl Fn(&str) -> bool,
    message: &str,
) -> Result<(), SettingsError> {
    let fields = model.set_fields();
    match fields.iter().find(|field| !is_known(field)) {
        Some(field) => {
            let path = format!("{path}.{field}");
            Err(resolved.bad_value(&path, &message))
        }
        None => Ok(()),
    }
}

/// The embedding model of the settings, which has to be an embedded one.
pub(crate) fn embedder(resolved: &Resolved) -> Result<Arc<StaticEmbedder>, SettingsError> {
    let model = &resolved.settings.embeddings.model;
    if model.name != STATIC_MINILM {
        let message = format!("the only embedded model is `{STATIC_MINILM}`");
        return Err(resolved.bad_value("embeddings.model.name", &message));
    }
    let is_known = |field: &str| field == "vector_dim";
    let place = ("embeddings.model", model);
    let message = "the embedded model has no such setting";
    refuse_fields(resolved, place, is_known, message)?;
    let embedder = StaticEmbedder::static_minilm();
    let embedder = match model.vector_dim {
        None => embedder,
        Some(dimension) => embedder
            .with_dimension(dimension.get())
            .map_err(|error| resolved.bad_value("embeddings.model.vector_dim", &error))?,
    };
    Ok(Arc::new(embedder))
}

/// What models cost, as far as the settings know.
pub(crate) fn prices(resolved: &Resolved) -> Prices {
    let known = |price: &settings::Price| Price {
        input: Some(price.input),
        output: Some(price.output),
    };
    let prices = resolved.settings.prices.iter();
    Prices(
        prices
            .map(|(model, price)| (model.clone(), known(price)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, resolve};

    fn resolved(assignments: &[&str]) -> Resolved {
        let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
        resolve(
            Layer::assignments(&assignments)
                .unwrap()
                .into_iter()
                .collect(),
        )
        .unwrap()
    }

    fn names(profiles: &[SearchProfile]) -> Vec<String> {
        profiles.iter().map(ToString::to_string).collect()
    }

    fn refused(assignment: &str) -> String {
        Choices::of(&resolved(&[assignment]))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn defaults_choose_hybrid_by_rank_fusion() {
        let choices = Choices::of(&resolved(&[])).unwrap();
        assert_eq!(names(&choices.profiles), ["hybrid"]);
        assert_eq!(choices.hybrid, Profile::Hybrid(Fusion::default()));
    }

    #[test]
    fn a_profile_is_run_once() {
        let asked = profiles(
            ["bm25", "semantic", "bm25"],
            Profile::Hybrid(Fusion::default()),
            false,
        );
        assert_eq!(names(&asked.unwrap()), ["bm25", "semantic"]);
    }

    #[test]
    fn a_suffix_reranks_and_all_does_so_where_there_is_a_reranker() {
        let profiles = |name: &str, reranker| {
            let hybrid = Profile::Hybrid(Fusion::Rrf { k: 7 });
            profiles([name], hybrid, reranker).map(|found| names(&found))
        };
        assert_eq!(profiles("bm25+rerank", false).unwrap(), ["bm25+rerank"]);
        assert_eq!(
            profiles("hybrid+rerank", true).unwrap(),
            ["hybrid-rrf-7+rerank"]
        );
        let all = profiles("all", true).unwrap();
        assert_eq!(all.last().unwrap(), "hybrid-rrf-7+rerank");
        assert!(!profiles("all", false).unwrap().concat().contains("rerank"));
        assert!(
            profiles("splade+rerank", true)
                .unwrap_err()
                .to_string()
                .starts_with("no search profile `splade`")
        );
    }

    #[test]
    fn all_holds_hybrid_as_the_settings_have_it() {
        let choices = Choices::of(&resolved(&["search.fusion.k=1", "search.profile=all"])).unwrap();
        assert_eq!(
            names(&choices.profiles),
            [
                "unranked",
                "bm25",
                "semantic",
                "hybrid-rrf-1",
                "hybrid",
                "hybrid-linear",
                "hybrid-log-bm25"
            ]
        );
    }

    #[test]
    fn what_cannot_be_chosen_names_its_setting() {
        assert!(
            refused("search.profile=splade")
                .starts_with("`--set`: bad value for `search.profile`: no search profile `splade`")
        );
        assert_eq!(
            refused("processing.chunk_overlap=256"),
            "`--set`: bad value for `processing.chunk_overlap`: a chunk overlap of 256 tokens is not smaller than the \
             chunk size of 256"
        );
        let weight = ["search.fusion.method=linear", "search.fusion.weight=1.5"];
        assert_eq!(
            Choices::of(&resolved(&weight)).unwrap_err().to_string(),
            "`--set`: bad value for `search.fusion.weight`: it has to lie between 0 and 1"
        );
    }

    #[test]
    fn an_embedder_that_is_not_there_names_its_setting() {
        let refused =
            |assignments: &[&str]| embedder(&resolved(assignments)).unwrap_err().to_string();
        assert_eq!(
            refused(&["embeddings.model.name=x"]),
            "`--set`: bad value for `embeddings.model.name`: the only embedded model is `static-minilm`"
        );
        assert_eq!(
            refused(&["embeddings.model.base_url=http://localhost"]),
            "`--set`: bad value for `embeddings.model.base_url`: the embedded model has no such setting"
        );
        assert_eq!(
            refused(&["embeddings.model.dtype=int8"]),
            "`--set`: bad value for `embeddings.model.dtype`: the embedded model has no such setting"
        );
        assert!(
            refused(&["embeddings.model.vector_dim=1000"])
                .contains("`embeddings.model.vector_dim`")
        );
        assert!(embedder(&resolved(&["embeddings.model.vector_dim=64"])).is_ok());
    }

    #[test]
    fn a_model_behind_a_server_has_the_settings_of_a_server() {
        let check = |field: &str| {
            let model = [
                "embeddings.model.provider=ollama",
                "embeddings.model.name=m",
                field,
            ];
            check_embedder(&resolved(&model))
        };
        assert_eq!(
            check("embeddings.model.pooling=cls")
                .unwrap_err()
                .to_string(),
            "`--set`: bad value for `embeddings.model.pooling`: only a `local` model has such a setting"
        );
        assert!(check("embeddings.model.query_prefix=query").is_ok());
    }
}
