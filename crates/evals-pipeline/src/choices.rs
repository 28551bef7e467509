//! Converts settings into the types of the libraries, and checks them before downloads or writes begin.

use std::time::Duration;

use evals::CaseTimeout;
use evals_index::{Chunker, Fusion, Profile, UnknownProfile};
use evals_local::StaticEmbedder;
use evals_rag::prices::{Price, Prices};
use evals_settings::{FusionMethod, RERANK, Reranking, Resolved, SettingsError};

use crate::batches;
use crate::models::ConfiguredModels;
use crate::search_profile::{SearchProfile, UnknownSearchProfile};

/// The choices of the settings for a run.
#[derive(Debug, Clone)]
pub struct Choices {
    /// The profiles to run unless the command line names others.
    pub(crate) profiles: Vec<SearchProfile>,
    /// The profile that `hybrid` stands for.
    pub(crate) hybrid: Profile,
    /// What cuts documents into chunks.
    pub chunker: Chunker,
    /// The models of all roles.
    pub models: ConfiguredModels,
}

impl Choices {
    /// The choices of these settings; fails for values that do not fit together.
    pub fn of(resolved: &Resolved) -> Result<Self, SettingsError> {
        let models = ConfiguredModels::of(&resolved.settings);
        let hybrid = Profile::Hybrid(fusion(resolved)?);
        let search = &resolved.settings.search.index;
        search.check().map_err(|fault| {
            resolved.bad_value(&format!("search.index.{}", fault.parameter), &fault)
        })?;
        let named = [resolved.settings.search.profile.as_str()];
        let profiles = profiles(named, hybrid, &resolved.settings.reranking)
            .map_err(|unknown| resolved.bad_value("search.profile", &unknown))?;
        Ok(Self {
            profiles,
            hybrid,
            chunker: chunker(resolved)?,
            models,
        })
    }
}

/// The profiles of these names, in their order and without repetitions. `all` stands for every profile: `hybrid` as the settings
/// have it, and also reranked if the settings have a reranker. Without candidates, none is reranked.
pub(crate) fn profiles<'n>(
    names: impl IntoIterator<Item = &'n str>,
    hybrid: Profile,
    reranking: &Reranking,
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
            .map(|base| SearchProfile {
                base,
                rerank: rerank && reranking.candidates > 0,
            })
            .collect();
        if name == "all" && reranking.model.is_some() && reranking.candidates > 0 {
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

/// The searches that a name without the suffix stands for.
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
    let linear = Fusion::Linear {
        weight: written.weight,
    };
    if !linear.is_valid() {
        return Err(resolved.bad_value("search.fusion.weight", &"must be between 0 and 1"));
    }
    Ok(match written.method {
        FusionMethod::Rrf => Fusion::Rrf { k: written.k.get() },
        FusionMethod::Linear => linear,
        FusionMethod::LogBm25 => Fusion::LogBm25,
    })
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

/// The prices of models in the settings, with the discount for models that use batches.
pub fn prices(resolved: &Resolved) -> Prices {
    let known = |price: &evals_settings::Price| Price {
        input: Some(price.input),
        output: price.output,
    };
    let prices = resolved.settings.prices.iter();
    let full = Prices(
        prices
            .map(|(model, price)| (model.clone(), known(price)))
            .collect(),
    );
    batches::discounted(resolved, full)
}

/// The time limit of one case, its answer and its evaluation together.
pub(crate) fn case_timeout(resolved: &Resolved) -> Result<CaseTimeout, SettingsError> {
    const SETTING: &str = "evaluations.case_timeout";
    let seconds = resolved.settings.evaluations.case_timeout;
    if seconds.is_finite() && seconds > 0.0 {
        let limit = Duration::from_secs_f64(seconds.min(86_400.0));
        return Ok(CaseTimeout::new(limit).task("answering").setting(SETTING));
    }
    Err(resolved.bad_value(SETTING, &"must be more than 0 seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evals_settings::{Layer, resolve};

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
            &Reranking::default(),
        );
        assert_eq!(names(&asked.unwrap()), ["bm25", "semantic"]);
    }

    #[test]
    fn a_suffix_reranks_and_all_includes_a_reranked_profile_if_there_is_a_reranker() {
        let profiles = |name: &str, has_reranker| {
            let hybrid = Profile::Hybrid(Fusion::Rrf { k: 7 });
            let model = "reranking.model={provider: http, name: r, base_url: 'http://localhost'}";
            let set: &[&str] = if has_reranker { &[model] } else { &[] };
            profiles([name], hybrid, &resolved(set).settings.reranking).map(|found| names(&found))
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
    fn without_candidates_nothing_is_reranked() {
        let set = ["reranking.candidates=0", "search.profile=bm25+rerank"];
        let choices = Choices::of(&resolved(&set)).unwrap();
        assert_eq!(names(&choices.profiles), ["bm25"]);
    }

    #[test]
    fn all_includes_hybrid_as_the_settings_define_it() {
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
    fn a_bad_choice_names_its_setting() {
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
            "`--set`: bad value for `search.fusion.weight`: must be between 0 and 1"
        );
    }
}
