#!/usr/bin/env python3
"""Writes pool.jsonl: rank correlations by scipy, quadratic kappas by scikit-learn, and their intervals by statsmodels' standard errors.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 statsmodels==0.15.0
    python pool.py

Student's t with n - 1 degrees of freedom and the factor n / (n - 1) of the variance are what CR2 is for clusters of one pair.
"""

import json
import math
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, t
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

random = np.random.default_rng(20)


def taus():
    for n in [2, 3, 5, 8, 12, 30]:
        for levels in [3, 6, 1000]:
            one = random.integers(0, levels, n)
            other = np.clip(one + random.integers(-levels // 3, levels // 3 + 1, n), 0, levels)
            tau = kendalltau(one, other).statistic
            if not math.isnan(tau):
                yield {"kind": "tau", "one": one.tolist(), "other": other.tolist(), "tau": float(tau)}


def kappas():
    for n in [12, 40, 200]:
        people = random.integers(0, 4, n)
        judge = np.where(random.random(n) < 0.6, people, random.integers(0, 4, n))
        table = np.zeros((4, 4), int)
        np.add.at(table, (people, judge), 1)
        found = cohens_kappa(table, wt="quadratic")
        reach = t.isf(0.025, n - 1) * found.std_kappa * math.sqrt(n / (n - 1))
        yield {"kind": "kappa", "people": people.tolist(), "judge": judge.tolist(),
               "kappa": cohen_kappa_score(people, judge, weights="quadratic"),
               "interval": [max(-1.0, found.kappa - reach), min(1.0, found.kappa + reach)]}


with open(Path(__file__).parent / "pool.jsonl", "w") as file:
    for row in [*taus(), *kappas()]:
        file.write(json.dumps(row) + "\n")
