#!/usr/bin/env python3
"""Writes calibration.jsonl: pass rates corrected by labels, computed by the code of the papers.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 ppi-python==0.2.3
    pip install git+https://github.com/UW-Madison-Lee-Lab/LLM-judge-reporting@COMMIT   # COMMIT as below
    python calibration.py

Labels drawn by verdict have no published code. Their variance is the delta method with statsmodels' complex-step derivatives. The
interval of double sampling combines statsmodels' Wilson intervals.
"""

import json
import math
import platform
from pathlib import Path

import numpy as np
import scipy
import statsmodels
from llm_judge_reporting import confidence_interval, point_estimator
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint
from statsmodels.tools.numdiff import approx_fprime_cs

COMMIT = "082884d075188bed2f2645234fa2cc3050a517c5"
# True passes, false passes, false fails, true fails.
LABELS = [(90, 30, 10, 70), (40, 9, 1, 10), (20, 5, 10, 15), (12, 0, 0, 12), (150, 3, 2, 45), (15, 1, 4, 3), (500, 120, 80, 300)]
RUNS = [(400, 600), (950, 50), (30, 70), (3, 97), (9000, 1000)]
DRAWN = [(900, 100), (300, 700)]
LEVELS = [0.95, 0.9]


def rates(labels):
    true_passes, false_passes, false_fails, true_fails = labels
    return true_fails / (true_fails + false_passes), true_passes / (true_passes + false_fails)


def rogan_gladen():
    for labels in LABELS:
        true_passes, false_passes, false_fails, true_fails = labels
        specificity, sensitivity = rates(labels)
        for run in RUNS:
            n = sum(run)
            for level in LEVELS:
                value = point_estimator(run[0] / n, specificity, sensitivity)
                interval = confidence_interval(
                    run[0] / n, specificity, sensitivity, n, true_fails + false_passes, true_passes + false_fails, 1 - level)
                yield {"kind": "rogan-gladen", "labels": labels, "run": run, "level": level, "value": value,
                       "interval": [float(end) for end in interval]}


def by_verdict():
    def corrected(parts):
        rate, passed, failed, weight = parts
        good = weight * passed + (1 - weight) * failed
        sensitivity = weight * passed / good
        specificity = (1 - weight) * (1 - failed) / (1 - good)
        return np.array([(rate + specificity - 1) / (sensitivity + specificity - 1)])

    for labels in LABELS:
        true_passes, false_passes, false_fails, true_fails = labels
        for drawn in DRAWN:
            for run in RUNS:
                level = 0.95
                z = norm.isf((1 - level) / 2)
                n, weight = sum(run), drawn[0] / sum(drawn)
                raw = [run[0] / n, true_passes / (true_passes + false_passes), false_fails / (false_fails + true_fails), weight]
                sizes = [n + z * z, true_passes + false_passes + 2, false_fails + true_fails + 2, sum(drawn)]
                adjusted = np.array([(run[0] + z * z / 2) / sizes[0], (true_passes + 1) / sizes[1], (false_fails + 1) / sizes[2], weight])
                slope = approx_fprime_cs(adjusted, corrected).ravel()
                error = math.sqrt(sum(slope**2 * adjusted * (1 - adjusted) / sizes))
                center = corrected(adjusted)[0]
                with np.errstate(all="ignore"):
                    value = corrected(np.array(raw))[0]
                yield {"kind": "by-verdict", "labels": labels, "drawn_from": drawn, "run": run, "level": level,
                       "value": float(np.clip(value, 0, 1)), "interval": np.clip([center - z * error, center + z * error], 0, 1).tolist()}


def double_sampling():
    for labels in LABELS:
        true_passes, false_passes, false_fails, true_fails = labels
        for run in [(900, 400), (700, 9300), (650, 400)]:
            for level in LEVELS:
                shares = [(true_passes, true_passes + false_passes), (false_fails, false_fails + true_fails), (run[0], sum(run))]
                passed, failed, weight = (k / n for k, n in shares)
                intervals = [proportion_confint(k, n, 1 - level, "wilson") for k, n in shares]
                below = [share - low for share, (low, _) in zip((passed, failed, weight), intervals)]
                above = [high - share for share, (_, high) in zip((passed, failed, weight), intervals)]
                if passed < failed:
                    below[2], above[2] = above[2], below[2]
                parts = [weight, 1 - weight, passed - failed]
                value = weight * passed + (1 - weight) * failed
                low = value - math.sqrt(sum((part * reach) ** 2 for part, reach in zip(parts, below)))
                high = value + math.sqrt(sum((part * reach) ** 2 for part, reach in zip(parts, above)))
                yield {"kind": "double-sampling", "labels": labels, "run": run, "level": level, "value": value,
                       "interval": [max(low, 0), min(high, 1)]}


def prediction_powered():
    generator = np.random.default_rng(7)
    for index in range(60):
        n, others = int(generator.integers(20, 120)), int(generator.integers(30, 900))
        truth = generator.random(n + others)
        if index % 3 == 0:
            predictions = np.clip(truth + generator.normal(0, 0.1 + index / 60, n + others), 0, 1)
        elif index % 3 == 1:
            truth = (truth < 0.7).astype(float)
            wrong = generator.random(n + others) < 0.2
            predictions = np.where(wrong, 1 - truth, truth)
        else:
            predictions = generator.random(n + others)
        weights = generator.choice([0.5, 1.0, 4.0], n) if index % 4 == 3 else None
        truth, predictions = truth.round(3), predictions.round(3)
        labels, labelled, unlabelled = truth[:n], predictions[:n], predictions[n:]
        level = LEVELS[index % 2]
        value = np.ravel(ppi_mean_pointestimate(labels, labelled, unlabelled, w=weights))[0]
        low, high = (np.ravel(end)[0] for end in ppi_mean_ci(labels, labelled, unlabelled, alpha=1 - level, w=weights))
        yield {"kind": "prediction-powered", "labels": labels.tolist(), "predictions": labelled.tolist(),
               "unlabelled": unlabelled.tolist(), "weights": None if weights is None else weights.tolist(), "level": level,
               "value": float(value), "interval": [float(low), float(high)]}


with open(Path(__file__).parent / "calibration.jsonl", "w") as file:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
                "statsmodels": statsmodels.__version__, "ppi-python": "0.2.3", "llm_judge_reporting": COMMIT}
    print(json.dumps({"kind": "versions", **versions}), file=file)
    for rows in (rogan_gladen(), by_verdict(), double_sampling(), prediction_powered()):
        for row in rows:
            print(json.dumps(row, allow_nan=False), file=file)
