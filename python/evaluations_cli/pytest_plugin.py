"""Evaluations as tests of pytest: a marker and a fixture.

    @pytest.mark.evaluation(dataset="sample", target=answer, min={"nDCG@5": 0.6}, baseline="main")
    def test_answers(evaluation):
        assert evaluation.result.runs[0].latency["p95"] < 2

The evaluation is part of the marked test, so that it runs once, in the worker of pytest-xdist that has the test.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Optional

import pytest

from ._commands import Target, evaluate, gate, run
from ._program import EvaluationsError, PathLike
from .results import Gate, Result

RULES = ("min", "max", "max_drop", "baseline", "rules", "strict", "bound", "allow", "require_calibrated_judge")


class Evaluation:
    """Runs an evaluation and its gate, and keeps the results. Paths are relative to pytest's root folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._result: Optional[Result] = None
        self.gate: Optional[Gate] = None
        """The decision of the gate; None without rules."""

    @property
    def result(self) -> Result:
        """The runs."""
        if self._result is None:
            raise ValueError("the test has no mark `evaluation`, and did not call the fixture")
        return self._result

    def __call__(
        self, *, dataset: Optional[PathLike] = None, file: Optional[PathLike] = None, target: Optional[Target] = None, **given: Any
    ) -> Result:
        """Run a dataset or a dataset file, and fail the test if it measures nothing or breaks a rule of the gate.

        Arguments are those of `run` or `evaluate`, and the rules of `gate`.
        """
        rules = {name: given.pop(name) for name in RULES if name in given}
        if (dataset is None) == (file is None):
            raise TypeError("an evaluation needs either `dataset` or `file`")
        measure, what = (run, dataset) if file is None else (evaluate, file)
        assert what is not None
        self._result = measure(what, target, cwd=self._root, **given)
        if self._result.exit_code != 0:
            pytest.fail("\n".join([*self._result.warnings, self._result.text]), pytrace=False)
        if rules:
            self.gate = gate(self._result, cwd=self._root, **rules)
            if not self.gate.passed:
                # The first line is all that pytest's own summary shows, and the last one says how many checks failed.
                lines = self.gate.text.splitlines()
                pytest.fail("\n".join([lines[-1], *lines]), pytrace=False)
            if self.gate.verdict == "cannot-tell":
                warnings.warn(f"the gate cannot tell:\n{self.gate.text}", stacklevel=2)
        return self._result


def pytest_configure(config: pytest.Config) -> None:
    """Announce the marker."""
    config.addinivalue_line(
        "markers",
        "evaluation(dataset=… or file=…, target=…, min={…}, max={…}, max_drop={…}, baseline=…, **options): "
        "run an evaluation before the test, which fails if the gate fails.",
    )


@pytest.fixture
def evaluation(request: pytest.FixtureRequest) -> Evaluation:
    """The results of the marked test, or without the mark a function that runs an evaluation with the same arguments."""
    return Evaluation(request.config.rootpath)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Run the evaluation of a marked test. It is part of the test and not of a fixture, because a failing gate is no error of the set-up."""
    marker = item.get_closest_marker("evaluation")
    if marker is None:
        return
    held = (getattr(item, "funcargs", None) or {}).get("evaluation") or Evaluation(item.config.rootpath)
    try:
        held(**marker.kwargs)
    except EvaluationsError as error:
        pytest.fail(str(error), pytrace=False)
