#!/usr/bin/env python3
"""Writes statistics.jsonl: tests, intervals, effect sizes, power and change points, computed by published packages.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 pyhomogeneity==1.1
    python statistics.py

Samples come from a seed, by arithmetic that is exact in every language, so that the file holds results only. The first line has the
versions of the packages. Resamples of the bootstrap are drawn by the crate's own random numbers.
"""

import json
import math
import platform
import warnings
from pathlib import Path

import numpy as np
import scipy
import statsmodels
import statsmodels.api as sm
from pyhomogeneity import pettitt_test, pyhomogeneity
from samples import SHAPES, Random, sample
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaln
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower

warnings.simplefilter("ignore")
pettitt, monte_carlo = (getattr(pyhomogeneity, name) for name in ("__pettitt", "__mc_p_value"))
ALTERNATIVES = ["two-sided", "greater", "less"]


def plain(value):
    return None if value is None else float(value)


def wilcoxon(values, alternative):
    changed = values[values != 0]
    tied = len(np.unique(np.abs(changed))) < len(changed)
    if len(changed) > 25:
        found = stats.wilcoxon(values, method="asymptotic", correction=True, alternative=alternative)
        method = "wilcoxon-normal"
    elif not tied:
        found = stats.wilcoxon(changed, method="exact", alternative=alternative)
        method = "wilcoxon"
    elif len(changed) <= 10:
        every = stats.PermutationMethod(n_resamples=10**6)
        found = stats.wilcoxon(changed, method=every, alternative=alternative)
        method = "wilcoxon"
    else:
        return None
    return [method, plain(found.pvalue)]


def effect(values, level):
    n = len(values)
    d = values.mean() / values.std(ddof=1)
    t = d * math.sqrt(n)
    tail = (1 - level) / 2

    def limit(share):
        excess = lambda nc: stats.nct.cdf(t, n - 1, nc) - share
        low, high = t - 0.5, t + 0.5
        while excess(low) < 0:
            low -= 0.5
        while excess(high) > 0:
            high += 0.5
        return brentq(excess, low, high, xtol=1e-14, rtol=1e-14) / math.sqrt(n)

    m = n - 1
    hedges = math.exp(gammaln(m / 2) - math.log(m / 2) / 2 - gammaln((m - 1) / 2)) if n > 2 else None
    return [d, limit(1 - tail), limit(tail), hedges]


def rows():
    sizes = [2, 3, 5, 8, 12, 20, 25, 26, 40, 100]
    for shape in SHAPES:
        for index in range(120):
            n = sizes[index % len(sizes)]
            seed = 1000 * SHAPES.index(shape) + index
            values = sample(shape, n, seed)
            row = {"kind": "sample", "shape": shape, "n": n, "seed": seed}
            row["sum"] = float(values.sum())
            positive, changed = int((values > 0).sum()), int((values != 0).sum())
            if changed:
                row["sign"] = [plain(stats.binomtest(positive, changed, alternative=a).pvalue) for a in ALTERNATIVES]
                row["wilcoxon"] = [wilcoxon(values, a) for a in ALTERNATIVES]
                if shape == "verdicts":
                    table = [[0, positive], [changed - positive, 0]]
                    row["mcnemar"] = plain(mcnemar(table, exact=True).pvalue)
            if np.ptp(values) > 0:
                found = [stats.ttest_1samp(values, 0, alternative=a) for a in ALTERNATIVES]
                row["t"] = [plain(found[0].statistic)] + [plain(it.pvalue) for it in found]
                interval = found[0].confidence_interval(0.95)
                row["student"] = [plain(interval.low), plain(interval.high)]
                if abs(row["t"][0]) < 30:
                    row["effect"] = [plain(it) for it in effect(values, 0.95)]
            yield row

    for n, k, level in [(5, 5, 0.95), (5, 0, 0.95), (1, 1, 0.9), (10, 3, 0.95), (1000, 812, 0.99), (100_000, 49_999, 0.95), (7, 6, 0.8)]:
        interval = stats.binomtest(k, n).proportion_ci(level, method="exact")
        yield {"kind": "clopper-pearson", "n": n, "k": k, "level": level, "interval": [interval.low, interval.high]}

    for n in [2, 3, 5, 30, 100, 300, 5_000]:
        for effect_size in [0.05, 0.2, 0.5, 1.5]:
            for alternative in ["two-sided", "larger"]:
                power = TTestPower().power(effect_size, n, 0.05, alternative=alternative)
                # scipy's noncentral t is NaN in its far tail, where the power is 1.
                if math.isnan(power):
                    continue
                yield {"kind": "t-power", "n": n, "effect": effect_size, "alternative": alternative, "power": power}
    # statsmodels solves by itself, to about six digits; the roots here are of its power, to all digits.
    for n in [5, 30, 100, 1_000]:
        for power in [0.8, 0.95]:
            found = brentq(lambda d: TTestPower().power(d, n, 0.05) - power, 1e-9, 8 / n**0.5, xtol=1e-15)
            assert abs(found - TTestPower().solve_power(nobs=n, alpha=0.05, power=power)) < 1e-4
            yield {"kind": "t-detectable", "n": n, "power": power, "effect": found}
    for effect_size in [0.05, 0.2, 0.5, 1.5]:
        yield {"kind": "t-cases", "effect": effect_size, "n": TTestPower().solve_power(effect_size=effect_size, alpha=0.05, power=0.8)}

    for n, discordant, difference in [(30, 0.2, 0.1), (100, 0.2, 0.128), (100, 1.0, 0.3), (300, 0.05, 0.05), (40, 0.5, 0.0), (1000, 0.3, 0.05)]:
        for tail, sides in [(0.025, "two"), (0.05, "one")]:
            yield {"kind": "mcnemar-power", "n": n, "discordant": discordant, "difference": difference, "sides": sides,
                   "power": mcnemar_power(n, discordant, difference, tail, sides)}

    random = Random(99)
    for m in [1, 2, 5, 20]:
        p_values = [random.uniform() ** 3 for _ in range(m)]
        if m == 20:
            p_values[3] = p_values[7]
        yield {"kind": "benjamini-hochberg", "p_values": p_values, "adjusted": stats.false_discovery_control(p_values).tolist()}

    for index in range(60):
        random = Random(5000 + index)
        groups = 2 + index % 15
        values, keys = [], []
        for group in range(groups):
            level = random.uniform() - 0.375
            for _ in range(1 + int(random.uniform() * 6.0)):
                values.append(level + random.uniform() / 4.0)
                keys.append(group)
        found = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": keys}, use_t=True)
        low, high = found.conf_int(0.05)[0]
        row = {"kind": "clusters", "values": values, "keys": keys, "mean": found.params[0], "error": found.bse[0],
               "t": found.tvalues[0], "p_value": found.pvalues[0], "interval": [low, high]}
        if index < 10:
            row["seed"] = index
            row["bootstrap"] = cluster_bootstrap(values, keys, 999, index)
        yield row

    for index in range(40):
        n = 8 + index % 23
        random = Random(7000 + index)
        values = [random.uniform() + (0.5 if index % 2 and i >= n // 2 else 0.0) for i in range(n)]
        if index % 5 == 0:
            values = [math.floor(value * 8.0) / 8.0 for value in values]
        np.random.seed(index)
        found = pettitt_test(values, sim=1)
        # pettitt_test counts simulated statistics above the observed one and leaves out equal ones. It simulates without ties.
        tied = len(set(values)) < n
        p_value = None if tied else monte_carlo(pettitt, found.U - 0.5, n, 20_000)
        yield {"kind": "pettitt", "values": values, "first_after": int(found.cp), "statistic": float(found.U),
               "p_value": plain(p_value), "before": float(found.avg.mu1), "after": float(found.avg.mu2)}


def mcnemar_power(n, discordant, difference, tail, sides):
    """Every number of changed cases, with scipy's binomial distribution."""
    gaining = 0.5 + difference / discordant / 2
    power = 0.0
    for changed in range(n + 1):
        counts = np.arange(changed + 1)
        rejected = stats.binom.sf(counts - 1, changed, 0.5) <= tail * (1 + 1e-13)
        share = stats.binom.pmf(counts[rejected], changed, gaining).sum()
        if sides == "two":
            share += stats.binom.pmf(counts[rejected], changed, 1 - gaining).sum()
        power += stats.binom.pmf(changed, n, discordant) * share
    return float(power)


def cluster_bootstrap(values, keys, resamples, seed):
    """Clusters in the crate's order: by their sorted values."""
    clusters = sorted(sorted(value for value, key in zip(values, keys) if key == group) for group in set(keys))
    random = Random(seed)
    means = []
    for _ in range(resamples):
        drawn = [clusters[index] for index in random.indices(len(clusters))]
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    return np.quantile(means, [0.025, 0.975]).tolist()


with open(Path(__file__).parent / "statistics.jsonl", "w") as file:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
                "statsmodels": statsmodels.__version__, "pyhomogeneity": "1.1"}
    print(json.dumps({"kind": "versions", **versions}), file=file)
    for row in rows():
        print(json.dumps(row, allow_nan=False), file=file)
