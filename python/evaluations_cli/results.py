"""What the commands return. Undefined numbers are None, never 0 or NaN."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, TypeVar, Union

Interval = Optional[Tuple[float, float]]
Json = Dict[str, Any]
Held = TypeVar("Held")


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over `n` cases, with its 95 % interval, and how many cases were excluded for which reason."""

    value: Optional[float]
    n: int
    interval: Interval
    excluded: Dict[str, int]


@dataclass(frozen=True)
class Run:
    """A stored run of one benchmark: `retrieval`, `qa`, or `eval` for a dataset file. `run["nDCG@10"]` is the value of a measure.

    `profile` is the search profile or the target. `measures` are scores and pass rates, by their names in tables. `summary` has all numbers, such
    as `summary["task_time"]["p95"]` in seconds: `docs/files.md` describes it.
    """

    folder: Path
    dataset: str
    benchmark: str
    profile: str
    measures: Dict[str, Mean]
    summary: Json = field(repr=False)

    @classmethod
    def read(cls, folder: Union[str, Path]) -> Run:
        """Read the run in a folder."""
        record = _json(Path(folder, "manifest.json"))
        summary = _json(Path(folder, "report.json"))["summary"]
        titles = {title: source.get("mean_title", title) for title, source in summary["sources"].items()}
        measured = {**summary["scores"], **summary["assertions"]}.items()
        measures = {titles.get(title, title): Mean(**{**mean, "interval": _ends(mean["interval"])}) for title, mean in measured}
        return cls(Path(folder), record["dataset"]["name"], record["benchmark"], record["profile"], measures, summary)

    def __getitem__(self, measure: str) -> Optional[float]:
        return _named(self.measures, measure).value

    def report(self) -> Json:
        """Read the whole report, with every case."""
        return _json(self.folder / "report.json")


@dataclass(frozen=True)
class Result:
    """The runs of one command, one for each benchmark and search profile, and what it printed.

    `result["nDCG@10"]` is the value of a measure in the run that has it. The exit code is 1 if a run measured nothing or reached a limit;
    the warnings say which.
    """

    runs: List[Run]
    text: str = field(repr=False)
    warnings: List[str]
    exit_code: int

    def __getitem__(self, measure: str) -> Optional[float]:
        holding = [run for run in self.runs if measure in run.measures]
        if len(holding) > 1:
            raise KeyError(f"several runs have `{measure}`; choose one of `runs`: {', '.join(run.profile for run in holding)}")
        return _named({name: mean for run in self.runs for name, mean in run.measures.items()}, measure).value


@dataclass(frozen=True)
class MeasureChange:
    """How a measure changed over the `n` cases with a value in both runs. `verdict` is `better`, `worse`, `unclear`, `same`, or `none` if
    neither direction is better."""

    n: int
    before: float
    after: float
    difference: float
    interval: Interval
    p_value: Optional[float]
    corrected_p_value: Optional[float]
    verdict: str


@dataclass(frozen=True)
class Change:
    """A pair of runs. `change["nDCG@10"]` is the change of a measure; measures without a common case are left out."""

    before: str
    after: str
    measures: Dict[str, MeasureChange]

    @classmethod
    def of(cls, document: Json) -> Change:
        """Read a change from what `compare --out FILE.json` writes."""
        measures = {}
        for it in document["measures"]:
            if numbers := it["difference"]:
                kept = {name: numbers[name] for name in ("n", "before", "after", "difference", "p_value")}
                measures[it.get("mean_title", it["measure"])] = MeasureChange(
                    **kept, interval=_ends(numbers["interval"]), corrected_p_value=it["adjusted_p_value"], verdict=it["verdict"]
                )
        return cls(document["before"]["title"], document["after"]["title"], measures)

    def __getitem__(self, measure: str) -> MeasureChange:
        return _named(self.measures, measure)


@dataclass(frozen=True)
class Comparison:
    """The pairs of runs that were compared, and what was printed. More than two runs have no changes: `documents` has their letters and
    pairs as JSON. The exit code is 1 only with `fail_if_worse=True`."""

    changes: List[Change]
    documents: List[Json] = field(repr=False)
    text: str = field(repr=False)
    exit_code: int


@dataclass(frozen=True)
class Check:
    """One check of a gate: `passed`, `failed` or `cannot-tell`."""

    run: str
    name: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Gate:
    """The decision of a gate. `verdict` is the worst one of the checks. A gate that cannot tell has passed, unless it is `strict`."""

    passed: bool
    verdict: str
    checks: List[Check]
    text: str = field(repr=False)


def _json(path: Path) -> Json:
    document: Json = json.loads(path.read_text(encoding="utf-8"))
    return document


def _ends(interval: Optional[Json]) -> Interval:
    return None if interval is None else (interval["low"], interval["high"])


def _named(measures: Dict[str, Held], name: str) -> Held:
    if name not in measures:
        raise KeyError(f"no measure `{name}`; there are {', '.join(measures) or 'none'}")
    return measures[name]
