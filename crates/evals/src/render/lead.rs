//! The lead of the best of several reports, in words.

use evals_messages::visible::single_line;

use crate::naming::title_of;
use crate::probability::{p_value, percent};
use crate::{Lead, PairTesting, Verdict};

/// A lead as a line: `MRR@5: hybrid leads bm25 by 0.0309 [0.0039, 0.0589], p = 0.0278, the largest of 5 tests: significant at 5 %`. `title` names
/// the report at a position, and `case` says what cases are.
pub fn lead<'t>(
    lead: &Lead,
    testing: &PairTesting,
    title: impl Fn(usize) -> &'t str,
    case: &str,
) -> String {
    let measure = title_of(lead.unit, lead.title());
    let best: Vec<String> = lead.best.iter().map(|it| single_line(title(*it))).collect();
    let (subject, has, leads) = match &best[..] {
        [best] => (best.clone(), "has", format!("{best} leads")),
        [others @ .., last] => {
            let both = if others.len() == 1 { "both" } else { "all" };
            let names = format!("{} and {last}", others.join(", "));
            let leads = format!("{names} are equal in every {case}; {both} lead");
            (names, "have", leads)
        }
        [] => return measure,
    };
    let (Some(rival), Some(found)) = (lead.rival, &lead.difference) else {
        return format!("{measure}: {subject} are equal in every {case}");
    };
    let rival = single_line(title(rival));
    if found.difference.abs() <= 0.0 {
        return format!("{measure}: {subject} and {rival} have the same mean, so none leads");
    }
    let finding = &lead.finding;
    if finding.verdict == Verdict::Worse {
        let test = testing.paired.method.name();
        return format!(
            "{measure}: {subject} {has} the best mean, and the {test} favours {rival} over it"
        );
    }
    // The second value is that of the best report.
    let sign = if found.difference < 0.0 { -1.0 } else { 1.0 };
    let ahead = lead.unit.print(sign * found.difference);
    let interval = found.interval.map_or_else(String::new, |it| {
        let mut ends = [sign * it.low, sign * it.high];
        ends.sort_by(f64::total_cmp);
        let [low, high] = ends.map(|end| lead.unit.print(end));
        format!(" [{low}, {high}]")
    });
    let tested = match (finding.adjusted_p_value, &finding.untested) {
        (Some(p), _) if lead.rivals > 1 => {
            format!("{}, the largest of {} tests", p_value(p), lead.rivals)
        }
        (Some(p), _) => p_value(p),
        (None, Some(reason)) => format!("without a p value ({})", single_line(reason)),
        (None, None) => "without a p value".to_owned(),
    };
    let verdict = match finding.verdict {
        Verdict::Better => format!("significant at {}", percent(testing.significance())),
        _ => "it may be chance".to_owned(),
    };
    format!("{measure}: {leads} {rival} by {ahead}{interval}, {tested}: {verdict}")
}

/// The winner of a group of cases in the cell of a table.
pub(super) fn winner<'t>(lead: &Lead, title: impl Fn(usize) -> &'t str) -> String {
    let p_value = lead.finding.adjusted_p_value.map(p_value);
    let reason = match (&p_value, lead.rival) {
        (_, None) => "all are equal".to_owned(),
        (Some(p_value), _) => p_value.clone(),
        (None, _) => "not tested".to_owned(),
    };
    if lead.finding.verdict == Verdict::Better {
        let best: Vec<String> = lead.best.iter().map(|it| single_line(title(*it))).collect();
        format!("{} ({reason})", best.join(" = "))
    } else {
        format!("no winner ({reason})")
    }
}
