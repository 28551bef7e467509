//! The line of a report about an approximate search of vectors.

use evals::Report;
use evals_index::Approximation;
use evals_rag::Retrieval;
use evals_runs::run_record::RunRecord;
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// The label of the line.
const LABEL: &str = "vector search";

/// A line below the title of a report: `vector search: approximate, ivf-pq: partitions 20, …`.
pub(crate) fn fact(search: &Approximation) -> (String, String) {
    (LABEL.to_owned(), format!("approximate, {search}"))
}

/// The value of the line in a report; `None` if the report does not have the line.
pub(crate) fn of_report(metadata: &Map<String, Value>) -> Option<&str> {
    let facts = metadata.get(Report::<Retrieval>::FACTS)?;
    let facts = Vec::<(&str, &str)>::deserialize(facts).ok()?;
    facts
        .into_iter()
        .find(|(label, _)| *label == LABEL)
        .map(|(_, text)| text)
}

/// The line of a stored run; `None` if its search was exact.
pub(crate) fn fact_of_run(record: &RunRecord) -> Option<(String, String)> {
    let search = record.index()?.approximate.as_ref()?;
    Approximation::deserialize(search).ok().as_ref().map(fact)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
