"""`evaluate`, by the calls of ranx.

Scores of documents are compared in double precision, as in ranx. Values are those of trec_eval: they equal ranx's unless scores tie, where ranx ranks
by the order of the input, and except for `bpref` of few judgements.
"""

from __future__ import annotations

import re
from typing import Any, Union

import numpy as np

from . import _native
from .collection import Qrels, Run

#: The notation of ir-measures for the names of ranx: with a cutoff, and of whole rankings.
_NOTATION = {
    "hits": ("NumRet", "NumRet"),
    "hit_rate": ("Success", "Success@1000000000"),
    "precision": ("P", "SetP"),
    "recall": ("R", "SetR"),
    "f1": ("SetF", "SetF"),
    "r-precision": ("Rprec", "Rprec"),
    "mrr": ("RR", "RR"),
    "map": ("AP", "AP"),
    "ndcg": ("nDCG", "nDCG"),
    "ndcg_burges": ("nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')"),
    "bpref": ("Bpref", "Bpref"),
}


def notation(metric: str) -> str:
    """The notation of ir-measures for a metric of ranx, such as `P(rel=2)@5` for `precision@5-l2`; any other measure as it is."""
    if found := re.fullmatch(r"rbp\.(\d+)", metric):
        return f"RBP(p=0.{found[1]},rel=1)"
    name, level = metric, 1
    if found := re.fullmatch(r"(.+)-l(\d+)", metric):
        name, level = found[1], int(found[2])
    name, at, cutoff = name.partition("@")
    if name not in _NOTATION:
        return metric
    written = _NOTATION[name][0] + at + cutoff if at else _NOTATION[name][1]
    # Without a level, `NumRet` counts all documents.
    if name != "hits" and level == 1:
        return written
    # ranx gives grades below the level no gain.
    gains = ",".join(f"{grade}:0" for grade in range(1, level))
    parameter = f"gains={{{gains}}}" if name == "ndcg" else f"rel={level}"
    name, at, cutoff = written.partition("@")
    return f"{name}({parameter}){at}{cutoff}"


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Union[str, list[str]],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """Score a run by measures of ranx (`ndcg@10`, `mrr`, `precision@5-l2`), ir-measures (`nDCG@10`) or trec_eval (`ndcg_cut_10`).

    Judgements and run are `Qrels` and `Run`, dicts of dicts, paths or frames. They have to have the same queries; `make_comparable` counts a
    missing ranking as an empty one and leaves out queries without judgements.

    Returns the mean, or with `return_std` a dict of `mean` and `std`, or without `return_mean` an array of shape (n,) with the value of each of
    the n queries, in the order of their sorted ids; for a list of several metrics, a dict of these by metric. All processors work, whatever
    `threads` says. A `Run` keeps what was found in `scores`, `mean_scores` and `std_scores`.
    """
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    queries, values = score_queries(qrels, run, asked, make_comparable)
    found: dict[str, Any] = {}
    for metric, column in values.items():
        mean, std = float(column.mean()), float(column.std())
        found[metric] = column if not return_mean else {"mean": mean, "std": std} if return_std else mean
        if isinstance(run, Run) and save_results_in_run:
            run.scores[metric] = dict(zip(queries, column.tolist()))
            run.mean_scores[metric] = mean
            if return_std:
                run.std_scores[metric] = std
    return found[asked[0]] if len(found) == 1 else found


def score_queries(qrels: Any, run: Any, metrics: list[str], make_comparable: bool) -> tuple[list[str], dict[str, Any]]:
    """The ids of the n queries, and an array of shape (n,) for each metric."""
    request = _native.Request([notation(metric) for metric in metrics], 1, False, False, make_comparable)
    scores = request.score(Qrels.of(qrels).native, Run.of(run).native)
    if not scores.queries:
        raise ValueError("no query has both judgements and a ranking")
    for query, missing in zip(scores.unmatched, ("ranking", "judgements")):
        if query is not None and not make_comparable:
            raise ValueError(
                f"query `{query}` has no {missing}; with `make_comparable=True`, a missing ranking counts as empty, and queries without "
                "judgements are left out"
            )
    asked = [position for position, _ in scores.names]
    values = {}
    for column, (position, name) in enumerate(scores.names):
        # A name of trec_eval such as `P` stands for several values, which have names of their own.
        label = metrics[position] if asked.count(position) == 1 else name
        values[label] = np.frombuffer(scores.column(column))
    return scores.queries, values

