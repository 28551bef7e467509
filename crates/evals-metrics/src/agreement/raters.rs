//! Agreement of raters with any number of nominal verdicts: Krippendorff's alpha and Cohen's kappa.

use std::collections::BTreeMap;

use super::NoAgreement;
use crate::arithmetic::{as_f64, share};

/// Krippendorff's alpha for nominal verdicts: agreement beyond chance of any number of raters, who need not have rated every unit.
///
/// ```text
/// α = 1 - D_o / D_e
/// D_o = 1/n Σ_u Σ_{c≠k} n_uc n_uk / (m_u - 1),   D_e = 1/(n (n - 1)) Σ_{c≠k} n_c n_k
/// ```
///
/// where `n_uc` of the `m_u` verdicts on unit u are c, and `n_c` of all n verdicts. `units` holds the verdicts on each unit. Units with
/// fewer than two verdicts do not count. 1 is agreement on every unit, 0 what chance gives, and less is systematic disagreement.
///
/// Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C.
///
/// # Errors
///
/// No unit has two verdicts, or all verdicts are the same, so that agreement cannot be told from chance.
pub fn krippendorffs_alpha<C: Ord>(units: &[Vec<C>]) -> Result<f64, NoAgreement> {
    let mut totals: BTreeMap<&C, usize> = BTreeMap::new();
    let (mut n, mut observed) = (0, 0.0);
    for unit in units.iter().filter(|unit| unit.len() > 1) {
        let counts = counted(unit);
        n += unit.len();
        observed += as_f64(unequal_pairs(&counts)) / as_f64(unit.len() - 1);
        for (verdict, count) in counts {
            *totals.entry(verdict).or_default() += count;
        }
    }
    if n == 0 {
        return Err(NoAgreement::NoAnswers);
    }
    let expected = as_f64(unequal_pairs(&totals)) / as_f64(n - 1);
    if totals.len() < 2 {
        return Err(NoAgreement::OneVerdict);
    }
    Ok(1.0 - observed / expected)
}

/// Cohen's kappa of two raters for nominal verdicts: `κ = (p_o - p_e) / (1 - p_e)`, where `p_o` is the share of units with equal verdicts
/// and `p_e = Σ_c p_1c p_2c` the share that chance would give. `pairs` holds the two verdicts on each unit.
///
/// Source: Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and Psychological Measurement 20 (1960).
///
/// # Errors
///
/// There are no units, or both raters gave every unit the same verdict.
pub fn cohens_kappa_of_pairs<C: Ord>(pairs: &[(C, C)]) -> Result<f64, NoAgreement> {
    let n = pairs.len();
    if n == 0 {
        return Err(NoAgreement::NoAnswers);
    }
    let first = counted(pairs.iter().map(|(first, _)| first));
    let second = counted(pairs.iter().map(|(_, second)| second));
    let expected: f64 = first
        .iter()
        .filter_map(|(verdict, count)| Some(share(*count, n) * share(*second.get(verdict)?, n)))
        .sum();
    if first.len() == 1 && second.len() == 1 && first.keys().eq(second.keys()) {
        return Err(NoAgreement::OneVerdict);
    }
    let equal = pairs
        .iter()
        .filter(|(first, second)| first == second)
        .count();
    Ok((share(equal, n) - expected) / (1.0 - expected))
}

/// The share of pairs of verdicts on the same unit that are equal, over all units: how far a judge that is asked several times agrees
/// with itself. `None` if no unit has two verdicts.
pub fn equal_pairs<C: Ord>(units: &[Vec<C>]) -> Option<f64> {
    let (mut pairs, mut unequal) = (0, 0);
    for unit in units.iter().filter(|unit| unit.len() > 1) {
        pairs += unit.len() * (unit.len() - 1);
        unequal += unequal_pairs(&counted(unit));
    }
    (pairs > 0).then(|| share(pairs - unequal, pairs))
}

fn counted<'c, C: Ord + 'c>(verdicts: impl IntoIterator<Item = &'c C>) -> BTreeMap<&'c C, usize> {
    let mut counts = BTreeMap::new();
    for verdict in verdicts {
        *counts.entry(verdict).or_default() += 1;
    }
    counts
}

/// Ordered pairs of different verdicts: `Σ_{c≠k} n_c n_k`.
fn unequal_pairs<C>(counts: &BTreeMap<&C, usize>) -> usize {
    let all: usize = counts.values().sum();
    let equal: usize = counts.values().map(|count| count * count).sum();
    all * all - equal
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of section C of "Computing Krippendorff's Alpha-Reliability" (2011), with its missing verdicts: twelve units, four
    /// raters. The paper prints 0.743.
    const PUBLISHED: [&[u8]; 12] = [
        &[1, 1, 1],
        &[2, 2, 3, 2],
        &[3, 3, 3, 3],
        &[3, 3, 3, 3],
        &[2, 2, 2, 2],
        &[1, 2, 3, 4],
        &[4, 4, 4, 4],
        &[1, 1, 2, 1],
        &[2, 2, 2, 2],
        &[5, 5, 5],
        &[1, 1],
        &[3],
    ];

    fn published() -> Vec<Vec<u8>> {
        PUBLISHED.iter().map(|unit| unit.to_vec()).collect()
    }

    #[test]
    fn alpha_is_that_of_krippendorffs_example() {
        let alpha = krippendorffs_alpha(&published()).unwrap();
        assert!((alpha - 0.743).abs() < 5e-4, "{alpha}");
    }

    #[test]
    fn perfect_agreement_is_1_and_one_verdict_says_nothing() {
        let agreeing = [vec!["a", "a"], vec!["b", "b"]];
        assert_eq!(krippendorffs_alpha(&agreeing), Ok(1.0));
        let same = [vec!["a", "a"], vec!["a", "a"]];
        assert_eq!(krippendorffs_alpha(&same), Err(NoAgreement::OneVerdict));
        let alone = [vec!["a"], vec!["b"]];
        assert_eq!(krippendorffs_alpha(&alone), Err(NoAgreement::NoAnswers));
    }

    #[test]
    fn kappa_is_that_of_cohens_formula() {
        // p_o = 0.7, p_e = 0.5 · 0.6 + 0.5 · 0.4 = 0.5, so κ = 0.4.
        let table = [
            (true, true, 4),
            (true, false, 1),
            (false, true, 2),
            (false, false, 3),
        ];
        let pairs = table
            .iter()
            .flat_map(|(one, other, times)| vec![(*one, *other); *times]);
        let pairs: Vec<(bool, bool)> = pairs.collect();
        let kappa = cohens_kappa_of_pairs(&pairs).unwrap();
        assert!((kappa - 0.4).abs() < 1e-12, "{kappa}");
        assert_eq!(
            cohens_kappa_of_pairs::<u8>(&[]),
            Err(NoAgreement::NoAnswers)
        );
        let same = [(1, 1), (1, 1)];
        assert_eq!(cohens_kappa_of_pairs(&same), Err(NoAgreement::OneVerdict));
        let opposite = [(1, 2), (1, 2)];
        assert_eq!(cohens_kappa_of_pairs(&opposite), Ok(0.0));
    }

    #[test]
    fn equal_pairs_are_a_share_of_all_pairs() {
        // The pairs of a unit of three are 3, of which 1 is equal here; the pair of the other unit is equal.
        let units = [vec!["a", "a", "b"], vec!["c", "c"], vec!["d"]];
        assert_eq!(equal_pairs(&units), Some(0.5));
        assert_eq!(equal_pairs::<u8>(&[]), None);
    }
}
