#!/usr/bin/env python3
"""Writes qrels.trec, run.trec, expected.tsv, interpolated.tsv and cascade.tsv: a random but seeded collection, scored by the reference tools.

    pip install ir_measures==0.4.3 pytrec_eval-terrier==0.5.11 cwl-eval==1.0.12
    python generate.py

expected.tsv has the columns query, measure and value; the query `-c` is the mean over all judged queries, and `both` the mean
over the queries that have a ranking as well. Needs Perl, for gdeval. interpolated.tsv has the query and trec_eval's iprec_at_recall at the
recall levels 0.0, 0.1 … 1.0, for the queries that have a ranking. cascade.tsv has the columns query, measure and value like expected.tsv, for
measures of gdeval (five decimals) and cwl_eval, and for the queries that have a ranking.
"""

import random
import struct
from pathlib import Path

import ir_measures
import pytrec_eval
from ir_measures import nDCG, parse_measure

FOLDER = Path(__file__).parent

# trec_eval itself, through pytrec_eval, on the run as it is.
TREC_EVAL = """
    RR RR(rel=2) AP AP@3 AP@10 AP(rel=2) AP(rel=2)@5 nDCG nDCG@1 nDCG@5 nDCG@10 nDCG@100 P@1 P@5 P@20 P(rel=3)@5
    R@1 R@5 R@50 R(rel=2)@10 Success@1 Success@5 Success(rel=2)@3 Rprec Rprec(rel=2)
""".split()
# ir-measures' own code, which breaks ties otherwise: on the same order of documents, written without ties.
IR_MEASURES = "RR@1 RR@3 RR@10 RR(rel=2)@10 Judged Judged@1 Judged@5 Judged@30".split()
# trec_eval with the gains 2^grade - 1, which is what exp-log2 means; gdeval gives five decimals only, and checks it.
EXPONENTIAL = [None, 1, 5, 10]
GRADES = range(5)
# gdeval and cwl_eval, on the same order of documents.
CASCADE = """
    ERR@1 ERR@5 ERR@20 RBP(rel=1) RBP(rel=2,p=0.5) NERR8(max_rel=4)@1 NERR8(max_rel=4)@5 NERR9(max_rel=4)@10 NERR10(max_rel=4)
    NERR10(max_rel=4,p=0.6)
""".split()


def collection(seed):
    """Queries from easy to degenerate: graded, tied, unjudged, negative, nothing relevant, nothing retrieved, few retrieved."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for number in range(1, 61):
        query = str(number)
        documents = [f"{rng.choice(['d', 'D', 'doc-', 'é', 'z_'])}{i}" for i in range(rng.randint(3, 40))]
        grades = rng.choice([[0, 1], [0, 0, 0, 1], [0, 1, 2, 3, 4], [-2, -1, 0, 1, 2], [0, 0, 2], [0, -1], [1]])
        judged = rng.sample(documents, rng.randint(1, len(documents)))
        qrels[query] = {document: rng.choice(grades) for document in judged}
        scores = rng.choice([
            lambda: rng.uniform(-10, 30),
            lambda: float(rng.randint(0, 3)),
            lambda: round(rng.random(), 1),
            # Ties in single precision only, of both signs of zero, and of one score for all.
            lambda: 1.0 + rng.randint(0, 2) * 1e-8,
            lambda: rng.choice([0.0, -0.0, 1e-30, -1e-30]),
            lambda: 7.25,
        ])
        if number % 10:
            retrieved = rng.sample(documents, rng.randint(1, len(documents)))
            run[query] = {document: scores() for document in retrieved}
    # A query that nobody judged.
    run["61"] = {"d1": 1.0}
    return qrels, run


def single_precision(score):
    return struct.unpack("f", struct.pack("f", score))[0]


def without_ties(run):
    """The same rankings with the ranks as scores: single precision, then document id, both descending."""
    result = {}
    for query, scores in run.items():
        order = sorted(scores, key=lambda document: (single_precision(scores[document]), document), reverse=True)
        result[query] = {document: float(len(order) - index) for index, document in enumerate(order)}
    return result


def values(measures, qrels, run, name=str):
    for metric in ir_measures.iter_calc(measures, qrels, run):
        yield metric.query_id, name(metric.measure), metric.value


def exponential_name(cutoff):
    return "nDCG(dcg='exp-log2')" + (f"@{cutoff}" if cutoff else "")


def score(qrels, run):
    yield from values([parse_measure(m) for m in TREC_EVAL], qrels, run)
    # An empty ranking has no share of judged documents, and ir-measures divides by zero.
    ranked = {query: judgements for query, judgements in qrels.items() if query in run}
    own = [parse_measure(m) for m in IR_MEASURES]
    reciprocal_ranks = [m for m in own if m.NAME == "RR"]
    yield from values(reciprocal_ranks, qrels, without_ties(run))
    yield from values([m for m in own if m.NAME == "Judged"], ranked, without_ties(run))
    gains = {grade: 2**grade - 1 for grade in GRADES}
    for cutoff in EXPONENTIAL:
        measure = nDCG(gains=gains) @ cutoff if cutoff else nDCG(gains=gains)
        name = exponential_name(cutoff)
        rows = list(values([measure], qrels, run, lambda _, name=name: name))
        check_with_gdeval(cutoff, rows, qrels, run)
        yield from rows


def check_with_gdeval(cutoff, rows, qrels, run):
    depth = cutoff or 1000
    measure = nDCG(dcg="exp-log2") @ depth
    gdeval = {m.query_id: m.value for m in ir_measures.gdeval.iter_calc([measure], qrels, without_ties(run))}
    for query, _, value in rows:
        assert abs(value - gdeval.get(query, 0.0)) < 1e-5, (query, value, gdeval.get(query))


def means(rows, qrels, run):
    columns = {}
    for query, measure, value in rows:
        if not measure.startswith("Judged"):
            columns.setdefault(measure, {})[query] = value
    for measure, column in columns.items():
        assert column.keys() == qrels.keys()
        yield "-c", measure, sum(column.values()) / len(column)
        both = [value for query, value in column.items() if query in run]
        yield "both", measure, sum(both) / len(both)


def interpolated(qrels, run):
    levels = [f"iprec_at_recall_{level / 10:.2f}" for level in range(11)]
    scored = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    for query in sorted(scored, key=int):
        yield query, [scored[query][level] for level in levels]


def cascade(qrels, run):
    measures = [parse_measure(m) for m in CASCADE]
    names = dict(zip(measures, CASCADE))
    run = {query: scores for query, scores in without_ties(run).items() if query in qrels}
    for metric in ir_measures.iter_calc(measures, {query: qrels[query] for query in run}, run):
        yield metric.query_id, names[metric.measure], metric.value


def main():
    qrels, run = collection(seed=20)
    rows = sorted(score(qrels, run), key=lambda row: (int(row[0]), row[1]))
    rows += means(rows, qrels, run)
    with open(FOLDER / "qrels.trec", "w") as out:
        for query, judgements in qrels.items():
            for document, grade in judgements.items():
                print(query, 0, document, grade, file=out)
    with open(FOLDER / "run.trec", "w") as out:
        for query, scores in run.items():
            # Neither the order of the lines nor the rank field is to matter.
            for rank, (document, value) in enumerate(scores.items()):
                print(query, "Q0", document, rank, repr(value), "golden", file=out)
    with open(FOLDER / "expected.tsv", "w") as out:
        for query, measure, value in rows:
            print(query, measure, repr(float(value)), sep="\t", file=out)
    with open(FOLDER / "interpolated.tsv", "w") as out:
        for query, precisions in interpolated(qrels, run):
            print(query, *(repr(float(it)) for it in precisions), sep="\t", file=out)
    with open(FOLDER / "cascade.tsv", "w") as out:
        for query, measure, value in sorted(cascade(qrels, run), key=lambda row: (int(row[0]), row[1])):
            print(query, measure, repr(float(value)), sep="\t", file=out)


if __name__ == "__main__":
    print("ir_measures", ir_measures.__version__, "pytrec_eval", getattr(pytrec_eval, "__version__", "?"))
    main()
