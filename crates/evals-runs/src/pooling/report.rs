//! What a pool says about its runs: their measures by each kind of judgements.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};

use evals_metrics::measures::MinimumGrade;
use evals_metrics::{
    Bootstrap, CorrectedMean, Drawn, GradePair, GradedAgreement, Judgements, KappaWeights, Mean,
    Measure, ModelWeight, NoStatistic, PoolUnit, RankAgreement, Ranking, Scale, UndefinedAs,
    arithmetic_mean, corrected_mean, graded_agreement, mean_interval, rank_agreement,
};

use super::grades::{Graders, Grades};
use super::judgement::Assessor;
use super::pool::{Pool, PooledRun};
use super::store::{PoolVersion, StoredJudgements};

/// The lowest grade that P, recall and AP count as relevant: a passage of grade 1 does not answer the question.
pub(super) const RELEVANT_FROM: NonZeroU32 = NonZeroU32::new(2).expect("2 is not 0");

/// The fewest runs whose order says something.
const FEWEST_RUNS: usize = 3;

/// How to compute numbers from a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolSettings {
    /// The seed of the order in which people judge questions.
    pub seed: u64,
    /// The width of a corrected interval that is wanted.
    pub width: f64,
    /// The level and resamples of intervals.
    pub bootstrap: Bootstrap,
}

/// What a pool says about its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolReport {
    /// The dataset.
    pub dataset: String,
    /// Which judgements the numbers come from.
    pub version: PoolVersion,
    /// How many documents of each ranking are pooled.
    pub depth: usize,
    /// The number of questions.
    pub questions: usize,
    /// Pairs of a question and a document.
    pub pairs: usize,
    /// Pairs that the model judged.
    pub by_model: usize,
    /// Pairs that people judged.
    pub by_people: usize,
    /// Pairs of which a part of the document is judged.
    pub parts: usize,
    /// Pairs that cannot be judged, because the document has no text.
    pub without_text: usize,
    /// The model that judged, if one did.
    pub judge: Option<String>,
    /// The questions that people judged.
    pub drawn: DrawnQuestions,
    /// The runs, in the given order.
    pub runs: Vec<RunResults>,
    /// How far the model agrees with people on single passages.
    pub agreement: Option<GradedAgreement>,
    /// How far the order of the runs is the same by other judgements, measure by measure. Empty without a model, and for fewer than three runs.
    pub orders: Vec<OrderAgreement>,
    /// What a reader has to know before trusting the numbers.
    pub warnings: Vec<String>,
    /// The width of a corrected interval that is wanted.
    pub(super) width: f64,
}

/// The questions that people judged, as a random sample.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnQuestions {
    /// How many questions of the drawn order have grades of people for all of their pairs, up to the first one that does not.
    pub questions: usize,
    /// The question and document that people should judge next.
    pub next: Option<(String, String)>,
    /// How many pairs of that question people have not judged.
    pub next_pairs: usize,
    /// Questions that people judged in part, or ahead of the order. They correct nothing yet.
    pub not_counted: usize,
}

/// The numbers of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    /// Its name.
    pub run: String,
    /// The documents in its top k, counted for each question and repetition: all, and those judged by the model, by people and by the dataset.
    pub judged: [usize; 4],
    /// Its measures.
    pub measures: Vec<PooledMeasure>,
}

/// One measure of one run, by each kind of judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledMeasure {
    /// The name of the measure.
    pub measure: String,
    /// By the model's judgements, over the questions whose pairs it judged all.
    pub model: Mean,
    /// Corrected by people.
    pub corrected: Result<CorrectedMean, NoStatistic>,
    /// By the dataset's own judgements, over the questions that have some.
    pub dataset: Mean,
}

/// How far two kinds of judgements order the runs equally by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderAgreement {
    /// The measure.
    pub measure: String,
    /// What the model's order is compared with.
    pub with: Judges,
    /// Kendall's τ and `τ_AP`, over the questions for which the measure is defined.
    pub agreement: Result<RankAgreement, NoStatistic>,
}

/// Whose judgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// The model's.
    Model,
    /// The model's, corrected by people.
    People,
    /// The dataset's own.
    Dataset,
}

/// One question with its judgements of each kind.
struct Judged {
    model: Judgements,
    /// Whether the model judged all pairs.
    is_whole: bool,
    people: Judgements,
    is_drawn: bool,
    dataset: Judgements,
    /// The number of the question's cluster.
    cluster: usize,
}

/// A pool with its judgements and rankings.
struct Results<'p> {
    pool: &'p Pool,
    settings: &'p PoolSettings,
    judged: Vec<Judged>,
    /// The rankings of each run, in the order of the questions. `None` for a question that the run does not have.
    rankings: Vec<Vec<Option<Vec<&'p Ranking>>>>,
    /// The probability of each question to be drawn.
    probabilities: Vec<f64>,
    /// How much the model's values count in corrected means.
    weight: ModelWeight,
}

impl PoolReport {
    /// Evaluates runs by the judgements of a pool of them. `judge` is the model whose judgements count.
    ///
    /// A question counts in the model's means if the model judged its whole pool: a hole is never taken for an irrelevant document.
    /// People's values are those of whole questions, in the drawn order up to the first one with a hole.
    ///
    /// # Errors
    ///
    /// There is nothing to draw.
    pub fn of(
        pool: &Pool,
        runs: &[PooledRun],
        stored: &StoredJudgements,
        judge: Option<&Assessor>,
        settings: &PoolSettings,
    ) -> Result<Self, NoStatistic> {
        let grades = Grades::of(stored, judge);
        let drawn = drawn(pool, &grades, settings.seed)?;
        let weight = match judge {
            Some(_) => ModelWeight::Full,
            None => ModelWeight::Ignored,
        };
        let results = Results::new(pool, runs, &grades, (&drawn, settings, weight))?;
        let measures = measures(pool.depth);
        let count = |graders: Graders| {
            let pairs = pool.pairs();
            pairs
                .filter(|(question, pair)| grades.by(graders, question, pair).is_some())
                .count()
        };
        let agreement = graded_agreement(
            &results.grade_pairs(&grades),
            KappaWeights::Quadratic,
            settings.bootstrap.level,
        );
        let mut report = Self {
            dataset: pool.dataset.clone(),
            version: stored.version(pool, judge),
            depth: pool.depth.get(),
            questions: pool.questions.len(),
            pairs: pool.pairs().count(),
            by_model: count(Graders::Model),
            by_people: count(Graders::People),
            parts: pool.pairs().filter(|(_, pair)| !pair.is_whole).count(),
            without_text: pool.questions.iter().map(|it| it.without_text).sum(),
            judge: judge.map(ToString::to_string),
            drawn,
            runs: results.runs(runs, &measures),
            agreement: agreement.ok(),
            orders: results.orders(&measures),
            warnings: Vec::new(),
            width: settings.width,
        };
        report.warnings = report.warn(runs, judge);
        Ok(report)
    }
}

/// nDCG, precision, recall and average precision at the depth of the pool.
fn measures(depth: NonZeroUsize) -> [Measure; 4] {
    ["nDCG", "P", "R", "AP"].map(|name| {
        let measure = format!("{name}@{depth}").parse();
        measure.expect("these are names of measures")
    })
}

fn drawn(pool: &Pool, grades: &Grades<'_>, seed: u64) -> Result<DrawnQuestions, NoStatistic> {
    let drawing = pool.drawing(seed)?;
    let order = drawing.order().iter().map(|&place| {
        let question = &pool.questions[place];
        let pairs = question.pairs.iter();
        let open = pairs.filter(|pair| grades.by(Graders::People, question, pair).is_none());
        (question, open.collect::<Vec<_>>())
    });
    let order: Vec<_> = order.collect();
    let questions = order.iter().take_while(|(_, open)| open.is_empty()).count();
    let left = &order[questions..];
    let next = left.first();
    Ok(DrawnQuestions {
        questions,
        next: next.map(|(question, open)| (question.id.clone(), open[0].document.clone())),
        next_pairs: next.map_or(0, |(_, open)| open.len()),
        not_counted: left
            .iter()
            .filter(|(question, open)| open.len() < question.pairs.len())
            .count(),
    })
}

impl<'p> Results<'p> {
    fn new(
        pool: &'p Pool,
        runs: &'p [PooledRun],
        grades: &Grades<'_>,
        (drawn, settings, weight): (&DrawnQuestions, &'p PoolSettings, ModelWeight),
    ) -> Result<Self, NoStatistic> {
        let drawing = pool.drawing(settings.seed)?;
        let is_drawn: BTreeSet<_> = drawing.order()[..drawn.questions].iter().collect();
        let mut dataset: BTreeMap<&str, &Judgements> = BTreeMap::new();
        for case in runs.iter().flat_map(PooledRun::cases) {
            if let Some(expected) = &case.expected {
                dataset.entry(case.id.as_str()).or_insert(expected);
            }
        }
        let mut clusters: BTreeMap<&str, usize> = BTreeMap::new();
        let questions = pool.questions.iter().enumerate();
        let judged = questions.map(|(place, question)| {
            let (model, is_whole) = grades.judgements(Graders::Model, question);
            let (people, _) = grades.judgements(Graders::People, question);
            let cluster = question.cluster.as_deref();
            let dataset = dataset.get(&*question.id);
            Judged {
                model,
                is_whole,
                people,
                is_drawn: is_drawn.contains(&place),
                dataset: dataset.map(|it| (*it).clone()).unwrap_or_default(),
                cluster: cluster.map_or(place, |name| *clusters.entry(name).or_insert(place)),
            }
        });
        let rankings = runs.iter().map(|run| {
            let mut rankings = run.rankings();
            let questions = pool.questions.iter();
            questions.map(|it| rankings.remove(&*it.id)).collect()
        });
        Ok(Self {
            judged: judged.collect(),
            rankings: rankings.collect(),
            probabilities: drawing.probabilities(drawn.questions),
            pool,
            settings,
            weight,
        })
    }

    /// The pairs that both the model and people graded.
    fn grade_pairs(&self, grades: &Grades<'_>) -> Vec<GradePair> {
        let questions = self.pool.questions.iter().zip(&self.judged);
        let pairs = questions.flat_map(|(question, judged)| {
            question.pairs.iter().filter_map(|pair| {
                Some(GradePair {
                    question: judged.cluster,
                    people: grades.by(Graders::People, question, pair)?,
                    judge: grades.by(Graders::Model, question, pair)?,
                    weight: 1.0,
                })
            })
        });
        pairs.collect()
    }

    fn runs(&self, runs: &[PooledRun], measures: &[Measure]) -> Vec<RunResults> {
        let runs = runs.iter().enumerate();
        let results = runs.map(|(run, pooled)| RunResults {
            run: pooled.name.clone(),
            judged: self.shares(run),
            measures: measures.iter().map(|it| self.measure(run, it)).collect(),
        });
        results.collect()
    }

    fn shares(&self, run: usize) -> [usize; 4] {
        let mut shares = [0; 4];
        for (judged, rankings) in self.judged.iter().zip(&self.rankings[run]) {
            let rankings = rankings.iter().flatten();
            for document in rankings.flat_map(|it| it.iter().take(self.pool.depth.get())) {
                let kinds = [&judged.model, &judged.people, &judged.dataset];
                shares[0] += 1;
                for (share, kind) in shares[1..].iter_mut().zip(kinds) {
                    *share += usize::from(kind.grade(&document.id).is_some());
                }
            }
        }
        shares
    }

    fn measure(&self, run: usize, measure: &Measure) -> PooledMeasure {
        let places = (0..self.judged.len()).filter(|&place| self.rankings[run][place].is_some());
        let places: Vec<usize> = places.collect();
        let of_dataset = places.iter().copied();
        let of_dataset = of_dataset.filter(|&place| !self.judged[place].dataset.is_empty());
        let of_dataset: Vec<usize> = of_dataset.collect();
        PooledMeasure {
            measure: measure.to_string(),
            model: self.mean(Judges::Model, run, &places, measure),
            corrected: self.corrected(run, &places, measure),
            dataset: self.mean(Judges::Dataset, run, &of_dataset, measure),
        }
    }

    /// The mean over the questions at these places by one kind of judgements.
    fn mean(&self, by: Judges, run: usize, places: &[usize], measure: &Measure) -> Mean {
        let values = places
            .iter()
            .map(|&place| self.value(by, run, place, measure));
        let values: Vec<Result<f64, String>> = values.collect();
        let defined = places.iter().zip(&values);
        let defined = defined.filter_map(|(&place, value)| {
            Some((self.judged[place].cluster, *value.as_ref().ok()?))
        });
        let (clusters, defined): (Vec<usize>, Vec<f64>) = defined.unzip();
        let is_clustered = self.pool.questions.iter().any(|it| it.cluster.is_some());
        let clusters = is_clustered.then_some(&*clusters);
        let bootstrap = &self.settings.bootstrap;
        let interval = mean_interval(&defined, clusters, Scale::Share, bootstrap);
        Mean {
            interval: interval.ok(),
            ..Mean::over(values, UndefinedAs::Excluded, Scale::Share, bootstrap)
        }
    }

    /// The mean over the questions at these places, corrected by people.
    fn corrected(
        &self,
        run: usize,
        places: &[usize],
        measure: &Measure,
    ) -> Result<CorrectedMean, NoStatistic> {
        let value = |by: Judges, place: usize| self.value(by, run, place, measure).ok();
        let units = places.iter().map(|&place| {
            let judged = &self.judged[place];
            PoolUnit {
                question: judged.cluster,
                model: value(Judges::Model, place),
                drawn: judged.is_drawn.then(|| Drawn {
                    people: value(Judges::People, place),
                    probability: self.probabilities[place],
                }),
            }
        });
        let units: Vec<PoolUnit> = units.collect();
        let level = self.settings.bootstrap.level;
        corrected_mean(&units, self.weight, Scale::Share, level)
    }

    /// The mean over the repetitions of a question, or the reason why it is undefined.
    fn value(
        &self,
        by: Judges,
        run: usize,
        place: usize,
        measure: &Measure,
    ) -> Result<f64, String> {
        let judged = &self.judged[place];
        let graded = measure.relevant_from(MinimumGrade::new(RELEVANT_FROM));
        let (judgements, measure) = match by {
            Judges::Model if !judged.is_whole => {
                return Err("passages without a judgement".to_owned());
            }
            Judges::Dataset if judged.dataset.is_empty() => {
                return Err("no judgements".to_owned());
            }
            Judges::Model => (&judged.model, &graded),
            Judges::People => (&judged.people, &graded),
            Judges::Dataset => (&judged.dataset, measure),
        };
        let rankings = self.rankings[run][place].as_deref().unwrap_or_default();
        let scores = rankings.iter().map(|it| measure.score(judgements, it));
        let scores = scores.collect::<Result<Vec<f64>, _>>();
        let scores = scores.map_err(|undefined| undefined.to_string())?;
        arithmetic_mean(&scores).ok_or_else(|| "no ranking".to_owned())
    }

    fn orders(&self, measures: &[Measure]) -> Vec<OrderAgreement> {
        if self.weight == ModelWeight::Ignored || self.rankings.len() < FEWEST_RUNS {
            return Vec::new();
        }
        let truths = [Judges::People, Judges::Dataset].into_iter();
        let truths = truths.filter(|truth| {
            self.judged.iter().any(|judged| match truth {
                Judges::Dataset => !judged.dataset.is_empty(),
                _ => judged.is_drawn,
            })
        });
        let truths: Vec<Judges> = truths.collect();
        let orders = measures.iter().flat_map(|measure| {
            truths.iter().map(|&with| OrderAgreement {
                measure: measure.to_string(),
                with,
                agreement: self.order(with, measure),
            })
        });
        orders.collect()
    }

    fn order(&self, truth: Judges, measure: &Measure) -> Result<RankAgreement, NoStatistic> {
        let runs = 0..self.rankings.len();
        let value = |by: Judges, run: usize, place: usize| self.value(by, run, place, measure).ok();
        let is_defined = |by: Judges, place: usize| {
            let mut runs = runs.clone();
            runs.all(|run| value(by, run, place).is_some())
        };
        let places = (0..self.judged.len()).filter(|&place| {
            is_defined(Judges::Model, place)
                && (truth == Judges::People || is_defined(truth, place))
        });
        let places: Vec<usize> = places.collect();
        let values = |by: Judges| -> Vec<Vec<f64>> {
            let of_run = |run| {
                places
                    .iter()
                    .filter_map(move |&place| value(by, run, place))
            };
            runs.clone().map(|run| of_run(run).collect()).collect()
        };
        let right = match truth {
            Judges::People => {
                let corrected = runs
                    .clone()
                    .map(|run| Ok(self.corrected(run, &places, measure)?.contributions));
                corrected.collect::<Result<_, NoStatistic>>()?
            }
            other => values(other),
        };
        rank_agreement(&right, &values(Judges::Model), &self.settings.bootstrap)
    }
}
