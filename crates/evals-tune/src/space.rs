//! The space that a tuner searches: knobs with values, and candidates, which have one value of each.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use evals_metrics::{Xoshiro256PlusPlus, as_f64};
use serde::{Deserialize, Serialize};

use crate::TuneError;

/// A range whose end is at least so many times its start is searched on a logarithmic scale.
const LOGARITHMIC: f64 = 100.0;

/// Random draws for each candidate before the search for one more that is new gives up.
const DRAWS: usize = 50;

/// Whole numbers up to here have a float of their own.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Something that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// The name, such as `search.fusion.weight`.
    pub name: String,
    /// The values it may have.
    pub values: Values,
    /// How much has to be computed again if it changes: the lower, the more. Candidates that share the values of the knobs with the lowest
    /// ranks are measured one after the other.
    pub rank: usize,
    /// Values of lists with which the knob has no effect: the position of the other knob, and that of its value.
    pub idle_with: Vec<(usize, usize)>,
}

/// The values of a knob.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// These values, by their labels. Neighbours in the list count as alike.
    Listed(Vec<String>),
    /// Numbers of a range, both ends included. Searched on a logarithmic scale if the end is at least 100 times the start.
    Range {
        /// The lower end.
        from: f64,
        /// The upper end.
        to: f64,
        /// Whether only whole numbers count.
        whole: bool,
    },
}

/// The value of a knob.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Setting {
    /// The position in the list of values.
    Listed(usize),
    /// A number of the range.
    Number(f64),
}

/// One value for each knob, in the order of the knobs. `None` stands for the value of the user's own settings: one that the space lacks, or one
/// that has no effect beside the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate(pub Vec<Option<Setting>>);

/// All combinations of the values of knobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    knobs: Vec<Knob>,
}

impl Setting {
    /// The number of a range, or the place in a list.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::Listed(place) => as_f64(place),
            Self::Number(number) => number,
        }
    }
}

impl Candidate {
    /// How many knobs have different values in the two.
    pub fn distance(&self, other: &Self) -> usize {
        let pairs = self.0.iter().zip(&other.0);
        pairs.filter(|(one, other)| one != other).count()
    }
}

impl Values {
    fn check(&self, knob: &str) -> Result<(), TuneError> {
        match self {
            Self::Listed(labels) => {
                let mut seen = BTreeSet::new();
                if labels.is_empty() {
                    return Err(TuneError::NoValues(knob.to_owned()));
                }
                match labels.iter().find(|label| !seen.insert(*label)) {
                    None => Ok(()),
                    Some(value) => Err(TuneError::SameValue {
                        knob: knob.to_owned(),
                        value: value.clone(),
                    }),
                }
            }
            Self::Range { from, to, whole } => {
                let is_whole = |end: f64| end.fract().abs() <= 0.0 && end.abs() < LARGEST_WHOLE;
                let is_end = |end: f64| end.is_finite() && (!whole || is_whole(end));
                let goes_up = from < to && (to - from).is_finite();
                if goes_up && is_end(*from) && is_end(*to) {
                    return Ok(());
                }
                Err(TuneError::Range {
                    knob: knob.to_owned(),
                    range: format!("from {from} to {to}"),
                })
            }
        }
    }

    /// How many values there are; `None` for a range of real numbers.
    fn len(&self) -> Option<f64> {
        match self {
            Self::Listed(labels) => Some(as_f64(labels.len())),
            Self::Range { whole: false, .. } => None,
            Self::Range { from, to, .. } => Some(to - from + 1.0),
        }
    }

    fn has(&self, setting: Setting) -> bool {
        match (self, setting) {
            (Self::Listed(labels), Setting::Listed(place)) => place < labels.len(),
            (Self::Range { from, to, .. }, Setting::Number(number)) => {
                (*from..=*to).contains(&number)
            }
            _ => false,
        }
    }

    /// The values in order, which there are not many of.
    fn all(&self) -> Vec<Setting> {
        match self {
            Self::Listed(labels) => (0..labels.len()).map(Setting::Listed).collect(),
            Self::Range { from, to, .. } => {
                let next = |number: &f64| Some(number + 1.0).filter(|next| next <= to);
                let numbers = std::iter::successors(Some(*from), next);
                numbers.map(Setting::Number).collect()
            }
        }
    }

    /// The number at this share of the way from the start to the end of a range.
    fn at(from: f64, to: f64, whole: bool, share: f64) -> f64 {
        let number = if is_logarithmic(from, to) {
            from * (to / from).powf(share)
        } else {
            from + share * (to - from)
        };
        let number = if whole { number.round() } else { number };
        number.clamp(from, to)
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Setting {
        match *self {
            Self::Listed(ref labels) => Setting::Listed(random.index(labels.len())),
            Self::Range { from, to, whole } => {
                Setting::Number(Self::at(from, to, whole, random.share()))
            }
        }
    }

    /// The values next to one: its neighbours in the list, or `step` of the range below and above it.
    fn neighbours(&self, setting: Setting, step: f64) -> Vec<Setting> {
        match (self, setting) {
            (Self::Listed(labels), Setting::Listed(place)) => {
                let below = place.checked_sub(1);
                let above = Some(place + 1).filter(|place| *place < labels.len());
                below
                    .into_iter()
                    .chain(above)
                    .map(Setting::Listed)
                    .collect()
            }
            (Self::Range { from, to, whole }, Setting::Number(number)) => {
                let share = if is_logarithmic(*from, *to) {
                    (number / from).ln() / (to / from).ln()
                } else {
                    (number - from) / (to - from)
                };
                let least = if *whole { 1.0 } else { 0.0 };
                let at = |share: f64| Self::at(*from, *to, *whole, share.clamp(0.0, 1.0));
                let below = at(share - step).min(number - least).max(*from);
                let above = at(share + step).max(number + least).min(*to);
                let new = [below, above]
                    .into_iter()
                    .filter(|it| it.total_cmp(&number).is_ne());
                new.map(Setting::Number).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn is_logarithmic(from: f64, to: f64) -> bool {
    from > 0.0 && to / from >= LOGARITHMIC
}

impl Space {
    /// The space of these knobs.
    ///
    /// # Errors
    ///
    /// Fails for a knob without values or with one value twice, for two knobs of one name, and for ranges that do not go up or whose ends are
    /// not finite.
    pub fn new(knobs: Vec<Knob>) -> Result<Self, TuneError> {
        let mut names = BTreeSet::new();
        for knob in &knobs {
            knob.values.check(&knob.name)?;
            if !names.insert(&knob.name) {
                return Err(TuneError::SameKnob(knob.name.clone()));
            }
        }
        Ok(Self { knobs })
    }

    /// The knobs.
    pub fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    /// How many combinations there are; `None` if a range of real numbers makes them infinite.
    pub fn size(&self) -> Option<f64> {
        let sizes = self.knobs.iter().map(|knob| knob.values.len());
        sizes.product()
    }

    /// Whether a candidate has one value, or none, of each knob.
    pub(crate) fn has(&self, candidate: &Candidate) -> bool {
        let pairs = || self.knobs.iter().zip(&candidate.0);
        candidate.0.len() == self.knobs.len()
            && pairs().all(|(knob, it)| it.is_none_or(|setting| knob.values.has(setting)))
    }

    /// For each knob, whether it has no effect beside the other values of a candidate.
    pub fn idle(&self, candidate: &Candidate) -> Vec<bool> {
        let is_idle = |knob: &Knob| {
            let mut with = knob.idle_with.iter();
            with.any(|(other, value)| candidate.0[*other] == Some(Setting::Listed(*value)))
        };
        self.knobs.iter().map(is_idle).collect()
    }

    /// The candidate without the values that have no effect, so that equal ones are tried once.
    pub fn effective(&self, mut candidate: Candidate) -> Candidate {
        let idle = self.idle(&candidate);
        for (setting, _) in candidate.0.iter_mut().zip(idle).filter(|(_, idle)| *idle) {
            *setting = None;
        }
        candidate
    }

    /// The whole grid in order if it has at most so many points, each of a different effect.
    pub fn grid(&self, most: usize) -> Option<Vec<Candidate>> {
        self.size().filter(|size| *size <= as_f64(most))?;
        let mut grid = vec![Vec::new()];
        for knob in &self.knobs {
            let values = knob.values.all();
            let longer = |start: &Vec<Option<Setting>>| {
                let ends = values
                    .iter()
                    .map(|value| [start.as_slice(), &[Some(*value)]].concat());
                ends.collect::<Vec<_>>()
            };
            grid = grid.iter().flat_map(longer).collect();
        }
        let mut distinct: Vec<Candidate> = Vec::new();
        for candidate in grid {
            let candidate = self.effective(Candidate(candidate));
            if !distinct.contains(&candidate) {
                distinct.push(candidate);
            }
        }
        Some(distinct)
    }

    /// Up to so many random candidates, different from each other and from those that are known.
    pub(crate) fn draw(
        &self,
        count: usize,
        known: &[Candidate],
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<Candidate> {
        let mut drawn = Vec::new();
        for _ in 0..count * DRAWS {
            if drawn.len() == count {
                break;
            }
            let settings = self.knobs.iter().map(|knob| Some(knob.values.draw(random)));
            let candidate = self.effective(Candidate(settings.collect()));
            if !known.contains(&candidate) && !drawn.contains(&candidate) {
                drawn.push(candidate);
            }
        }
        drawn
    }

    /// The candidates that differ from one in one knob, by one step.
    pub(crate) fn neighbours(&self, candidate: &Candidate, step: f64) -> Vec<Candidate> {
        let of_knob = |(place, knob): (usize, &Knob)| {
            let setting = candidate.0[place];
            let values = setting.map(|setting| knob.values.neighbours(setting, step));
            let moved = values.unwrap_or_default().into_iter().map(move |value| {
                let mut moved = candidate.clone();
                moved.0[place] = Some(value);
                self.effective(moved)
            });
            moved.collect::<Vec<_>>()
        };
        self.knobs.iter().enumerate().flat_map(of_knob).collect()
    }

    /// The order that puts candidates side by side that share the values of the knobs with the lowest ranks.
    pub(crate) fn order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        let mut places: Vec<usize> = (0..self.knobs.len()).collect();
        places.sort_by_key(|place| self.knobs[*place].rank);
        let number = |of: &Candidate, place: usize| of.0[place].map_or(f64::MIN, Setting::number);
        let compared = places
            .into_iter()
            .map(|it| number(one, it).total_cmp(&number(other, it)));
        compared.fold(Ordering::Equal, Ordering::then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(values: Vec<Values>) -> Space {
        let knob = |(place, values): (usize, Values)| Knob {
            name: place.to_string(),
            values,
            rank: place,
            idle_with: Vec::new(),
        };
        Space::new(values.into_iter().enumerate().map(knob).collect()).unwrap()
    }

    fn listed(count: usize) -> Values {
        Values::Listed((0..count).map(|label| label.to_string()).collect())
    }

    fn range(from: f64, to: f64, whole: bool) -> Values {
        Values::Range { from, to, whole }
    }

    fn numbers(settings: Vec<Setting>) -> Vec<f64> {
        let number = |setting| match setting {
            Setting::Number(number) => number,
            Setting::Listed(_) => panic!("a place in a list"),
        };
        settings.into_iter().map(number).collect()
    }

    #[test]
    fn a_grid_has_every_combination_once_if_it_is_small() {
        let space = space(vec![listed(2), range(3.0, 5.0, true)]);
        let grid = space.grid(6).unwrap();
        let expected = [(0, 3.0), (0, 4.0), (0, 5.0), (1, 3.0), (1, 4.0), (1, 5.0)];
        let expected = expected.map(|(place, number)| {
            Candidate(vec![
                Some(Setting::Listed(place)),
                Some(Setting::Number(number)),
            ])
        });
        assert_eq!(grid, expected);
        assert_eq!(space.grid(5), None);
    }

    /// The second knob counts with the last value of the first one alone.
    #[test]
    fn candidates_that_differ_in_nothing_that_has_an_effect_are_one() {
        let mut knobs = space(vec![listed(3), range(1.0, 9.0, true)]).knobs;
        knobs[1].idle_with = vec![(0, 0), (0, 1)];
        let space = Space::new(knobs).unwrap();
        let grid = space.grid(27).unwrap();
        assert_eq!(grid.len(), 2 + 9);
        assert!(grid[..2].iter().all(|it| it.0[1].is_none()));
        let mut random = Xoshiro256PlusPlus::seeded(1);
        let drawn = space.draw(8, &grid[..2], &mut random);
        assert!(drawn.iter().all(|it| it.0[0] == Some(Setting::Listed(2))));
        let around = space.neighbours(&grid[2], 0.1);
        assert_eq!(around[0], grid[1]);
    }

    #[test]
    fn a_million_points_are_drawn_from_and_not_listed() {
        let space = space(vec![listed(100), listed(100), range(1.0, 100.0, true)]);
        assert_eq!(space.size(), Some(1e6));
        assert_eq!(space.grid(64), None);
        let random = &mut Xoshiro256PlusPlus::seeded(0);
        let first = space.draw(64, &[], random);
        assert_eq!(first.len(), 64);
        assert!(first.iter().all(|candidate| space.has(candidate)));
        let second = space.draw(64, &first, random);
        assert!(second.iter().all(|candidate| !first.contains(candidate)));
    }

    #[test]
    fn a_space_that_is_used_up_gives_fewer_candidates() {
        let space = space(vec![listed(3)]);
        let known = [Candidate(vec![Some(Setting::Listed(1))])];
        let drawn = space.draw(10, &known, &mut Xoshiro256PlusPlus::seeded(0));
        assert_eq!(drawn.len(), 2);
    }

    #[test]
    fn draws_of_a_wide_range_are_spread_over_its_magnitudes() {
        let [wide, narrow] = [range(1.0, 10_000.0, false), range(1.0, 99.0, false)];
        let random = &mut Xoshiro256PlusPlus::seeded(0);
        let below = |values: &Values, middle: f64, random: &mut Xoshiro256PlusPlus| {
            let drawn = numbers((0..1_000).map(|_| values.draw(random)).collect());
            drawn.into_iter().filter(|number| *number < middle).count()
        };
        assert!((420..580).contains(&below(&wide, 100.0, random)));
        assert!((420..580).contains(&below(&narrow, 50.0, random)));
        let whole = numbers(
            (0..100)
                .map(|_| range(1.0, 500.0, true).draw(random))
                .collect(),
        );
        assert!(whole.iter().all(|number| number.fract().abs() <= 0.0));
    }

    #[test]
    fn neighbours_are_a_step_away_and_inside() {
        let places = |place| listed(3).neighbours(Setting::Listed(place), 0.25);
        assert_eq!(places(0), [Setting::Listed(1)]);
        assert_eq!(places(1), [Setting::Listed(0), Setting::Listed(2)]);
        let of = |values: Values, number, step| {
            numbers(values.neighbours(Setting::Number(number), step))
        };
        assert_eq!(of(range(0.0, 1.0, false), 0.5, 0.25), [0.25, 0.75]);
        assert_eq!(of(range(0.0, 1.0, false), 1.0, 0.25), [0.75]);
        assert_eq!(
            of(range(1.0, 5.0, true), 3.0, 0.01),
            [2.0, 4.0],
            "at least 1"
        );
        let logarithmic = of(range(1.0, 10_000.0, false), 100.0, 0.25);
        assert!((logarithmic[0] - 10.0).abs() < 1e-9 && (logarithmic[1] - 1_000.0).abs() < 1e-9);
    }
}
