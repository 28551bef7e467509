#!/usr/bin/env python3
"""Writes studentized.jsonl: intervals of the studentized bootstrap, with arch's studentized means of the crate's resamples.

arch's own interval multiplies their quantiles by the standard deviation of the resampled means. Efron and Tibshirani (1993), equation
12.22, multiply them by the standard error of the sample, as here.

    pip install numpy==2.4.6 arch==8.0.0
    python studentized.py
"""

import json
import platform
from pathlib import Path

import arch
import numpy as np
from arch.bootstrap import IIDBootstrap
from samples import Random, sample


def standard_error(_, values):
    return np.array([values.std(ddof=1) / len(values) ** 0.5])


def interval(values, level, resamples, seed):
    random = Random(seed)

    class Given(IIDBootstrap):
        def update_indices(self):
            return np.array(random.indices(len(values)))

    given = Given(values)
    given.conf_int(np.mean, reps=resamples, method="studentized", size=level, std_err_func=standard_error)
    tail = (1 - level) / 2
    low, high = np.quantile(given._studentized_results.ravel(), [tail, 1 - tail])
    error = standard_error(None, values)[0]
    return [float(values.mean() - high * error), float(values.mean() - low * error)]


with open(Path(__file__).parent / "studentized.jsonl", "w") as file:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "arch": arch.__version__}
    print(json.dumps({"kind": "versions", **versions}), file=file)
    for index in range(40):
        shape, n, seed = ["bounded", "skewed"][index % 2], [12, 20, 50, 101][index % 4], 9000 + index
        ends = interval(sample(shape, n, seed), 0.9, 999, seed)
        print(json.dumps({"kind": "studentized", "shape": shape, "n": n, "seed": seed, "interval": ends}, allow_nan=False), file=file)
