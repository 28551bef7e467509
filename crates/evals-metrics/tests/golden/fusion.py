#!/usr/bin/env python3
"""Writes fusion-1.trec, fusion-2.trec, fusion-3.trec and fusion.tsv: three random runs, and what ranx makes of them.

    pip install ranx==0.3.21
    python -P fusion.py    # -P, because a script beside it is called statistics

fusion.tsv has the columns method, normalization, query, document and score.
"""

import random
from pathlib import Path

from ranx import Run, fuse

FOLDER = Path(__file__).parent
BY_SCORE = ["sum", "mnz", "anz", "max", "min", "med"]
BY_RANK = [("rrf", {"k": 60}), ("rrf", {"k": 5}), ("isr", {}), ("log_isr", {}), ("bordafuse", {}), ("rbc", {"phi": 0.8})]
NORMALIZATIONS = ["min-max", "max", "sum", "zmuv", "rank", None]


def runs():
    rng = random.Random(7)
    result = [{}, {}, {}]
    for query in ["q1", "q2", "q3"]:
        documents = [f"d{number}" for number in range(30)]
        for position, run in enumerate(result):
            retrieved = rng.sample(documents, rng.randint(5, 20))
            # Multiples of 1/64 are the same number in single and double precision, and none is twice in a ranking.
            scores = rng.sample(range(1, 2000), len(retrieved))
            run[query] = {document: score / 64 + 3 * position for document, score in zip(retrieved, scores)}
    return result


def main():
    collection = runs()
    for number, run in enumerate(collection, 1):
        with open(FOLDER / f"fusion-{number}.trec", "w") as out:
            for query, scores in run.items():
                for document, score in scores.items():
                    print(query, "Q0", document, 0, score, "golden", file=out)
    with open(FOLDER / "fusion.tsv", "w") as out:
        cases = [(method, norm, {}) for method in BY_SCORE for norm in NORMALIZATIONS]
        cases += [(method, None, params) for method, params in BY_RANK]
        for method, norm, params in cases:
            fused = fuse(runs=[Run(run) for run in collection], norm=norm, method=method, params=params or None)
            name = method + "".join(f"-{value}" for value in params.values())
            for query in sorted(fused.to_dict()):
                for document, score in sorted(fused.to_dict()[query].items()):
                    print(name, norm, query, document, repr(float(score)), sep="\t", file=out)


if __name__ == "__main__":
    main()
