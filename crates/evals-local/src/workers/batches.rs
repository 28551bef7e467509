//! Texts grouped into batches.

/// Most tokens of a batch, unless a single text has more. They are enough rows for fast matrix products, and few enough that the
/// results between layers stay in the cache of the processor.
const TOKENS: usize = 512;

/// Groups texts of similar length into batches, the longest first, so that no thread is still busy with a long one at the end.
///
/// Each batch is a list of indices into `lengths`. Batches are smaller if there would be fewer of them than `threads`.
pub(crate) fn batches(lengths: &[usize], threads: usize) -> Vec<Vec<usize>> {
    let total: usize = lengths.iter().sum();
    let room = TOKENS.min(total.div_ceil(threads.max(1)));
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(lengths[*index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for index in order {
        match batches.last_mut() {
            Some(batch) if lengths[index] <= left => {
                batch.push(index);
                left -= lengths[index];
            }
            _ => {
                batches.push(vec![index]);
                left = room.saturating_sub(lengths[index]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_come_first_and_batches_are_full() {
        assert_eq!(
            batches(&[256, 3, 256, 300], 1),
            [vec![3], vec![0, 2], vec![1]]
        );
    }

    #[test]
    fn few_texts_are_spread_over_the_threads() {
        assert_eq!(batches(&[8, 8, 8, 8], 2), [vec![0, 1], vec![2, 3]]);
        assert_eq!(batches(&[8], 2), [vec![0]]);
        assert_eq!(batches(&[], 2), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_text_longer_than_a_batch_is_alone() {
        assert_eq!(batches(&[8192, 1], 1), [vec![0], vec![1]]);
    }
}
