//! The approximate index of a table's vectors: its build, its searches, and the check that a search uses it.

use lance::index::DatasetIndexExt;
use lancedb::DistanceType;
use lancedb::index::Index;
use lancedb::index::vector::{
    IvfFlatIndexBuilder, IvfHnswFlatIndexBuilder, IvfHnswPqIndexBuilder, IvfHnswSqIndexBuilder,
    IvfPqIndexBuilder, IvfRqIndexBuilder, IvfSqIndexBuilder,
};
use lancedb::query::{ExecutableQuery, QueryBase, Select, VectorQuery};
use lancedb::table::Table;

use super::{ROW_ID, VECTOR};
use crate::approximation::{Approximation, VectorIndex};
use crate::error::IndexError;
use evals_rag::VectorSearchKind;

/// Name of the vector index within its table.
const INDEX_NAME: &str = "vector_approximate";
/// The engine's name for the distance of a row's vector.
pub(crate) const DISTANCE: &str = "_distance";

/// Indexes all vectors of `table`. Replaces its earlier index.
pub(crate) async fn build(table: &Table, index: &VectorIndex) -> Result<(), IndexError> {
    table
        .create_index(&[VECTOR], builder(index))
        .name(INDEX_NAME.to_owned())
        .execute()
        .await
        .map_err(IndexError::during("build the index of the vectors"))
}

/// The engine's id of the index of `table`. Every build has another one.
pub(crate) async fn build_id(table: &Table) -> Result<String, IndexError> {
    let failed = || IndexError::during("read the list of indexes");
    let dataset = super::dataset(table).await.map_err(failed())?;
    let indices = dataset.load_indices_by_name(INDEX_NAME).await;
    let indices = indices.map_err(|error| failed()(error.into()))?;
    let ids: Vec<String> = indices.iter().map(|it| it.uuid.to_string()).collect();
    Ok(ids.join(" "))
}

/// The engine's builder of an index. All distances are cosines.
fn builder(index: &VectorIndex) -> Index {
    let VectorIndex {
        kind,
        partitions,
        sub_vectors,
        bits,
        m,
        ef_construction,
    } = *index;
    macro_rules! ivf {
        ($builder:ty) => {
            <$builder>::default()
                .distance_type(DistanceType::Cosine)
                .num_partitions(partitions)
        };
    }
    macro_rules! graph {
        ($builder:ty) => {
            ivf!($builder)
                .num_edges(m.expect(HAS_ALL))
                .ef_construction(ef_construction.expect(HAS_ALL))
        };
    }
    match kind {
        VectorSearchKind::Exact => unreachable!("exact search has no index"),
        VectorSearchKind::IvfFlat => Index::IvfFlat(ivf!(IvfFlatIndexBuilder)),
        VectorSearchKind::IvfSq => Index::IvfSq(ivf!(IvfSqIndexBuilder)),
        VectorSearchKind::IvfPq => Index::IvfPq(
            ivf!(IvfPqIndexBuilder)
                .num_sub_vectors(sub_vectors.expect(HAS_ALL))
                .num_bits(bits.expect(HAS_ALL)),
        ),
        VectorSearchKind::IvfRq => {
            Index::IvfRq(ivf!(IvfRqIndexBuilder).num_bits(bits.expect(HAS_ALL)))
        }
        VectorSearchKind::HnswFlat => Index::IvfHnswFlat(graph!(IvfHnswFlatIndexBuilder)),
        VectorSearchKind::HnswSq => Index::IvfHnswSq(graph!(IvfHnswSqIndexBuilder)),
        VectorSearchKind::HnswPq => Index::IvfHnswPq(
            graph!(IvfHnswPqIndexBuilder)
                .num_sub_vectors(sub_vectors.expect(HAS_ALL))
                .num_bits(bits.expect(HAS_ALL)),
        ),
    }
}

/// Why a parameter is set.
const HAS_ALL: &str = "an index has every parameter of its kind";

/// A search for the `limit` vectors nearest to `vector`, by the index if there is a `search`, and exactly otherwise.
pub(crate) fn query(
    table: &Table,
    vector: &[f32],
    limit: usize,
    search: Option<&Approximation>,
) -> Result<VectorQuery, IndexError> {
    let failed = IndexError::during("search the embeddings");
    let query = table
        .query()
        .nearest_to(vector)
        .map_err(&failed)?
        .column(VECTOR)
        .distance_type(DistanceType::Cosine)
        .select(Select::columns(&[ROW_ID, DISTANCE]))
        .limit(limit);
    let Some(search) = search else {
        return Ok(query.bypass_vector_index());
    };
    let mut query = query.nprobes(search.probes as usize).map_err(failed)?;
    if let Some(candidates) = search.candidates(limit) {
        query = query.ef(candidates);
    }
    if let Some(times) = search.refinement() {
        query = query.refine_factor(times);
    }
    Ok(query)
}

/// Fails unless the index covers all rows of `table`. The engine would silently compare the question with every other row.
pub(crate) async fn check_coverage(table: &Table) -> Result<(), IndexError> {
    let statistics = table
        .index_stats(INDEX_NAME)
        .await
        .map_err(IndexError::during(
            "read the statistics of the index of the vectors",
        ))?;
    let problem = match statistics.map(|statistics| statistics.num_unindexed_rows) {
        Some(0) => return Ok(()),
        Some(rows) => format!("does not cover {rows} of the rows"),
        None => "is missing".to_owned(),
    };
    Err(IndexError::IndexNotUsed {
        problem: format!("the index of the vectors {problem}; delete its table to rebuild it"),
    })
}

/// Fails unless the engine plans to answer `query` only from the index.
pub(crate) async fn check_plan(query: &VectorQuery) -> Result<(), IndexError> {
    let plan = query
        .explain_plan(false)
        .await
        .map_err(IndexError::during("plan a search of the embeddings"))?;
    if uses_the_index_alone(&plan) {
        return Ok(());
    }
    Err(IndexError::IndexNotUsed {
        problem: format!(
            "the storage engine would not use only the index of the vectors; its plan is\n{plan}"
        ),
    })
}

/// Whether a plan searches the index, and compares the question only with vectors that the index found.
fn uses_the_index_alone(plan: &str) -> bool {
    let searches = format!("ANNSubIndex: name={INDEX_NAME},");
    let is_searched = plan.contains(&searches) && plan.contains("ANNIvfPartition");
    is_searched && !plan.contains("Union")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans of lancedb 0.41.
    const ALONE: &str = "SortExec\n  ANNSubIndex: name=vector_approximate, k=1, deltas=1, metric=Cosine\n    ANNIvfPartition: uuid=1";
    const WITH_OTHERS: &str = "UnionExec\n  ANNSubIndex: name=vector_approximate, k=1, deltas=1, metric=Cosine\n    ANNIvfPartition: \
                               uuid=1\n  KNNVectorDistance: metric=cosine";
    const SCAN: &str = "SortExec\n  KNNVectorDistance: metric=cosine\n    LanceRead";

    #[test]
    fn rows_beside_the_index_and_other_indexes_are_seen_in_the_plan() {
        assert!(uses_the_index_alone(ALONE));
        assert!(!uses_the_index_alone(WITH_OTHERS));
        assert!(!uses_the_index_alone(SCAN));
        let other = ALONE.replace("vector_approximate", "vector_approximate_2");
        assert!(!uses_the_index_alone(&other));
    }

    /// The engine itself: an index, and rows that are added afterwards.
    #[tokio::test]
    async fn rows_that_were_added_to_an_index_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::Store::open(folder.path().to_str().unwrap()).await;
        let store = store.unwrap();
        let mut writer = crate::VectorWriter::create(&store, 2).await.unwrap();
        writer.add(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).await.unwrap();
        drop(writer.finish().await.unwrap());
        let table = store.vectors().await.unwrap();
        let settings = evals_rag::VectorSearch {
            kind: VectorSearchKind::IvfFlat,
            ..evals_rag::VectorSearch::default()
        };
        let search = Approximation::of(&settings, 3, 2).unwrap().unwrap();
        build(&table, &search.built).await.unwrap();
        let plan_is_right = async || {
            let query = query(&table, &[1.0, 1.0], 1, Some(&search)).unwrap();
            check_plan(&query).await
        };
        check_coverage(&table).await.unwrap();
        plan_is_right().await.unwrap();
        let rows = table.query().execute().await.unwrap();
        let rows: Vec<_> = futures::TryStreamExt::try_collect(rows).await.unwrap();
        table.add(rows).execute().await.unwrap();
        let error = check_coverage(&table).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the index of the vectors does not cover 3 of the rows; delete its table to rebuild it"
        );
        let error = plan_is_right().await.unwrap_err();
        assert!(matches!(error, IndexError::IndexNotUsed { .. }), "{error}");
    }
}
