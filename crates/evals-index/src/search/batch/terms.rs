//! Searches the full-text index for many questions, in one pass over the lists of their terms.

use std::collections::HashMap;
use std::sync::Arc;

use evals_nearest::Sums;
use tokio::task;

use crate::error::IndexError;
use crate::search::Filter;
use crate::search::hit::{self, FoundChunks, Hit};
use crate::table::contents::Contents;
use crate::table::terms::TermIndex;

/// The `depth` best chunks of each question, in order, as the engine finds them for one.
///
/// Memory is 16 bytes times `depth` for each question, and the lists of all terms in one part of the index.
pub(super) async fn best(
    contents: &Arc<Contents>,
    filter: &Filter,
    questions: &[&str],
    depth: usize,
) -> Result<Vec<FoundChunks>, IndexError> {
    let failed = IndexError::during("read the full-text index");
    let kept = filter.row_ids(&contents.table).await?;
    let mut index = TermIndex::open(&contents.table).await.map_err(&failed)?;
    let (mut numbers, mut asked) = (HashMap::new(), Vec::with_capacity(questions.len()));
    for question in questions {
        let terms = index.terms_of(question).map_err(&failed)?;
        let number = |term| {
            let next = numbers.len();
            *numbers.entry(term).or_insert(next)
        };
        asked.push(terms.into_iter().map(number).collect());
    }
    let mut numbered: Vec<(String, usize)> = numbers.into_iter().collect();
    numbered.sort_unstable_by_key(|(_, number)| *number);
    let terms: Vec<String> = numbered.into_iter().map(|(term, _)| term).collect();
    let scorer = index.scorer(&terms).await.map_err(&failed)?;
    let of_order = Arc::clone(contents);
    let mut sums = Sums::new(asked, depth, move |left: u32, right: u32| {
        hit::order_of_equals(left as usize, right as usize, &of_order.positions)
    });
    for part in index.parts() {
        let lists = part.lists(&terms).await.map_err(&failed)?;
        let lists = part.scores(lists, &terms, &scorer).map_err(&failed)?;
        let number = |row_id: &u64| -> Result<Option<u32>, IndexError> {
            let position = contents.positions.position(*row_id);
            let position = position.and_then(|position| u32::try_from(position).ok());
            let position = position.ok_or(IndexError::Changed { row_id: *row_id })?;
            let is_kept = kept.as_ref().is_none_or(|kept| kept.contains(row_id));
            Ok(is_kept.then_some(position))
        };
        let rows = part.row_ids.iter().map(number);
        let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
        let add = task::spawn_blocking(move || {
            sums.add(&rows, lists);
            sums
        });
        sums = add.await?;
    }
    let summed = task::spawn_blocking(move || sums.finish()).await?;
    let found = summed.into_iter().map(|summed| FoundChunks {
        hits: summed
            .hits
            .into_iter()
            .map(|hit| Hit::new(hit.row as usize, hit.score))
            .collect(),
        exhausted: summed.all,
        duration: None,
    });
    Ok(found.collect())
}
