"""`compare` and its `Report`, by the calls of ranx."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Optional, Union

from .collection import Run
from .evaluation import score_queries
from .inference import adjust, paired_test

_LABELS = {"hit_rate": "Hit Rate", "precision": "P", "recall": "Recall", "f1": "F1", "r-precision": "R-Prec", "mrr": "MRR", "map": "MAP"}
_LABELS |= {"ndcg": "NDCG", "ndcg_burges": "NDCG Burges", "bpref": "BPref"}
_SUPERSCRIPTS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ"


@dataclass(frozen=True)
class Report:
    """Means of several runs, and which of them differ beyond chance. Prints as a table."""

    model_names: list[str]
    metrics: list[str]
    #: Means by run and metric.
    results: dict[str, dict[str, float]]
    #: p values by ordered pair of runs and metric; None where no query changed.
    comparisons: dict[tuple[str, str], dict[str, Optional[float]]]
    #: How often the first run of a pair has the greater (`W`), an equal (`T`) and the smaller (`L`) value, by metric.
    win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]]
    max_p: float
    stat_test: str
    rounding_digits: int = 3
    show_percentages: bool = False

    def to_table(self) -> str:
        """The means, with the letters of those runs that a run is significantly better than."""
        rows = [["#", "Model", *map(_label, self.metrics)]]
        for index, name in enumerate(self.model_names):
            rows.append([chr(ord("a") + index), name, *(self._cell(name, metric) for metric in self.metrics)])
        # Titles get two blanks more than they need, as by tabulate.
        rules = ["-" * max(len(title) + 2, *(len(row[column]) for row in rows)) for column, title in enumerate(rows[0])]
        rows.insert(1, rules)
        return "\n".join("  ".join(cell.ljust(len(rule)) for cell, rule in zip(row, rules)).rstrip() for row in rows)

    def to_dict(self) -> dict[str, Any]:
        """Scores, p values (`comparisons`) and wins, ties and losses against each other run, in the shape of ranx."""
        report: dict[str, Any] = {"stat_test": self.stat_test, "metrics": self.metrics, "model_names": self.model_names}
        for name in self.model_names:
            report[name] = {"scores": self.results[name], "comparisons": {}, "win_tie_loss": {}}
        for (name, other), p_values in self.comparisons.items():
            report[name]["comparisons"][other] = p_values
            report[name]["win_tie_loss"][other] = self.win_tie_loss[name, other]
        return report

    def to_dataframe(self) -> Any:
        """The means as a frame of pandas: `model_names` and one column for each metric."""
        import pandas

        return pandas.DataFrame([{"model_names": name, **self.results[name]} for name in self.model_names])

    def __str__(self) -> str:
        return self.to_table()

    def _cell(self, name: str, metric: str) -> str:
        mean = self.results[name][metric]
        shown = f"{mean * 100:.{max(0, self.rounding_digits - 2)}f}" if self.show_percentages else f"{mean:.{self.rounding_digits}f}"
        for mark, other in zip(_SUPERSCRIPTS, self.model_names):
            p_value = self.comparisons[name, other][metric] if other != name else None
            if p_value is not None and p_value <= self.max_p and mean > self.results[other][metric]:
                shown += mark
        return shown


def compare(
    qrels: Any,
    runs: list[Any],
    metrics: Union[str, list[str]],
    stat_test: str = "student",
    n_permutations: int = 100_000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
    correction: Optional[str] = None,
) -> Report:
    """Score several runs and test all pairs of them.

    `stat_test` is a test of `paired_test`: `student`, `fisher`, `wilcoxon`, `sign` or `auto`. A difference is significant up to `max_p`. ranx
    corrects no p values; `correction` (`holm` or `bh`) corrects those of all pairs for each metric. Other arguments are those of `evaluate`.
    """
    values: dict[str, dict[str, Any]] = {}
    for index, run in enumerate(runs, 1):
        name = (run.name if isinstance(run, Run) else None) or f"run_{index}"
        if name in values:
            raise ValueError(f"two runs have the name `{name}`")
        values[name] = score_queries(qrels, run, [metrics] if isinstance(metrics, str) else list(metrics), make_comparable)[1]
    if not values:
        raise ValueError("expected at least one run")
    columns = list(next(iter(values.values())))
    pairs = list(combinations(values, 2))
    report = Report(
        list(values),
        columns,
        {name: {metric: float(column.mean()) for metric, column in of_run.items()} for name, of_run in values.items()},
        {pair: {} for one, other in pairs for pair in ((one, other), (other, one))},
        {pair: {} for one, other in pairs for pair in ((one, other), (other, one))},
        max_p,
        stat_test,
        rounding_digits,
        show_percentages,
    )
    for metric in columns:
        found = {}
        for one, other in pairs:
            it = paired_test(values[one][metric], values[other][metric], stat_test, resamples=n_permutations, seed=random_seed)
            report.win_tie_loss[one, other][metric] = {"W": it.losses, "T": it.ties, "L": it.wins}
            report.win_tie_loss[other, one][metric] = {"W": it.wins, "T": it.ties, "L": it.losses}
            found[one, other] = it.p_value
        tested = {pair: p_value for pair, p_value in found.items() if p_value is not None}
        if correction is not None:
            found.update(zip(tested, adjust(list(tested.values()), correction)))
        for (one, other), p_value in found.items():
            report.comparisons[one, other][metric] = report.comparisons[other, one][metric] = p_value
    return report


def _label(metric: str) -> str:
    name, at, cutoff = metric.partition("@")
    return _LABELS.get(name, name) + at + cutoff
