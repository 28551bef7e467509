//! What the first measure of a run means: how many cases are fully right, and how many are not at all.

use evals::{MeasureValues, Unit};
use evals_messages::quantity;
use evals_messages::visible::single_line;

/// `RR@5 is 1 for 164 of 256 questions, and 0 for 31`; `None` without a value.
pub(super) fn of(measures: &[MeasureValues<'_>], case: &str) -> Option<String> {
    let measure = measures.first()?;
    let values = measure.of_cases.values().filter_map(|it| it.as_ref().ok());
    in_words(
        &measure.title,
        measure.unit,
        &values.copied().collect::<Vec<_>>(),
        case,
    )
}

fn in_words(title: &str, unit: Unit, values: &[f64], case: &str) -> Option<String> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    let count = |wanted: f64| {
        let equal = |value: &&f64| (**value - wanted).abs() < 1e-12;
        values.iter().filter(equal).count()
    };
    let (title, all) = (single_line(title), quantity::of(values.len(), case));
    Some(match (unit, count(1.0), count(0.0)) {
        (Unit::PassRate, passed, _) => format!("{passed} of {all} passed `{title}`"),
        (Unit::Score, whole, none) if whole + none > 0 && least >= 0.0 && most <= 1.0 => {
            format!("{title} is 1 for {whole} of {all}, and 0 for {none}")
        }
        (unit, ..) => {
            let [least, most] = [least, most].map(|value| unit.print(value));
            format!("{title} is from {least} to {most} over {all}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_counts_its_ends_and_a_pass_rate_what_passed() {
        let meaning = |unit, values: &[f64]| in_words("m", unit, values, "question");
        let values = [1.0, 0.5, 0.0, 1.0];
        let expected = "m is 1 for 2 of 4 questions, and 0 for 1";
        assert_eq!(meaning(Unit::Score, &values).unwrap(), expected);
        let expected = "2 of 4 questions passed `m`";
        assert_eq!(meaning(Unit::PassRate, &values).unwrap(), expected);
        let expected = "m is from 0.2500 to 3.0000 over 2 questions";
        assert_eq!(meaning(Unit::Score, &[0.25, 3.0]).unwrap(), expected);
        assert_eq!(meaning(Unit::Score, &[]), None);
    }
}
