//! The claims of a case, listed once for all of its judges.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use evals_models::ReplySchema;
use serde::Deserialize;
use serde_json::json;
use sha2::Digest as _;
use tokio::sync::OnceCell;

use super::measure::JudgedMeasure;
use crate::judging::{JudgeFailure, Wanted, parse_object};
use crate::shown::texts_hash;

/// A list of claims, or why there is none.
type Listed = Result<Arc<[String]>, Arc<JudgeFailure>>;

/// The claims of one repetition of a case. The first judge that needs a list asks for it, and the others wait.
#[derive(Debug, Default)]
pub(super) struct CaseClaims {
    answer: OnceCell<Listed>,
    reference: OnceCell<Listed>,
    points: OnceCell<Listed>,
}

/// Which text's claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Answer,
    Reference,
    /// The points that the question asks for.
    Question,
}

/// The claims of the texts that were judged last, oldest first.
#[derive(Debug, Default)]
pub(super) struct ClaimStore(Mutex<VecDeque<Known>>);

/// The judges that asked for the claims of a case, and the claims.
#[derive(Debug)]
struct Known {
    texts: String,
    repeat: u32,
    judges: Vec<JudgedMeasure>,
    claims: Arc<CaseClaims>,
}

/// How many cases are remembered: more than a run judges at the same time.
const MOST: usize = 1024;

impl Of {
    /// What is listed, for messages.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Answer => "claims of the answer",
            Self::Reference => "claims of the reference",
            Self::Question => "points of the question",
        }
    }
}

impl CaseClaims {
    fn cell(&self, of: Of) -> &OnceCell<Listed> {
        match of {
            Of::Answer => &self.answer,
            Of::Reference => &self.reference,
            Of::Question => &self.points,
        }
    }

    /// The claims of a text, which `list` requests at the first call.
    pub(super) async fn of<F>(&self, of: Of, list: F) -> Result<Arc<[String]>, JudgeFailure>
    where
        F: Future<Output = Result<Vec<String>, JudgeFailure>>,
    {
        let listed = self.cell(of).get_or_init(|| async {
            let claims = list.await;
            claims.map(Arc::from).map_err(Arc::new)
        });
        listed.await.clone().map_err(|source| JudgeFailure::Claims {
            what: of.what(),
            source,
        })
    }

    fn has_failed(&self) -> bool {
        let cells = [&self.answer, &self.reference, &self.points];
        cells.iter().any(|cell| matches!(cell.get(), Some(Err(_))))
    }
}

impl ClaimStore {
    /// The claims of a case with these texts, shared by its judges. If the request for them failed, a judge
    /// that is retried sends it again.
    pub(super) fn of_case(
        &self,
        texts: [&str; 3],
        repeat: u32,
        judge: JudgedMeasure,
    ) -> Arc<CaseClaims> {
        // Equal texts have equal claims, whatever the case is called.
        let texts = hex::encode(texts_hash(&texts).finalize());
        let mut cases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = cases
            .iter()
            .rposition(|known| known.repeat == repeat && known.texts == texts);
        if let Some(known) = place.and_then(|place| cases.get_mut(place)) {
            let tries_again = known.judges.contains(&judge);
            if !(tries_again && known.claims.has_failed()) {
                known.judges.push(judge);
                return Arc::clone(&known.claims);
            }
        }
        if let Some(place) = place {
            cases.remove(place);
        }
        if cases.len() >= MOST {
            cases.pop_front();
        }
        let claims = Arc::new(CaseClaims::default());
        cases.push_back(Known {
            texts,
            repeat,
            judges: vec![judge],
            claims: Arc::clone(&claims),
        });
        claims
    }
}

/// More claims than this are refused: a model that repeats itself would otherwise weigh one claim many times.
pub(super) const MOST_CLAIMS: usize = 100;

/// The claims of a text, or the points of a question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ClaimList {
    pub(super) claims: Vec<String>,
}

impl ClaimList {
    /// The members of the object in words.
    pub(super) const WANTED: &'static str = "a list `claims` of texts";

    /// Reads the text of an object. Claims without text are dropped, and repetitions of a claim too.
    pub(super) fn parse(object: &str) -> Option<Self> {
        let list: Self = parse_object(object)?;
        let mut claims: Vec<String> = Vec::new();
        for claim in list.claims {
            let claim = claim.trim();
            if !claim.is_empty() && claims.iter().all(|known| known != claim) {
                claims.push(claim.to_owned());
            }
        }
        Some(Self { claims })
    }

    /// The form of the object in words.
    pub(super) fn shape(nonce: &str) -> String {
        format!(r#"{{"id": "{nonce}", "claims": ["<first>", "<second>", …]}}"#)
    }

    pub(super) fn schema() -> ReplySchema {
        let claims = json!({"type": "array", "items": {"type": "string"}});
        ReplySchema::of_object(
            "claims",
            json!({"id": {"type": "string"}, "claims": claims}),
        )
    }
}

impl Wanted for ClaimList {
    const KEY: &'static str = "claims";

    fn complaint(&self) -> Option<String> {
        let claims = self.claims.len();
        (claims > MOST_CLAIMS)
            .then(|| format!("it lists {claims} claims, and {MOST_CLAIMS} is the most"))
    }
}
