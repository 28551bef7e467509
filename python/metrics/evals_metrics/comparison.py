"""`compare` and its `Report`, by the calls of ranx."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Optional, Union

from .collection import Run
from .evaluation import score_queries
from .inference import adjust, paired_test

_LABELS = {"hits": "Hits", "hit_rate": "Hit Rate", "precision": "P", "recall": "Recall", "f1": "F1", "r-precision": "R-Prec", "mrr": "MRR"}
_LABELS |= {"map": "MAP", "dcg": "DCG", "ndcg": "NDCG", "ndcg_burges": "NDCG Burges", "bpref": "BPref"}
_TESTS = {"student": "paired Student's t-test", "fisher": "Fisher's randomization test", "wilcoxon": "Wilcoxon's signed-rank test", "sign": "the sign test"}
_SUPERSCRIPTS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ"
# What ranx writes around the rows. The names in brackets stand for what differs.
_LATEX = r"""========================
% Add in preamble
\usepackage{graphicx}
\usepackage{booktabs}
========================


% To change the table size, act on the resizebox argument `0.8`.
\begin{table*}[ht]
\centering
\caption{
Overall effectiveness of the models.
The best results are highlighted in boldface.
Superscripts denote significant differences in [TEST] with $p \le [P]$.
}
\resizebox{0.8\textwidth}{!}{
\begin{tabular}{c|l[COLUMNS]}
\toprule
\textbf{\#}
& \textbf{Model}[TITLES]
\midrule
[ROWS]
\bottomrule
\end{tabular}
}
\label{tab:results}
\end{table*}"""


@dataclass(repr=False)
class Report:
    """Means of several runs, and which of them differ beyond chance. Prints as a table; `rounding_digits` and `show_percentages` can be changed."""

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
            marked = (self._mean(name, it) + "".join(_SUPERSCRIPTS[other : other + 1] for other in self._worse(name, it)) for it in self.metrics)
            rows.append([_letter(index), name, *marked])
        # Titles get two blanks more than they need, as by tabulate.
        rules = ["-" * max(len(title) + 2, *(len(row[column]) for row in rows)) for column, title in enumerate(rows[0])]
        rows.insert(1, rules)
        return "\n".join("  ".join(cell.ljust(len(rule)) for cell, rule in zip(row, rules)).rstrip() for row in rows)

    def to_latex(self) -> str:
        """The table in LaTeX, as ranx writes it: the best means in boldface, and the letters as superscripts."""
        best = {it: max(self.model_names, key=lambda name: round(self.results[name][it], self.rounding_digits)) for it in self.metrics}
        rows = []
        for index, name in enumerate(self.model_names):
            cells = [_letter(index), name]
            for metric in self.metrics:
                mean, worse = self._mean(name, metric), self._worse(name, metric)
                # Every cell gets the width of all letters.
                rest = (other for other in range(len(self.model_names)) if other not in [*worse, index])
                marks, blanks = ("$^{" + "".join(map(_letter, letters)) + "}$" for letters in (worse, rest))
                cells.append((rf"\textbf{{{mean}}}" if best[metric] == name else mean) + marks + rf"\hphantom{{{blanks}}}")
            rows.append(" &\n".join(cells) + r" \\")
        filled = {"TEST": _TESTS.get(self.stat_test, self.stat_test), "P": str(self.max_p), "COLUMNS": "|c" * len(self.metrics)}
        filled["TITLES"] = "".join(f"\n& \\textbf{{{_label(metric)}}}" for metric in self.metrics) + r" \\ "
        filled["ROWS"] = "\n".join(rows).replace("_", r"\_").replace("$^{}$", "")
        return re.sub(r"\[([A-Z]+)\]", lambda found: filled[found[1]], _LATEX)

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

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write :meth:`to_dict` as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_dict(), file, indent=4)

    def __repr__(self) -> str:
        return self.to_table()

    def _mean(self, name: str, metric: str) -> str:
        mean, digits = self.results[name][metric], self.rounding_digits
        return f"{mean * 100:.{max(0, digits - 2)}f}" if self.show_percentages else f"{mean:.{digits}f}"

    def _worse(self, name: str, metric: str) -> list[int]:
        """The positions of the runs that a run is significantly better than."""
        worse = []
        for position, other in enumerate(self.model_names):
            p_value = self.comparisons[name, other][metric] if other != name else None
            if p_value is not None and p_value <= self.max_p and self.results[name][metric] > self.results[other][metric]:
                worse.append(position)
        return worse


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
        {pair: {} for pair in permutations(values, 2)},
        {pair: {} for pair in permutations(values, 2)},
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


def _letter(position: int) -> str:
    return chr(ord("a") + position)
