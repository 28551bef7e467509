//! The numbers of a pool.

use evals_metrics::{IntervalMethod, Xoshiro256PlusPlus};

use super::*;

fn report<'p>(pool: &'p Pool, runs: &[PooledRun], stored: &[Judgement]) -> PoolReport<'p> {
    PoolReport::of(pool, runs, stored, Some(&model()), 0, bootstrap())
}

fn measure<'r>(report: &'r PoolReport<'_>, run: usize, name: &str) -> &'r PooledMeasure {
    let mut measures = report.measures[4 * run..].iter();
    measures.find(|it| it.measure == name).unwrap()
}

/// The mean by the model.
fn by_model(report: &PoolReport<'_>, run: usize, name: &str) -> Option<f64> {
    Some(measure(report, run, name).model?.value)
}

#[test]
fn the_models_grades_measure_the_runs() {
    let runs = runs();
    let pool = pool(&runs);
    let stored = judged(&pool, &model(), right);
    let report = report(&pool, &runs, &stored);
    // Relevant from grade 2: a and b of four documents.
    assert_eq!(by_model(&report, 0, "P@3"), Some(2.0 / 3.0));
    assert_eq!(by_model(&report, 0, "R@3"), Some(1.0));
    assert_eq!(by_model(&report, 2, "R@3"), Some(0.5));
    assert_eq!(by_model(&report, 0, "nDCG@3"), Some(1.0));
    let average = by_model(&report, 1, "AP@3").unwrap();
    assert!((average - 7.0 / 12.0).abs() < 1e-12, "{average}");
    let names: Vec<_> = report.measures.iter().map(|it| &*it.measure).collect();
    assert_eq!(names, ["nDCG@3", "P@3", "R@3", "AP@3"].repeat(3));
    assert_eq!((report.by_model, report.by_people), (24, 0));
    let p = measure(&report, 0, "P@3");
    assert_eq!(p.dataset, None);
    assert_eq!(
        p.corrected.as_ref().unwrap_err().to_string(),
        "0 values are fewer than the 5 that the method needs"
    );
    assert!(report.orders.is_empty(), "nothing to compare with");
    assert_eq!(report.tables(0.1).len(), 1);
}

#[test]
fn a_hole_is_not_an_irrelevant_document() {
    let runs = runs();
    let pool = pool(&runs);
    let most = judged(&pool, &model(), |question, document| {
        right(question, document).filter(|_| document != "q1-b")
    });
    let found = report(&pool, &runs, &most);
    let mean = measure(&found, 0, "P@3").model.unwrap();
    assert_eq!((mean.value, mean.n), (2.0 / 3.0, 5));
    let notes = &found.tables(0.1)[0].notes;
    assert!(notes[1].starts_with("n leaves out questions"), "{notes:?}");
    assert!(found.warnings[0].contains("has not judged 1 of the pool's 24 pairs"));
    assert_eq!(found.by_model, 23);
    let other = judged(
        &pool,
        &Assessor::Model {
            identity: ModelIdentity::new("test", "other"),
            prompt: "p".to_owned(),
        },
        right,
    );
    let found = report(&pool, &runs, &other);
    assert_eq!(by_model(&found, 0, "P@3"), None, "another judge");
}

#[test]
fn a_later_run_changes_no_old_number() {
    let runs = runs();
    let (old, later) = runs.split_at(2);
    let old_pool = pool(old);
    let mut judgements = judged(&old_pool, &model(), |_, document| {
        Some(u8::from(document.ends_with('a')))
    });
    judgements.extend(judged(&old_pool, &ann(), right));
    let stored = judgements.clone();
    let before = report(&old_pool, old, &stored);
    assert_eq!(before.drawn, 6);

    let whole = pool(&runs);
    let grades = Grades::of_model(&stored, &model());
    let open: Vec<_> = whole
        .questions
        .iter()
        .flat_map(|it| grades.open(it))
        .collect();
    assert!(open.iter().all(|pair| pair.document.ends_with("-d")));
    assert_eq!((open.len(), later.len()), (6, 1));
    judgements.extend(judged(&whole, &model(), |_, document| {
        document.ends_with("-d").then_some(3)
    }));
    let more = judgements.clone();
    assert_eq!(
        report(&old_pool, old, &more),
        before,
        "the same version too"
    );
    judgements.extend(judged(&whole, &model(), |_, _| Some(0)));
    judgements.extend(judged(&whole, &ann(), |_, _| Some(0)));
    let grown = judgements;
    assert_ne!(
        report(&old_pool, old, &grown).measures,
        before.measures,
        "Ann has changed her mind"
    );
    let (lines, _) = before.version.split_once('-').unwrap();
    let again = &grown[..lines.parse().unwrap()];
    assert_eq!(report(&old_pool, old, again), before);
}

#[test]
fn people_and_the_dataset_order_the_runs() {
    let mut runs = runs();
    for run in &mut runs {
        for case in &mut Arc::get_mut(&mut run.report).unwrap().cases {
            let relevant = format!("{}-b", case.id);
            case.expected = Some([(relevant, 1)].into_iter().collect());
        }
    }
    let pool = pool(&runs);
    let mut judgements = judged(&pool, &model(), right);
    judgements.extend(judged(&pool, &ann(), right));
    let report = report(&pool, &runs, &judgements);
    let p = measure(&report, 0, "P@3");
    let corrected = p.corrected.as_ref().unwrap();
    assert!((corrected.value - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!((corrected.drawn, corrected.units), (6, 6));
    let of_dataset = p.dataset.unwrap().value;
    assert!((of_dataset - 1.0 / 3.0).abs() < 1e-12, "{of_dataset}");
    let order = |name: &str, with: &str| {
        let mut orders = report.orders.iter();
        let order = orders
            .find(|it| it.measure == name && it.with == with)
            .unwrap();
        order
            .agreement
            .as_ref()
            .map(|it| (it.tau.value * 1e6).round() / 1e6)
    };
    assert_eq!(order("nDCG@3", "people"), Ok(1.0));
    assert_eq!(
        order("AP@3", "dataset"),
        Ok(0.816_497),
        "two tie by the dataset"
    );
    let equal = report.agreement.as_ref().unwrap().equal.value;
    assert!((equal - 1.0).abs() < 1e-12, "{equal}");
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    assert_eq!(report.next, None);
    assert_eq!(report.tables(0.1).len(), 2);
    assert!(report.opening()[3].starts_with("model and people agree on 100 % of 24 passages"));
}

#[test]
fn people_alone_weigh_by_inverse_probabilities() {
    let runs = runs();
    let pool = pool(&runs);
    let stored = judged(&pool, &ann(), right);
    let report = PoolReport::of(&pool, &runs, &stored, None, 0, bootstrap());
    let p = measure(&report, 0, "P@3").corrected.as_ref().unwrap();
    assert!((p.value - 2.0 / 3.0).abs() < 1e-12);
    let method = p.interval.map(|interval| interval.method);
    assert_eq!(method, Some(IntervalMethod::InverseProbability));
    assert_eq!(report.orders, [], "nothing to compare people with");
    let notes = &report.tables(0.1)[0].notes;
    assert!(notes[0].contains("by inverse probabilities"), "{notes:?}");
}

#[test]
fn a_judge_of_its_own_work_and_one_that_disagrees_are_named() {
    let mut runs = runs();
    let reranker = ModelIdentity::new("test", "scripted").with_digest("of some weights");
    runs[1].models.insert("reranker".to_owned(), reranker);
    let embedder = ModelIdentity::new("test", "scripted");
    runs[0].models.insert("embedder".to_owned(), embedder);
    let pool = pool(&runs);
    let mut judgements = judged(&pool, &model(), |_, _| Some(0));
    judgements.extend(judged(&pool, &model(), |_, _| Some(3)));
    judgements.extend(judged(&pool, &ann(), |question, document| {
        right(question, document).map(|grade| 3 - grade)
    }));
    let report = report(&pool, &runs, &judgements);
    assert_eq!(
        report.warnings[0],
        "`test:scripted` judges and also reranks in run `reversed`: a model favours what it chose itself; judge with a different model"
    );
    assert!(report.warnings[1].starts_with("the model agrees badly with people: weighted kappa"));
    assert_eq!(report.warnings.len(), 2);
}

#[test]
fn of_several_people_the_median_counts() {
    let pool = pool(&runs());
    let person = |name: &str, grade: u8| {
        judged(&pool, &Assessor::Person(name.to_owned()), move |_, _| {
            Some(grade)
        })
    };
    let all = [
        person("Ann", 0),
        person("Bo", 3),
        person("Cy", 2),
        person("Ann", 1),
    ]
    .concat();
    let (question, pair) = pool.pairs().next().unwrap();
    for (judgements, grade) in [(24, 0), (48, 0), (72, 2), (96, 2)] {
        let stored = &all[..judgements];
        assert_eq!(Grades::of_people(stored).get(question, pair), Some(grade));
        assert_eq!(Grades::of_model(stored, &model()).get(question, pair), None);
    }
}

/// How a judge grades what people gave 0 to 3, in percent: too kind, as models are.
const CONFUSION: [[usize; 4]; 4] = [
    [40, 25, 25, 10],
    [5, 30, 45, 20],
    [3, 7, 55, 35],
    [1, 4, 25, 70],
];

fn drawn_from(weights: [usize; 4], random: &mut Xoshiro256PlusPlus) -> u8 {
    let mut left = random.index(100);
    for (grade, weight) in (0..).zip(weights) {
        match left.checked_sub(weight) {
            Some(rest) => left = rest,
            None => return grade,
        }
    }
    3
}

#[test]
fn corrected_values_cover_the_truth_as_often_as_they_promise() {
    const QUESTIONS: usize = 150;
    const DRAWN: usize = 30;
    const DRAWS: u64 = 200;
    let mut random = Xoshiro256PlusPlus::seeded(11);
    let mut people: BTreeMap<(String, String), u8> = BTreeMap::new();
    let mut by_model = people.clone();
    let mut cases = Vec::new();
    for number in 0..QUESTIONS {
        let question = format!("q{number}");
        let documents: Vec<String> = (0..3).map(|rank| format!("{question}-{rank}")).collect();
        for (rank, document) in documents.iter().enumerate() {
            let weights = [[20, 20, 30, 30], [40, 20, 20, 20], [60, 20, 15, 5]][rank];
            let grade = drawn_from(weights, &mut random);
            let judged = drawn_from(CONFUSION[usize::from(grade)], &mut random);
            people.insert((question.clone(), document.clone()), grade);
            by_model.insert((question.clone(), document.clone()), judged);
        }
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        cases.push(case(&question, &documents));
    }
    let runs = [run("one", cases)];
    let pool = pool(&runs);
    let of = |grades: &BTreeMap<(String, String), u8>, question: &str, document: &str| {
        grades
            .get(&(question.to_owned(), document.to_owned()))
            .copied()
    };
    let all = judged(&pool, &ann(), |question, document| {
        of(&people, question, document)
    });
    let model_judgements = judged(&pool, &model(), |question, document| {
        of(&by_model, question, document)
    });
    let evaluated = |people: Vec<Judgement>, seed: u64| {
        let stored = [model_judgements.clone(), people].concat();
        PoolReport::of(&pool, &runs, &stored, Some(&model()), seed, bootstrap())
    };
    let truth = evaluated(all.clone(), 0);
    let names = ["nDCG@3", "P@3", "AP@3"];
    let mut covered = [0_usize; 3];
    let by_model = self::by_model(&truth, 0, "P@3").unwrap();
    let mut excluded = 0;
    for seed in 0..DRAWS {
        let drawn: Vec<_> = pool.drawn(seed).take(DRAWN).collect();
        let is_drawn = |judgement: &&Judgement| drawn.iter().any(|it| it.id == judgement.question);
        let report = evaluated(all.iter().filter(is_drawn).cloned().collect(), seed);
        assert_eq!(report.drawn, DRAWN);
        for (name, covered) in names.iter().zip(&mut covered) {
            let right = measure(&truth, 0, name).corrected.as_ref().unwrap().value;
            let corrected = measure(&report, 0, name).corrected.as_ref().unwrap();
            let interval = corrected.interval.unwrap();
            *covered += usize::from(interval.low <= right && right <= interval.high);
        }
        let corrected = measure(&report, 0, "P@3").corrected.as_ref().unwrap();
        let interval = corrected.interval.unwrap();
        excluded += u64::from(by_model > interval.high);
    }
    // 95 % of 200 are 190, with a standard deviation of 3.
    assert!(
        covered.iter().all(|covered| (181..=198).contains(covered)),
        "{covered:?}"
    );
    assert!(
        2 * excluded > DRAWS,
        "{excluded} intervals lie below the model's mean {by_model}"
    );
}
