"""Values of ir-measures, and the example of its documentation with one import changed."""

import pytest

import evals_metrics
from test_pytrec_eval import collection

ir_measures = pytest.importorskip("ir_measures")


def measures(ir_measures):
    AP, RR, P, R, nDCG = ir_measures.AP, ir_measures.RR, ir_measures.P, ir_measures.R, ir_measures.nDCG
    SetF, Rprec, Success, NumRet = ir_measures.SetF, ir_measures.Rprec, ir_measures.Success, ir_measures.NumRet
    return [nDCG @ 10, nDCG, P @ 5, P(rel=2) @ 10, R @ 100, AP, AP(rel=2), RR, Success @ 1, Rprec, SetF, NumRet]


@pytest.mark.parametrize("seed", range(5))
def test_aggregates_and_values(seed):
    qrels, run = collection(seed)
    expected = ir_measures.calc_aggregate(measures(ir_measures), qrels, run)
    actual = evals_metrics.calc_aggregate(measures(evals_metrics), qrels, run)
    assert {str(measure): value for measure, value in actual.items()} == pytest.approx(
        {str(measure): value for measure, value in expected.items()}, abs=1e-12
    )
    expected = {(it.query_id, str(it.measure)): it.value for it in ir_measures.iter_calc(measures(ir_measures), qrels, run)}
    actual = {(it.query_id, str(it.measure)): it.value for it in evals_metrics.iter_calc(measures(evals_metrics), qrels, run)}
    for key, value in expected.items():
        assert actual[key] == value, key


def getting_started(ir_measures, folder):
    nDCG, P, Judged = ir_measures.nDCG, ir_measures.P, ir_measures.Judged
    (folder / "qrels").write_text("Q0 0 D0 0\nQ0 0 D1 1\nQ1 0 D0 0\nQ1 0 D3 2\n")
    (folder / "run").write_text("Q0 0 D0 1 0.8 run\nQ0 0 D2 2 0.7 run\nQ0 0 D1 3 0.3 run\nQ1 0 D4 1 0.4 run\nQ1 0 D3 2 0.2 run\n")
    qrels = ir_measures.read_trec_qrels(str(folder / "qrels"))
    run = ir_measures.read_trec_run(str(folder / "run"))
    found = ir_measures.calc_aggregate([nDCG @ 10, P @ 5, P(rel=2) @ 5, Judged @ 10], qrels, run)
    return {str(measure): value for measure, value in found.items()}, found[nDCG @ 10]


def test_documentation(tmp_path):
    actual, of_measure = getting_started(evals_metrics, tmp_path)
    expected, same = getting_started(ir_measures, tmp_path)
    assert actual == pytest.approx(expected)
    assert of_measure == pytest.approx(same)


def test_measures_are_checked():
    assert evals_metrics.parse_measure("nDCG@10") == evals_metrics.nDCG @ 10
    assert evals_metrics.nDCG(dcg="exp-log2") @ 5 == "nDCG(dcg='exp-log2')@5"
    with pytest.raises(ValueError, match="nDCG@10"):
        evals_metrics.parse_measure("nDGC@10")
    with pytest.raises(ValueError, match="several values"):
        evals_metrics.calc_aggregate(["P"], {"q": {"d": 1}}, {"q": {"d": 1.0}})
