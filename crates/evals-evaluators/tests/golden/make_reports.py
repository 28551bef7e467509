#!/usr/bin/env python3
"""Writes analyses.json, averages.json and judges.json: what pydantic-evals makes of seeded reports and of scripted judges.

    pip install pydantic-evals==2.62.0
    python make_reports.py                  # writes the golden files
    python make_reports.py REPORT.json …    # checks that pydantic-evals reads these reports, and prints their averages

analyses.json: reports in brief (only what report evaluators read), evaluators, and their analyses or error. NaN is null.
averages.json: whole reports, and their averages.
judges.json: the outcomes of LLMJudge for a model that always gives the same verdict.

report.json is not made here: pydantic-evals 2.62.0 wrote it for a dataset of three cases with evaluators of its own. Reports of
ours to check come from the crate's tests:

    EVALUATIONS_KEEP_REPORTS=/tmp/reports cargo test -p evals-evaluators pydantic_report
"""

import asyncio
import json
import math
import random
import sys
from importlib.metadata import version
from pathlib import Path

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import (
    ConfusionMatrixEvaluator,
    EvaluationResult,
    EvaluatorSpec,
    KolmogorovSmirnovEvaluator,
    LLMJudge,
    PrecisionRecallEvaluator,
    ReportEvaluatorContext,
    ROCAUCEvaluator,
)
from pydantic_evals.reporting import EvaluationReport, EvaluationReportAdapter, ReportCase, ReportCaseFailure

FOLDER = Path(__file__).parent
EVALUATORS = {
    cls.__name__: cls
    for cls in (ConfusionMatrixEvaluator, PrecisionRecallEvaluator, ROCAUCEvaluator, KolmogorovSmirnovEvaluator)
}
CURVES = list(EVALUATORS)[1:]


def results(values):
    source = EvaluatorSpec(name="Golden", arguments=None)
    return {name: EvaluationResult(name=name, value=value, reason=None, source=source) for name, value in values.items()}


def report_case(brief):
    return ReportCase(
        name=brief["name"],
        inputs=None,
        metadata=brief.get("metadata"),
        expected_output=brief.get("expected_output"),
        output=brief.get("output"),
        metrics=brief.get("metrics", {}),
        attributes={},
        scores=results(brief.get("scores", {})),
        labels=results(brief.get("labels", {})),
        assertions=results(brief.get("assertions", {})),
        task_duration=0.0,
        total_duration=0.0,
    )


def analyse(cases, name, arguments):
    report = EvaluationReport(name="golden", cases=[report_case(case) for case in cases])
    context = ReportEvaluatorContext(name="golden", report=report, experiment_metadata=None)
    found = EVALUATORS[name](**arguments).evaluate(context)
    found = found if isinstance(found, list) else [found]
    return [without_nan(analysis.model_dump()) for analysis in found]


def without_nan(value):
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def scored(seed, n, score, positive, missing=0.0):
    """Cases with a score `s`, a metric `m`, an assertion `ok`, a label `lab` and an expected output."""
    generator = random.Random(seed)
    cases = []
    for number in range(n):
        value = score(generator)
        is_positive = positive(generator, value)
        case = {
            "name": f"c{number}",
            "output": "x",
            "expected_output": generator.choice([True, 1, "yes", [0], {"a": 0}, 0.5] if is_positive else [False, 0, "", [], {}, 0.0]),
            "scores": {"s": value},
            "metrics": {"m": value * 3},
            "assertions": {"ok": is_positive},
            "labels": {"lab": "positive" if is_positive else ""},
        }
        for part, key in [("scores", "s"), ("metrics", "m"), ("assertions", "ok"), ("labels", "lab")]:
            if generator.random() < missing:
                del case[part][key]
        if generator.random() < missing:
            case["expected_output"] = None
        cases.append(case)
    return cases


def curve_sets():
    uniform = lambda generator: generator.random()
    tied = lambda generator: round(generator.random(), 1)
    whole = lambda generator: generator.randint(1, 5)
    wide = lambda generator: generator.gauss(0, 1) * 10.0 ** generator.randint(-6, 6)
    coin = lambda generator, _: generator.random() < 0.5
    informed = lambda generator, value: generator.random() < value
    always, never = (lambda *_: True), (lambda *_: False)
    perfect = lambda _, value: value > 0.5
    worst = lambda _, value: value <= 0.5
    from_assertions = {"score_key": "s", "positive_from": "assertions", "positive_key": "ok"}
    from_labels = {"score_key": "s", "positive_from": "labels", "positive_key": "lab"}
    from_expected = {"score_key": "s", "positive_from": "expected_output"}
    from_metrics = {**from_assertions, "score_key": "m", "score_from": "metrics"}
    few = lambda n: {**from_assertions, "n_thresholds": n}
    titled = {**from_expected, "title": "Quality"}
    absent = {**from_assertions, "score_key": "absent"}
    return [
        ("uniform", scored(1, 12, uniform, coin), [from_assertions, from_labels, from_expected, from_metrics, titled, absent]),
        ("informed", scored(2, 20, uniform, informed), [from_assertions, few(3), few(2), few(1), few(0), few(-4), few(20), few(21), few(22)]),
        ("tied", scored(3, 20, tied, informed), [from_assertions, from_metrics, few(5), few(4)]),
        ("whole numbers", scored(4, 16, whole, lambda g, v: g.random() < v / 6), [from_assertions, few(3)]),
        ("wide", scored(5, 15, wide, coin), [from_assertions, few(7)]),
        ("all tied", scored(6, 6, lambda _: 0.5, coin), [from_assertions]),
        ("perfect", scored(7, 10, uniform, perfect), [from_assertions]),
        ("worst", scored(8, 10, uniform, worst), [from_assertions]),
        ("only positive", scored(9, 5, uniform, always), [from_assertions, from_expected]),
        ("only negative", scored(10, 5, uniform, never), [from_assertions, from_labels]),
        ("one positive", scored(11, 1, uniform, always), [from_assertions]),
        ("none", [], [from_assertions]),
        ("some missing", scored(12, 16, tied, informed, missing=0.3), [from_assertions, from_labels, from_expected, from_metrics]),
        ("zeros", scored(13, 8, lambda g: g.choice([0.0, -0.0, 1.0]), coin), [from_assertions]),
    ] + [
        (f"seed {seed}", scored(seed, 3 + seed % 9, tied if seed % 2 else uniform, informed, missing=0.1), [few(seed % 6)])
        for seed in range(20, 36)
    ]


def confusion_sets():
    generator = random.Random(99)
    names = ["cat", "dog", "Ünicode", "😀", "\uffff", ""]
    classes = [
        {"name": f"c{n}", "output": generator.choice(names), "expected_output": generator.choice(names), "labels": {"l": generator.choice(names)}, "metadata": {"k": generator.choice(names), "n": n}}
        for n in range(30)
    ]
    values = [True, False, None, 1, 1.0, -0.0, 1e16, 1e-7, 0.1, [1, "a"], {"a": None, "b": [True]}, "True", "it's", 'q"', [], {}, "None", 2**53]
    others = [
        {"name": f"c{n}", "output": value, "expected_output": values[-1 - n], "metadata": generator.choice([None, "text", {"k": value}, {"other": 1}]), "labels": {"l": "x"} if n % 3 else {}}
        for n, value in enumerate(values)
    ]
    return [
        ("classes", classes, [{}, {"title": "Animals"}, {"predicted_from": "labels", "predicted_key": "l"}, {"predicted_from": "metadata", "predicted_key": "k", "expected_from": "output"}, {"expected_from": "metadata"}, {"expected_from": "metadata", "expected_key": "n"}, {"predicted_from": "expected_output", "expected_from": "expected_output"}, {"expected_key": "ignored"}]),
        ("values", others, [{}, {"expected_from": "metadata", "expected_key": "k"}, {"expected_from": "metadata"}, {"predicted_from": "labels", "predicted_key": "l"}, {"predicted_from": "labels", "predicted_key": "absent"}]),
        ("none", [], [{}]),
    ]


def golden_analyses():
    sets = []
    for title, cases, arguments in confusion_sets():
        runs = [{"evaluator": "ConfusionMatrixEvaluator", "arguments": given} for given in arguments]
        sets.append({"title": title, "cases": cases, "runs": runs})
    for title, cases, arguments in curve_sets():
        runs = [{"evaluator": name, "arguments": given} for given in arguments for name in CURVES]
        sets.append({"title": title, "cases": cases, "runs": runs})
    for each in sets:
        for run in each["runs"]:
            run["analyses"] = analyse(each["cases"], run["evaluator"], run["arguments"])
    return sets


def averaged_report(seed, repeats, failing):
    generator = random.Random(seed)
    cases, failures = [], []
    for number in range(6):
        for repeat in range(1, repeats + 1):
            name = f"c{number}" + (f" [{repeat}/{repeats}]" if repeats > 1 else "")
            source = f"c{number}" if repeats > 1 else None
            if generator.random() < failing:
                failures.append(ReportCaseFailure(name=name, inputs=number, metadata=None, expected_output=None, error_message="ValueError: no", error_stacktrace="", source_case_name=source))
                continue
            brief = {"name": name, "output": "x", "metrics": {}, "scores": {}, "assertions": {}, "labels": {}}
            if generator.random() < 0.8:
                brief["scores"]["s"] = generator.random()
            if generator.random() < 0.7:
                brief["scores"]["n"] = generator.randint(1, 5)
            if generator.random() < 0.7:
                brief["metrics"]["tok"] = generator.randint(1, 500)
            if generator.random() < 0.8:
                brief["labels"]["l"] = generator.choice(["a", "b", "c"])
            for key in ["ok", "fine"]:
                if generator.random() < 0.7:
                    brief["assertions"][key] = generator.random() < 0.6
            case = report_case(brief)
            case.inputs, case.source_case_name = number, source
            case.task_duration, case.total_duration = generator.random(), 1 + generator.random()
            cases.append(case)
    return EvaluationReport(name="golden", cases=cases, failures=failures, dataset_name="averages")


def golden_averages():
    reports = [averaged_report(seed, repeats, failing) for seed, repeats, failing in [(1, 1, 0.0), (2, 1, 0.4), (3, 1, 1.0), (4, 3, 0.0), (5, 3, 0.4), (6, 2, 0.9), (7, 4, 1.0)]]
    reports.append(EvaluationReport(name="empty", cases=[]))
    return [{"report": EvaluationReportAdapter.dump_python(report, mode="json"), "averages": averages(report)} for report in reports]


def averages(report):
    found = report.averages()
    return found and found.model_dump(mode="json")


def golden_judges():
    verdict = {"reason": "because", "pass": True, "score": 0.9}
    model = FunctionModel(lambda _messages, info: ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, verdict)]))
    configurations = [
        {},
        {"assertion": {}},
        {"assertion": False},
        {"score": {}, "assertion": False},
        {"score": {"include_reason": True}},
        {"score": {"evaluation_name": "blueness"}, "assertion": {"evaluation_name": ""}},
        {"score": {"evaluation_name": "x"}, "assertion": {"evaluation_name": "x"}},
        {"score": {"evaluation_name": "x", "include_reason": True}, "assertion": {"evaluation_name": "y", "include_reason": False}},
    ]

    async def run():
        found = []
        for arguments in configurations:
            dataset = Dataset(name="golden", cases=[Case(name="c", inputs="?")], evaluators=[LLMJudge(rubric="is blue", model=model, **arguments)])
            report = await dataset.evaluate(lambda _: "blue", progress=False)
            case = report.cases[0]
            assert not case.evaluator_failures, case.evaluator_failures
            outcomes = [{"key": key, "value": it.value, "reason": it.reason} for part in (case.scores, case.assertions) for key, it in part.items()]
            found.append({"arguments": arguments, "outcomes": outcomes})
        return found

    return asyncio.run(run())


def write(name, golden):
    package = f"pydantic-evals {version('pydantic-evals')}"
    text = json.dumps({"made_by": package, "golden": golden}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    (FOLDER / name).write_text(text.replace('{"title"', '\n{"title"').replace('{"evaluator"', '\n {"evaluator"') + "\n")


def check(path):
    report = EvaluationReportAdapter.validate_json(Path(path).read_bytes())
    again = EvaluationReportAdapter.dump_json(report)
    assert EvaluationReportAdapter.validate_json(again) == report, path
    report.render(include_input=True, include_output=True, include_reasons=True)
    print(json.dumps({"cases": len(report.cases), "failures": len(report.failures), "analyses": len(report.analyses), "averages": averages(report)}))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        check(path)
    if not sys.argv[1:]:
        write("analyses.json", golden_analyses())
        write("averages.json", golden_averages())
        write("judges.json", golden_judges())
