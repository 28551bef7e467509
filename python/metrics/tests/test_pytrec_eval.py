"""Values of pytrec_eval, to the last digit, and the examples of its documentation with one import changed."""

import io
import json
import math
import random

import pytest

import evals_metrics

pytrec_eval = pytest.importorskip("pytrec_eval")


def collection(seed, queries=40):
    """Judgements with grades from -1 to 3, and runs with ties, unjudged documents, and queries that only one of them has."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for query in range(queries):
        documents = [f"d{rng.randrange(10**rng.randint(1, 6))}" for _ in range(rng.randint(1, 80))]
        if rng.random() < 0.9:
            qrels[f"q{query}"] = {document: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for document in rng.sample(documents, rng.randint(1, len(documents)))}
        if rng.random() < 0.9:
            scores = [lambda: rng.random(), lambda: float(rng.randrange(5)), lambda: 1.0 + rng.random() * 1e-8, lambda: -rng.expovariate(1)]
            draw = rng.choice(scores)
            run[f"q{query}"] = {document: draw() for document in rng.sample(documents, rng.randint(1, len(documents)))}
    return qrels, run


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2])
def test_all_measures_have_the_same_bits(seed, judged_only, level):
    qrels, run = collection(seed)
    expected = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures, level, judged_only).evaluate(run)
    evaluator = evals_metrics.RelevanceEvaluator(qrels, evals_metrics.supported_measures, level, judged_only)
    actual = evaluator.evaluate(run)
    # From here on, documents are matched by the native part.
    assert evaluator.evaluate(evals_metrics.Run(run)) == evaluator.evaluate(run) == actual
    assert actual.keys() == expected.keys()
    for query, measures in expected.items():
        assert actual[query].keys() == measures.keys()
        if judged_only and actual[query]["num_ret"] == 0.0:
            # 0 / 0 in two measures of trec_eval 9.
            measures = {name: 0.0 if math.isnan(value) else value for name, value in measures.items()}
        assert actual[query] == measures, query


def test_names_are_those_of_pytrec_eval():
    assert evals_metrics.supported_measures == pytrec_eval.supported_measures
    for nickname, measures in evals_metrics.supported_nicknames.items():
        assert measures == pytrec_eval.supported_nicknames[nickname]


@pytest.mark.parametrize(
    "measures",
    [["ndcg_cut_10"], ["ndcg_cut.5,10", "map"], ["P_5,15"], ["official"], ["set"], ["iprec_at_recall.0.1,0.2"], ["recall_100", "recip_rank"], ["success.3"]],
)
def test_names_of_values(measures):
    qrels, run = collection(3)
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    assert evals_metrics.RelevanceEvaluator(qrels, measures).evaluate(run) == expected


def test_empty_rankings_and_judgements():
    qrels = {"q1": {"a": 1}, "q2": {}, "q3": {"x": 1}}
    run = {"q1": {}, "q2": {"a": 1.0}, "q4": {"a": 1.0}}
    for measures in ({"map", "ndcg", "P", "utility"}, {"bpref"}):
        expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
        assert evals_metrics.RelevanceEvaluator(qrels, measures).evaluate(run) == expected
    assert evals_metrics.RelevanceEvaluator(qrels, {"map"}).evaluate({"q9": {"a": 1.0}}) == {}
    assert evals_metrics.RelevanceEvaluator(qrels, {"map"}).evaluate({}) == {}


def test_ids_may_have_line_feeds_and_any_letters():
    qrels = {"q\n1": {"a\nb": 1, "ü": 2, "": 0}}
    run = {"q\n1": {"ü": 1.0, "a\nb": 1.0, "": 1.0, "\U0001f600": 2.0}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run)
    assert evals_metrics.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run) == expected


def test_unsupported_measures_are_refused():
    for library in (pytrec_eval, evals_metrics):
        with pytest.raises(ValueError, match="nonsense"):
            library.RelevanceEvaluator({"q": {"d": 1}}, {"nonsense"})


# The examples of pytrec_eval's README and of its folder `examples`.

QREL = "q1 0 d1 0\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d2 1\nq2 0 d3 1\n"
RUN = "q1 Q0 d1 1 1.0 first\nq1 Q0 d2 2 0.0 first\nq1 Q0 d3 0 1.5 first\nq2 Q0 d1 0 1.5 first\nq2 Q0 d2 1 0.2 first\nq2 Q0 d3 2 0.5 first\n"


def readme(pytrec_eval):
    qrel = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
    run = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg"})
    return json.dumps(evaluator.evaluate(run), indent=1, sort_keys=True)


def simple(pytrec_eval):
    qrel = pytrec_eval.parse_qrel(io.StringIO(QREL))
    run = pytrec_eval.parse_run(io.StringIO(RUN))
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, pytrec_eval.supported_measures)
    results = evaluator.evaluate(run)
    lines = []
    for query_id, query_measures in sorted(results.items()):
        for measure, value in sorted(query_measures.items()):
            lines.append(f"{measure:25s}{query_id:8s}{value:.4f}")
    for measure in sorted(query_measures.keys()):
        values = [query_measures[measure] for query_measures in results.values()]
        lines.append(f"{measure:25s}{'all':8s}{pytrec_eval.compute_aggregated_measure(measure, values):.4f}")
    return lines


def statistical_significance(pytrec_eval):
    scipy_stats = pytest.importorskip("scipy.stats")
    qrel = pytrec_eval.parse_qrel(QREL.splitlines())
    first_run = pytrec_eval.parse_run(RUN.splitlines())
    second_run = pytrec_eval.parse_run(RUN.replace("1.5", "0.1").splitlines())
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map"})
    first_results, second_results = evaluator.evaluate(first_run), evaluator.evaluate(second_run)
    query_ids = sorted(set(first_results.keys()) & set(second_results.keys()))
    first_scores = [first_results[query_id]["map"] for query_id in query_ids]
    second_scores = [second_results[query_id]["map"] for query_id in query_ids]
    return tuple(scipy_stats.ttest_rel(first_scores, second_scores))


@pytest.mark.parametrize("example", [readme, simple, statistical_significance])
def test_documentation(example):
    if not hasattr(pytrec_eval, "compute_aggregated_measure") and example is simple:
        pytest.skip("this pytrec_eval has no aggregation")
    assert example(evals_metrics) == example(pytrec_eval)
