//! What a pool says about its runs: their measures by each kind of judgements.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};

use evals_metrics::measures::MinimumGrade;
use evals_metrics::{
    Bootstrap, CorrectedMean, Estimate, GradePair, GradedAgreement, Judgements, Measure,
    NoStatistic, PoolUnit, RankAgreement, Ranking, Scale, arithmetic_mean, corrected_mean,
    graded_agreement, mean_interval, rank_agreement,
};

use super::grades::Grades;
use super::judgement::{Assessor, Judgement};
use super::pool::{Pool, PooledQuestion, PooledRun};
use super::store::version;

/// The lowest grade that P, recall and AP count as relevant: a passage of grade 1 does not answer the question.
pub(super) const RELEVANT_FROM: NonZeroU32 = NonZeroU32::new(2).expect("2 is not 0");

/// The fewest runs whose order says something.
const FEWEST_RUNS: usize = 3;

/// Who judges, as places in arrays of judgements and values.
const JUDGES: [&str; 3] = ["model", "people", "dataset"];
const MODEL: usize = 0;
const PEOPLE: usize = 1;
const DATASET: usize = 2;

/// The values of one measure of one run by each judge, question by question. `None` where it is undefined, there are no judgements, or the
/// run has no ranking.
type Values = [Vec<Option<f64>>; JUDGES.len()];

/// What a pool says about its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolReport<'p> {
    /// What had to be judged.
    pub pool: &'p Pool,
    /// Which judgements the numbers come from, such as `120-1a2b3c4d`.
    pub version: String,
    /// The number of runs.
    pub runs: usize,
    /// Pairs that the model judged.
    pub by_model: usize,
    /// Pairs that people judged.
    pub by_people: usize,
    /// The model that judged, if one did.
    pub judge: Option<String>,
    /// How many questions of the drawn order have grades of people for all of their pairs, up to the first one that does not.
    pub drawn: usize,
    /// The question and document that people should judge next, and how many texts of that question.
    pub next: Option<(String, String, usize)>,
    /// Questions that people judged in part, or ahead of the order. They correct nothing yet.
    pub not_counted: usize,
    /// The measures of all runs, in the given order.
    pub measures: Vec<PooledMeasure>,
    /// How far the model agrees with people on single passages.
    pub agreement: Option<GradedAgreement>,
    /// How far the order of the runs is the same by other judgements, measure by measure. Empty without a model, and for fewer than three runs.
    pub orders: Vec<OrderAgreement>,
    /// What a reader has to know before trusting the numbers.
    pub warnings: Vec<String>,
}

/// One measure of one run, by each kind of judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledMeasure {
    /// The name of the run.
    pub run: String,
    /// The name of the measure.
    pub measure: String,
    /// By the model's judgements, over the questions whose pairs it judged all.
    pub model: Option<Estimate>,
    /// Corrected by people.
    pub corrected: Result<CorrectedMean, NoStatistic>,
    /// By the dataset's own judgements, over the questions that have some.
    pub dataset: Option<Estimate>,
}

/// How far the model orders the runs as other judgements do, by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderAgreement {
    /// The measure.
    pub measure: String,
    /// Whose order the model's is compared with: `people`, who correct it, or the `dataset`.
    pub with: &'static str,
    /// Kendall's τ and `τ_AP`, over the questions for which the measure is defined.
    pub agreement: Result<RankAgreement, NoStatistic>,
}

/// One question with its judgements and rankings.
struct Question<'p> {
    /// By the model, if it judged all pairs; by people, if they judged them as a part of the sample; by the dataset, if it has some.
    judgements: [Option<Judgements>; JUDGES.len()],
    /// The number of the question's cluster.
    cluster: usize,
    /// The rankings of each run, one for each repetition.
    rankings: Vec<Vec<&'p Ranking>>,
}

/// The questions of a pool, with how to compute numbers.
struct Results<'p> {
    questions: Vec<Question<'p>>,
    bootstrap: Bootstrap,
}

impl<'p> PoolReport<'p> {
    /// Evaluates runs by the judgements of a pool of them. `judge` is the model whose judgements count, and `seed` that of the order in which
    /// people judge questions.
    ///
    /// A question counts in the model's means if the model judged its whole pool: a hole is never taken for an irrelevant document.
    /// People's values are those of whole questions, in the drawn order up to the first one with a hole.
    pub fn of(
        pool: &'p Pool,
        runs: &[PooledRun],
        stored: &[Judgement],
        judge: Option<&Assessor>,
        seed: u64,
        bootstrap: Bootstrap,
    ) -> Self {
        let model = judge.map(|judge| Grades::of_model(stored, judge));
        let model = model.unwrap_or_default();
        let people = Grades::of_people(stored);
        let order: Vec<&PooledQuestion> = pool.drawn(seed).collect();
        let judged = order.iter().take_while(|it| people.open(it).is_empty());
        let drawn = judged.count();
        let (sample, left) = order.split_at(drawn);
        let is_begun = |it: &&&PooledQuestion| {
            let mut pairs = it.pairs.iter();
            pairs.any(|pair| people.get(it, pair).is_some())
        };
        let next = left.first().map(|question| {
            let open = people.open(question);
            let document = open[0].document.clone();
            (question.id.clone(), document, open.len())
        });
        let sample: Vec<&str> = sample.iter().map(|it| &*it.id).collect();
        let results = Results {
            questions: questions(pool, runs, &model, (&people, &sample)),
            bootstrap,
        };
        let pairs = grade_pairs(pool, &results.questions, &model, &people);
        let count = |grades: &Grades<'_>| {
            let graded = pool.pairs().filter_map(|(it, pair)| grades.get(it, pair));
            graded.count()
        };
        let mut report = Self {
            pool,
            version: version(stored, pool, judge),
            runs: runs.len(),
            by_model: count(&model),
            by_people: count(&people),
            judge: judge.map(ToString::to_string),
            drawn,
            next,
            not_counted: left.iter().filter(is_begun).count(),
            measures: Vec::new(),
            agreement: graded_agreement(&pairs, bootstrap.level).ok(),
            orders: Vec::new(),
            warnings: Vec::new(),
        };
        report.measure(runs, &results, pool.depth);
        report.warnings = report.warn(runs, judge);
        report
    }

    /// Adds nDCG, precision, recall and average precision at the depth of the pool.
    fn measure(&mut self, runs: &[PooledRun], results: &Results<'_>, depth: NonZeroUsize) {
        let mut by_measure = Vec::new();
        for name in ["nDCG", "P", "R", "AP"].map(|name| format!("{name}@{depth}")) {
            let measure: Measure = name.parse().expect("this is the name of a measure");
            let runs = 0..runs.len();
            let values: Vec<Values> = runs.map(|run| results.values(run, &measure)).collect();
            self.orders.extend(results.orders(&name, &values));
            by_measure.push((name, values));
        }
        let all: Vec<usize> = (0..results.questions.len()).collect();
        for (place, run) in runs.iter().enumerate() {
            let measures = by_measure.iter().map(|(name, values)| PooledMeasure {
                run: run.name.clone(),
                measure: name.clone(),
                model: results.mean(&values[place][MODEL]),
                corrected: results.corrected(&values[place], &all),
                dataset: results.mean(&values[place][DATASET]),
            });
            self.measures.extend(measures);
        }
    }
}

/// The questions of a pool with their judgements by the model, by people who judged `sample`, and by the dataset.
fn questions<'p>(
    pool: &Pool,
    runs: &'p [PooledRun],
    model: &Grades<'_>,
    (people, sample): (&Grades<'_>, &[&str]),
) -> Vec<Question<'p>> {
    let mut dataset: BTreeMap<&str, &Judgements> = BTreeMap::new();
    for case in runs.iter().flat_map(PooledRun::cases) {
        if let Some(expected) = case.expected.as_ref().filter(|it| !it.is_empty()) {
            dataset.entry(case.id.as_str()).or_insert(expected);
        }
    }
    let mut rankings: Vec<_> = runs.iter().map(PooledRun::rankings).collect();
    let mut clusters: BTreeMap<&str, usize> = BTreeMap::new();
    let questions = pool.questions.iter().enumerate().map(|(place, question)| {
        let id = &*question.id;
        let cluster = question.cluster.as_deref();
        let of_runs = rankings.iter_mut();
        Question {
            judgements: [
                model.judgements(question),
                people.judgements(question).filter(|_| sample.contains(&id)),
                dataset.get(id).map(|it| (*it).clone()),
            ],
            cluster: cluster.map_or(place, |name| *clusters.entry(name).or_insert(place)),
            rankings: of_runs
                .map(|of| of.remove(id).unwrap_or_default())
                .collect(),
        }
    });
    questions.collect()
}

/// The pairs that both the model and people graded.
fn grade_pairs(
    pool: &Pool,
    questions: &[Question<'_>],
    model: &Grades<'_>,
    people: &Grades<'_>,
) -> Vec<GradePair> {
    let questions = pool.questions.iter().zip(questions);
    let pairs = questions.flat_map(|(question, found)| {
        question.pairs.iter().filter_map(|pair| {
            Some(GradePair {
                question: found.cluster,
                people: people.get(question, pair)?,
                judge: model.get(question, pair)?,
            })
        })
    });
    pairs.collect()
}

impl Results<'_> {
    fn values(&self, run: usize, measure: &Measure) -> Values {
        let graded = measure.relevant_from(MinimumGrade::new(RELEVANT_FROM));
        let measures = [&graded, &graded, measure];
        [MODEL, PEOPLE, DATASET].map(|by| {
            let value = |question: &Question<'_>| {
                let judgements = question.judgements[by].as_ref()?;
                let rankings = question.rankings[run].iter();
                let scores = rankings.map(|it| measures[by].score(judgements, it).ok());
                arithmetic_mean(&scores.collect::<Option<Vec<f64>>>()?)
            };
            self.questions.iter().map(value).collect()
        })
    }

    /// The mean over the questions with a value.
    fn mean(&self, values: &[Option<f64>]) -> Option<Estimate> {
        let questions = self.questions.iter().zip(values);
        let defined = questions.filter_map(|(question, value)| Some((question.cluster, (*value)?)));
        let (clusters, defined): (Vec<usize>, Vec<f64>) = defined.unzip();
        let interval = mean_interval(&defined, Some(&clusters), Scale::Share, &self.bootstrap);
        Some(Estimate {
            value: arithmetic_mean(&defined)?,
            n: defined.len(),
            interval: interval.ok(),
        })
    }

    /// The mean over the questions at these places, corrected by people.
    fn corrected(&self, values: &Values, places: &[usize]) -> Result<CorrectedMean, NoStatistic> {
        let units = places.iter().map(|&place| PoolUnit {
            model: values[MODEL][place],
            is_drawn: self.has(PEOPLE, place),
            people: values[PEOPLE][place],
        });
        let units: Vec<PoolUnit> = units.collect();
        corrected_mean(&units, self.bootstrap.level)
    }

    fn has(&self, judge: usize, place: usize) -> bool {
        self.questions[place].judgements[judge].is_some()
    }

    /// How far the model orders the runs as people and the dataset do.
    fn orders(&self, measure: &str, runs: &[Values]) -> Vec<OrderAgreement> {
        let judges = |judge: usize| (0..self.questions.len()).any(|it| self.has(judge, it));
        if runs.len() < FEWEST_RUNS || !judges(MODEL) {
            return Vec::new();
        }
        let others = [PEOPLE, DATASET].into_iter().filter(|with| judges(*with));
        let orders = others.map(|with| OrderAgreement {
            measure: measure.to_owned(),
            with: JUDGES[with],
            agreement: self.order(with, runs),
        });
        orders.collect()
    }

    fn order(&self, with: usize, runs: &[Values]) -> Result<RankAgreement, NoStatistic> {
        // What people would find is estimated for every question.
        let needed = if with == PEOPLE { MODEL } else { with };
        let places = (0..self.questions.len()).filter(|&place| {
            let mut runs = runs.iter();
            runs.all(|run| run[MODEL][place].is_some() && run[needed][place].is_some())
        });
        let places: Vec<usize> = places.collect();
        let at = |values: &[Option<f64>]| places.iter().filter_map(|&it| values[it]).collect();
        let model: Vec<Vec<f64>> = runs.iter().map(|run| at(&run[MODEL])).collect();
        let right = runs.iter().map(|run| match with {
            PEOPLE => Ok(self.corrected(run, &places)?.contributions),
            _ => Ok(at(&run[with])),
        });
        let right = right.collect::<Result<Vec<Vec<f64>>, NoStatistic>>()?;
        rank_agreement(&right, &model, &self.bootstrap)
    }
}
