"""Runs the overhead benchmark of this crate and of pydantic-evals, and prints both with their ratio.

Needs pydantic-evals in the Python that runs it; see overhead.rs for the commands.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

CASES = 10_000
CONCURRENCY = 16
RUNS = 3


def peak_kilobytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run_pydantic_evals() -> dict:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Contains, EqualsExpected, IsInstance, MaxDuration

    async def echo(text: str) -> str:
        return text

    base = peak_kilobytes()
    times = []
    for _ in range(RUNS):
        dataset = Dataset(
            name="overhead",
            cases=[
                Case(name=f"case {number}", inputs=f"case {number}", expected_output=f"case {number}")
                for number in range(CASES)
            ],
            evaluators=[EqualsExpected(), Contains("case"), IsInstance("str"), MaxDuration(2.0)],
        )
        started = time.perf_counter()
        report = dataset.evaluate_sync(echo, max_concurrency=CONCURRENCY, progress=False)
        times.append(time.perf_counter() - started)
        assert len(report.cases) == CASES
        assert all(len(case.assertions) == 4 for case in report.cases)
    return {
        "cases": CASES,
        "best_ms": round(min(times) * 1e3, 1),
        "median_ms": round(statistics.median(times) * 1e3, 1),
        "base_kb": base,
        "peak_above_base_kb": peak_kilobytes() - base,
    }


def run_evals() -> dict:
    command = ["cargo", "bench", "--quiet", "--package", "evals", "--bench", "overhead"]
    folder = Path(__file__).resolve().parent
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def main() -> None:
    ours = run_evals()
    theirs = run_pydantic_evals()
    print(f"{'':16}{'best':>10}{'median':>10}{'memory above base':>20}")
    for name, figures in [("evals", ours), ("pydantic-evals", theirs)]:
        best, median = figures["best_ms"], figures["median_ms"]
        print(f"{name:16}{best:>7.1f} ms{median:>7.1f} ms{figures['peak_above_base_kb'] / 1024:>17.1f} MB")
    speed = theirs["median_ms"] / ours["median_ms"]
    memory = theirs["peak_above_base_kb"] / ours["peak_above_base_kb"]
    print(f"{'ratio':16}{'':>10}{speed:>9.0f}x{memory:>19.1f}x")


if __name__ == "__main__":
    sys.exit(main())
