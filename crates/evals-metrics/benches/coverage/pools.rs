//! Means over pools that a model judged completely and people in part.

use evals_metrics::{
    Bootstrap, CorrectedMean, Drawing, Drawn, GradePair, Interval, Judgements, KappaWeights,
    Measure, ModelWeight, PoolUnit, Ranking, Scale, ScoredDocument, Xoshiro256PlusPlus,
    corrected_mean, graded_agreement, mean_interval, score_all,
};

use crate::draws::normal;
use crate::random::Random;
use crate::table::{Share, Table, as_f64};

/// What a judge gives, in the columns, where people give the grade of the row.
type Confusion = [[f64; 4]; 4];

/// Finds one in ten irrelevant passages relevant, and misses three in twenty.
const BINARY: Confusion = [
    [0.9, 0.1, 0.0, 0.0],
    [0.15, 0.85, 0.0, 0.0],
    [0.0; 4],
    [0.0; 4],
];
const GRADED: Confusion = [
    [0.75, 0.15, 0.07, 0.03],
    [0.2, 0.6, 0.15, 0.05],
    [0.07, 0.2, 0.58, 0.15],
    [0.03, 0.07, 0.2, 0.7],
];

/// Questions, and how passages are judged.
struct Collection {
    name: &'static str,
    /// The questions of a benchmark.
    questions: usize,
    /// The passages of a question's pool.
    pool: usize,
    /// The mean share of relevant passages, beside the one that every question has.
    relevant: f64,
    highest: u8,
    judge: Confusion,
}

const COLLECTIONS: [Collection; 4] = [
    Collection {
        name: "300 questions, 20 passages, one relevant",
        questions: 300,
        pool: 20,
        relevant: 0.0,
        highest: 1,
        judge: BINARY,
    },
    Collection {
        name: "100 questions, 30 passages, many relevant",
        questions: 100,
        pool: 30,
        relevant: 0.25,
        highest: 1,
        judge: BINARY,
    },
    Collection {
        name: "100 questions, 30 passages, grades 0 to 3",
        questions: 100,
        pool: 30,
        relevant: 0.25,
        highest: 3,
        judge: GRADED,
    },
    Collection {
        name: "50 questions, 30 passages, grades 0 to 3",
        questions: 50,
        pool: 30,
        relevant: 0.25,
        highest: 3,
        judge: GRADED,
    },
];
/// The population that a benchmark's questions are drawn from.
const POPULATION: usize = 600;
/// P@10 is a mean over pairs, and the others are not.
const MEASURES: [&str; 4] = ["nDCG@10", "AP", "R@10", "P@10"];
const PRECISION: usize = 3;
const TOP: usize = 10;
const METHODS: [&str; 8] = [
    "uncorrected",
    "pairs, inverse probability in each question",
    "pairs, linearised PPI",
    "pairs of the top 10, PPI",
    "pairs of the top 10 by expected error, PPI",
    "questions, inverse probability",
    "questions, PPI",
    "questions, PPI++",
];

/// The scores of a question by all measures; `None` where one is undefined.
type Scores = [Option<f64>; MEASURES.len()];

/// A question's pool in the order of the ranking, by people or the judge.
type Grades = Vec<u8>;

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let header = [
        "collection",
        "measure",
        "10 % judged by people",
        "these questions",
        "population",
        "bias",
        "width",
    ];
    let title = "95 % intervals of a mean by a model's judgements and a tenth by people, that cover the mean by people's";
    let mut table = Table::new(title, &header);
    for (seed, collection) in (200..).zip(&COLLECTIONS) {
        let mut simulation = Simulation::new(collection, seed);
        let mut found = [[Found::default(); METHODS.len()]; MEASURES.len()];
        for trial in (0..).take(trials) {
            simulation.draw(trial, &mut found);
        }
        for (measure, found) in MEASURES.iter().zip(&found) {
            for (method, found) in METHODS.iter().zip(found) {
                if found.n > 0.0 {
                    let mut row: Vec<String> =
                        [collection.name, measure, method].map(str::to_owned).into();
                    row.extend(found.cells());
                    table.rows.push(row);
                }
            }
        }
    }
    vec![table]
}

/// How often intervals cover, and how far estimates are off.
#[derive(Default, Clone, Copy)]
struct Found {
    these: Share,
    population: Share,
    error: f64,
    n: f64,
}

impl Found {
    fn add(&mut self, value: f64, intervals: [Option<Interval>; 2], truths: [f64; 2]) {
        self.these.cover(intervals[0], truths[0]);
        self.population.cover(intervals[1], truths[1]);
        self.error += value - truths[0];
        self.n += 1.0;
    }

    fn add_corrected(&mut self, found: Option<CorrectedMean>, truths: [f64; 2]) {
        if let Some(found) = found {
            self.add(found.value, [found.interval, found.population], truths);
        }
    }

    fn cells(&self) -> [String; 4] {
        [
            self.these.percent(),
            self.population.percent(),
            format!("{:+.3}", self.error / self.n),
            self.these.mean_width(),
        ]
    }
}

struct Simulation<'c> {
    collection: &'c Collection,
    random: Random,
    ids: Vec<String>,
    ranking: Ranking,
    measures: Vec<Measure>,
    population: Vec<(Grades, Scores)>,
    /// The expected error of P@10 by the judge's grade, from a pilot of 200 pairs.
    sizes: [f64; 4],
}

impl<'c> Simulation<'c> {
    fn new(collection: &'c Collection, seed: u64) -> Self {
        let ids: Vec<String> = (0..collection.pool).map(|id| format!("{id:02}")).collect();
        // Two thirds of the pool are retrieved, and the others come from different systems.
        let retrieved = ids.iter().take(collection.pool * 2 / 3);
        let scores = (0_u16..).map(|rank| -f32::from(rank));
        let documents = retrieved.cloned().zip(scores);
        let documents = documents.map(|(id, score)| ScoredDocument { id, score });
        let mut simulation = Self {
            collection,
            random: Random::seeded(seed),
            ranking: Ranking::new(documents).expect("unique ids and finite scores"),
            ids,
            measures: MEASURES.map(|name| name.parse().expect("a measure")).into(),
            population: Vec::new(),
            sizes: [0.0; 4],
        };
        for _ in 0..POPULATION {
            let grades = simulation.question();
            let scores = simulation.scores(&grades);
            simulation.population.push((grades, scores));
        }
        simulation.sizes = simulation.pilot();
        simulation
    }

    /// The grades by people in the order of the ranking. Questions differ in how much is relevant and how well it is ranked.
    fn question(&mut self) -> Grades {
        let Collection {
            relevant, highest, ..
        } = *self.collection;
        let random = &mut self.random;
        let rate = relevant * (0.6 * normal(random)).exp();
        let skill = (1.2 + 0.5 * normal(random)).max(0.0);
        let mut passages: Vec<(f64, u8)> = (0..self.collection.pool)
            .map(|passage| {
                let is_relevant = passage == 0 || random.uniform() < rate;
                let grade = match random.uniform() {
                    _ if !is_relevant => 0,
                    u if u < 0.5 => 1,
                    u if u < 0.8 => 2.min(highest),
                    _ => highest,
                };
                (f64::from(grade.min(1)) * skill + normal(random), grade)
            })
            .collect();
        passages.sort_by(|one, other| other.0.total_cmp(&one.0));
        passages.into_iter().map(|(_, grade)| grade).collect()
    }

    fn judged(&mut self, people: &[u8]) -> Grades {
        let judge = &self.collection.judge;
        let random = &mut self.random;
        let grade = |&people: &u8| {
            let mut left = random.uniform();
            let grades = (0..4).zip(judge[usize::from(people)]);
            let mut reached = grades.skip_while(|(_, share)| {
                left -= share;
                left >= 0.0
            });
            reached.next().map_or(people, |(grade, _)| grade)
        };
        people.iter().map(grade).collect()
    }

    fn scores(&self, grades: &[u8]) -> Scores {
        let judgements = self.ids.iter().zip(grades);
        let judgements: Judgements = judgements
            .map(|(id, &grade)| (id.clone(), i32::from(grade)))
            .collect();
        let scores = score_all(&self.measures, &judgements, &self.ranking);
        std::array::from_fn(|measure| scores[measure].ok())
    }

    /// From 200 pairs of a different benchmark.
    fn pilot(&mut self) -> [f64; 4] {
        let mut pairs = Vec::new();
        for question in 0..20 {
            let people = self.population[question].0[..TOP].to_vec();
            let judged = self.judged(&people);
            let grades = people.into_iter().zip(judged);
            pairs.extend(grades.map(|(people, judge)| GradePair {
                question,
                people,
                judge,
                weight: 1.0,
            }));
        }
        let found = graded_agreement(&pairs, KappaWeights::Linear, 0.95).expect("pairs");
        [0, 1, 2, 3].map(|grade| found.expected_error(grade, relevance))
    }

    /// One benchmark, judge and sample.
    fn draw(&mut self, seed: u64, found: &mut [[Found; METHODS.len()]; MEASURES.len()]) {
        let mut random = Xoshiro256PlusPlus::seeded(seed);
        let questions: Vec<usize> = (0..self.collection.questions)
            .map(|_| random.index(POPULATION))
            .collect();
        let grades: Vec<Grades> = questions
            .iter()
            .map(|&question| self.population[question].0.clone())
            .collect();
        let judged: Vec<Grades> = grades.iter().map(|grades| self.judged(grades)).collect();
        let benchmark = Benchmark {
            people: questions
                .iter()
                .map(|&question| self.population[question].1)
                .collect(),
            model: judged.iter().map(|grades| self.scores(grades)).collect(),
            grades,
            judged,
            seed,
        };
        let linearised = self.linearised(&benchmark);
        for (measure, found) in found.iter_mut().enumerate() {
            let of = |scores: &Scores| scores[measure];
            let everybody = self.population.iter().map(|(_, scores)| of(scores));
            let truths = [mean(benchmark.people.iter().map(of)), mean(everybody)];
            let model = mean(benchmark.model.iter().map(of));
            let trusted = interval(benchmark.model.iter().filter_map(of));
            found[0].add(model, [trusted; 2], truths);
            let units = benchmark.questions(measure);
            for (place, weight) in [
                (5, ModelWeight::Ignored),
                (6, ModelWeight::Full),
                (7, ModelWeight::Tuned),
            ] {
                found[place].add_corrected(corrected(&units, weight), truths);
            }
            if measure == PRECISION {
                for (place, sizes) in [(3, [1.0; 4]), (4, self.sizes)] {
                    let units = benchmark.pairs(sizes);
                    found[place].add_corrected(corrected(&units, ModelWeight::Full), truths);
                }
                continue;
            }
            let weighted = benchmark.weighted(measure);
            let value = mean(weighted.iter().copied());
            let trusted = interval(weighted.into_iter().flatten());
            found[1].add(value, [trusted; 2], truths);
            let units = &linearised[measure];
            found[2].add_corrected(corrected(units, ModelWeight::Full), truths);
        }
    }

    /// For each measure, all pairs, with what the judgement of people changes in the measure by the judge's.
    fn linearised(&self, benchmark: &Benchmark) -> [Vec<PoolUnit>; MEASURES.len()] {
        let pool = self.collection.pool;
        let drawn = benchmark.drawn_pairs(pool);
        let mut units: [Vec<PoolUnit>; MEASURES.len()] = Default::default();
        for (question, model) in benchmark.model.iter().enumerate() {
            for passage in 0..pool {
                let is_drawn = drawn[question * pool + passage];
                let changed = is_drawn.then(|| {
                    let mut grades = benchmark.judged[question].clone();
                    grades[passage] = benchmark.grades[question][passage];
                    self.scores(&grades)
                });
                for (measure, units) in units.iter_mut().enumerate() {
                    let before = model[measure].unwrap_or(0.0);
                    units.push(PoolUnit {
                        question,
                        model: Some(before),
                        drawn: changed.map(|after| Drawn {
                            people: Some(
                                before + as_f64(pool) * (after[measure].unwrap_or(0.0) - before),
                            ),
                            probability: 0.1,
                        }),
                    });
                }
            }
        }
        units
    }
}

/// A benchmark, by people and the judge.
struct Benchmark {
    grades: Vec<Grades>,
    judged: Vec<Grades>,
    people: Vec<Scores>,
    model: Vec<Scores>,
    seed: u64,
}

impl Benchmark {
    /// A tenth of the questions is drawn.
    fn questions(&self, measure: usize) -> Vec<PoolUnit> {
        let n = self.people.len();
        let (drawn, probabilities) = drawn(vec![1.0; n], n / 10, self.seed);
        let questions = 0..n;
        questions
            .map(|question| PoolUnit {
                question,
                model: self.model[question][measure],
                drawn: drawn[question].then(|| Drawn {
                    people: self.people[question][measure],
                    probability: probabilities[question],
                }),
            })
            .collect()
    }

    /// The relevance of the pairs of the top 10, of which as many are drawn as a tenth of the pool has.
    fn pairs(&self, sizes: [f64; 4]) -> Vec<PoolUnit> {
        let budget = self.grades.len() * self.grades[0].len() / 10;
        let pairs: Vec<(usize, u8, u8)> = (0..self.grades.len())
            .flat_map(|question| (0..TOP).map(move |rank| (question, rank)))
            .map(|(question, rank)| {
                let (people, judge) = (self.grades[question][rank], self.judged[question][rank]);
                (question, people, judge)
            })
            .collect();
        let sizes = pairs.iter().map(|(_, _, judge)| sizes[usize::from(*judge)]);
        let (drawn, probabilities) = drawn(sizes.collect(), budget, self.seed);
        let pairs = pairs.into_iter().zip(drawn).zip(probabilities);
        pairs
            .map(
                |(((question, people, judge), is_drawn), probability)| PoolUnit {
                    question,
                    model: Some(relevance(judge)),
                    drawn: is_drawn.then(|| Drawn {
                        people: Some(relevance(people)),
                        probability,
                    }),
                },
            )
            .collect()
    }

    /// Whether each pair of the pool is among the tenth that is drawn.
    fn drawn_pairs(&self, pool: usize) -> Vec<bool> {
        let pairs = self.grades.len() * pool;
        drawn(vec![1.0; pairs], pairs / 10, self.seed).0
    }

    /// Each question's measure from a tenth of the pairs, without the judge: Horvitz and Thompson's sums, and statAP of Aslam and Pavlu
    /// ("A Practical Sampling Strategy for Efficient Retrieval Evaluation", 2007).
    fn weighted(&self, measure: usize) -> Vec<Option<f64>> {
        let pool = self.grades[0].len();
        let drawn = self.drawn_pairs(pool);
        let questions = self.grades.iter().zip(drawn.chunks(pool));
        questions
            .map(|(grades, drawn)| {
                let gains = grades.iter().zip(drawn);
                let gains: Vec<f64> = gains
                    .map(|(grade, is_drawn)| 10.0 * f64::from(*grade) * f64::from(*is_drawn))
                    .collect();
                let relevant: Vec<f64> = gains
                    .iter()
                    .map(|gain| if *gain > 0.0 { 10.0 } else { 0.0 })
                    .collect();
                let all: f64 = relevant.iter().sum();
                let sum = match measure {
                    0 => return weighted_ndcg(&gains),
                    1 => stat_ap(&relevant[..pool * 2 / 3]),
                    _ => relevant[..TOP].iter().sum(),
                };
                (all > 0.0).then(|| (sum / all).min(1.0))
            })
            .collect()
    }
}

fn stat_ap(relevant: &[f64]) -> f64 {
    let mut above = 0.0;
    let mut sum = 0.0;
    for (rank, weight) in relevant.iter().enumerate() {
        if *weight > 0.0 {
            sum += weight * (1.0 + above) / as_f64(rank + 1);
            above += weight;
        }
    }
    sum
}

/// The ideal ranking has each drawn grade ten times.
fn weighted_ndcg(gains: &[f64]) -> Option<f64> {
    let discounted = |gains: &[f64]| -> f64 {
        let gains = gains.iter().take(TOP).enumerate();
        gains
            .map(|(rank, gain)| gain / as_f64(rank + 2).log2())
            .sum()
    };
    let mut ideal: Vec<f64> = gains
        .iter()
        .flat_map(|gain| std::iter::repeat_n(gain / 10.0, 10))
        .collect();
    ideal.sort_by(|one, other| other.total_cmp(one));
    let possible = discounted(&ideal);
    (possible > 0.0).then(|| (discounted(gains) / possible).min(1.0))
}

fn relevance(grade: u8) -> f64 {
    f64::from(grade.min(1))
}

/// Whether each unit is drawn, and with which probability.
fn drawn(sizes: Vec<f64>, budget: usize, seed: u64) -> (Vec<bool>, Vec<f64>) {
    let names: Vec<String> = (0..sizes.len()).map(|unit| unit.to_string()).collect();
    let units = names.iter().map(String::as_str).zip(sizes);
    let drawing = Drawing::new(units, seed).expect("units with sizes");
    let mut drawn = vec![false; names.len()];
    for &unit in &drawing.order()[..budget] {
        drawn[unit] = true;
    }
    (drawn, drawing.probabilities(budget))
}

fn corrected(units: &[PoolUnit], weight: ModelWeight) -> Option<CorrectedMean> {
    corrected_mean(units, weight, Scale::Share, 0.95).ok()
}

fn interval(values: impl Iterator<Item = f64>) -> Option<Interval> {
    let values: Vec<f64> = values.collect();
    mean_interval(&values, None, Scale::Share, &Bootstrap::default()).ok()
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> f64 {
    let values: Vec<f64> = values.flatten().collect();
    values.iter().sum::<f64>() / as_f64(values.len()).max(1.0)
}
