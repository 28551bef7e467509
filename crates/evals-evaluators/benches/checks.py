"""Runs the benchmark of the built-in evaluators here and with pydantic-evals, and prints both with their ratio.

Needs pydantic-evals in the Python that runs it; see checks.rs for the commands. Arguments go to `cargo bench`.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

CASES = 5_000
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
            name="checks",
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
    peak = peak_kilobytes()
    return {
        "best_ms": min(times) * 1e3,
        "median_ms": statistics.median(times) * 1e3,
        "peak_kb": peak,
        "peak_above_base_kb": peak - base,
    }


def run_checks() -> dict:
    command = ["cargo", "bench", "--quiet", "--package", "evals-evaluators", "--bench", "checks", *sys.argv[1:]]
    folder = Path(__file__).resolve().parent
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def main() -> None:
    ours = run_checks()
    theirs = run_pydantic_evals()
    print(f"{'':18}{'best':>10}{'median':>12}{'peak memory':>14}{'above base':>13}")
    for name, figures in [("evals-evaluators", ours), ("pydantic-evals", theirs)]:
        best, median = figures["best_ms"], figures["median_ms"]
        peak, above = figures["peak_kb"] / 1024, figures["peak_above_base_kb"] / 1024
        print(f"{name:18}{best:>7.1f} ms{median:>9.1f} ms{peak:>11.1f} MB{above:>10.1f} MB")
    speed = theirs["median_ms"] / ours["median_ms"]
    peak, above = (theirs[key] / ours[key] for key in ("peak_kb", "peak_above_base_kb"))
    print(f"{'ratio':18}{'':>10}{speed:>11.0f}x{peak:>13.1f}x{above:>12.1f}x")


if __name__ == "__main__":
    sys.exit(main())
