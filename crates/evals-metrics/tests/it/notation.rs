//! Names of measures: every spelling that parses, and the errors for the others.

use evals_metrics::Measure;

use crate::measure;

#[test]
fn canonical_names_survive() {
    for text in [
        "AP",
        "AP@100",
        "AP(rel=2)@100",
        "Judged",
        "Judged@10",
        "nDCG",
        "nDCG@10",
        "nDCG(dcg='exp-log2')",
        "nDCG(dcg='exp-log2')@10",
        "P@5",
        "P(rel=3)@5",
        "R@5",
        "R(rel=2)@1000",
        "Rprec",
        "Rprec(rel=2)",
        "RR",
        "RR@10",
        "RR(rel=2)@10",
        "Success@1",
        "Success(rel=4)@1",
    ] {
        assert_eq!(measure(text).to_string(), text);
    }
}

#[test]
fn other_spellings_become_canonical() {
    for (text, canonical) in [
        ("MRR@10", "RR@10"),
        ("MAP", "AP"),
        ("NDCG@3", "nDCG@3"),
        ("Precision@1", "P@1"),
        ("Recall@5", "R@5"),
        ("RPrec", "Rprec"),
        ("recall@5", "R@5"),
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("map_cut.100", "AP@100"),
        ("recip_rank", "RR"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("recall_100", "R@100"),
        ("success_10", "Success@10"),
        (" RR ( rel = 2 , ) @ 10 ", "RR(rel=2)@10"),
        ("RR(rel=1)", "RR"),
        ("RR(cutoff=10,rel=2)", "RR(rel=2)@10"),
        ("nDCG(dcg=\"exp-log2\")@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(dcg='log2')", "nDCG"),
        ("RR()@5", "RR@5"),
    ] {
        assert_eq!(measure(text).to_string(), canonical, "{text}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, message) in [
        (
            "BLEU@4",
            "unknown measure `BLEU@4`; known are `AP` (or `MAP`), `Judged`, `nDCG`, `P`, `R`, \
             `Rprec`, `RR` (or `MRR`) and `Success`",
        ),
        (
            "nDGC@10",
            "unknown measure `nDGC@10`; did you mean `nDCG@10`?",
        ),
        (
            "sucess(rel=2)@5",
            "unknown measure `sucess(rel=2)@5`; did you mean `Success(rel=2)@5`?",
        ),
        (
            "",
            "unknown measure ``; known are `AP` (or `MAP`), `Judged`, `nDCG`, `P`, `R`, `Rprec`, \
             `RR` (or `MRR`) and `Success`",
        ),
        (
            "RR(rel=2",
            "measure `RR(rel=2` is not of the form `Name(parameter=value)@cutoff`",
        ),
        (
            "RR(2)@10",
            "measure `RR(2)@10` is not of the form `Name(parameter=value)@cutoff`",
        ),
        (
            "RR(rel=1,,)",
            "measure `RR(rel=1,,)` is not of the form `Name(parameter=value)@cutoff`",
        ),
        ("P", "measure `P` needs a cutoff, as in `P@10`"),
        (
            "ndcg_cut",
            "measure `ndcg_cut` needs a cutoff, as in `ndcg_cut@10`",
        ),
        ("Rprec@5", "measure `Rprec@5` takes no cutoff"),
        (
            "nDCG@0",
            "measure `nDCG@0` has the cutoff `0`; expected a whole number from 1",
        ),
        (
            "nDCG@",
            "measure `nDCG@` has the cutoff ``; expected a whole number from 1",
        ),
        (
            "P@5@10",
            "measure `P@5@10` is not of the form `Name(parameter=value)@cutoff`",
        ),
        (
            "RR(rel=0)",
            "measure `RR(rel=0)` has the rel `0`; expected a whole number from 1",
        ),
        (
            "nDCG(dcg=exp-log2)",
            "measure `nDCG(dcg=exp-log2)` has the dcg `exp-log2`; expected `'log2'` or `'exp-log2'`",
        ),
        (
            "nDCG(rel=2)@10",
            "measure `nDCG(rel=2)@10` has no parameter `rel`",
        ),
        (
            "AP(dcg='log2')",
            "measure `AP(dcg='log2')` has no parameter `dcg`",
        ),
        (
            "AP(judged_only=True)",
            "measure `AP(judged_only=True)` has no parameter `judged_only`",
        ),
        (
            "RR(rel=1,rel=2)",
            "measure `RR(rel=1,rel=2)` sets `rel` twice",
        ),
        (
            "RR(cutoff=5)@10",
            "measure `RR(cutoff=5)@10` sets `cutoff` twice",
        ),
    ] {
        assert_eq!(text.parse::<Measure>().unwrap_err().to_string(), message);
    }
}

#[test]
fn serialises_as_its_name() {
    let json = serde_json::to_string(&measure("ndcg_cut_10")).unwrap();
    assert_eq!(json, "\"nDCG@10\"");
    assert_eq!(
        serde_json::from_str::<Measure>(&json).unwrap(),
        measure("nDCG@10")
    );
    let error = serde_json::from_str::<Measure>("\"P\"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "measure `P` needs a cutoff, as in `P@10`"
    );
}
