#!/usr/bin/env python3
"""Times evals-metrics beside pytrec_eval and ranx in one process, and prints a table in Markdown.

    python python/metrics/benches/speed.py [--documents 1000000] [--rounds 7]

It needs all three packages: `make test-python` makes an environment that has them. Each round times every tool once, with the same eight measures
for 100 ranked and 20 judged documents of each query. The table has the medians, and that of each round's quotient, which depends least on what else
the machine does. `dicts` begins with dicts of dicts, as a notebook has them, and ends with the values of each query. `files` begins with two TREC
files. The first call of ranx compiles, so it is not timed. The values have to be equal.
"""

import argparse
import pathlib
import random
import statistics
import tempfile
import time

import pytrec_eval
import ranx

import evals_metrics

MEASURES = ["recip_rank", "map", "ndcg_cut_10", "ndcg_cut_100", "P_10", "recall_100", "success_10", "Rprec"]
OF_RANX = ["mrr", "map", "ndcg@10", "ndcg@100", "precision@10", "recall@100", "hit_rate@10", "r-precision"]
RANKED, JUDGED = 100, 20


def collection(documents):
    """Judgements and a run of this many ranked documents, as dicts."""
    rng = random.Random(20)
    qrels, run = {}, {}
    for query in map(str, range(documents // RANKED)):
        ids = [f"doc{document}" for document in rng.sample(range(5_000_000), RANKED + 10)]
        qrels[query] = {document: rng.choice([0, 0, 1, 1, 2, 3]) for document in rng.sample(ids, JUDGED)}
        scores = sorted((round(rng.uniform(0, 40), 6) for _ in range(RANKED)), reverse=True)
        run[query] = dict(zip(ids, scores))
    return qrels, run


def write(folder, qrels, run):
    files = pathlib.Path(folder) / "qrels.trec", pathlib.Path(folder) / "run.trec"
    with open(files[0], "w") as judged, open(files[1], "w") as ranked:
        for query, documents in qrels.items():
            judged.writelines(f"{query} 0 {document} {grade}\n" for document, grade in documents.items())
        for query, documents in run.items():
            ranked.writelines(f"{query} Q0 {document} {rank} {score} bench\n" for rank, (document, score) in enumerate(documents.items(), 1))
    return files


def as_pytrec_eval(library, qrels, run):
    return library.RelevanceEvaluator(qrels, MEASURES).evaluate(run)


def parsed(library, files):
    with open(files[0]) as qrels, open(files[1]) as run:
        return as_pytrec_eval(library, library.parse_qrel(qrels), library.parse_run(run))


def as_ranx(library, qrels, run):
    library.evaluate(library.Qrels(qrels), library.Run(run), OF_RANX)


def read_by_ranx(library, files):
    qrels, run = library.Qrels.from_file(str(files[0]), kind="trec"), library.Run.from_file(str(files[1]), kind="trec")
    library.evaluate(qrels, run, OF_RANX)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    qrels, run = collection(arguments.documents)
    small = {query: qrels[query] for query in list(qrels)[:20]}, {query: run[query] for query in list(run)[:20]}
    assert as_pytrec_eval(evals_metrics, qrels, run) == as_pytrec_eval(pytrec_eval, qrels, run)
    as_ranx(ranx, *small)
    with tempfile.TemporaryDirectory() as folder:
        files = write(folder, qrels, run)
        tasks = {
            ("dicts", "calls of pytrec_eval"): {it: lambda it=it: as_pytrec_eval(it, qrels, run) for it in (evals_metrics, pytrec_eval)},
            ("dicts", "calls of ranx"): {it: lambda it=it: as_ranx(it, qrels, run) for it in (evals_metrics, ranx)},
            ("files", "calls of pytrec_eval"): {it: lambda it=it: parsed(it, files) for it in (evals_metrics, pytrec_eval)},
            ("files", "calls of ranx"): {it: lambda it=it: read_by_ranx(it, files) for it in (evals_metrics, ranx)},
        }
        print("| from | with the | evals-metrics, s | other, s | times as fast |\n|---|---|---|---|---|")
        for (form, calls), tools in tasks.items():
            times = {tool: [] for tool in tools}
            for _ in range(arguments.rounds):
                for tool, work in tools.items():
                    start = time.perf_counter()
                    work()
                    times[tool].append(time.perf_counter() - start)
            ours, theirs = map(statistics.median, times.values())
            quotient = statistics.median(other / own for own, other in zip(*times.values()))
            print(f"| {form} | {calls} | {ours:.3f} | {theirs:.3f} | {quotient:.1f} |", flush=True)


if __name__ == "__main__":
    main()
