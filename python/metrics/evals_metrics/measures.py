"""The calls of ir-measures: measures as objects, `calc_aggregate` and `iter_calc`.

Values are those of its provider pytrec_eval. A query with judgements and without a ranking counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _native
from .collection import Qrels, Run


class Measure(str):
    """A measure in the notation of ir-measures: `nDCG @ 10`, `P(rel=2) @ 5`. It is its text."""

    def __matmul__(self, cutoff: float) -> Measure:
        return Measure(f"{self}@{cutoff}")

    def __call__(self, **parameters: Any) -> Measure:
        written = ",".join(f"{name}={str(value).replace(' ', '') if isinstance(value, dict) else repr(value)}" for name, value in parameters.items())
        return Measure(f"{self}({written})")


class Metric(NamedTuple):
    """The value of a measure for a query."""

    query_id: str
    measure: Measure
    value: float


__all__ = ["AP", "MAP", "Bpref", "ERR", "IPrec", "Judged", "NumQ", "NumRel", "NumRet", "P", "Precision", "R", "Recall", "RBP", "RR", "MRR", "Rprec"]
__all__ += ["SetAP", "SetF", "SetP", "SetR", "Success", "infAP", "nDCG", "NDCG", "Measure", "parse_measure", "calc_aggregate", "iter_calc"]

AP = MAP = Measure("AP")
P = Precision = Measure("P")
R = Recall = Measure("R")
RR = MRR = Measure("RR")
nDCG = NDCG = Measure("nDCG")
Bpref, ERR, IPrec, Judged, RBP, Rprec, Success, infAP = map(Measure, "Bpref ERR IPrec Judged RBP Rprec Success infAP".split())
NumQ, NumRel, NumRet, SetAP, SetF, SetP, SetR = map(Measure, "NumQ NumRel NumRet SetAP SetF SetP SetR".split())


def parse_measure(text: str) -> Measure:
    """Read a measure; ValueError with the nearest name if there is none."""
    _native.Request([text], 1, False, True, True)
    return Measure(text)


def calc_aggregate(measures: Iterable[str], qrels: Any, run: Any) -> dict[Measure, float]:
    """The mean of each measure over the judged queries, or the sum of counts (`NumRet`).

    Judgements and run are dicts of dicts, `Qrels` and `Run`, paths, or frames.
    """
    asked, scores = _scores(measures, qrels, run)
    means = {}
    for position, measure in enumerate(asked):
        values = np.frombuffer(scores.column(position))
        means[measure] = float(values.sum() if measure.startswith("Num") else values.mean())
    return means


def iter_calc(measures: Iterable[str], qrels: Any, run: Any) -> Iterator[Metric]:
    """The value of each measure for each judged query."""
    asked, scores = _scores(measures, qrels, run)
    columns = [np.frombuffer(scores.column(position)).tolist() for position in range(len(asked))]
    for query, *values in zip(scores.queries, *columns):
        yield from (Metric(query, measure, value) for measure, value in zip(asked, values))


def _scores(measures: Iterable[str], qrels: Any, run: Any) -> tuple[list[Measure], _native.Scores]:
    asked = [Measure(measure) for measure in measures]
    scores = _native.Request(list(map(str, asked)), 1, False, True, True).score(Qrels.of(qrels).native, Run.of(run).native)
    if len(scores.names) != len(asked):
        raise ValueError("a measure stands for several values; name each of them")
    if not scores.queries:
        raise ValueError("no query has both judgements and a ranking")
    return asked, scores
