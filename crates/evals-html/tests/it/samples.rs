//! One figure of each kind, with the numbers that are hard to draw: undefined values, equal values, long and hostile names.

use evals::{Unit, Verdict};
use evals_html::figure::{
    Breakdown, ChangeFigure, Distribution, Estimate, Estimates, Heading, Histogram, MeasuredChange,
    Panel, Part, PrecisionCurve, RecallPrecision, Samples, Style, TradeOff, TradeOffPoint, Trend,
    TrendPoint, Width,
};
use evals_html::scene::Scene;

pub(crate) fn heading(title: &str) -> Heading {
    Heading {
        title: title.to_owned(),
        caption: "256 questions of repliqa. Lines are 95 % intervals of the percentile bootstrap over questions, 1,000 resamples, seed 1.".to_owned(),
    }
}

fn estimate(label: &str, value: f64, low: f64, high: f64, series: usize) -> Estimate {
    Estimate {
        label: label.to_owned(),
        value: Ok(value),
        interval: Some((low, high)),
        series,
    }
}

fn estimates(style: Style) -> Estimates {
    let panel = |name: &str, shift: f64| Panel {
        name: name.to_owned(),
        unit: Unit::Score,
        estimates: vec![
            estimate("bm25", 0.7012 + shift, 0.655 + shift, 0.742 + shift, 0),
            estimate("semantic", 0.6544 + shift, 0.61 + shift, 0.699 + shift, 1),
            estimate("hybrid", 0.7739 + shift, 0.734 + shift, 0.811 + shift, 2),
            estimate(
                "sentence-transformers/all-MiniLM-L6-v2 with a name of many words",
                0.7 + shift,
                0.7 + shift,
                0.7 + shift,
                3,
            ),
            Estimate {
                label: "<b>&\"</b>\u{202e}".to_owned(),
                value: Err("no relevant document".to_owned()),
                interval: None,
                series: 4,
            },
        ],
    };
    let latency = Panel {
        name: "search p50".to_owned(),
        unit: Unit::Seconds,
        estimates: vec![
            estimate("bm25", 0.0031, 0.0029, 0.0034, 0),
            estimate("hybrid", 0.0412, 0.0391, 0.0455, 2),
        ],
    };
    Estimates {
        heading: heading("Search profiles on repliqa"),
        panels: vec![panel("RR@5", 0.0), panel("nDCG@10", 0.05), latency],
        style,
    }
}

fn change() -> ChangeFigure {
    let change = |measure: &str, unit, difference: f64, half: f64, p, verdict| MeasuredChange {
        measure: measure.to_owned(),
        unit,
        difference: Ok(difference),
        interval: Some((difference - half, difference + half)),
        p_value: Some(p),
        is_corrected: false,
        verdict,
    };
    ChangeFigure {
        heading: heading("hybrid against bm25"),
        changes: vec![
            change(
                "MRR@5",
                Unit::Score,
                0.0727,
                0.03,
                0.000_02,
                Verdict::Better,
            ),
            change("nDCG@10", Unit::Score, 0.0112, 0.02, 0.31, Verdict::Unclear),
            change("R@100", Unit::Score, -0.0412, 0.02, 0.004, Verdict::Worse),
            MeasuredChange {
                measure: "accuracy".to_owned(),
                unit: Unit::PassRate,
                difference: Ok(0.0),
                interval: None,
                p_value: None,
                is_corrected: false,
                verdict: Verdict::Same,
            },
            change(
                "search",
                Unit::Seconds,
                0.0381,
                0.004,
                0.0001,
                Verdict::Worse,
            ),
            MeasuredChange {
                measure: "rouge_l".to_owned(),
                unit: Unit::Score,
                difference: Err("no case has both values".to_owned()),
                interval: None,
                p_value: None,
                is_corrected: false,
                verdict: Verdict::None,
            },
        ],
    }
}

fn distribution() -> Distribution {
    let samples = |name: &str, scale: f64| Samples {
        name: name.to_owned(),
        values: (1..=300_u32)
            .map(|it| scale * (1.0 + f64::from(it * it % 97) / 20.0))
            .collect(),
    };
    Distribution {
        heading: heading("Latency of each stage"),
        axis: "Service time".to_owned(),
        unit: Unit::Seconds,
        series: vec![
            samples("embed", 0.0004),
            samples("search", 0.003),
            samples("answer", 0.9),
            Samples {
                name: "rerank".to_owned(),
                values: Vec::new(),
            },
        ],
    }
}

fn histogram() -> Histogram {
    Histogram {
        heading: heading("Scores of nDCG@10"),
        axis: "nDCG@10".to_owned(),
        span: (0.0, 1.0),
        values: (0..256_u32)
            .map(|it| f64::from(it * 7 % 101) / 100.0)
            .collect(),
        undefined: 12,
        link: Some("#f.f1=".to_owned()),
    }
}

fn precision() -> RecallPrecision {
    let curve = |name: &str, top: f64| {
        let mut means = [0.0; 11];
        let mut level = top;
        for mean in &mut means {
            *mean = level;
            level *= 0.86;
        }
        PrecisionCurve {
            name: name.to_owned(),
            means,
            band: Some(means.map(|mean| (mean - 0.04, (mean + 0.04).min(1.0)))),
        }
    };
    RecallPrecision {
        heading: heading("Precision and recall"),
        curves: vec![curve("bm25", 0.82), curve("hybrid", 0.91)],
    }
}

fn trade_off() -> TradeOff {
    let point = |label: &str, price, quality: f64| TradeOffPoint {
        label: label.to_owned(),
        price,
        quality,
        interval: Some((quality - 0.03, quality + 0.03)),
    };
    TradeOff {
        heading: heading("Quality against latency"),
        price: "Latency of search, p50".to_owned(),
        unit: Unit::Seconds,
        quality: "nDCG@10".to_owned(),
        is_crowded: false,
        points: vec![
            point("bm25", 0.0031, 0.688),
            point("semantic", 0.012, 0.645),
            point("hybrid", 0.014, 0.702),
            point("hybrid-linear", 0.0141, 0.7021),
            point("reranked", 0.9, 0.731),
        ],
    }
}

fn trend() -> Trend {
    let values = [0.66, 0.67, 0.69, 0.68, 0.71, 0.72];
    let mut points: Vec<TrendPoint> = values
        .into_iter()
        .zip(1..)
        .map(|(value, day)| TrendPoint {
            label: format!("Nov {day}"),
            value: Ok(value),
            interval: Some((value - 0.03, value + 0.03)),
            changed: String::new(),
            broken: String::new(),
        })
        .collect();
    points[2].changed.push_str("search.k 5 → 10");
    points[3].value = Err("undefined: stopped".to_owned());
    points[3].interval = None;
    points[4].broken.push_str("other data");
    Trend {
        heading: heading("nDCG@10 over runs"),
        measure: "nDCG@10".to_owned(),
        unit: Unit::Score,
        points,
    }
}

fn breakdown() -> Breakdown {
    let names = [
        ("not retrieved", 9, 1),
        ("retrieved, not shown", 4, 1),
        ("shown, answered wrongly", 12, 4),
        ("refused wrongly", 0, 4),
        ("judge failed", 1, 3),
        ("right", 230, 2),
    ];
    Breakdown {
        heading: heading("Where it broke"),
        parts: names
            .into_iter()
            .map(|(name, count, series)| Part {
                name: name.to_owned(),
                count,
                series,
                link: Some(format!("#f={name}")),
            })
            .collect(),
    }
}

/// Every figure at a width, with a name.
pub(crate) fn all(width: Width) -> Vec<(&'static str, Scene)> {
    vec![
        ("estimates", estimates(Style::Dots).draw(width)),
        ("bars", estimates(Style::Bars).draw(width)),
        ("change", change().draw(width)),
        ("distribution", distribution().draw(width)),
        ("histogram", histogram().draw(width)),
        ("precision", precision().draw(width)),
        ("trade-off", trade_off().draw(width)),
        ("trend", trend().draw(width)),
        ("breakdown", breakdown().draw(width)),
    ]
}

/// The figures of runs without any case.
pub(crate) fn empty(width: Width) -> Vec<(&'static str, Scene)> {
    let heading = heading("Nothing");
    let axis = "value".to_owned();
    vec![
        (
            "estimates",
            Estimates {
                heading: heading.clone(),
                ..Estimates::default()
            }
            .draw(width),
        ),
        (
            "change",
            ChangeFigure {
                heading: heading.clone(),
                changes: Vec::new(),
            }
            .draw(width),
        ),
        (
            "distribution",
            Distribution {
                heading: heading.clone(),
                axis: axis.clone(),
                unit: Unit::Seconds,
                series: Vec::new(),
            }
            .draw(width),
        ),
        (
            "histogram",
            Histogram {
                heading: heading.clone(),
                axis: axis.clone(),
                span: (0.0, 0.0),
                values: Vec::new(),
                undefined: 0,
                link: None,
            }
            .draw(width),
        ),
        (
            "precision",
            RecallPrecision {
                heading: heading.clone(),
                curves: Vec::new(),
            }
            .draw(width),
        ),
        (
            "trade-off",
            TradeOff {
                heading: heading.clone(),
                price: axis.clone(),
                unit: Unit::Seconds,
                quality: axis.clone(),
                is_crowded: false,
                points: Vec::new(),
            }
            .draw(width),
        ),
        (
            "trend",
            Trend {
                heading: heading.clone(),
                measure: axis,
                unit: Unit::Score,
                points: Vec::new(),
            }
            .draw(width),
        ),
        (
            "breakdown",
            Breakdown {
                heading,
                parts: Vec::new(),
            }
            .draw(width),
        ),
    ]
}
