"""The examples of ranx's documentation with one import changed, and its values over random runs."""

import json
import random

import numpy as np
import pytest

import evals_metrics

ranx = pytest.importorskip("ranx")

QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
RUN = {
    "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
    "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
}
METRICS = "hit_rate@5 hit_rate precision@10 precision recall@10 recall f1 r-precision mrr mrr@3 map map@100 ndcg ndcg@10 ndcg_burges@10 hits dcg".split()
LEVELS = "precision@5-l2 recall@20-l2 mrr-l2 map@100-l2 hit_rate@5-l3 ndcg@10-l2 ndcg-l3 r-precision-l2 hits-l2".split()


def collection(seed, runs=1, queries=30):
    """Judgements, and runs without ties."""
    rng = random.Random(seed)
    qrels, all_runs = {}, [{} for _ in range(runs)]
    for query in range(queries):
        documents = [f"d{document}" for document in range(60)]
        qrels[f"q{query}"] = {document: rng.randint(1, 3) for document in rng.sample(documents, rng.randint(1, 20))}
        for number, run in enumerate(all_runs):
            relevant = qrels[f"q{query}"]
            run[f"q{query}"] = {document: rng.random() + 0.1 * number * (document in relevant) for document in rng.sample(documents, rng.randint(5, 60))}
    return qrels, all_runs


@pytest.mark.parametrize("metric", METRICS + LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_values(metric, seed):
    qrels, [run] = collection(seed)
    expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), metric, return_mean=False)
    ordered = ranx.Qrels(qrels).get_query_ids()
    actual_run = evals_metrics.Run(run)
    evals_metrics.evaluate(qrels, actual_run, metric)
    assert [actual_run.scores[metric][query] for query in ordered] == pytest.approx(list(expected), abs=1e-12)


def test_rank_biased_precision_of_two_grades():
    qrels, [run] = collection(1)
    qrels = {query: dict.fromkeys(documents, 1) for query, documents in qrels.items()}
    expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "rbp.95")
    assert evals_metrics.evaluate(qrels, run, "rbp.95") == pytest.approx(expected)


def overview(ranx):
    qrels, run = ranx.Qrels(QRELS), ranx.Run(RUN)
    one = ranx.evaluate(qrels, run, "ndcg@5")
    many = ranx.evaluate(qrels, run, ["map@5", "mrr"])
    return one, many, dict(run.mean_scores), {metric: dict(values) for metric, values in run.scores.items()}


def per_query(ranx):
    qrels, run = ranx.Qrels(QRELS), ranx.Run(RUN, name="bm25")
    values = ranx.evaluate(qrels, run, "ndcg@5", return_mean=False)
    return run.name, len(values), values.mean(), ranx.evaluate(qrels, run, "mrr", return_std=True)


def added(ranx):
    qrels = ranx.Qrels()
    qrels.add_score("q_1", "d_12", 5)
    qrels.add_multi(q_ids=["q_2"], doc_ids=[["d_11", "d_22"]], scores=[[6, 1]])
    run = ranx.Run()
    run.add("q_1", ["d_12", "d_23"], [0.9, 0.8])
    run.add_multi(q_ids=["q_3"], doc_ids=[["d_12"]], scores=[[0.9]])
    return ranx.evaluate(qrels, run, "mrr", make_comparable=True)


@pytest.mark.parametrize("example", [overview, per_query, added])
def test_documentation(example):
    assert flat(example(evals_metrics)) == pytest.approx(flat(example(ranx)))


def files(ranx, folder):
    pandas = pytest.importorskip("pandas")
    rows = {"q_id": ["q_1", "q_1", "q_2", "q_2"], "doc_id": ["d_12", "d_25", "d_11", "d_22"]}
    qrels_df, run_df = (pandas.DataFrame({**rows, "score": scores}).astype({"q_id": object, "doc_id": object}) for scores in ([5, 3, 6, 1], [0.5, 0.3, 0.6, 0.1]))
    columns = {"q_id_col": "q_id", "doc_id_col": "doc_id", "score_col": "score"}
    qrels, run = ranx.Qrels.from_df(df=qrels_df, **columns), ranx.Run.from_df(df=run_df, **columns, name="my_run")
    values = {"frame": ranx.evaluate(qrels, run, "ndcg@5")}
    for ending in ("json", "trec", "txt"):
        paths = f"{folder}/qrels.{ending}", f"{folder}/run.{ending}"
        qrels.save(paths[0])
        run.save(paths[1])
        again = ranx.Run.from_file(paths[1])
        values[ending] = ranx.evaluate(ranx.Qrels.from_file(paths[0]), again, "ndcg@5")
        values[f"{ending} {again.name}"] = 0
    qrels.save(f"{folder}/qrels.custom", kind="json")
    return {**values, "kind": ranx.evaluate(ranx.Qrels.from_file(f"{folder}/qrels.custom", kind="json"), run, "mrr")}


def test_files_of_the_documentation(tmp_path):
    assert files(evals_metrics, tmp_path) == pytest.approx(files(ranx, tmp_path))


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    qrels, run = evals_metrics.Qrels(QRELS), evals_metrics.Run(RUN)
    for ending in ("parq", "parquet"):
        qrels.save(tmp_path / f"qrels.{ending}")
        run.save(tmp_path / f"run.{ending}")
        assert evals_metrics.Qrels.of(tmp_path / f"qrels.{ending}").to_dict() == QRELS
    again = evals_metrics.Run.from_parquet(path=tmp_path / "run.parquet", score_col="score", pd_kwargs={"engine": "pyarrow"}, name="my_run")
    assert (again.name, again.to_dict()) == ("my_run", RUN)


def flat(value, path=()):
    """The leaves of dicts and tuples, by path."""
    if isinstance(value, dict):
        return {key: leaf for name, below in value.items() for key, leaf in flat(below, (*path, name)).items()}
    if isinstance(value, tuple):
        return flat(dict(enumerate(value)), path)
    return {path: value}


@pytest.mark.parametrize("metrics", [["map@100", "mrr@100", "ndcg@10"], ["hit_rate@1"]])
def test_compare(metrics, tmp_path):
    qrels, runs = collection(5, runs=4)
    reports = [
        library.compare(library.Qrels(qrels), [library.Run(run, name=f"model_{number}") for number, run in enumerate(runs, 1)], metrics, max_p=0.01)
        for library in (evals_metrics, ranx)
    ]
    ours, theirs = (report.to_dict() for report in reports)
    for key in ("metrics", "model_names"):
        assert ours.pop(key) == theirs.pop(key)
    assert flat(ours) == pytest.approx(flat(theirs))
    for digits, are_percentages in [(3, False), (4, False), (3, True)]:
        for report in reports:
            report.rounding_digits, report.show_percentages = digits, are_percentages
        assert str(reports[0]) == str(reports[1])
        assert repr(reports[0]) == repr(reports[1])
        assert reports[0].to_latex() == reports[1].to_latex()
    assert reports[0].win_tie_loss == reports[1].win_tie_loss
    reports[0].save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == reports[0].to_dict()
    assert list(reports[0].to_dataframe().columns) == list(reports[1].to_dataframe().columns)


@pytest.mark.parametrize("method", "sum rrf mnz anz max min med isr log_isr bordafuse".split())
@pytest.mark.parametrize("norm", ["min-max", "max", "sum", "zmuv", "rank"])
def test_fuse(method, norm):
    qrels, runs = collection(9, runs=3, queries=4)
    expected = ranx.fuse([ranx.Run(run) for run in runs], norm=norm, method=method).to_dict()
    actual = evals_metrics.fuse([evals_metrics.Run(run) for run in runs], norm=norm, method=method)
    assert dict(actual).keys() == expected.keys()
    for query, documents in expected.items():
        assert dict(actual[query]) == pytest.approx(documents, rel=1e-5, abs=1e-6)


def test_fuse_with_parameters():
    _, runs = collection(9, runs=2, queries=4)
    for method, params in [("wsum", {"weights": [0.3, 0.7]}), ("rrf", {"k": 10}), ("rbc", {"phi": 0.5})]:
        expected = ranx.fuse([ranx.Run(run) for run in runs], method=method, params=params).to_dict()
        actual = evals_metrics.fuse(runs, method=method, params=params)
        for query, documents in expected.items():
            assert dict(actual[query]) == pytest.approx(documents, rel=1e-6, abs=1e-7)


def test_tests_of_pairs():
    scipy_stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(4)
    before, after = rng.random(50), rng.random(50)
    found = evals_metrics.paired_test(before, after, "student")
    assert found.p_value == pytest.approx(scipy_stats.ttest_rel(before, after).pvalue, rel=1e-9)
    interval = scipy_stats.ttest_rel(after, before).confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert evals_metrics.paired_test(before, after, "wilcoxon").p_value == pytest.approx(scipy_stats.wilcoxon(before, after, correction=True, method="approx").pvalue, rel=1e-9)
    assert evals_metrics.adjust([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
