"""Forms of input, and what is said of bad input."""

import gzip
import json
import pathlib
import threading
import time

import numpy as np
import pytest

import evals_metrics
from evals_metrics import Qrels, RelevanceEvaluator, Run, evaluate

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.5, "z": 1.0}, "q2": {"x": 0.5, "a": 0.25}}
EXPECTED = RelevanceEvaluator(QRELS, ["map", "ndcg_cut_10"]).evaluate(RUN)
ROWS = [(query, document, score) for query, documents in RUN.items() for document, score in documents.items()]
# The queries take turns, so that their rows are not adjacent.
ROWS = [ROWS[index] for index in (0, 3, 1, 4, 2)]
COLUMNS = {"q_id": [row[0] for row in ROWS], "doc_id": [row[1] for row in ROWS], "score": [row[2] for row in ROWS]}


def frames():
    """The run as a frame in each form whose package is installed."""
    arrays = {name: np.array(values) for name, values in COLUMNS.items()}
    structured = np.array(ROWS, dtype=[("q_id", "U4"), ("doc_id", object), ("score", "f4")])
    yield pytest.param(Run.from_df(arrays), id="arrays")
    yield pytest.param(structured, id="structured")
    for package, make in [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")]:
        try:
            module = __import__(package)
        except ImportError:
            continue
        yield pytest.param(getattr(module, make)(COLUMNS), id=package)


@pytest.mark.parametrize("run", list(frames()))
def test_frames(run):
    assert RelevanceEvaluator(QRELS, ["map", "ndcg_cut_10"]).evaluate(run) == EXPECTED
    assert Run.of(run).to_dict() == RUN


def test_names_of_columns():
    frame = {"query_id": ["q1"], "doc_id": ["a"], "relevance": [2]}
    assert Qrels.from_df(frame).to_dict() == {"q1": {"a": 2}}
    frame = {"topic": ["q1"], "doc": ["a"], "grade": np.array([1.0])}
    assert Qrels.from_df(frame, "topic", "doc", "grade").to_dict() == {"q1": {"a": 1}}


@pytest.mark.parametrize("name", ["run.trec", "run.trec.gz", "run.json", "run.tsv"])
def test_files(tmp_path, name):
    path = tmp_path / name
    if "tsv" in name:
        text = "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{document}\t{score}\n" for query, document, score in ROWS)
    elif "json" in name:
        text = json.dumps(RUN)
    else:
        text = "".join(f"{query} Q0 {document} 1 {score} bm25\n" for query, document, score in ROWS)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    evaluator = RelevanceEvaluator(QRELS, ["map", "ndcg_cut_10"])
    assert evaluator.evaluate(path) == evaluator.evaluate(Run.from_file(str(path))) == EXPECTED
    assert Run.from_file(path).name == ("bm25" if "trec" in name else None)


def test_files_that_are_open(tmp_path):
    path = tmp_path / "run.trec"
    path.write_bytes("q1 Q0 ü 1 2.0 t\r\nq1 Q0 b 2 1.0 t\r\n".encode())
    expected = {"q1": {"ü": 2.0, "b": 1.0}}
    with open(path, encoding="utf-8") as file:
        assert evals_metrics.parse_run(file).to_dict() == expected
    with open(path, encoding="utf-8") as file:
        file.readline()
        assert evals_metrics.parse_run(file).to_dict() == {"q1": {"b": 1.0}}
    path.write_text("q1 Q0 ü 1 2.0 t\nq1 Q0 b 2 1.0 t\n", encoding="latin-1")
    with open(path, encoding="latin-1") as file:
        assert evals_metrics.parse_run(file).to_dict() == expected


def test_saved_files_read_back(tmp_path):
    for name in ("run.json", "run.trec"):
        Run(RUN, name="mine").save(tmp_path / name)
        assert Run.from_file(tmp_path / name).to_dict() == RUN
        Qrels(QRELS).save(tmp_path / name)
        assert Qrels.from_file(tmp_path / name).to_dict() == QRELS


def test_a_collection_reads_like_a_dict_and_is_edited_by_calls():
    run = Run(RUN)
    assert run == RUN and len(run) == 2 and "q1" in run and list(run["q2"].items()) == [("x", 0.5), ("a", 0.25)]
    before = evaluate(QRELS, run, "mrr")
    with pytest.raises(TypeError):
        run["q1"]["a"] = 9.0
    run.add_score("q1", "a", 9.0)
    assert evaluate(QRELS, run, "mrr") > before
    assert list(run.to_dataframe().columns) == ["q_id", "doc_id", "score"] if installed("pandas") else True


def installed(package):
    try:
        return bool(__import__(package))
    except ImportError:
        return False


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        ({"q1": {"a": float("nan")}}, ValueError, "query `q1`, document `a`: the score NaN is not a finite number"),
        ({"q1": {"a": float("inf")}}, ValueError, "query `q1`, document `a`: the score inf"),
        ({"q1": {"a": "high"}}, TypeError, "query `q1`, document `a`: expected a number, not `str`"),
        ({"q1": {"a": None}}, TypeError, "query `q1`, document `a`: expected a number, not `NoneType`"),
        ({"q1": {7: 2.0, "a": 1.0}}, TypeError, "query `q1`: expected an id of type `str`, not `int`"),
        ({1: {"a": 1.0}}, TypeError, "expected an id of type `str`, not `int`"),
        ({"q1": ["a"]}, TypeError, "query `q1`: expected a dict of documents, not `list`"),
        (3.5, TypeError, "expected a dict, a path or a frame"),
    ],
)
def test_bad_runs(run, error, message):
    with pytest.raises(error, match=message):
        RelevanceEvaluator(QRELS, ["map"]).evaluate(run)


def test_ids_that_are_no_texts():
    with pytest.raises(TypeError, match="query `q1`: expected an id of type `str`, not `int`"):
        Run({"q1": {"a": 1.0, 7: 2.0}})
    with pytest.raises(ValueError, match="surrogates"):
        Run({"q1": {"\ud800": 1.0}})


@pytest.mark.parametrize("grade", [0.5, float("nan"), 2**40])
def test_bad_grades(grade):
    with pytest.raises(ValueError, match="query `q1`, document `a`: the grade .* is not a whole number"):
        RelevanceEvaluator({"q1": {"a": grade}}, ["map"])


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"score": None}, ValueError, "there is no column `score`; the columns are `q_id`, `doc_id`"),
        ({"score": [1.0, 2.0, float("nan"), 1.0, 1.0]}, ValueError, "column `score`, row 2, query `q1`, document `a`: the score NaN"),
        ({"score": list("abcde")}, TypeError, "column `score` has the type <U1; expected numbers"),
        ({"doc_id": ["a", "b", 3, "d", "e"]}, TypeError, "column `doc_id`, row 2: expected an id of type `str`, not `int`"),
        ({"q_id": ["q1"]}, ValueError, "the columns have 1, 5 and 5 rows"),
    ],
)
def test_bad_frames(changed, error, message):
    frame = {name: values for name, values in {**COLUMNS, **changed}.items() if values is not None}
    with pytest.raises(error, match=message):
        Run.from_df(frame)


def test_duplicates_are_named():
    twice = Run.from_df({"q_id": ["q1", "q1"], "doc_id": ["a", "a"], "score": [1.0, 2.0]})
    for use in (lambda: evaluate({"q1": {"a": 1}}, twice, "map"), twice.to_dict):
        with pytest.raises(ValueError, match="document `a` is listed a second time for query `q1`"):
            use()


def test_bad_files_and_measures(tmp_path):
    with pytest.raises(ValueError, match="cannot read the rankings: line 2: expected 6 fields"):
        evaluate({"q1": {"a": 1}}, Run.from_text("q1 Q0 a 1 1.0 t\nq1 Q0 b\n"), "map")
    with pytest.raises(FileNotFoundError, match="missing.trec"):
        evaluate(QRELS, tmp_path / "missing.trec", "map")
    with pytest.raises(ValueError, match="the rankings: invalid utf-8 sequence of 1 bytes from index 6"):
        evaluate({"q1": {"a": 1}}, Run.from_text(b"q1 Q0 \xff 1 1.0 t\n"), "map")
    with pytest.raises(ValueError, match="unknown measure `ndgc@10`, did you mean|unknown measure `ndgc@10`"):
        evaluate(QRELS, RUN, "ndgc@10")
    with pytest.raises(ValueError, match="query `q2` has no ranking; with `make_comparable=True`"):
        evaluate(QRELS, {"q1": RUN["q1"]}, "map")
    with pytest.raises(ValueError, match="query `q3` has no judgements"):
        evaluate(QRELS, {**RUN, "q3": {"a": 1.0}}, "map")
    with pytest.raises(TypeError, match="are the arguments swapped"):
        evaluate(Run(RUN), Qrels(QRELS), "map")
    with pytest.raises(ValueError, match="unknown test `tukey`; known are `student`"):
        evals_metrics.compare(QRELS, [RUN, RUN], "map", stat_test="tukey")
    with pytest.raises(ValueError, match="unknown fusion method `condorcet`"):
        evals_metrics.fuse([RUN, RUN], method="condorcet")
    with pytest.raises(ValueError, match="all values are equal"):
        evals_metrics.mean_interval([0.5, 0.5, 0.5])


def test_intervals_and_correction():
    interval = evals_metrics.mean_interval([0.2, 0.5, 0.6, 0.9])
    assert (round(interval.low, 3), interval.high, interval.method) == (0.091, 1.0, "Student's t")
    report = evals_metrics.compare(QRELS, [Run(RUN, "a"), Run(RUN, "b")], "map", correction="holm")
    assert report.comparisons["a", "b"] == {"map": None}
    assert report.win_tie_loss["a", "b"] == {"map": {"W": 0, "T": 2, "L": 0}}


def test_other_threads_run_while_a_run_is_scored():
    lines = "".join(f"q{query} Q0 d{rank} {rank} {1000 - rank} t\n" for query in range(2000) for rank in range(200))
    qrels = Qrels({f"q{query}": {"d150": 1} for query in range(2000)})
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0)

    ticking = threading.Thread(target=tick)
    ticking.start()
    run = Run.from_text(lines)
    calls = []
    for _ in range(10):
        begin = time.perf_counter()
        evaluate(qrels, run, "map")
        calls.append((begin, time.perf_counter()))
    done.set()
    ticking.join()
    # If scoring held the lock, the other thread would tick only at the ends of calls, where the interpreter works.
    middles = [((3 * begin + end) / 4, (begin + 3 * end) / 4) for begin, end in calls]
    assert any(begin < tick < end for tick in ticks for begin, end in middles)


def test_doctests_and_notebook(capsys):
    import doctest

    for module in (evals_metrics, evals_metrics.trec):
        assert doctest.testmod(module).failed == 0
    notebook = json.loads((pathlib.Path(__file__).parent.parent / "notebook.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    names = {}
    capsys.readouterr()
    for cell in cells:
        exec("".join(cell["source"]), names)
        shown = "".join("".join(output["text"]) for output in cell["outputs"])
        assert capsys.readouterr().out == shown
