"""`run`, `evaluate`, `compare` and `gate`, with the program itself."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import functions
from evaluations_cli import EvaluationsError, Run, compare, evaluate, gate, run
from evaluations_cli._program import options

CASES = """
name: capitals
cases:
- {name: france, inputs: France, expected_output: Paris}
- {name: kenya, inputs: Kenya, expected_output: Nairobi}
- {name: nowhere, inputs: Nowhere, expected_output: ''}
evaluators: [EqualsExpected]
"""

INTERRUPTED = """
import signal, sys, time
from evaluations_cli import evaluate

# A shell that starts tests in the background lets them ignore this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

def capital(country):
    if country == "Kenya":
        print("waiting", flush=True)
        time.sleep(3)
    return "Paris"

evaluate(sys.argv[1], capital, concurrency=1)
"""


def capital(country):
    print("not a reply")
    return {"France": "Paris", "Kenya": "Mombasa"}[country]


def failures(result):
    """The messages of the failed cases."""
    cases = result.runs[0].report()["cases"]
    return {case["id"]: case["result"]["failure"]["message"] for case in cases if "failure" in case["result"]}


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "capitals.yaml"
        self.file.write_text(CASES)
        before = os.environ.get("EVALUATIONS_DATA_DIR")
        os.environ["EVALUATIONS_DATA_DIR"] = str(self.folder / "data")
        self.addCleanup(lambda: os.environ.update(EVALUATIONS_DATA_DIR=before) if before else os.environ.pop("EVALUATIONS_DATA_DIR"))

    def evaluate(self, target, **given):
        return evaluate(self.file, target, cwd=self.folder, quiet=True, **given)

    def sample(self, target, **given):
        return run("sample", target, cwd=self.folder, quiet=True, limit=8, skip_qa=True, **given)


class Running(Commands):
    def test_a_function_that_can_be_imported_runs_in_other_processes(self):
        result = self.evaluate(capital)
        self.assertEqual(result["EqualsExpected"], 0.5)
        [run] = result.runs
        self.assertEqual((run.benchmark, run.dataset), ("eval", "capitals"))
        self.assertIn(f"target: exec:python -m evaluations_cli serve {__name__}:capital\n", result.text)
        mean = run.measures["EqualsExpected"]
        self.assertEqual((mean.n, mean.excluded), (2, {"task failed": 1}))
        self.assertTrue(0 < mean.interval[0] < 0.5 < mean.interval[1] < 1, mean)
        self.assertEqual(failures(result), {"nowhere": "KeyError: 'Nowhere'"})
        self.assertEqual(Run.read(run.folder), run)

    def test_any_other_function_runs_in_this_process(self):
        asked = []

        def answer(country):
            asked.append((os.getpid(), country))
            return "Paris"

        result = self.evaluate(answer)
        self.assertEqual(sorted(asked), sorted((os.getpid(), country) for country in ["France", "Kenya", "Nowhere"]))
        self.assertEqual(result["EqualsExpected"], 1 / 3)
        self.assertIn(f"{__name__}:Running.{self._testMethodName}.locals.answer\n", result.text)

    def test_an_async_function_gets_several_requests_at_once(self):
        functions.waiting.clear()
        result = self.evaluate(lambda country: functions.async_meeting(country), concurrency=3, set={"target.timeout": 20})
        self.assertEqual(result.runs[0].summary["failed"], 0, result.text)
        self.assertEqual(len(set(map(id, functions.waiting))), 1, "one event loop")

    def test_a_function_that_is_killed_or_blocks_fails_its_case(self):
        # The other cases have to reply in time on a busy machine, too.
        for function, words in [(functions.killed, "status 137|signal 9"), (functions.blocking, "gave no reply within 8 s")]:
            result = self.evaluate(function, set={"target.timeout": 8})
            self.assertEqual(list(failures(result)), ["kenya"], result.text)
            self.assertRegex(failures(result)["kenya"], words)
            self.assertEqual((result.exit_code, result["EqualsExpected"]), (0, 0.0))

    def test_a_function_that_always_dies_ends_the_run(self):
        with self.assertRaisesRegex(EvaluationsError, "^stopped early, [0-9]+ cases not run: .* at once 5 times in a row") as caught:
            run("sample", functions.always_killed, cwd=self.folder, quiet=True)
        self.assertEqual(caught.exception.exit_code, 2)

    def test_the_built_in_pipeline_and_several_runs(self):
        result = self.sample(None, profile=["bm25", "unranked"])
        self.assertEqual([run.profile for run in result.runs], ["bm25", "unranked"])
        self.assertIn("MRR@5", result.runs[0].measures)
        with self.assertRaisesRegex(KeyError, "several runs have `MRR@5`; choose one of `runs`: bm25, unranked"):
            result["MRR@5"]
        with self.assertRaisesRegex(KeyError, "no measure `MRR@7`; there are MRR@5, R@1"):
            result["MRR@7"]

    @unittest.skipIf(os.name == "nt", "Windows has no SIGINT for one process")
    def test_an_interrupted_run_keeps_its_finished_cases(self):
        script = self.folder / "script.py"
        script.write_text(INTERRUPTED)
        with subprocess.Popen([sys.executable, script, self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "waiting\n")
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", stderr)
        [journal] = self.folder.glob("data/runs/*/journal.jsonl")
        cases = re.findall(r'"case":{"id":"(\w+)"', journal.read_text())
        self.assertEqual(cases, ["france", "kenya"], "the open request has its reply")

    def test_messages_appear_unless_quiet(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            evaluate(self.file, capital, cwd=self.folder)
        self.assertIn("every case is on the page", shown.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            self.evaluate(capital)
        self.assertEqual(shown.getvalue(), "")

    def test_errors(self):
        with self.assertRaisesRegex(EvaluationsError, r"^unknown dataset `no-such-dataset`\n") as caught:
            run("no-such-dataset", quiet=True)
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaisesRegex(EvaluationsError, "unexpected argument '--no-such-option'"):
            self.sample(capital, no_such_option=True)
        with self.assertRaisesRegex(TypeError, "a target is an address or a function, not `dict`"):
            self.sample({})


class Deciding(Commands):
    def test_two_runs(self):
        before, after = self.sample(lambda question: []), self.sample(lambda question: ["pells-ford-library-vote", "brant-mere-core"])
        compared = compare(before, after, cwd=self.folder, quiet=True)
        self.assertEqual(compared.exit_code, 0)
        [change] = compared.changes
        self.assertEqual((change.before, change.after), (before.runs[0].folder.name, after.runs[0].folder.name))
        measure = change["R@5"]
        self.assertEqual((measure.before, measure.n), (0.0, after.runs[0].measures["R@5"].n))
        self.assertEqual(measure.difference, after["R@5"])
        self.assertIn(measure.verdict, ["better", "unclear", "same"])
        with self.assertRaisesRegex(EvaluationsError, "no measure `nonsense` in both runs") as caught:
            compare(before, after, measure=["nonsense"], cwd=self.folder, quiet=True)
        self.assertEqual(caught.exception.exit_code, 2)

    def test_more_than_two_runs(self):
        runs = [self.sample(None, profile=[profile]) for profile in ["bm25", "unranked", "hybrid"]]
        compared = compare(*runs, cwd=self.folder, quiet=True)
        self.assertEqual(compared.changes, [])
        self.assertEqual(len(compared.documents[0]["reports"]), 3)
        self.assertIn("Means; runs that share a letter", compared.text)

    def test_a_gate(self):
        result = self.evaluate(capital)
        passed = gate(result, min={"EqualsExpected": 0.4}, cwd=self.folder, quiet=True)
        self.assertTrue(passed.passed)
        failed = gate(result.runs[0], min={"EqualsExpected": 0.6}, max={"failed": 1}, cwd=self.folder, quiet=True)
        self.assertFalse(failed.passed)
        self.assertEqual(failed.verdict, "failed")
        self.assertEqual([check.verdict for check in failed.checks], ["failed", "passed"])
        self.assertIn("below 0.6", failed.checks[0].reason)
        self.assertIn("gate failed: 1 of 2 checks failed", failed.text)
        with self.assertRaisesRegex(EvaluationsError, "there is no baseline `baselines/main.json`"):
            gate(result, baseline="main", max_drop={"EqualsExpected": 0.1}, cwd=self.folder, quiet=True)


class Options(unittest.TestCase):
    def test_arguments_are_options(self):
        given = {"skip_qa": True, "fresh": False, "limit": 3, "from_": Path("a"), "profile": ["bm25", "hybrid"], "min": {"R@5": 0.5}}
        words = ["--skip-qa", "--limit=3", "--from=a", "--profile=bm25", "--profile=hybrid", "--min=R@5=0.5"]
        self.assertEqual(options(given), words)
        self.assertEqual(options({"set": {"a.b": [1, "x"], "c": "d"}, "name": None}), ['--set=a.b=[1, "x"]', "--set=c=d"])


if __name__ == "__main__":
    unittest.main()
