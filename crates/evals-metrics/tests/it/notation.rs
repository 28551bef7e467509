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
        "11pt_avg",
        "11pt_avg(levels={0.2,0.5,0.8})",
        "Bpref(rel=2)",
        "ERR",
        "ERR(max_rel=3)@10",
        "G(gains={1:2,3:4.5})",
        "IPrec@0.1",
        "IPrec(rel=2)@0.75",
        "NERR8(max_rel=4)@10",
        "NERR9(max_rel=4)@10",
        "NERR10(max_rel=4)",
        "NERR10(p=0.5,max_rel=4)",
        "RBP",
        "RBP(rel=1)",
        "RBP(rel=1,p=0.5)@10",
        "Rndcg",
        "Rprec_mult@0.2",
        "SetAP",
        "SetF",
        "SetF(rel=2,beta=0.5)",
        "SetP",
        "SetR",
        "SetRelP",
        "binG",
        "infAP",
        "nDCG(gains={0:0,1:3.5})@10",
        "ndcg_rel",
        "relative_P@10",
        "unj@5",
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
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall.0.1", "IPrec@0.1"),
        ("IPrec(recall=0.1)", "IPrec@0.1"),
        ("Rprec_mult_0.20", "Rprec_mult@0.2"),
        ("bpref", "Bpref"),
        ("set_P", "SetP"),
        ("set_relative_P", "SetRelP"),
        ("SetP(relative=True)", "SetRelP"),
        ("set_recall", "SetR"),
        ("set_map", "SetAP"),
        ("set_F.0.5", "SetF(beta=0.5)"),
        ("rbp", "RBP(p=0.9)"),
        ("rbp.p=0.8", "RBP"),
        ("ndcg.1=3,2=9", "nDCG(gains={1:3,2:9})"),
        ("relative_P_10", "relative_P@10"),
        ("unj_5", "unj@5"),
        ("NERR8(min_rel=0,max_rel=4)@5", "NERR8(max_rel=4)@5"),
    ] {
        assert_eq!(measure(text).to_string(), canonical, "{text}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, message) in [
        (
            "BLEU@4",
            "unknown measure `BLEU@4`; known are `11pt_avg`, `AP` (or `MAP`), `Bpref`, `ERR`, `G`, `IPrec`, `Judged`, `NERR8`, \
             `NERR9`, `NERR10`, `P`, `R`, `RBP`, `RR` (or `MRR`), `Rndcg`, `Rprec`, `Rprec_mult`, `SetAP`, `SetF`, `SetP`, \
             `SetR`, `SetRelP`, `Success`, `binG`, `infAP`, `nDCG`, `ndcg_rel`, `relative_P` and `unj`",
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
            "unknown measure ``; known are `11pt_avg`, `AP` (or `MAP`), `Bpref`, `ERR`, `G`, `IPrec`, `Judged`, `NERR8`, \
             `NERR9`, `NERR10`, `P`, `R`, `RBP`, `RR` (or `MRR`), `Rndcg`, `Rprec`, `Rprec_mult`, `SetAP`, `SetF`, `SetP`, \
             `SetR`, `SetRelP`, `Success`, `binG`, `infAP`, `nDCG`, `ndcg_rel`, `relative_P` and `unj`",
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
            "IPrec",
            "measure `IPrec` needs the parameter `recall`, as in `IPrec@0.1`",
        ),
        (
            "IPrec@1.5",
            "measure `IPrec@1.5` has the recall `1.5`; expected a number from 0 to 1",
        ),
        (
            "NERR8@10",
            "measure `NERR8@10` needs the parameter `max_rel`, as in `NERR8(max_rel=4)@10`",
        ),
        (
            "RBP(p=1)",
            "measure `RBP(p=1)` has the p `1`; expected a number from 0 to below 1",
        ),
        (
            "nDCG(gains={1:2,1:3})",
            "measure `nDCG(gains={1:2,1:3})` has the gains `{1:2,1:3}`; expected up to 8 different grades with their gains, such \
             as `{1:1,2:3.5}`",
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
