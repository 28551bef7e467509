//! The full-text index of a table, term by term: which chunks have a term, and what it adds to their scores.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{UInt32Type, UInt64Type};
use lance::dataset::index::LanceIndexStoreExt as _;
use lance::index::DatasetIndexExt as _;
use lance_core::Error;
use lance_index::scalar::inverted::document_tokenizer::LanceTokenizer;
use lance_index::scalar::inverted::query::collect_query_tokens;
use lance_index::scalar::inverted::{
    DOCS_FILE, INVERT_LIST_FILE, LENGTH_COL, METADATA_FILE, MemBM25Scorer, NUM_TOKEN_COL,
    POSTING_COL, PostingList, Scorer as _, TOKEN_SET_FORMAT_KEY, TOKENS_FILE, TokenSet,
    TokenSetFormat,
};
use lance_index::scalar::lance_format::LanceIndexStore;
use lance_index::scalar::{IndexReader, IndexStore as _, InvertedIndexParams};
use lancedb::table::Table;

use super::full_text::INDEX_NAME;
use super::{ROW_ID, dataset};

/// `k1` of BM25, which the engine fixes.
const K1: f32 = 1.2;

/// The full-text index of a table.
pub(crate) struct TermIndex {
    parts: Vec<Part>,
    analyzer: Box<dyn LanceTokenizer>,
}

/// Some of the chunks, with terms and lists of their own. A list calls a chunk by its place in the part.
pub(crate) struct Part {
    terms: TokenSet,
    lists: Arc<dyn IndexReader>,
    /// The engine's number of each chunk.
    pub(crate) row_ids: ScalarBuffer<u64>,
    /// How many terms each chunk has.
    lengths: ScalarBuffer<u32>,
}

impl TermIndex {
    /// Opens the index. Fails if it has another form than the engine of this version writes.
    pub(crate) async fn open(table: &Table) -> lancedb::Result<Self> {
        let dataset = dataset(table).await?;
        let segments = dataset.load_indices_by_name(INDEX_NAME).await?;
        let [segment] = segments.as_slice() else {
            return Err(unexpected("it has several segments").into());
        };
        let store = LanceIndexStore::from_dataset_for_existing(&dataset, segment).await?;
        let head = store.open_index_file(METADATA_FILE).await?;
        let record = &head.schema().metadata;
        let field = |key: &str| {
            let missing = || unexpected(&format!("its record lacks `{key}`"));
            record.get(key).map(String::as_str).ok_or_else(missing)
        };
        let parameters: InvertedIndexParams =
            serde_json::from_str(field("params")?).map_err(Error::from)?;
        let numbers: Vec<u64> = serde_json::from_str(field("partitions")?).map_err(Error::from)?;
        let format: TokenSetFormat = field(TOKEN_SET_FORMAT_KEY)?.parse()?;
        let mut parts = Vec::with_capacity(numbers.len());
        for number in numbers {
            let open = |file| open(&store, number, file);
            let chunks = open(DOCS_FILE).await?;
            let all = 0..chunks.num_rows();
            let chunks = chunks
                .read_range(all, Some(&[ROW_ID, NUM_TOKEN_COL]))
                .await?;
            let lengths = chunks[NUM_TOKEN_COL].as_primitive::<UInt32Type>();
            parts.push(Part {
                terms: TokenSet::load(open(TOKENS_FILE).await?, format).await?,
                lists: open(INVERT_LIST_FILE).await?,
                row_ids: chunks[ROW_ID].as_primitive::<UInt64Type>().values().clone(),
                lengths: lengths.values().clone(),
            });
        }
        Ok(Self {
            parts,
            analyzer: parameters.build()?,
        })
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The terms of a question, in the order in which the engine adds their scores.
    pub(crate) fn terms_of(&mut self, question: &str) -> lancedb::Result<Vec<String>> {
        let tokens = collect_query_tokens(question, &mut self.analyzer);
        let ascend = |number| tokens.position(number) < tokens.position(number + 1);
        if !(1..tokens.len()).all(|number| ascend(number - 1)) {
            return Err(unexpected("terms share a position").into());
        }
        Ok(tokens.into_iter().collect())
    }

    /// The engine's scorer of these terms. Fails if a term has no weight, so that a chunk is found with a score of 0.
    pub(crate) async fn scorer(&self, terms: &[String]) -> lancedb::Result<MemBM25Scorer> {
        let mut chunks_with: HashMap<String, usize> = HashMap::new();
        for part in &self.parts {
            let found = part.find(terms);
            let Some(rows) = part.read(&found, &[LENGTH_COL]).await? else {
                continue;
            };
            let lengths = rows[LENGTH_COL]
                .as_primitive::<UInt32Type>()
                .values()
                .iter();
            for ((_, term), length) in found.iter().zip(lengths) {
                *chunks_with.entry(terms[*term].clone()).or_default() += *length as usize;
            }
        }
        let lengths = self.parts.iter().flat_map(|part| part.lengths.iter());
        let total = lengths.map(|length| u64::from(*length)).sum();
        let chunks = self.parts.iter().map(|part| part.lengths.len()).sum();
        let scorer = MemBM25Scorer::new(total, chunks, chunks_with);
        let weightless = |term: &String| {
            scorer.num_docs_containing_token(term) > 0 && scorer.query_weight(term) <= 0.0
        };
        if terms.iter().any(weightless) {
            return Err(unexpected("a term has no weight").into());
        }
        Ok(scorer)
    }
}

impl Part {
    /// The numbers of those of the terms that occur in the part, ascending, each with the term's place among `terms`.
    fn find(&self, terms: &[String]) -> Vec<(u32, usize)> {
        let numbers = terms.iter().zip(0..);
        let mut found: Vec<_> = numbers
            .filter_map(|(term, place)| Some((self.terms.get(term)?, place)))
            .collect();
        found.sort_unstable();
        found
    }

    /// The rows of terms that [`find`](Self::find) found, in their order; `None` if it found none.
    async fn read(
        &self,
        found: &[(u32, usize)],
        columns: &[&str],
    ) -> lancedb::Result<Option<RecordBatch>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (number, _) in found {
            let row = *number as usize;
            match ranges.last_mut() {
                Some(range) if range.end == row => range.end += 1,
                _ => ranges.push(row..row + 1),
            }
        }
        if ranges.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.lists.read_ranges(&ranges, Some(columns)).await?))
    }

    /// Reads the lists of those of the terms that occur in the part.
    pub(crate) async fn lists(&self, terms: &[String]) -> lancedb::Result<Lists> {
        let found = self.find(terms);
        let rows = self.read(&found, &[POSTING_COL, LENGTH_COL]).await?;
        Ok(Lists { found, rows })
    }

    /// For each term, the places of the chunks that have it, ascending, and what it adds to their scores: equal to the last bit to what the
    /// engine adds.
    pub(crate) fn scores(
        &self,
        Lists { found, rows }: Lists,
        terms: &[String],
        scorer: &MemBM25Scorer,
    ) -> lancedb::Result<Vec<impl Iterator<Item = (u32, f32)> + Send + use<>>> {
        let norm = |length| scorer.doc_norm(length).expect("BM25 has one");
        let norms: Arc<[f32]> = self.lengths.iter().map(|length| norm(*length)).collect();
        let mut lists: Vec<Option<_>> = Vec::new();
        lists.resize_with(terms.len(), || None);
        if let Some(rows) = rows {
            // The codec is in the metadata of the file.
            let schema = rows.schema().as_ref().clone();
            let schema = schema.with_metadata(self.lists.schema().metadata.clone());
            let rows = rows.with_schema(Arc::new(schema)).map_err(Error::from)?;
            let lengths = rows[LENGTH_COL]
                .as_primitive::<UInt32Type>()
                .values()
                .iter();
            for (row, ((_, term), length)) in found.iter().zip(lengths).enumerate() {
                // The best score of a list serves searches that skip chunks.
                let list = PostingList::from_batch(&rows.slice(row, 1), Some(0.0), Some(*length))?;
                let PostingList::Compressed(list) = list else {
                    return Err(unexpected("a list is not compressed").into());
                };
                let (weight, norms) = (scorer.query_weight(&terms[*term]), Arc::clone(&norms));
                lists[*term] = Some(list.iter().map(move |(chunk, frequency, _)| {
                    #[expect(clippy::cast_precision_loss, reason = "as the engine casts it")]
                    let frequency = frequency as f32;
                    let saturated = (K1 + 1.0) * frequency / (frequency + norms[chunk as usize]);
                    (chunk, weight * saturated)
                }));
            }
        }
        let lists = lists.into_iter();
        Ok(lists.map(|list| list.into_iter().flatten()).collect())
    }
}

/// The compressed lists of terms in one part.
pub(crate) struct Lists {
    found: Vec<(u32, usize)>,
    rows: Option<RecordBatch>,
}

/// Opens a file of a part.
async fn open(
    store: &LanceIndexStore,
    part: u64,
    file: &'static str,
) -> lance_core::Result<Arc<dyn IndexReader>> {
    let path = format!("part_{part}_{file}");
    store.open_index_file(&path).await
}

fn unexpected(problem: &str) -> Error {
    Error::index(format!("the full-text index is of another form: {problem}"))
}
