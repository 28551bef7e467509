#!/usr/bin/env python3
"""Writes agreement.tsv: agreement of a judge with people, computed by statsmodels and scikit-learn.

    pip install scipy==1.17.1 statsmodels==0.15.0 scikit-learn==1.9.1
    python agreement.py

The intervals of stratified samples propagate statsmodels' Wilson intervals through scipy's minimiser, because no published package
has them. Their values are scikit-learn's, with inverse probabilities as sample weights.
"""

import math
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

SAMPLES = [
    (40, 9, 1, 10), (20, 5, 10, 15), (88, 10, 14, 81), (1, 1, 1, 1), (5, 0, 3, 2), (2, 8, 7, 3), (1000, 3, 2, 500),
]
STRATIFIED = [
    ((45, 5, 10, 40), (900, 100)), ((50, 0, 0, 50), (800, 200)), ((30, 10, 0, 20), (400, 100)), ((12, 8, 6, 14), (50, 450)),
]
Z = norm.isf(0.025)


def verdicts(true_passes, false_passes, false_fails, true_fails):
    people = [1] * true_passes + [0] * false_passes + [1] * false_fails + [0] * true_fails
    judge = [1] * (true_passes + false_passes) + [0] * (false_fails + true_fails)
    return people, judge


def sample(counts):
    true_passes, false_passes, false_fails, true_fails = counts
    people, judge = verdicts(*counts)
    found = cohens_kappa(np.array([[true_passes, false_fails], [false_passes, true_fails]]))
    low, high = proportion_confint(true_passes, true_passes + false_fails, 0.05, "wilson")
    return [
        found.kappa, max(-1.0, found.kappa_low), min(1.0, found.kappa_upp),
        recall_score(people, judge), low, high, recall_score(people, judge, pos_label=0),
    ]


def wilson(passes, trials, z):
    return (passes / trials,) * 2 if z == 0 else proportion_confint(passes, trials, 2 * norm.sf(z), "wilson")


def stratified(counts, run):
    true_passes, false_passes, false_fails, true_fails = counts
    passed, failed = true_passes + false_passes, false_fails + true_fails
    weight = [run[0] / sum(run), run[1] / sum(run)]
    people, judge = verdicts(*counts)
    inverse = {"sample_weight": [run[0] / passed] * passed + [run[1] / failed] * failed}

    def agreement(a, b):
        return weight[0] * a + weight[1] * (1 - b)

    def true_pass_rate(a, b):
        return weight[0] * a / (weight[0] * a + weight[1] * b)

    def true_fail_rate(a, b):
        return weight[1] * (1 - b) / (weight[1] * (1 - b) + weight[0] * (1 - a))

    def kappa(a, b):
        share = weight[0] * a + weight[1] * b
        expected = weight[0] * share + weight[1] * (1 - share)
        return (agreement(a, b) - expected) / (1 - expected)

    statistics = {
        "agreement": (agreement, accuracy_score(people, judge, **inverse)),
        "kappa": (kappa, cohen_kappa_score(people, judge, **inverse)),
        "tpr": (true_pass_rate, recall_score(people, judge, **inverse)),
        "tnr": (true_fail_rate, recall_score(people, judge, pos_label=0, **inverse)),
    }
    for name, (statistic, value) in statistics.items():
        assert abs(statistic(true_passes / passed, false_fails / failed) - value) < 1e-12

        def end(angle, side, sign):
            a = wilson(true_passes, passed, Z * math.sin(angle))[side]
            b = wilson(false_fails, failed, Z * math.cos(angle))[1 - side]
            return sign * statistic(a, b)

        yield name, value, least(lambda angle: end(angle, 0, 1)), -least(lambda angle: end(angle, 1, -1))


def least(value):
    parts = np.linspace(0, math.pi / 2, 21)
    found = [minimize_scalar(value, bounds=part, method="bounded", options={"xatol": 1e-12}).fun for part in zip(parts, parts[1:])]
    return min(value(0), value(math.pi / 2), *found)


with open(Path(__file__).parent / "agreement.tsv", "w") as file:
    for counts in SAMPLES:
        print("sample", *counts, *(repr(float(value)) for value in sample(counts)), sep="\t", file=file)
    for counts, run in STRATIFIED:
        for name, *values in stratified(counts, run):
            print("stratified", *counts, *run, name, *(repr(float(value)) for value in values), sep="\t", file=file)
