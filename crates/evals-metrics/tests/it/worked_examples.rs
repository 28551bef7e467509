//! The worked examples of docs/statistics.md.

use evals_metrics::{
    Alternative, Bootstrap, ChangePointTest, ClusterCorrection, Clusters, Confusion, Interval,
    JudgeLabels, MeanPower, PairedTest, PassRatePower, Plan, Scale, VerdictCounts, VerdictTest,
    benjamini_hochberg, cohens_dz, double_sampling, exact_mcnemar, hedges_g, holm, mean_interval,
    paired_t, prediction_powered_rate, rogan_gladen, sign_test, tango_interval, wilcoxon,
};

const PAGE: &str = include_str!("../../../../docs/statistics.md");
const BEFORE: [f64; 10] = [0.50, 1.00, 0.63, 0.00, 1.00, 0.39, 0.63, 1.00, 0.50, 0.00];
const AFTER: [f64; 10] = [0.63, 1.00, 1.00, 0.50, 1.00, 0.63, 0.50, 1.00, 1.00, 0.39];
const TOPICS: [&str; 10] = [
    "law", "law", "art", "art", "art", "tax", "tax", "tax", "tax", "law",
];

fn differences() -> Vec<f64> {
    let pairs = BEFORE.iter().zip(AFTER);
    // Two decimals, as a person would subtract them.
    pairs
        .map(|(before, after)| ((after - before) * 100.0).round() / 100.0)
        .collect()
}

fn shown(interval: Interval) -> String {
    format!("[{:.3}, {:.3}]", interval.low, interval.high)
}

/// The page has to contain the text, wherever its lines break.
#[track_caller]
fn assert_shown(text: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words(PAGE).contains(text),
        "docs/statistics.md lacks `{text}`"
    );
}

#[test]
fn changes_of_a_pass_rate() {
    let mut lost = vec![-1.0; 8];
    lost.resize(300, 0.0);
    let student = mean_interval(&lost, None, Scale::Open, &Bootstrap::default());
    for (name, interval) in [
        ("Tango", tango_interval(0, 8, 300, 0.95).unwrap()),
        ("Student's t", student.unwrap()),
    ] {
        assert_shown(&format!("| {name} | {} |", shown(interval)));
    }
    let unchanged = tango_interval(0, 0, 300, 0.95).unwrap();
    assert_shown(&format!("answers gives {}", shown(unchanged)));
}

#[test]
fn intervals() {
    let (differences, settings) = (differences(), Bootstrap::default());
    let mut passes = vec![1.0; 18];
    passes.resize(20, 0.0);
    for (name, scale) in [
        ("percentile bootstrap", Scale::Amount),
        ("Student's t", Scale::Open),
    ] {
        let interval = mean_interval(&differences, None, scale, &settings).unwrap();
        assert_shown(&format!("| {name} | {} |", shown(interval)));
    }
    let wilson = mean_interval(&passes, None, Scale::Share, &settings).unwrap();
    assert_shown(&format!("Wilson's interval is {}", shown(wilson)));
}

#[test]
fn tests() {
    let differences = differences();
    let p_value = PairedTest::default().p_value(&differences).unwrap();
    assert_shown(&format!("| randomization | {p_value:.4} |"));
    let t = paired_t(&differences, Alternative::TwoSided).unwrap();
    assert_shown(&format!("| paired t | {:.4} |", t.p_value));
    assert_shown(&format!("t = {:.2}", t.statistic));
    let ranks = wilcoxon(&differences, Alternative::TwoSided).unwrap();
    assert_shown(&format!("| Wilcoxon | {:.4} |", ranks.p_value));
    let signs = sign_test(&differences, Alternative::TwoSided).unwrap();
    assert_shown(&format!("| sign | {:.4} |", signs.p_value));
    let verdicts = exact_mcnemar(9, 2, Alternative::TwoSided).unwrap();
    assert_shown(&format!("p = {:.3}", verdicts.p_value));
}

#[test]
fn effect_sizes() {
    let d = cohens_dz(&differences(), 0.95).unwrap();
    assert_shown(&format!(
        "d_z = {:.2}, 95 % interval {}",
        d.value,
        shown(d.interval.unwrap())
    ));
    let g = hedges_g(&differences(), 0.95).unwrap();
    assert_shown(&format!("g = {:.2}", g.value));
}

#[test]
fn corrections() {
    let p_values = [0.010, 0.030, 0.040, 0.200];
    let columns = p_values
        .into_iter()
        .zip(holm(&p_values))
        .zip(benjamini_hochberg(&p_values));
    for ((raw, holm), false_discovery) in columns {
        assert_shown(&format!("| {raw:.3} | {holm:.3} | {false_discovery:.3} |"));
    }
}

#[test]
fn power() {
    let mean = MeanPower {
        deviation: 0.3,
        plan: Plan::default(),
    };
    assert_shown(&format!(
        "{:.3} is the smallest",
        mean.detectable(100).unwrap()
    ));
    assert_shown(&format!("takes {} questions", mean.cases(0.02).unwrap()));
    let rate = PassRatePower {
        discordant: 0.1,
        plan: Plan::default(),
        test: VerdictTest::Exact,
    };
    assert_shown(&format!("takes {} questions", rate.cases(0.03).unwrap()));
    assert_shown(&format!(
        "{:.0} % of the time",
        100.0 * rate.power(0.03, 200).unwrap()
    ));
}

#[test]
fn clusters() {
    let clusters = Clusters::new(TOPICS.into_iter().zip(differences()));
    assert_shown(&format!(
        "cluster t {}",
        shown(clusters.interval(ClusterCorrection::Cr2, 0.95).unwrap())
    ));
    let error = clusters
        .standard_error(ClusterCorrection::Cr2)
        .unwrap()
        .value;
    assert_shown(&format!("standard error {error:.4}"));
}

#[test]
fn corrected_rates() {
    let labels = Confusion {
        true_passes: 62,
        false_passes: 8,
        false_fails: 6,
        true_fails: 24,
    };
    let run = VerdictCounts {
        passes: 700,
        fails: 300,
    };
    let random = JudgeLabels::Random(labels);
    let sampled = double_sampling(&labels, run, 0.95).unwrap();
    let inverted = rogan_gladen(&random, run, 0.95).unwrap();
    let powered = prediction_powered_rate(&random, run, 0.95).unwrap();
    assert_shown(&format!(
        "| the judge alone | 0.700 | {} |",
        shown(sampled.raw.interval.unwrap())
    ));
    assert_shown(&format!(
        "| double sampling | {:.3} | {} |",
        sampled.value,
        shown(sampled.interval)
    ));
    assert_shown(&format!(
        "| Rogan-Gladen | {:.3} | {} |",
        inverted.value,
        shown(inverted.interval)
    ));
    assert_shown(&format!(
        "| PPI++, λ = {:.2} | {:.3} | {} |",
        powered.weight,
        powered.value,
        shown(powered.interval)
    ));
    assert_shown(&format!("{} labels", sampled.labels_for_half.unwrap()));
    let kappa = random.agreement(0.95).kappa.unwrap();
    assert_shown(&format!(
        "κ = {:.2}, 95 % interval {}",
        kappa.value,
        shown(kappa.interval.unwrap())
    ));
}

#[test]
fn change_points() {
    let means = [0.71, 0.70, 0.72, 0.71, 0.69, 0.64, 0.63, 0.65, 0.62, 0.64];
    let found = ChangePointTest::default().find(&means).unwrap();
    assert_shown(&format!("p = {:.3}", found.test.p_value));
    assert_shown(&format!("from {:.3} to {:.3}", found.before, found.after));
}
