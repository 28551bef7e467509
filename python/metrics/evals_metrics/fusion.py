"""`fuse`, by the calls of ranx."""

from __future__ import annotations

from typing import Any, Optional

from . import _native
from .collection import Run


def fuse(runs: list[Any], norm: Optional[str] = "min-max", method: str = "wsum", params: Optional[dict[str, Any]] = None) -> Run:
    """Make one run of several. A document that a run does not rank gets nothing from it, and so does a query.

    `norm` makes scores comparable: `min-max`, `max`, `sum`, `zmuv`, `rank`, or None. `method` is `wsum` (or `sum`), `rrf`, `mnz`, `anz`, `max`,
    `min`, `med`, `isr`, `log_isr`, `bordafuse` or `rbc`. `params` has `weights`, one number above 0 for each run, `k` of `rrf` (60) and `phi`
    of `rbc` (0.8). Fused scores are rounded to single precision, so that a written run has one order everywhere.

    Sources: Fox and Shaw, TREC-2 (1993); Aslam and Montague, SIGIR (2001); Cormack et al., SIGIR (2009); Mourão et al., Computerized Medical
    Imaging and Graphics 39 (2015); Bailey et al., SIGIR (2017).
    """
    chosen = {"weights": None, "k": 60, "phi": 0.8, **(params or {})}
    if unknown := set(chosen) - {"weights", "k", "phi"}:
        raise ValueError(f"unknown parameter `{min(unknown)}`; known are `weights`, `k` and `phi`")
    if len(runs) < 2:
        raise ValueError(f"expected at least two runs, not {len(runs)}")
    weights = chosen["weights"]
    native = _native.fuse(
        [Run.of(run).native for run in runs],
        "none" if norm is None else norm,
        method,
        None if weights is None else [float(weight) for weight in weights],
        chosen["k"],
        chosen["phi"],
    )
    return Run._of_native(native, method)
