"""Rank measures equal to trec_eval's, statistics and fusion, with the calls that people know.

- pytrec_eval: `RelevanceEvaluator`, `parse_run`, `parse_qrel`, `supported_measures`.
- ranx: `Qrels`, `Run`, `evaluate`, `compare`, `fuse`.
- ir-measures: `calc_aggregate`, `iter_calc`, and measures such as `nDCG @ 10` in `evals_metrics.measures`.
- Statistics: `paired_test`, `mean_interval`, `adjust`.

>>> evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, "mrr")
0.5
"""

from . import measures
from .collection import Qrels, Run
from .comparison import Report, compare
from .evaluation import evaluate
from .fusion import fuse
from .inference import Difference, Interval, adjust, mean_interval, paired_test
from .measures import *
from .trec import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    supported_measures,
    supported_nicknames,
)

read_trec_qrels = Qrels.from_file
read_trec_run = Run.from_file

__all__ = ["Difference", "Interval", "Qrels", "RelevanceEvaluator", "Report", "Run", "adjust", "compare", "compute_aggregated_measure", "evaluate"]
__all__ += ["fuse", "mean_interval", "paired_test", "parse_qrel", "parse_run", "read_trec_qrels", "read_trec_run"]
__all__ += ["supported_measures", "supported_nicknames"]
__all__ += measures.__all__
