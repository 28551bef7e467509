"""Writes tango.jsonl: score intervals of the difference of paired pass rates, by numerical solution of the likelihood equation.

    pip install scipy==1.17.1
    python tango.py > tango.jsonl

It uses no closed form: for each change d, scipy.optimize.brentq finds the share q of losses where the derivative of the trinomial
log likelihood is 0 (gains have the share q + d), and brentq again finds where the score statistic reaches the normal quantile.
"""

import json
import math

from scipy.optimize import brentq
from scipy.stats import norm

ROWS = [
    (12, 2, 50, 0.95), (2, 12, 50, 0.95), (8, 0, 300, 0.95), (0, 8, 300, 0.95), (1, 7, 21, 0.95), (40, 20, 160, 0.95),
    (6, 16, 161, 0.95), (3, 3, 30, 0.95), (1, 0, 5, 0.95), (9, 5, 1000, 0.99), (25, 11, 100, 0.8), (3, 17, 20, 0.95),
]


def likeliest(gained, lost, n, d):
    """The most likely share of losses. It is solved for as a distance t from the least possible share, to avoid cancellation near a change of 1."""
    room = (1.0 - abs(d)) / 2.0
    gains, losses = max(d, 0.0), max(-d, 0.0)

    def slope(t):
        return gained / (gains + t) + lost / (losses + t) - (n - gained - lost) / (room - t)

    first, last = room * 1e-12, room * (1.0 - 1e-12)
    if slope(first) <= 0:
        return losses
    if slope(last) >= 0:
        return losses + room
    return losses + brentq(slope, first, last, xtol=1e-17, rtol=1e-15)


def score(gained, lost, n, d):
    q = likeliest(gained, lost, n, d)
    variance = n * (2.0 * q + d * (1.0 - d))
    return (gained - lost - n * d) / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gained - lost - n * d)


def limit(gained, lost, n, z, side):
    """The end of the interval on one side (-1: the lower end, 1: the upper end), where the score is z or -z."""
    observed = (gained - lost) / n

    def beyond(d):
        distance = score(gained, lost, n, d) + side * z
        return max(-1e9, min(1e9, distance))

    return brentq(beyond, observed + side * 1e-12, side * (1.0 - 1e-12), xtol=1e-14)


for gained, lost, n, level in ROWS:
    z = norm.isf((1.0 - level) / 2.0)
    print(json.dumps({
        "kind": "tango",
        "gained": gained, "lost": lost, "n": n, "level": level,
        "low": limit(gained, lost, n, z, -1), "high": limit(gained, lost, n, z, 1),
    }))
