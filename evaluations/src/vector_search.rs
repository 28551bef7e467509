//! The line of a report about an approximate search of vectors.

use evals::Report;
use evals_index::Approximation;
use evals_rag::Retrieval;
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
    let facts = metadata.get(Report::<Retrieval>::FACTS)?.as_array()?;
    facts.iter().find(|fact| fact[0] == LABEL)?[1].as_str()
}

/// The line of a stored run, from its manifest; `None` if its search was exact.
pub(crate) fn fact_of_run(manifest: &Value) -> Option<(String, String)> {
    let search = manifest.pointer("/index/approximate")?;
    Approximation::deserialize(search).ok().as_ref().map(fact)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_line_of_a_manifest_names_type_and_parameters() {
        let search = json!({"type": "ivf-flat", "partitions": 71, "probes": 8});
        let manifest = json!({"index": {"table": "t", "approximate": search}});
        assert_eq!(
            fact_of_run(&manifest).unwrap().1,
            "approximate, ivf-flat: partitions 71, probes 8"
        );
        assert_eq!(fact_of_run(&json!({"index": {"table": "t"}})), None);
        assert_eq!(fact_of_run(&json!({})), None);
    }
}
