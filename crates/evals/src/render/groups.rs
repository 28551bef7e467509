//! The tables of groups: one for each measure, with a row for each group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::change::{CORRECTED, is_corrected, number_columns, numbers, verdict};
use super::glyphs::Glyphs;
use super::grid::{Align, Cell, Grid};
use crate::naming::title_of;
use crate::{ChangedGroups, Direction, GroupMean, Groups, LabelShares, MeasureChange, Unit};

/// Most groups that are shown, the largest ones. JSON has all.
const SHOWN: usize = 20;

/// Most labels that have a column of their own, the most frequent ones. JSON has all.
const SHOWN_LABELS: usize = 6;

/// The columns that a narrow page drops first.
const LEAST: [&str; 6] = ["Excluded", "p", CORRECTED, "Before", "After", INTERVAL];

/// The title of the column of intervals.
const INTERVAL: &str = "Interval";

/// The tables of a summary: first those of means, then those of labels.
pub(super) fn summarised(groups: &Groups, glyphs: &Glyphs) -> Vec<Grid> {
    let mut tables = means(groups, glyphs);
    tables.extend(labels(groups));
    tables
}

/// The group, the measure's mean with its interval, n and what is excluded.
fn means(groups: &Groups, glyphs: &Glyphs) -> Vec<Grid> {
    let Some(first) = groups.groups.first() else {
        return Vec::new();
    };
    let measures = first.means.iter().enumerate();
    let measures = measures.filter(|(_, measure)| measure.unit != Unit::Metric);
    let table = |(place, measure): (usize, &GroupMean)| {
        let title = measure.mean_title.as_deref().unwrap_or(&measure.measure);
        let counts = ["n", "Excluded"].map(|it| (it, Align::Right));
        let columns = [("Value", Align::Right), (INTERVAL, Align::Left)].into_iter();
        let mut table = empty(
            &title_of(measure.unit, title),
            &groups.key,
            columns.chain(counts),
        );
        for group in groups.groups.iter().take(SHOWN) {
            let GroupMean { unit, mean, .. } = &group.means[place];
            let interval = mean.interval.as_ref().map(|it| unit.range(it));
            let excluded: usize = mean.excluded.values().sum();
            table.push([
                single_line(&group.name).into(),
                glyphs.shown(mean.value, |value| unit.print(value)).into(),
                Cell::dim(interval.unwrap_or_default()),
                mean.n.to_string().into(),
                Cell::from(excluded.to_string()),
            ]);
        }
        table.hide_zeros(4);
        table.hide_zeros(2);
        let note = left_out(groups.groups.iter().map(|group| group.cases), "case");
        table.notes.extend(note);
        table
    };
    measures.map(table).collect()
}

/// The group, how often each label was given, n and what is excluded. The most frequent labels come first.
fn labels(groups: &Groups) -> Vec<Grid> {
    let Some(first) = groups.groups.first() else {
        return Vec::new();
    };
    let shares = |place: usize| {
        groups
            .groups
            .iter()
            .map(move |group| &group.labels[place].1)
    };
    let table = |(place, (title, _)): (usize, &(String, LabelShares))| {
        let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
        for (label, count) in shares(place).flat_map(|shares| &shares.counts) {
            *totals.entry(label).or_default() += count;
        }
        let mut columns: Vec<(&str, usize)> = totals.into_iter().collect();
        columns.sort_by_key(|(_, total)| Reverse(*total));
        let others = columns.split_off(columns.len().min(SHOWN_LABELS));
        let shown = columns.iter().map(|(label, _)| single_line(label));
        let titles = shown.chain(["others", "n", "Excluded"].map(str::to_owned));
        let titles = titles.map(|title| (title, Align::Right));
        let mut table = empty(&single_line(title), &groups.key, titles);
        for group in groups.groups.iter().take(SHOWN) {
            let shares = &group.labels[place].1;
            let count = |(label, _): &(&str, usize)| shares.counts.get(*label).copied();
            let shown = columns.iter().map(|it| count(it).unwrap_or(0));
            let further = others.iter().filter_map(count).sum();
            let excluded = shares.excluded.values().sum();
            let counts = shown.chain([further, shares.n, excluded]);
            let name = std::iter::once(single_line(&group.name));
            table.push(name.chain(counts.map(|count| count.to_string())));
        }
        // From the right, so that the places of the others stay.
        table.hide_zeros(columns.len() + 3);
        table.hide_zeros(columns.len() + 1);
        let note = left_out(groups.groups.iter().map(|group| group.cases), "case");
        table.notes.extend(note);
        table
    };
    first.labels.iter().enumerate().map(table).collect()
}

/// A table without rows, with a column for the names of groups and these.
fn empty<T: Into<String>>(
    measure: &str,
    key: &str,
    columns: impl Iterator<Item = (T, Align)>,
) -> Grid {
    let key = single_line(key);
    let columns = columns.map(|(title, align)| (title.into(), align));
    let names = std::iter::once((key.clone(), Align::Left));
    Grid {
        heading: format!("{measure} by {key}"),
        ..Grid::new(names.chain(columns)).dropping(&LEAST)
    }
}

/// The tables of a change, for measures with a known better direction.
pub(super) fn changes(groups: &ChangedGroups, glyphs: &Glyphs) -> Vec<Grid> {
    let Some(first) = groups.groups.first() else {
        return Vec::new();
    };
    let measures = first.measures.iter().enumerate();
    let measures = measures.filter(|(_, measure)| measure.better != Direction::Unknown);
    let table = |(place, measure): (usize, &MeasureChange)| {
        let is_corrected = is_corrected(groups.groups.iter().map(|it| &it.measures[place]));
        let columns = number_columns(INTERVAL, is_corrected);
        let columns = columns.chain([("n", Align::Right), ("Verdict", Align::Left)]);
        let title = title_of(measure.unit, measure.title());
        let mut table = empty(&title, &groups.key, columns);
        for group in groups.groups.iter().take(SHOWN) {
            let measure = &group.measures[place];
            let found = measure.difference.as_ref();
            let is_clear = measure.finding.is_significant();
            let mut numbers = numbers(measure, is_corrected, glyphs);
            if found.is_none() {
                numbers[3] = Cell::dim(glyphs.undefined.to_owned());
            }
            let rest = [
                glyphs.shown(found, |found| found.n.to_string()),
                verdict(measure.finding.verdict, glyphs),
            ];
            let name = Cell::bold(single_line(&group.name), is_clear);
            let cells = std::iter::once(name).chain(numbers);
            table.push(cells.chain(rest.map(|it| Cell::bold(it, is_clear))));
        }
        let note = left_out(groups.groups.iter().map(|group| group.pairs), "pair");
        table.notes.extend(note);
        table
    };
    measures.map(table).collect()
}

/// The note on groups beyond those that are shown, from the sizes of all.
fn left_out(sizes: impl Iterator<Item = usize>, what: &str) -> Option<String> {
    let rest: Vec<usize> = sizes.skip(SHOWN).collect();
    let cases: usize = rest.iter().sum();
    let cases = quantity::of(cases, what);
    let groups = quantity::of(rest.len(), "more group");
    (!rest.is_empty()).then(|| format!("and {groups} with {cases}"))
}
