//! The figures of a tuning's page.

use evals::Unit;
use evals_html::figure::{Estimate, Estimates, Heading, Panel, TradeOff, TradeOffPoint, Width};
use evals_html::page::PageFigure;
use evals_html::scene::Scene;

use super::Tuned;

impl Tuned {
    pub(super) fn figures(&self) -> Vec<PageFigure> {
        let figures = [
            ("trade-off", self.trade_off_figure()),
            ("knobs", self.knob_figure()),
        ];
        let drawn = figures.into_iter().filter_map(|(name, scene)| {
            Some(PageFigure {
                name: name.to_owned(),
                scene: scene?,
            })
        });
        drawn.collect()
    }

    fn trade_off_figure(&self) -> Option<Scene> {
        let measured = self.trials.iter();
        let measured = measured.filter(|trial| 2 * trial.questions >= self.questions[0]);
        let points = measured.filter_map(|trial| {
            Some(TradeOffPoint {
                label: trial.label.clone(),
                price: trial.latency?,
                quality: trial.gain?,
                interval: None,
            })
        });
        let figure = TradeOff {
            heading: Heading {
                title: format!("Gain in {} against {}", self.objective, self.latency),
                caption: "Gains over your settings in the search, which flatter the best of many, of all settings that answered at least half of \
                          its questions. Filled circles: no other trial is as fast and gains as much."
                    .to_owned(),
            },
            price: self.latency.to_owned(),
            unit: Unit::Seconds,
            quality: "gain".to_owned(),
            points: points.collect(),
            is_crowded: true,
        };
        (figure.points.len() > 1).then(|| figure.draw(Width::Page))
    }

    fn knob_figure(&self) -> Option<Scene> {
        let knobs = self.knobs.iter().filter_map(|knob| {
            Some(Estimate {
                label: knob.name.clone(),
                value: Ok(knob.range?),
                interval: knob.interval,
                series: 0,
            })
        });
        let estimates: Vec<Estimate> = knobs.collect();
        let figure = Estimates {
            heading: Heading {
                title: "How much each setting matters".to_owned(),
                caption: format!(
                    "The best value of each setting minus its worst, in {}, with all other settings equal",
                    self.objective
                ),
            },
            panels: vec![Panel {
                name: self.objective.clone(),
                unit: Unit::Score,
                estimates,
            }],
            ..Estimates::default()
        };
        let is_empty = figure.panels.iter().all(|it| it.estimates.is_empty());
        (!is_empty).then(|| figure.draw(Width::Page))
    }
}
