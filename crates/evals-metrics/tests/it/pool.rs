//! Corrected means over all samples that could have been drawn, and the order of judging.

use std::collections::BTreeSet;

use evals_metrics::{
    Drawing, Drawn, IntervalMethod, Measure, ModelWeight, NoStatistic, PoolUnit, Scale,
    corrected_mean, mean_interval,
};

use crate::random::Random;
use crate::{judgements, measure, ranking};

/// The upper quantile of Student's t with 4 degrees of freedom at 0.025.
const T4: f64 = 2.776_445_105_197_793;

const PEOPLE: [f64; 8] = [0.2, 0.9, 0.4, 1.0, 0.0, 0.7, 0.3, 0.6];
const MODEL: [f64; 8] = [0.5, 0.8, 0.9, 1.0, 0.4, 0.6, 0.8, 0.3];

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_f64(values.len())
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The units with these drawn, each with the same probability.
fn units(people: &[Option<f64>], model: &[Option<f64>], drawn: &[usize]) -> Vec<PoolUnit> {
    let probability = as_f64(drawn.len()) / as_f64(people.len());
    let values = people.iter().zip(model).enumerate();
    let unit = |(question, (&people, &model))| PoolUnit {
        question,
        model,
        drawn: drawn.contains(&question).then_some(Drawn {
            people,
            probability,
        }),
    };
    values.map(unit).collect()
}

/// All ways to draw 5 of 8.
fn samples() -> Vec<Vec<usize>> {
    let sets = (0_u32..256).filter(|set| set.count_ones() == 5);
    sets.map(|set| (0..8).filter(|unit| set >> unit & 1 == 1).collect())
        .collect()
}

/// Over all samples, the mean of the estimates is the truth, and the mean of the estimated variances their variance.
#[test]
fn estimate_and_variance_are_unbiased() {
    let (people, model) = (PEOPLE.map(Some), MODEL.map(Some));
    let truth = mean(&PEOPLE);
    for weight in [ModelWeight::Ignored, ModelWeight::Full] {
        let (mut values, mut variances) = (Vec::new(), Vec::new());
        for sample in samples() {
            let units = units(&people, &model, &sample);
            let found = corrected_mean(&units, weight, Scale::Open, 0.95).unwrap();
            let interval = found.interval.unwrap();
            values.push(found.value);
            variances.push(((interval.high - interval.low) / 2.0 / T4).powi(2));
            assert!((mean(&found.contributions) - found.value).abs() < 1e-12);
            let population = found.population.unwrap();
            assert!(population.low < interval.low && interval.high < population.high);
        }
        assert_eq!(values.len(), 56);
        assert!((mean(&values) - truth).abs() < 1e-12);
        let squares: Vec<f64> = values.iter().map(|value| (value - truth).powi(2)).collect();
        assert!((mean(&variances) - mean(&squares)).abs() < 1e-12);
    }
}

/// People correct the first five by -0.3, 0.1, -0.5, 0 and -0.4.
#[test]
fn values_by_hand() {
    let (people, model) = (PEOPLE.map(Some), MODEL.map(Some));
    let units = units(&people, &model, &[0, 1, 2, 3, 4]);
    let found = corrected_mean(&units, ModelWeight::Full, Scale::Share, 0.95).unwrap();
    assert!((found.value - (mean(&MODEL) - 0.22)).abs() < 1e-12);
    // The squared distances from -0.22 add up to 0.268.
    assert!((found.spread - (0.268_f64 / 4.0).sqrt()).abs() < 1e-12);
    let interval = found.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::PredictionPoweredFull);
    let reach = T4 * (0.375 * 0.067 / 5.0_f64).sqrt();
    assert!((interval.high - found.value - reach).abs() < 1e-9);

    let ignored = corrected_mean(&units, ModelWeight::Ignored, Scale::Share, 0.95).unwrap();
    assert!((ignored.value - mean(&PEOPLE[..5])).abs() < 1e-12);
    assert_eq!(
        ignored.interval.unwrap().method,
        IntervalMethod::InverseProbability
    );
}

#[test]
fn a_tuned_weight_is_the_slope_of_people_on_the_model() {
    let model: Vec<Option<f64>> = (0..40).map(|unit| Some(f64::from(unit) / 40.0)).collect();
    // People give half of what the model gives, and a tenth more to every other unit.
    let people: Vec<Option<f64>> = (0..40)
        .map(|unit| Some(f64::from(unit) / 80.0 + f64::from(unit / 2 % 2) / 10.0))
        .collect();
    let drawn: Vec<usize> = (0..40).step_by(2).collect();
    let found = |weight| {
        let units = units(&people, &model, &drawn);
        corrected_mean(&units, weight, Scale::Open, 0.95).unwrap()
    };
    let tuned = found(ModelWeight::Tuned);
    assert!((tuned.weight - 0.5).abs() < 0.02, "{}", tuned.weight);
    assert!(tuned.spread < found(ModelWeight::Full).spread);
    assert!(tuned.spread < found(ModelWeight::Ignored).spread);
}

/// People find nothing relevant in unit 4, and the model nothing in unit 6.
#[test]
fn undefined_units_are_left_out_of_the_mean() {
    let (mut people, mut model) = (PEOPLE.map(Some), MODEL.map(Some));
    people[4] = None;
    model[6] = None;
    let everything = units(&people, &model, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let found = corrected_mean(&everything, ModelWeight::Full, Scale::Share, 0.95).unwrap();
    let defined: Vec<f64> = people.into_iter().flatten().collect();
    assert!((found.value - mean(&defined)).abs() < 1e-12);
    let interval = found.interval.unwrap();
    assert!(interval.high - interval.low < 1e-12, "everything is known");

    let values: Vec<f64> = samples()
        .iter()
        .map(|sample| {
            let units = units(&people, &model, sample);
            corrected_mean(&units, ModelWeight::Full, Scale::Share, 0.95)
                .unwrap()
                .value
        })
        .collect();
    assert!(
        (mean(&values) - mean(&defined)).abs() < 0.02,
        "a quotient is biased a little"
    );
    let nothing = units(&[None; 8], &model, &[0, 1, 2, 3, 4]);
    let refused = corrected_mean(&nothing, ModelWeight::Ignored, Scale::Share, 0.95);
    assert_eq!(refused, Err(NoStatistic::NoValues));
}

#[test]
fn bad_units_are_refused() {
    let (people, model) = (PEOPLE.map(Some), MODEL.map(Some));
    let of =
        |units: &[PoolUnit], weight| corrected_mean(units, weight, Scale::Share, 0.95).unwrap_err();
    let few = units(&people, &model, &[0, 1, 2, 3]);
    assert_eq!(
        of(&few, ModelWeight::Full),
        NoStatistic::TooFew { n: 4, least: 5 }
    );
    let five = units(&people, &model, &[0, 1, 2, 3, 4]);
    assert_eq!(
        of(&five, ModelWeight::Tuned),
        NoStatistic::TooFew { n: 5, least: 7 }
    );
    let mut odd = five.clone();
    odd[7].model = Some(f64::NAN);
    assert_eq!(of(&odd, ModelWeight::Full), NoStatistic::NotFinite);
    let mut odd = five.clone();
    odd[0].drawn = Some(Drawn {
        people: Some(0.1),
        probability: 0.0,
    });
    assert_eq!(of(&odd, ModelWeight::Full), NoStatistic::Probability);
    assert_eq!(
        corrected_mean(&five, ModelWeight::Full, Scale::Share, 1.0),
        Err(NoStatistic::Level)
    );

    let right = units(&model, &model, &[0, 1, 2, 3, 4]);
    let found = corrected_mean(&right, ModelWeight::Full, Scale::Share, 0.95).unwrap();
    assert!((found.value - mean(&MODEL)).abs() < 1e-12);
    assert_eq!(
        (found.interval, found.population),
        (None, None),
        "no spread was seen"
    );
    assert_eq!(found.drawn_for(0.1), None);
}

#[test]
fn the_number_to_draw_gives_the_width() {
    let model: Vec<Option<f64>> = (0..200)
        .map(|unit| Some(f64::from(unit % 7) / 7.0))
        .collect();
    let people: Vec<Option<f64>> = (0..200)
        .map(|unit| Some(f64::from(unit % 5) / 5.0))
        .collect();
    let drawn: Vec<usize> = (0..200).step_by(3).collect();
    let found = corrected_mean(
        &units(&people, &model, &drawn),
        ModelWeight::Full,
        Scale::Share,
        0.95,
    )
    .unwrap();
    let interval = found.interval.unwrap();
    // 67 were drawn: their own width takes 67, and a slightly smaller one takes more.
    assert_eq!(
        found.drawn_for(interval.high - interval.low + 1e-9),
        Some(67)
    );
    assert_eq!(
        found.drawn_for((interval.high - interval.low) * 0.99),
        Some(68)
    );
    assert_eq!(found.drawn_for(1e-9), Some(200));
    assert_eq!(found.drawn_for(9.0), Some(5));
    assert_eq!(found.drawn_for(0.0), None);
}

const NAMES: [&str; 6] = ["q1", "q2", "q3", "q4", "q5", "q6"];

/// Sums that are weighted by the inverse probabilities are right on average, whatever the sizes.
#[test]
fn drawn_sums_are_unbiased() {
    let sizes = [1.0, 4.0, 0.5, 2.0, 8.0, 1.0];
    let values = [3.0, 5.0, 2.0, 7.0, 9.0, 4.0];
    for drawn in [2, 4] {
        let sums = (0..40_000).map(|seed| {
            let drawing = Drawing::new(NAMES.into_iter().zip(sizes), seed).unwrap();
            let probabilities = drawing.probabilities(drawn);
            let first = drawing.order()[..drawn].iter();
            first
                .map(|&unit| values[unit] / probabilities[unit])
                .sum::<f64>()
        });
        let sums: Vec<f64> = sums.collect();
        let error = mean(
            &sums
                .iter()
                .map(|sum| (sum - 30.0).powi(2))
                .collect::<Vec<_>>(),
        );
        let error = (error / as_f64(sums.len())).sqrt();
        assert!(
            (mean(&sums) - 30.0).abs() < 4.0 * error,
            "{} ± {error}",
            mean(&sums)
        );
    }
}

/// Who was drawn stays drawn when units join or are judged later.
#[test]
fn a_drawing_only_grows() {
    let uniform =
        |names: &[&'static str]| Drawing::new(names.iter().map(|name| (*name, 1.0)), 3).unwrap();
    let order = |names: &[&'static str]| -> Vec<&str> {
        let drawing = uniform(names);
        drawing.order().iter().map(|&unit| names[unit]).collect()
    };
    let all = order(&NAMES);
    let without_two: Vec<&str> = all
        .iter()
        .copied()
        .filter(|name| !["q2", "q5"].contains(name))
        .collect();
    assert_eq!(order(&["q6", "q4", "q1", "q3"]), without_two);
    assert_eq!(uniform(&NAMES).probabilities(6), [1.0; 6]);
    assert_eq!(uniform(&NAMES).probabilities(3), [0.5; 6]);
    let firsts: BTreeSet<usize> = (0..40)
        .map(|seed| {
            Drawing::new(NAMES.map(|name| (name, 1.0)), seed)
                .unwrap()
                .order()[0]
        })
        .collect();
    assert_eq!(firsts.len(), 6, "every unit can be first");
    assert_eq!(Drawing::new([], 0), Err(NoStatistic::NoValues));
    assert_eq!(Drawing::new([("q1", 0.0)], 0), Err(NoStatistic::NotFinite));
}

const IDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// A judge that takes one in five passages for relevant that are not, and misses one in ten that are. Of 80 questions, people judge 8. The
/// bench `coverage` has the table for more collections and methods.
#[test]
fn corrected_intervals_cover_what_people_would_find() {
    let mut random = Random::seeded(11);
    let order = ranking(&IDS[..6]);
    let measures = ["nDCG@5", "AP", "R@5"].map(measure);
    let scores = |relevant: &[bool]| {
        let grades = IDS.into_iter().zip(relevant);
        let grades: Vec<(&str, i32)> = grades.map(|(id, &grade)| (id, i32::from(grade))).collect();
        let judgements = judgements(&grades);
        measures.map(|measure: Measure| measure.score(&judgements, &order).ok())
    };
    let collection: Vec<Vec<bool>> = (0..80)
        .map(|_| {
            let rate = 0.1 + 0.4 * random.uniform();
            (0..8)
                .map(|rank| rank == 2 || random.uniform() < rate)
                .collect()
        })
        .collect();
    let people: Vec<[Option<f64>; 3]> = collection.iter().map(|it| scores(it)).collect();
    let names: Vec<String> = (0..80).map(|question| format!("q{question}")).collect();
    let (mut corrected, mut uncorrected) = ([0; 3], [0; 3]);
    for seed in 0..600 {
        let model: Vec<[Option<f64>; 3]> = collection
            .iter()
            .map(|relevant| {
                let judge = relevant
                    .iter()
                    .map(|is| random.uniform() < if *is { 0.9 } else { 0.2 });
                scores(&judge.collect::<Vec<_>>())
            })
            .collect();
        let drawing = Drawing::new(names.iter().map(|name| (name.as_str(), 1.0)), seed).unwrap();
        let drawn = &drawing.order()[..8];
        for measure in 0..3 {
            let of =
                |side: &[[Option<f64>; 3]]| side.iter().map(|it| it[measure]).collect::<Vec<_>>();
            let truth: Vec<f64> = of(&people).into_iter().flatten().collect();
            let units = units(&of(&people), &of(&model), drawn);
            let found = corrected_mean(&units, ModelWeight::Full, Scale::Share, 0.95).unwrap();
            let trusted: Vec<f64> = of(&model).into_iter().flatten().collect();
            let trusted = mean_interval(
                &trusted,
                None,
                Scale::Share,
                &evals_metrics::Bootstrap::default(),
            );
            for (count, interval) in [
                (&mut corrected, found.interval),
                (&mut uncorrected, trusted.ok()),
            ] {
                let covers =
                    |it: evals_metrics::Interval| it.low <= mean(&truth) && mean(&truth) <= it.high;
                count[measure] += usize::from(interval.is_some_and(covers));
            }
        }
    }
    // 93 to 97 % of 600 are 558 to 582, and a standard error is 5.
    assert!(
        corrected
            .iter()
            .all(|covered| (546..=592).contains(covered)),
        "{corrected:?}"
    );
    assert!(
        uncorrected.iter().all(|covered| *covered < 480),
        "{uncorrected:?}"
    );
}
