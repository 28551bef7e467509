//! The line of a report about an approximate search of vectors.

use evals_index::Approximation;
use evals_runs::run_record::RunRecord;
use serde::Deserialize as _;

/// The label of the line.
pub const LABEL: &str = "vector search";

/// A line below the title of a report: `vector search: approximate, ivf-pq: partitions 20, …`.
pub fn fact(search: &Approximation) -> (String, String) {
    (LABEL.to_owned(), format!("approximate, {search}"))
}

/// The line of a stored run; `None` if its search was exact.
pub fn fact_of_run(record: &RunRecord) -> Option<(String, String)> {
    let search = record.index()?.approximate.as_ref()?;
    Approximation::deserialize(search).ok().as_ref().map(fact)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use evals_runs::run_record::{IndexRecord, System};

    #[test]
    fn the_line_of_a_record_names_type_and_parameters() {
        let of = |search: &Value| {
            let index = json!({"uri": "/i", "table": "t", "identity": {}, "approximate": search});
            fact_of_run(&RunRecord {
                system: System::Pipeline(Box::new(IndexRecord::deserialize(index).unwrap())),
                ..RunRecord::default()
            })
        };
        let search = json!({"type": "ivf-flat", "partitions": 71, "probes": 8});
        assert_eq!(
            of(&search).unwrap().1,
            "approximate, ivf-flat: partitions 71, probes 8"
        );
        assert_eq!(of(&Value::Null), None);
        assert_eq!(fact_of_run(&RunRecord::default()), None);
    }
}
