"""The calls of pytrec_eval, with its values to the last digit.

Scores of documents are compared in single precision, as trec_eval 9 does, and so in pytrec_eval: scores that differ only in double precision tie.
"""

from __future__ import annotations

import contextlib
import gc
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union

import numpy as np

from . import _native
from .collection import Documents, Qrels, Run

_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
_SET = "runid num_q num_ret num_rel utility set_P set_relative_P set_recall set_map set_F num_rel_ret"
_MORE = (
    "relstring recall infAP gm_bpref Rprec_mult 11pt_avg binG G ndcg ndcg_rel Rndcg ndcg_cut map_cut relative_P success num_nonrel_judged_ret"
)

#: The measures of pytrec_eval. `RelevanceEvaluator` also takes any other name of trec_eval or of ir-measures.
supported_measures = frozenset(f"{_OFFICIAL} {_SET} {_MORE}".split())
#: Names for several measures.
supported_nicknames = {
    "official": frozenset(_OFFICIAL.split()),
    "set": frozenset(_SET.split()),
    "all_trec": supported_measures,
}


class RelevanceEvaluator:
    """Scores runs by the judgements that it was made with.

    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 0, "d2": 1}}, {"map", "recip_rank"})
    >>> evaluator.evaluate({"q1": {"d1": 2.0, "d2": 1.0}})["q1"]
    {'map': 0.5, 'recip_rank': 0.5}
    """

    def __init__(
        self,
        query_relevance: Union[Documents, Any],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        """Take judgements (`{query: {document: grade}}`, `Qrels`, a path or a frame) and names of measures.

        Names are those of trec_eval (`map`, `ndcg_cut_10`, `P.5,10`, `official`) or of ir-measures (`nDCG@10`). Of a name for several values,
        such as `P`, all are reported. A document is relevant from the grade `relevance_level`. `judged_docs_only_flag` takes documents
        without a judgement out of the rankings.
        """
        asked = [measures] if isinstance(measures, str) else sorted(measures)
        names = [name for measure in asked for name in sorted(supported_nicknames.get(measure, (measure,)))]
        # pytrec_eval also writes `P.5,10` as `P_5,10`.
        dotted = [re.sub(r"_(?=[\d.]+,[\d.,]+$)", ".", name) for name in names]
        self._judged: Union[_native.Judgements, _native.Collection]
        with _no_collection():
            self._judged = _native.Judgements(query_relevance) if isinstance(query_relevance, dict) else Qrels.of(query_relevance).native
        self._request = _native.Request(dotted, relevance_level, judged_docs_only_flag, True, False)

    def evaluate(self, scores: Union[Documents, Any]) -> dict[str, dict[str, float]]:
        """Score a run (`{query: {document: score}}`, `Run`, a path or a frame): `{query: {measure: value}}`.

        It has the queries that are judged and ranked. A value that is undefined is 0, as in trec_eval.
        """
        with _no_collection():
            if isinstance(self._judged, _native.Judgements):
                if isinstance(scores, dict):
                    # Fastest: dicts are scored where they are.
                    return self._request.score_dicts(self._judged, scores).to_dict()
                self._judged = self._judged.collection()
            return self._request.score(self._judged, Run.of(scores).native).to_dict()


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from searching for cycles, which can take half of the time where many dicts and tuples are made. None of ours is in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse_run(f_run: Iterable[str]) -> Run:
    """Read a run in the form of TREC, `query Q0 document rank score tag`, from a file or from lines."""
    return Run.from_text(_text(f_run))


def parse_qrel(f_qrel: Iterable[str]) -> Qrels:
    """Read judgements in the form of TREC, `query 0 document grade`, from a file or from lines."""
    return Qrels.from_text(_text(f_qrel))


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Summarize the values of all queries: the sum of counts (`num_…`), the geometric mean (`gm_…`), or else the mean."""
    if measure.startswith("num_"):
        return float(np.sum(values))
    mean = np.sum(values) / len(values) if measure.startswith("gm_") else np.mean(values)
    return float(np.exp(mean) if measure.startswith("gm_") else mean)


def _text(lines: Any) -> Union[str, bytes]:
    if isinstance(lines, io.TextIOWrapper) and lines.encoding.lower() in ("utf-8", "utf8") and lines.tell() == 0:
        # A file of which nothing has been read: its bytes need no decoding.
        lines = lines.buffer
    text: Union[str, bytes] = lines.read() if hasattr(lines, "read") else "\n".join(line.rstrip("\r\n") for line in lines)
    return text
