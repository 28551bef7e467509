//! The tables of groups: one for each measure, with a row for each group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use evals_messages::visible::single_line;
use evals_metrics::Interval;

use super::change::{CORRECTED, is_corrected, p_cells, verdict};
use super::glyphs::Glyphs;
use super::side_by_side::title_of;
use crate::{ChangedGroups, Direction, Group, GroupMean, Groups, LabelShares, MeasureChange, Unit};

/// Most groups that are shown, the largest ones. JSON has all.
const SHOWN: usize = 20;

/// Most labels that have a column of their own, the most frequent ones. JSON has all.
const SHOWN_LABELS: usize = 6;

/// A table of groups.
#[derive(Debug)]
pub(super) struct GroupTable {
    /// The measure and the key.
    pub(super) heading: String,
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<GroupRow>,
    /// A note on rows that the table leaves out.
    pub(super) note: Option<String>,
}

/// The cells of one group.
#[derive(Debug)]
pub(super) struct GroupRow {
    pub(super) cells: Vec<String>,
    /// Whether it is more than chance.
    pub(super) is_clear: bool,
}

/// The tables of a summary: first those of means, then those of labels.
pub(super) fn summarised(groups: &Groups, glyphs: &Glyphs) -> Vec<GroupTable> {
    let mut tables = means(groups, glyphs);
    tables.extend(labels(groups));
    tables
}

/// The group, the measure's mean with its interval, n and what is excluded.
fn means(groups: &Groups, glyphs: &Glyphs) -> Vec<GroupTable> {
    let Some(first) = groups.groups.first() else {
        return Vec::new();
    };
    let measures = first.means.iter().enumerate();
    let measures = measures.filter(|(_, measure)| measure.unit != Unit::Metric);
    let table = |(place, measure): (usize, &GroupMean)| {
        let column = |group: &Group| {
            let GroupMean { unit, mean, .. } = &group.means[place];
            let print = |value: f64| unit.print(value);
            let value = mean
                .value
                .map_or_else(|| glyphs.undefined.to_owned(), print);
            let interval =
                |Interval { low, high, .. }| format!("[{}, {}]", print(low), print(high));
            let excluded: usize = mean.excluded.values().sum();
            GroupRow {
                cells: vec![
                    single_line(&group.name),
                    value,
                    mean.interval.map(interval).unwrap_or_default(),
                    mean.n.to_string(),
                    unless_zero(excluded),
                ],
                is_clear: false,
            }
        };
        let title = measure.mean_title.as_deref().unwrap_or(&measure.measure);
        let title = title_of(measure.unit, title);
        let shown = groups.groups.iter().take(SHOWN);
        let mut table = GroupTable {
            heading: format!("{title} by {}", single_line(&groups.key)),
            titles: [
                single_line(&groups.key),
                "Value".to_owned(),
                "Interval".to_owned(),
                "n".to_owned(),
                "Excluded".to_owned(),
            ]
            .into(),
            rows: shown.map(column).collect(),
            note: left_out(groups.groups.iter().map(|group| group.cases), "case"),
        };
        table.drop_if_empty("Excluded");
        table.drop_if_empty("Interval");
        table
    };
    measures.map(table).collect()
}

/// The group, how often each label was given, n and what is excluded. The most frequent labels come first.
fn labels(groups: &Groups) -> Vec<GroupTable> {
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
        let key = single_line(&groups.key);
        let mut titles = vec![key.clone()];
        titles.extend(columns.iter().map(|(label, _)| single_line(label)));
        titles.extend(["others", "n", "Excluded"].map(str::to_owned));
        let row = |group: &Group| {
            let shares = &group.labels[place].1;
            let count = |(label, _): &(&str, usize)| shares.counts.get(*label).copied();
            let shown = columns.iter().map(|it| count(it).unwrap_or(0).to_string());
            let further: usize = others.iter().filter_map(count).sum();
            let excluded: usize = shares.excluded.values().sum();
            let mut cells = vec![single_line(&group.name)];
            cells.extend(shown);
            cells.push(unless_zero(further));
            cells.push(shares.n.to_string());
            cells.push(unless_zero(excluded));
            GroupRow {
                cells,
                is_clear: false,
            }
        };
        let shown = groups.groups.iter().take(SHOWN);
        let mut table = GroupTable {
            heading: format!("{} by {key}", single_line(title)),
            rows: shown.map(row).collect(),
            titles,
            note: left_out(groups.groups.iter().map(|group| group.cases), "case"),
        };
        // From the right, so that the places of the others stay.
        table.drop_if_empty_at(columns.len() + 3);
        table.drop_if_empty_at(columns.len() + 1);
        table
    };
    first.labels.iter().enumerate().map(table).collect()
}

fn unless_zero(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        count.to_string()
    }
}

/// The tables of a change, for measures with a known better direction.
pub(super) fn changes(groups: &ChangedGroups, glyphs: &Glyphs) -> Vec<GroupTable> {
    let Some(first) = groups.groups.first() else {
        return Vec::new();
    };
    let measures = first.measures.iter().enumerate();
    let measures = measures.filter(|(_, measure)| measure.better != Direction::Unknown);
    let table = |(place, measure): (usize, &MeasureChange)| {
        let shown = groups.groups.iter().take(SHOWN);
        let is_corrected = is_corrected(groups.groups.iter().map(|it| &it.measures[place]));
        let rows = shown.map(|group| {
            let measure = &group.measures[place];
            changed(&group.name, measure, is_corrected, glyphs)
        });
        let title = title_of(measure.unit, measure.title());
        let mut titles = vec!["Before", "After", "Change", "Interval", "p"];
        titles.extend(is_corrected.then_some(CORRECTED));
        titles.extend(["n", "Verdict"]);
        let titles = titles.into_iter().map(str::to_owned);
        let first = single_line(&groups.key);
        GroupTable {
            heading: format!("{title} by {first}"),
            titles: std::iter::once(first).chain(titles).collect(),
            rows: rows.collect(),
            note: left_out(groups.groups.iter().map(|group| group.pairs), "pair"),
        }
    };
    measures.map(table).collect()
}

fn changed(name: &str, measure: &MeasureChange, is_corrected: bool, glyphs: &Glyphs) -> GroupRow {
    let none = || glyphs.undefined.to_owned();
    let name = single_line(name);
    let is_clear = measure.finding.is_significant();
    let Some(found) = &measure.difference else {
        let cells = std::iter::once(name)
            .chain(std::iter::repeat_with(none).take(7 + usize::from(is_corrected)));
        return GroupRow {
            cells: cells.collect(),
            is_clear,
        };
    };
    let signed = |value: f64| measure.unit.print_signed(value);
    let interval =
        |interval: &Interval| format!("[{}, {}]", signed(interval.low), signed(interval.high));
    let mut cells = vec![
        name,
        measure.unit.print(found.before),
        measure.unit.print(found.after),
        signed(found.difference),
        found.interval.as_ref().map(interval).unwrap_or_default(),
    ];
    cells.extend(p_cells(measure, is_corrected, glyphs));
    cells.push(found.n.to_string());
    cells.push(verdict(measure.finding.verdict, glyphs));
    GroupRow { cells, is_clear }
}

/// The note on groups beyond those that are shown, from the sizes of all.
fn left_out(sizes: impl Iterator<Item = usize>, what: &str) -> Option<String> {
    let rest: Vec<usize> = sizes.skip(SHOWN).collect();
    let cases: usize = rest.iter().sum();
    let s = if cases == 1 { "" } else { "s" };
    match rest.len() {
        0 => None,
        1 => Some(format!("and 1 more group with {cases} {what}{s}")),
        groups => Some(format!("and {groups} more groups with {cases} {what}{s}")),
    }
}

impl GroupTable {
    /// Drops a column without any text.
    fn drop_if_empty(&mut self, title: &str) {
        if let Some(place) = self.titles.iter().position(|it| it == title) {
            self.drop_if_empty_at(place);
        }
    }

    fn drop_if_empty_at(&mut self, place: usize) {
        if self.rows.iter().all(|row| row.cells[place].is_empty()) {
            self.titles.remove(place);
            for row in &mut self.rows {
                row.cells.remove(place);
            }
        }
    }
}
