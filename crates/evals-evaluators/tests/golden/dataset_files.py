"""Makes dataset_files/loads.json: what pydantic-evals reads from dataset files, right and wrong ones.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install pydantic-evals==2.62.0
    /tmp/golden/bin/python crates/evals-evaluators/tests/golden/dataset_files.py

Each entry is {"format", "text"} with "loaded" (name, cases, evaluators as the package writes them briefly) or "errors" (the
package's own messages, for the reader; ours are worded otherwise). The script also loads written.yaml and written.json,
which our tests hold our writer to, and fails unless the package reads the same from both.
"""

import json
import math
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic_evals import Dataset

VERSION = "2.62.0"
assert version("pydantic-evals") == VERSION, version("pydantic-evals")

CASE = "cases:\n- inputs: 1\n  evaluators:\n  - "

YAML = [
    "cases:\n- inputs: yes\n- inputs: 1:30\n- inputs: 010\n- inputs: 1e3\n- inputs: 2021-05-08\n- inputs: 0o10\n- inputs: 1_000\n- inputs: ~\n- inputs: 'on'\n- {inputs: on}\n",
    "cases:\n- inputs: .nan\n",
    "cases:\n- inputs: [1, -.inf]\n",
    "cases: []",
    "cases: []\nname: null\n",
    "cases:\n- inputs: 1\n  evaluators:\n  - {name: Equals, arguments: [{a: 1}]}\n  - {name: Equals, arguments: {value: {a: 1}}}\n  - {name: EqualsExpected, arguments: null}\n  - Equals: {value: 3}\n  - Equals: [1,2]\n  - Equals: {1: 2}\n  - Contains: {value: x, case_sensitive: false}\n  - EqualsExpected\n  - EqualsExpected: foo\n  - EqualsExpected: {}\n  - EqualsExpected: null\n  - LLMJudge: {rubric: r, score: {}, assertion: false}\n",
    CASE + "MaxDuration: '2'\n",
    CASE + "{name: EqualsExpected}\n",
    CASE + "{Equals: 1, Contains: 2}\n",
    CASE + "Equals: {a: 1}\n  - Nope\n  - Nope2\n  - Nope3\n",
    "cases:\n- inputs: 1\n  evaluators: null\n",
    "cases:\n- inputs: 1\n  extra: null\n",
    "cases:\n- name: a\n  inputs: 1\n- name: a\n  inputs: 2\n",
    "cases:\n- name: Case 2\n  inputs: 1\n- inputs: 2\n",
    "cases:\n- name: 5\n  inputs: 1\n",
    "cases:\n- {}\n",
    "cases:\n- inputs: 1\n  inputs: 2\n",
    "a: &x {inputs: 1}\ncases:\n- *x\n",
    "",
    "name: ''\ncases: []\n",
    *(
        CASE + spec + "\n"
        for spec in [
            "{name: Equals, arguments: [1], extra: 2}", "{name: Equals, arguments: {value: 1}, extra: 2}", "{name: Equals, arguments: []}",
            "{name: Equals, arguments: [1, 2]}", "{name: Equals, arguments: 1}", "{name: Equals, arguments: {1: 2}}", "{name: 5, arguments: null}",
            "{name: null, arguments: null}", "{Equals: 1, arguments: [1]}", "5", "null", "[Equals]", "''", "{5: 1}", "{}", "{arguments: [1]}",
            "{name: {a: 1}}", "true", "{name: [1]}", "{name: EqualsExpected, arguments: {}}", "IsInstance: str\n    Equals: 2", "EqualsExpected: [a]",
            "IsInstance", "IsInstance: str", "IsInstance: {type_name: str, evaluation_name: null}", "Equals: null", "Equals: {}", "Equals: {value: null}",
            "Contains: {value: x, case_sensitive: true, as_strings: false}", "Contains: {case_sensitive: false}", "Contains: {value: {a: 1}}",
            "equals: 1", "Python: x", "ConfusionMatrixEvaluator", "MaxDuration: 2", "MaxDuration: {seconds: 2.0}", "Equals: {value: 1, a: 2, b: 3}",
            "GEval: {criteria: c, evaluation_steps: [a], score_range: [5, 1]}", "GEval: {criteria: c, evaluation_steps: [a], score_range: [1, 10]}",
            "HasMatchingSpan: {query: {name_equals: x}}", "HasMatchingSpan: {name_equals: x}",
        ]
    ),
    "name: 5\ncases: []\n", "name: true\ncases: []\n", "cases: {}\n", "cases: null\n", "cases: [null]\n", "cases: [5]\n", "- 1\n", "5\n", "{}\n",
    "cases: []\nevaluators: Equals\n", "cases: []\nreport_evaluators: null\n", "cases: []\nreport_evaluators: [Equals]\n",
    "cases: []\nevaluators: [ConfusionMatrixEvaluator]\n", "$schema: x\ncases: []\n", "$schema: null\ncases: []\n", "$schema: 5\ncases: []\n", "1: 2\ncases: []\n",
    "cases: [{inputs: 1, 1: 2}]\n", "cases: [{inputs: 1, name: ''}, {inputs: 1, name: ''}]\n", "cases: [{inputs: 1, name: ~}, {inputs: 1, name: ~}]\n",
    "json_schema_path: x\ncases: []\n", "name: 2021-05-08\ncases: []\n", "cases: [{inputs: 1, evaluators: {Equals: 1}}]\n", "cases: [{inputs: 1, expected: 2}]\n",
    "cases:\n- &a {inputs: {q: 1}, metadata: {k: [a, {b: c}]}}\n- <<: *a\n  name: b\n  expected_output: null\n",
    "cases: [{inputs: {2: a, yes: b, ~: c, x: !!set {d}}}]\n", "cases: [{inputs: !!binary aGk=}]\n", "cases: [{inputs: !x 1}]\n", "cases: [\n", "cases: []\n---\ncases: []\n",
    "# yaml-language-server: $schema=x\nname: n\ncases: []\nevaluators:\n- Contains: HE\n- Contains: {value: {a: 1}}\n",
]

JSON = [
    '{"$schema": "foo.json", "name": "n", "cases": [{"inputs": 1}]}',
    '{"cases": [{"inputs": NaN}]}',
    '{"$schema": 5, "name": "n", "cases": [{"inputs": 1}]}',
    '{"name": "n", "cases": [{"inputs": 1, "inputs": 2, "evaluators": ["IsInstance"]}]}',
    '{"name": "n", "cases": [{"inputs": 1, "inputs": 2, "evaluators": []}]}',
    '{"name": "n", "cases": [{"inputs": 1}], "evaluators": [{"GEval": {"criteria": "c", "evaluation_steps": ["a"], "score_range": [5, 1]}}]}',
    '{"name": "n", "cases": [{"inputs": 1}], "evaluators": [{"GEval": {"criteria": "c", "evaluation_steps": ["a"], "score_range": [1, 10]}}, {"HasMatchingSpan": {"query": {"name_equals": "x"}}}, {"HasMatchingSpan": {"name_equals": "x"}}]}',
    '{"cases": [{"inputs": {"1": 2.0, "b": 1e3}}], "evaluators": [{"Equals": {"value": 1.0}}, {"name": "Equals", "arguments": [null]}]}',
    '{"cases": [],}', "", "[]", "null", '{"cases": [{"inputs": "\\ud83d\\ude00"}]}',
]


def plain(value):
    """The value as JSON, dates as their text."""
    return json.loads(json.dumps(value, default=lambda other: sorted(other) if isinstance(other, set) else other.isoformat()))


def finite(value):
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(finite(item) for item in value.values())
    return all(finite(item) for item in value) if isinstance(value, (list, tuple, set)) else True


def briefly(evaluators):
    return [plain(evaluator.as_spec().model_dump(mode="json", context={"use_short_form": True})) for evaluator in evaluators]


def contents(dataset):
    return {
        "name": dataset.name,
        "cases": [
            {
                "name": case.name,
                "inputs": plain(case.inputs),
                "metadata": plain(case.metadata),
                "expected_output": plain(case.expected_output),
                "evaluators": briefly(case.evaluators),
            }
            for case in dataset.cases
        ],
        "evaluators": briefly(dataset.evaluators),
        "report_evaluators": briefly(dataset.report_evaluators),
    }


def load(text, fmt):
    entry = {"format": fmt, "text": text}
    try:
        dataset = Dataset[Any, Any, Any].from_text(text, fmt=fmt, default_name="default")
    except Exception as error:
        messages = [str(inner) for inner in getattr(error, "exceptions", [error])]
        return entry | {"errors": [message[:200] for message in messages]}
    if not all(finite(case.inputs) for case in dataset.cases):
        return entry | {"errors": ["loads, with a number that JSON cannot hold"]}
    try:
        return entry | {"loaded": contents(dataset)}
    except AttributeError:
        return entry | {"errors": ["loads, with a value that JSON cannot hold"]}


def main():
    here = Path(__file__).parent / "dataset_files"
    written = [contents(Dataset[Any, Any, Any].from_file(here / name)) for name in ["written.yaml", "written.json"]]
    assert written[0] == written[1], "the package reads other values from written.yaml than from written.json"
    entries = [load(text, "yaml") for text in YAML] + [load(text, "json") for text in JSON]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    golden = ('{"pydantic_evals": "%s",\n"written": %s,\n"loads": [\n%s\n]}\n' % (VERSION, json.dumps(written[0], ensure_ascii=False), lines))
    (here / "loads.json").write_text(golden, encoding="utf-8")


main()
