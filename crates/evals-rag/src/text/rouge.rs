//! ROUGE-L.

/// ROUGE-L's F1: how much of the two texts their longest common subsequence of words covers.
///
/// ```text
/// F1 = 2PR / (P + R),  P = common / words of the answer,  R = common / words of the reference
/// ```
///
/// Equals `rougeL` of Google's `rouge_score` with `use_stemmer=False`: words are runs of ASCII letters and digits in lower
/// case. 0 where either text has none.
///
/// Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004).
pub fn rouge_l(answer: &str, reference: &str) -> f64 {
    let (answer, reference) = (answer.to_lowercase(), reference.to_lowercase());
    let (answer, reference) = (words(&answer), words(&reference));
    let common = longest_common_subsequence(&answer, &reference);
    if common == 0 {
        return 0.0;
    }
    let precision = f64::from(common) / as_f64(answer.len());
    let recall = f64::from(common) / as_f64(reference.len());
    2.0 * precision * recall / (precision + recall)
}

/// Whether a text has anything that [`rouge_l`] compares.
pub fn has_words(text: &str) -> bool {
    !words(&text.to_lowercase()).is_empty()
}

fn words(lower_case: &str) -> Vec<&str> {
    let words = lower_case.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect()
}

fn longest_common_subsequence(left: &[&str], right: &[&str]) -> u32 {
    // One row of the table: the longest for each prefix of `right`, with the words of `left` read so far.
    let mut row = vec![0_u32; right.len() + 1];
    for word in left {
        let mut diagonal = 0;
        for (index, other) in right.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if word == other {
                diagonal + 1
            } else {
                above.max(row[index])
            };
            diagonal = above;
        }
    }
    row[right.len()]
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53 words, which no text has"
)]
fn as_f64(count: usize) -> f64 {
    count as f64
}
