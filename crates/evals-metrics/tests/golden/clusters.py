#!/usr/bin/env python3
"""Writes clusters.jsonl: the CR2 standard error of clustered means and its degrees of freedom.

    pip install numpy==2.4.6 scipy==1.17.1
    python clusters.py

Reads the samples of statistics.jsonl. statsmodels has no CR2, so this is the general matrix formula of Bell and McCaffrey (2002) for
a regression on any design, with an identity as working covariance, as in the R package clubSandwich.
"""

import json
import platform
from pathlib import Path

import numpy as np
import scipy
from scipy.linalg import fractional_matrix_power
from scipy.stats import t

FOLDER = Path(__file__).parent


def cr2(values, keys):
    y, keys = np.array(values), np.array(keys)
    n = len(y)
    design = np.ones((n, 1))
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    residuals = y - hat @ y
    meat, columns = 0.0, []
    for key in sorted(set(keys.tolist())):
        rows = np.flatnonzero(keys == key)
        adjusted = fractional_matrix_power(np.eye(len(rows)) - hat[np.ix_(rows, rows)], -0.5).real
        weights = bread @ design[rows].T @ adjusted
        meat += float((weights @ residuals[rows]).item() ** 2)
        columns.append(((np.eye(n) - hat)[:, rows] @ weights.T).ravel())
    spread = np.array(columns) @ np.array(columns).T
    return float(y.mean()), meat**0.5, float(np.trace(spread) ** 2 / np.sum(spread**2))


with open(FOLDER / "statistics.jsonl") as samples, open(FOLDER / "clusters.jsonl", "w") as file:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    print(json.dumps({"kind": "versions", **versions}), file=file)
    for row in map(json.loads, samples):
        if row["kind"] == "clusters":
            mean, error, degrees = cr2(row["values"], row["keys"])
            reach = error * t.isf(0.025, degrees)
            found = {"error": error, "degrees": degrees, "interval": [mean - reach, mean + reach], "p_value": 2 * t.sf(abs(mean) / error, degrees)}
            print(json.dumps({"kind": "cr2", "values": row["values"], "keys": row["keys"], **found}), file=file)
