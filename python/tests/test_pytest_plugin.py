"""The plugin for pytest: tests that run pytest in a folder of their own."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CASES = """
name: capitals
cases:
- {name: france, inputs: France, expected_output: Paris}
- {name: kenya, inputs: Kenya, expected_output: Nairobi}
evaluators: [EqualsExpected]
"""

TESTS = """
import pytest

ASKED = []

def capital(country):
    return "Paris"

def missing(country):
    raise LookupError("no capitals")

@pytest.mark.evaluation(file="capitals.yaml", target=capital, min={"EqualsExpected": 0.4})
def test_passes(evaluation):
    assert evaluation.result["EqualsExpected"] == 0.5
    assert [check.verdict for check in evaluation.gate.checks] == ["passed"]

@pytest.mark.evaluation(file="capitals.yaml", target=capital, min={"EqualsExpected": 0.6})
def test_breaks_a_rule():
    raise AssertionError("the body does not run")

@pytest.mark.evaluation(file="capitals.yaml", target=missing)
def test_measures_nothing():
    raise AssertionError("the body does not run")

@pytest.mark.evaluation(file="capitals.yaml", target=capital, max_drop={"EqualsExpected": 0.1}, baseline="main")
def test_has_no_baseline():
    pass

@pytest.mark.evaluation(dataset="sample", file="capitals.yaml")
def test_names_two_datasets():
    pass

def test_calls_the_fixture(evaluation):
    result = evaluation(file="capitals.yaml", target=lambda country: "Nairobi", min={"EqualsExpected": 0.5})
    assert result is evaluation.result

def test_has_no_mark(evaluation):
    evaluation.result
"""


def has(module):
    return importlib.util.find_spec(module) is not None


@unittest.skipUnless(has("pytest"), "pytest is not installed")
class Plugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "capitals.yaml").write_text(CASES)
        (self.folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")

    def pytest(self, tests, *options):
        (self.folder / "test_capitals.py").write_text(tests)
        # An installed package is found by its entry point; registering a plugin twice is an error.
        plugin = [] if any(map(has_plugin, sys.path)) else ["-p", "evaluations_cli.pytest_plugin"]
        environment = {**os.environ, "EVALUATIONS_DATA_DIR": str(self.folder / "data"), "COLUMNS": "200"}
        command = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *options]
        ended = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)
        return ended.stdout + ended.stderr

    def runs(self):
        return len(list((self.folder / "data" / "runs").glob("*capitals*")))

    def test_marks_and_the_fixture(self):
        output = self.pytest(TESTS, "-rA")
        self.assertIn("5 failed, 2 passed", output)
        outcomes = dict(reversed(it) for it in re.findall(r"^(PASSED|FAILED|ERROR) test_capitals.py::(\w+)", output, re.MULTILINE))
        passed = [name for name, outcome in outcomes.items() if outcome == "PASSED"]
        self.assertEqual(sorted(passed), ["test_calls_the_fixture", "test_passes"], output)
        for words in [
            "failed: EqualsExpected >= 0.6: 0.5000",
            "test_breaks_a_rule - Failed: gate failed: 1 of 1 check failed",
            "test_measures_nothing - Failed: every case failed",
            "Failed: there is no baseline `baselines/main.json`",
            "an evaluation needs either `dataset` or `file`",
            "the test has no mark `evaluation`",
        ]:
            self.assertIn(words, output)
        self.assertNotIn("the body does not run", output)
        self.assertNotIn("out.json", output)

    def test_a_gate_that_cannot_tell_warns(self):
        first = TESTS.partition("@pytest")[0]
        rule = 'max_drop={"EqualsExpected": 0.01}, baseline=BASELINE'
        mark = f'@pytest.mark.evaluation(file="capitals.yaml", target=capital, {rule})\ndef test_drop():\n    pass\n'
        self.pytest(first + mark.replace(f", {rule}", ""))
        [baseline] = (self.folder / "data" / "runs").iterdir()
        output = self.pytest(first + mark.replace("BASELINE", repr(str(baseline))))
        self.assertIn("1 passed, 1 warning", output)
        self.assertIn("UserWarning: the gate cannot tell", output)

    def test_marks_are_announced_and_collection_runs_nothing(self):
        self.assertIn("@pytest.mark.evaluation(dataset=", self.pytest(TESTS, "--markers"))
        self.assertIn("7 tests collected", self.pytest(TESTS, "--collect-only"))
        self.assertEqual(self.runs(), 0)

    @unittest.skipUnless(has("xdist"), "pytest-xdist is not installed")
    def test_with_xdist_each_evaluation_runs_once(self):
        marks = "".join(
            f'@pytest.mark.evaluation(file="capitals.yaml", target=capital, name="capitals-{name}", min={{"EqualsExpected": {least}}})\n'
            f"def test_{name}(evaluation):\n    assert evaluation.result\n\n"
            for name, least in [("a", 0.4), ("b", 0.6), ("c", 0.3)]
        )
        output = self.pytest(TESTS.partition("@pytest")[0] + marks, "-n", "3")
        self.assertIn("1 failed, 2 passed", output)
        self.assertIn("EqualsExpected >= 0.6", output)
        self.assertEqual(self.runs(), 3, output)


def has_plugin(folder):
    return any("evaluations_cli.pytest_plugin" in it.read_text() for it in Path(folder).glob("evaluations_cli-*.dist-info/entry_points.txt"))


if __name__ == "__main__":
    unittest.main()
