"""SciFact by BM25, parquet to figures: `evaluations` beside bm25s, in turn, in one run.

    python3 -m venv target/bm25s
    target/bm25s/bin/pip install bm25s PyStemmer pyarrow numpy pytrec_eval-terrier
    evaluations datasets download beir:scifact
    target/bm25s/bin/python evaluations/benches/beside_bm25s.py target/release/evaluations

Each side is a process of its own that reads the parquet files, indexes the 5,183 documents, asks the 300 judged
questions for 100 documents each and scores them. Prints the wall time of each side and the ratio.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 7


def hub_cache() -> Path:
    home = os.environ.get("HF_HOME", str(Path.home() / ".cache" / "huggingface"))
    return Path(os.environ.get("HF_HUB_CACHE", f"{home}/hub"))


def scifact() -> Path:
    repository = hub_cache() / "datasets--mteb--scifact"
    commit = (repository / "refs" / "main").read_text().strip()
    return repository / "snapshots" / commit


def bm25s_side() -> None:
    """The whole job by bm25s, with its documented pipeline: English stop words and the Snowball stemmer."""
    import bm25s
    import pyarrow.parquet as pq
    import pytrec_eval
    import Stemmer

    snapshot = scifact()

    def table(pattern: str) -> dict:
        (path,) = snapshot.glob(pattern)
        return pq.read_table(path).to_pydict()

    corpus, queries, judged = table("corpus/*.parquet"), table("queries/*.parquet"), table("data/test-*.parquet")
    qrels: dict[str, dict[str, int]] = {}
    for query, document, grade in zip(judged["query-id"], judged["corpus-id"], judged["score"]):
        qrels.setdefault(str(query), {})[str(document)] = int(grade)

    stemmer = Stemmer.Stemmer("english")
    texts = [f"{title} {text}".strip() for title, text in zip(corpus["title"], corpus["text"])]
    ids = [str(document) for document in corpus["_id"]]
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)

    asked = [(str(i), text) for i, text in zip(queries["_id"], queries["text"]) if str(i) in qrels]
    tokens = bm25s.tokenize([text for _, text in asked], stopwords="en", stemmer=stemmer, show_progress=False)
    found, scores = retriever.retrieve(tokens, k=100, show_progress=False)
    run = {
        query: {ids[row]: float(score) for row, score in zip(found[number], scores[number])}
        for number, (query, _) in enumerate(asked)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.100"})
    results = evaluator.evaluate(run).values()
    print(json.dumps({name: statistics.mean(row[name] for row in results) for name in ("ndcg_cut_10", "recall_100")}))


def wall(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    binary = sys.argv[1]
    environment = dict(os.environ, HF_HUB_OFFLINE="1")
    times: dict[str, list[float]] = {"evaluations": [], "bm25s": []}
    for number in range(RUNS + 1):
        # An empty data folder each time, so that the index is built each time.
        data = tempfile.mkdtemp()
        ours = wall(
            [binary, "beir:scifact", "--skip-qa", "--profile", "bm25"], dict(environment, EVALUATIONS_DATA_DIR=data)
        )
        shutil.rmtree(data)
        theirs = wall([sys.executable, __file__, "--bm25s"], environment)
        # The first pair warms the file cache.
        if number > 0:
            times["evaluations"].append(ours)
            times["bm25s"].append(theirs)
    for name, seconds in times.items():
        print(f"{name:12} median {statistics.median(seconds):.2f} s, least {min(seconds):.2f} s")
    ratios = [theirs / ours for ours, theirs in zip(times["evaluations"], times["bm25s"])]
    print(f"bm25s takes {statistics.median(ratios):.2f} times as long (median of {RUNS} pairs)")


if __name__ == "__main__":
    bm25s_side() if sys.argv[1:] == ["--bm25s"] else main()
