"""Confidence intervals and paired tests. docs/statistics.md of the project has their formulas and sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _native


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float
    level: float
    method: str


class Difference(NamedTuple):
    """The change of a mean from one run to another, over the same n queries."""

    before: float
    after: float
    #: None where none is known: with tests of ranks and signs, and where all values changed alike.
    interval: Optional[Interval]
    #: Two-sided. None if no value changed.
    p_value: Optional[float]
    #: The test that the p value is from.
    method: Optional[str]
    #: How many values rose, stayed and fell.
    wins: int
    ties: int
    losses: int


def paired_test(
    before: Sequence[float],
    after: Sequence[float],
    test: str = "auto",
    level: float = 0.95,
    resamples: int = 100_000,
    seed: int = 0,
) -> Difference:
    """Test whether chance explains the change of a mean; `before` and `after` have shape (n,), with the queries in one order.

    `test` is `student` (the paired t test), `fisher` (randomization with `resamples` swaps, exact for up to 20 changes), `wilcoxon`, `sign`, or
    `auto`: Tango's score test for values of 0 and 1, and the t test for others. The interval belongs to the test.

    Sources: Student, Biometrika 6 (1908); Fisher, The Design of Experiments (1935); Smucker et al., CIKM (2007); Wilcoxon, Biometrics Bulletin 1
    (1945); Tango, Statistics in Medicine 17 (1998).
    """
    first, second = _values(before), _values(after)
    if len(first) != len(second):
        raise ValueError(f"`before` has {len(first)} values and `after` {len(second)}; expected one of each query")
    mean_before, mean_after, interval, p_value, method, wins, losses = _native.paired_test(
        first.tobytes(), second.tobytes(), test, level, resamples, seed
    )
    ties = len(first) - wins - losses
    return Difference(mean_before, mean_after, Interval(*interval) if interval else None, p_value, method, wins, ties, losses)


def mean_interval(values: Sequence[float], scale: str = "share", level: float = 0.95, seed: int = 0) -> Interval:
    """The confidence interval of the mean of values of shape (n,).

    `scale` is `share` for values from 0 to 1, `open` for scores without a limit, or `amount` for times and costs. The method is Wilson's for values
    of 0 and 1, the percentile bootstrap with `seed` for amounts, or else Student's t. Raises ValueError if the values show no spread.

    Sources: Wilson, JASA 22 (1927); Efron and Tibshirani, An Introduction to the Bootstrap (1993).
    """
    return Interval(*_native.mean_interval(_values(values).tobytes(), scale, level, seed))


def adjust(p_values: Sequence[float], method: str = "holm") -> list[float]:
    """Correct the p values of several tests, by Holm's method (`holm`) or Benjamini and Hochberg's (`bh`).

    Sources: Holm, Scandinavian Journal of Statistics 6 (1979); Benjamini and Hochberg, JRSS B 57 (1995).
    """
    return _native.adjust(_values(p_values).tobytes(), method)


def _values(values: Any) -> Any:
    array = np.ascontiguousarray(values, np.float64)
    if array.ndim != 1:
        raise ValueError(f"expected values of shape (n,), not {array.shape}")
    return array
