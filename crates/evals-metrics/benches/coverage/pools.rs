//! Means over pools that a model judged completely and people in part.

use evals_metrics::{
    Bootstrap, Interval, Judgements, Measure, PoolUnit, Ranking, Scale, ScoredDocument,
    Xoshiro256PlusPlus, corrected_mean, drawn_order, mean_interval, score_all,
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
const MEASURES: [&str; 4] = ["nDCG@10", "AP", "R@10", "P@10"];
const METHODS: [&str; 4] = [
    "uncorrected",
    "pairs, linearised PPI",
    "questions, inverse probability",
    "questions, PPI",
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
                let mut row: Vec<String> =
                    [collection.name, measure, method].map(str::to_owned).into();
                row.extend(found.cells());
                table.rows.push(row);
            }
        }
    }
    vec![table]
}

/// How often intervals cover, and how far estimates are off.
#[derive(Default, Clone, Copy)]
struct Found {
    covered: Share,
    error: f64,
    n: f64,
}

impl Found {
    fn add(&mut self, value: f64, interval: Option<Interval>, truth: f64) {
        self.covered.cover(interval, truth);
        self.error += value - truth;
        self.n += 1.0;
    }

    fn add_corrected(&mut self, units: &[PoolUnit], truth: f64) {
        if let Ok(found) = corrected_mean(units, 0.95) {
            self.add(found.value, found.interval, truth);
        }
    }

    fn cells(&self) -> [String; 3] {
        [
            self.covered.percent(),
            format!("{:+.3}", self.error / self.n),
            self.covered.mean_width(),
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
        };
        for _ in 0..POPULATION {
            let grades = simulation.question();
            let scores = simulation.scores(&grades);
            simulation.population.push((grades, scores));
        }
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
            let truth = mean(benchmark.people.iter().map(of));
            let model = benchmark.model.iter().map(of);
            found[0].add(mean(model.clone()), interval(model.flatten()), truth);
            found[1].add_corrected(&linearised[measure], truth);
            let units = benchmark.questions(measure);
            let without_model = units.iter().map(|unit| PoolUnit {
                model: None,
                ..*unit
            });
            found[2].add_corrected(&without_model.collect::<Vec<_>>(), truth);
            found[3].add_corrected(&units, truth);
        }
    }

    /// For each measure, all pairs, with what the judgement of people changes in the measure by the judge's.
    fn linearised(&self, benchmark: &Benchmark) -> [Vec<PoolUnit>; MEASURES.len()] {
        let pool = self.collection.pool;
        let pairs = benchmark.grades.len() * pool;
        let drawn = drawn(pairs, benchmark.seed);
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
                    let people = changed.map(|after| {
                        before + as_f64(pool) * (after[measure].unwrap_or(0.0) - before)
                    });
                    units.push(PoolUnit {
                        model: Some(before),
                        is_drawn,
                        people,
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
        let drawn = drawn(self.people.len(), self.seed).into_iter().enumerate();
        let units = drawn.map(|(question, is_drawn)| PoolUnit {
            model: self.model[question][measure],
            is_drawn,
            people: self.people[question][measure],
        });
        units.collect()
    }
}

/// Whether each unit is among the tenth that is drawn.
fn drawn(units: usize, seed: u64) -> Vec<bool> {
    let names: Vec<String> = (0..units).map(|unit| unit.to_string()).collect();
    let mut drawn = vec![false; units];
    for unit in &drawn_order(names.iter().map(String::as_str), seed)[..units / 10] {
        drawn[*unit] = true;
    }
    drawn
}

fn interval(values: impl Iterator<Item = f64>) -> Option<Interval> {
    let values: Vec<f64> = values.collect();
    mean_interval(&values, None, Scale::Share, &Bootstrap::default()).ok()
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> f64 {
    let values: Vec<f64> = values.flatten().collect();
    values.iter().sum::<f64>() / as_f64(values.len()).max(1.0)
}
