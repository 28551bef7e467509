"""Makes checks.json: what the evaluators of pydantic-evals that ask no model say about odd values.

Made with pydantic-evals 2.62.0 under Python 3.11.7:

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install pydantic-evals==2.62.0
    /tmp/golden/bin/python crates/evals-evaluators/tests/golden/checks.py

Each line of the file is one case: the evaluator as a dataset file writes it, what it judges, and its outcomes, its failure
(`TypeError: …`), or the error with which it refuses its arguments. Some reasons hold an error of Python itself, whose words
change between versions.
"""

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from pydantic_evals.evaluators import EvaluatorContext
from pydantic_evals.evaluators._run_evaluator import run_evaluator
from pydantic_evals.evaluators.common import DEFAULT_EVALUATORS
from pydantic_evals.evaluators.evaluator import EvaluatorFailure
from pydantic_evals.otel._errors import SpanTreeRecordingError
from pydantic_evals.otel.span_tree import SpanNode, SpanTree

EVALUATORS = {evaluator.__name__: evaluator for evaluator in DEFAULT_EVALUATORS}
START = datetime(2026, 1, 1, tzinfo=UTC)

CORE = [
    None, True, False, 0, 1, 1.0, -2.5, "", "a", "1", [], [1, "a"], {}, {"a": 1},
]  # fmt: skip

ODD = [
    0.1, 1e15, 1e16, 1.5e300, 1e-4, 1e-5, -0.0, 2**53 + 1, float(2**53), 2**63, -(2**63),
    "it's", 'say "hi"', "it's \"both\"", "tab\tline\nreturn\rback\\slash", "\x00\x1b\x7f\x80\x9f\xa0\xad",
    "é 漢 🦀", "e\u0301", "\u200b\u2028\u2029\ufeff", "\ue000\U000f0000\U000e0001", "\u0378\uffff", "\u3000 \u1680",
    ["it's", None, True, 1.0, {"k": [1, {"n": None}]}], [[[]], {}], {"it's": 'a "b"', "": {"é": [False]}},
]  # fmt: skip

LONG = [
    "x" * 98, "x" * 99, "é" * 300, "'" * 150, list(range(100)), {f"key {n}": n for n in range(40)},
    ["🦀" * 60, "y" * 60, "z" * 100],
]  # fmt: skip


def tool(name, arguments=None, **rest):
    attributes = {"gen_ai.tool.name": name}
    if arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = arguments
    return {"name": f"execute_tool {name}", "attributes": {**attributes, **rest.pop("attributes", {})}, **rest}


def chat(**rest):
    return {"name": "chat gpt", "attributes": {"gen_ai.request.model": "gpt", "gen_ai.operation.name": "chat"}, **rest}


SPANS = [
    {
        "name": "agent run",
        "seconds": 2.5,
        "attributes": {"agent_name": "it's", "n": 3, "flag": True, "ratio": 0.5, "tags": '["a", 1]', "nested": '{"a": {"b": 1}}'},
        "children": [
            chat(seconds=0.75, status="ok"),
            {
                "name": "running tools",
                "children": [
                    tool("search", '{"query": "rust", "k": 1}', seconds=0.25, status="ok"),
                    tool("search", '{"query": "python", "k": 1.0, "deep": {"a": [1, null]}}', status="error"),
                    tool("fetch", '{"url": "it\'s"}', children=[chat(), tool("search", "[1]")]),
                ],
            },
            tool("final_result", "{}", attributes={"logfire.msg": "running output function: final_result"}),
            tool("approve", "{}", attributes={"pydantic_ai.tool.deferral.name": "x"}),
            {"name": "running tool", "attributes": {"gen_ai.tool.name": "old", "tool_arguments": '{"v": 2}'}},
            {"name": "running output function", "attributes": {"gen_ai.tool.name": "old_final"}},
            {"name": "something else", "attributes": {"gen_ai.tool.name": "not a call"}},
            {"name": "execute_tool unnamed", "attributes": {"gen_ai.tool.name": 5}},
            tool("bare"),
        ],
    },
    {"name": "second root", "attributes": {"x": None}},
]

BROKEN = [
    "", "  ", "{", "{\"a\"", "{\"a\":", "{\"a\": 1", "{\"a\": 1,", "{\"a\": 1,}", "{\"a\" 1}", "{a: 1}", "{'a': 1}", "[1, 2", "[1,]", "[,1]", "nul",
    "truely", "\"open", "\"a\nb\"", "\"tab\tin\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\", "1 2", "{} {}", "{\"a\": 01}", "-", "+1", ".5",
    "1.", "1e", "{\n  \"a\": 1\n  \"b\": 2\n}", "[1\n\n,\n]", "\ufeff{}", "{\"é\": 漢}", "]", "}", "{\"a\": \"\\u12345", "[\"\\ud83e\", ]",
]  # fmt: skip

STUBS = ["[1, 2]", "\"text\"", "5", "null", "true", "1.5e3", "[]"]

QUERIES = [
    {}, {"name_equals": "agent run"}, {"name_equals": "agent"}, {"name_contains": "root"}, {"name_contains": "toor"},
    {"name_matches_regex": "second"}, {"name_matches_regex": "root"}, {"name_matches_regex": ".*root$"}, {"name_matches_regex": "(?i)SECOND"},
    {"has_attributes": {"agent_name": "it's"}}, {"has_attributes": {"n": 3.0}}, {"has_attributes": {"n": "3"}}, {"has_attributes": {"flag": 1}},
    {"has_attributes": {"tags": ["a", 1]}}, {"has_attributes": {"tags": ["a", 1.0]}}, {"has_attributes": {"tags": ["a"]}},
    {"has_attributes": {"nested": {"a": {"b": True}}}}, {"has_attributes": {"x": None}}, {"has_attributes": {"missing": None}},
    {"has_attributes": {"agent_name": "it's", "n": 4}}, {"has_attributes": {}}, {"has_attributes": {"agent_name": ["it's"]}},
    {"has_attribute_keys": ["n", "flag"]}, {"has_attribute_keys": ["n", "missing"]}, {"has_attribute_keys": []}, {"has_attribute_keys": ["x"]},
    {"has_status": "ok"}, {"has_status": "error"}, {"has_status": "unset"}, {"has_status": "ok", "name_contains": "fetch"},
    {"min_duration": 2.5}, {"min_duration": 2.5000004}, {"min_duration": 2.500001}, {"min_duration": 0}, {"max_duration": 0, "name_equals": "agent run"},
    {"max_duration": 0.25, "name_contains": "search", "has_status": "ok"}, {"max_duration": 0.2499, "name_contains": "search", "has_status": "ok"},
    {"not_": {"name_contains": "o"}}, {"not_": {"not_": {"name_equals": "second root"}}}, {"and_": [{"name_contains": "second"}, {"name_contains": "root"}]},
    {"and_": [{"name_contains": "second"}, {"name_contains": "agent"}]}, {"or_": [{"name_equals": "x"}, {"name_equals": "second root"}]},
    {"or_": [{"name_equals": "x"}, {"name_equals": "y"}]}, {"or_": [{"or_": [{"name_equals": "second root"}]}]}, {"and_": []},
    {"min_child_count": 9}, {"min_child_count": 10}, {"max_child_count": 0, "name_equals": "second root"},
    {"max_child_count": 0, "name_equals": "agent run"}, {"max_child_count": 9, "name_equals": "agent run"}, {"max_child_count": 8, "name_equals": "agent run"},
    {"min_child_count": 0, "name_equals": "second root"}, {"some_child_has": {"name_equals": "chat gpt"}, "name_contains": "fetch"},
    {"some_child_has": {"name_equals": "chat gpt"}, "name_contains": "tools"}, {"all_children_have": {"has_attribute_keys": ["gen_ai.tool.name"]}, "name_equals": "running tools"},
    {"all_children_have": {"has_status": "ok"}, "name_equals": "running tools"}, {"all_children_have": {"name_equals": "x"}, "name_equals": "second root"},
    {"no_child_has": {"has_status": "error"}, "name_equals": "running tools"}, {"no_child_has": {"name_equals": "x"}, "name_equals": "running tools"},
    {"min_descendant_count": 14}, {"min_descendant_count": 15}, {"max_descendant_count": 14, "name_equals": "agent run"}, {"max_descendant_count": 13, "name_equals": "agent run"},
    {"max_descendant_count": 0, "name_contains": "fetch"}, {"some_descendant_has": {"has_status": "error"}, "name_equals": "agent run"},
    {"some_descendant_has": {"has_status": "error"}, "name_contains": "fetch"}, {"all_descendants_have": {"name_matches_regex": "chat|execute"}, "name_contains": "fetch"},
    {"all_descendants_have": {"name_contains": "chat"}, "name_contains": "fetch"}, {"no_descendant_has": {"has_status": "error"}, "name_equals": "agent run"},
    {"no_descendant_has": {"name_equals": "x"}, "name_equals": "agent run"},
    {"some_descendant_has": {"has_status": "error"}, "stop_recursing_when": {"name_equals": "running tools"}, "name_equals": "agent run"},
    {"some_descendant_has": {"name_equals": "running tools"}, "stop_recursing_when": {"name_equals": "running tools"}, "name_equals": "agent run"},
    {"no_descendant_has": {"has_status": "error"}, "stop_recursing_when": {"name_contains": "tools"}, "name_equals": "agent run"},
    {"min_descendant_count": 14, "stop_recursing_when": {"name_contains": "tools"}, "name_equals": "agent run"},
    {"min_depth": 3}, {"min_depth": 4}, {"max_depth": 0, "name_contains": "fetch"}, {"max_depth": 0, "name_contains": "second"}, {"max_depth": 2, "name_contains": "fetch"},
    {"some_ancestor_has": {"name_equals": "agent run"}, "name_contains": "fetch"}, {"some_ancestor_has": {"name_equals": "second root"}},
    {"all_ancestors_have": {"name_contains": "run"}, "name_contains": "fetch"}, {"all_ancestors_have": {"name_contains": "agent"}, "name_contains": "fetch"},
    {"no_ancestor_has": {"name_contains": "agent"}, "name_contains": "fetch"}, {"no_ancestor_has": {"name_contains": "agent"}, "name_contains": "second"},
    {"some_ancestor_has": {"name_equals": "agent run"}, "stop_recursing_when": {"name_equals": "running tools"}, "name_contains": "fetch"},
    {"some_ancestor_has": {"name_equals": "running tools"}, "stop_recursing_when": {"name_equals": "running tools"}, "name_contains": "fetch"},
    {"name_equals": ""}, {"name_matches_regex": ""}, {"not_": {}}, {"or_": []}, {"some_child_has": {}, "name_equals": "second root"}, {"no_child_has": {}, "name_equals": "agent run"},
    {"some_descendant_has": {}, "name_equals": "second root"}, {"some_ancestor_has": {}, "name_equals": "second root"}, {"stop_recursing_when": {}, "some_descendant_has": {"has_status": "error"}, "name_equals": "agent run"},
    {"name_equal": "typo"}, {"or_": [{"name_equals": "x"}], "name_equals": "agent run"}, {"has_status": "failed"}, {"name_matches_regex": "("}, {"min_child_count": "1"}, "agent run", None, 5,
]  # fmt: skip


def cases():
    def one(evaluator, arguments, **judged):
        return {"evaluator": evaluator, "arguments": arguments, "judged": judged}

    for value in CORE:
        for output in CORE:
            yield one("Equals", {"value": value}, output=output)
            yield one("Contains", {"value": value}, output=output)
    for value in ODD + LONG:
        yield one("Equals", {"value": value}, output=value)
        yield one("Contains", {"value": "absent"}, output=value)
        yield one("Contains", {"value": value}, output=[])
        yield one("Contains", {"value": value}, output="some text")
        yield one("Contains", {"value": value}, output={"k": value})
        yield one("Contains", {"value": {"k": value}}, output={"k": 0})
        yield one("Contains", {"value": value, "as_strings": True}, output=[value])
        yield one("Contains", {"value": value, "as_strings": True}, output="x")
        yield one("IsInstance", {"type_name": "str"}, output=value)
    for one_value, other in [
        (2**53 + 1, float(2**53)), (2**53, float(2**53)), (2**63, 2.0**63), (2**64 - 1, 2.0**64), (0, -0.0), (0.1, 0.1000000000000000055),
        ([1, True, {"a": 1.0}], [True, 1.0, {"a": True}]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": 1}, {"a": 1, "b": 2}), ([1, 2], [2, 1]),
        ("é", "e\u0301"), ([], {}), (None, False), ("1", 1),
    ]:  # fmt: skip
        yield one("Equals", {"value": one_value}, output=other)
        yield one("EqualsExpected", {}, output=other, expected=one_value)
        yield one("Contains", {"value": [one_value]}, output=[[other]])
    for expected in CORE:
        yield one("EqualsExpected", {}, output="a", expected=expected)
    for name in ["renamed", "", None, 5, "Equals"]:
        yield one("Equals", {"value": 1, "evaluation_name": name}, output=1)
        yield one("EqualsExpected", {"evaluation_name": name}, output=1, expected=1)
        yield one("Contains", {"value": "b", "evaluation_name": name}, output="a")
    for value, output, arguments in [
        ("HELLO", "say hello", {"case_sensitive": False}), ("HELLO", "say hello", {}), ("ß", "STRASSE", {"case_sensitive": False}),
        ("ΟΔΟΣ", "οδος", {"case_sensitive": False}), ("İ", "i̇stanbul", {"case_sensitive": False}), ("Ab", "xABY", {"case_sensitive": False}),
        ("ZZ", "xABY", {"case_sensitive": False}), ("A", ["a"], {"case_sensitive": False}), ("a", {"A": 1}, {"case_sensitive": False}),
        ("true", True, {"as_strings": True}), ("true", True, {"as_strings": True, "case_sensitive": False}), (1, 12.5, {"as_strings": True}),
        (None, "None", {"as_strings": True}), ([1], [1, 2], {"as_strings": True}), ([1, 2], "x[1, 2]y", {"as_strings": True}),
        ({"a": 1}, {"a": 1}, {"as_strings": True}), ({"a": 1}, {"b": 2, "a": 1}, {"as_strings": True}), ("'", "it's", {"as_strings": True}),
        ({"a": 1, "b": 2}, {"a": 1}, {}), ({"b": 2, "c": 3}, {"a": 1}, {}), ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {}), ({"a": [1]}, {"a": [1.0]}, {}),
        ({"k" * 50: 1}, {}, {}), ({"it's " * 20: 1}, {"it's " * 20: 2}, {}), ({"a": "x" * 200}, {"a": ["y"] * 100}, {}), ({}, {"a": 1}, {}),
        ("k" * 300, {"k": 1}, {}), ("", "", {}), ("", "a", {}), ("", [""], {}), ([], [[]], {}), ({"a": 1}, [{"a": 1}], {}), ({"a": 1}, "a", {}),
    ]:  # fmt: skip
        yield one("Contains", {"value": value, **arguments}, output=output)
    for name in ["str", "int", "float", "bool", "list", "dict", "NoneType", "object", "tuple", "Str", "", None, 5, ["str"]]:
        for output in [None, True, 1, 1.0, "x", [], {}]:
            yield one("IsInstance", {"type_name": name}, output=output)
    yield one("IsInstance", {"type_name": "str", "evaluation_name": "text"}, output=1)
    for seconds in [2, 2.0, 0, -1, True, False, 1e-7, 0.0000005, 0.1 + 0.2, 1e9, 1e20, "2", "PT2S", None, [], {}]:
        for duration in [0.0, 0.0000004, 0.3, 2.0, 2.0000004, 2.000001]:
            yield one("MaxDuration", {"seconds": seconds}, output=None, duration=duration)

    for query in QUERIES:
        yield one("HasMatchingSpan", {"query": query}, output=None, spans=SPANS)
    yield one("HasMatchingSpan", {"query": {}}, output=None, spans=[])
    yield one("HasMatchingSpan", {"query": {}}, output=None)
    yield one("HasMatchingSpan", {"query": {"name_equals": "agent run"}, "evaluation_name": "ran"}, output=None, spans=SPANS)

    every = ["search", "search", "fetch", "search", "old", "bare"]
    succeeded = ["search", "fetch", "search", "old", "bare"]
    lists = [
        [], every, succeeded, sorted(succeeded), ["search"], ["fetch", "search"], ["search", "fetch"], ["search"] * 4, ["it's", 'say "hi"', "missing"],
        ["bare", "old", "search", "fetch", "search", "extra"], ["old_final", "final_result", "approve"], "search", None, 5, [1], [None], {"search": 1}, [["search"]],
    ]  # fmt: skip
    for names in lists:
        for spans in [SPANS, [], None]:
            for arguments in [{}, {"allow_extra": True}, {"include_failed": True}]:
                yield one("ToolCorrectness", {"expected_tools": names, **arguments}, output=None, spans=spans)
            for arguments in [{}, {"order": "exact"}, {"order": "any_order"}, {"order": "in_order", "include_failed": True}]:
                yield one("TrajectoryMatch", {"expected_trajectory": names, **arguments}, output=None, spans=spans)
    yield one("TrajectoryMatch", {"expected_trajectory": every, "order": "exact", "include_failed": True}, output=None, spans=SPANS)
    yield one("TrajectoryMatch", {"expected_trajectory": every, "order": "sorted"}, output=None, spans=SPANS)
    yield one("ToolCorrectness", {"expected_tools": every, "allow_extra": "yes"}, output=None, spans=SPANS)
    yield one("ToolCorrectness", {"expected_tools": [], "allow_extra": 1}, output=None, spans=SPANS)

    for tool_name, expected, arguments in [
        ("search", {"query": "rust"}, {}), ("search", {"query": "rust", "k": True}, {}), ("search", {"query": "it's"}, {}), ("search", {}, {}),
        ("search", {"query": "rust"}, {"match_mode": "exact"}), ("search", {"query": "rust", "k": 1}, {"match_mode": "exact"}), ("search", {}, {"match_mode": "exact"}),
        ("search", {"k": 2, "page": 1}, {"match_mode": "exact"}), ("search", {"deep": {"a": [1, None]}}, {"occurrence": 1, "include_failed": True}),
        ("search", {"deep": {"a": [1]}}, {"occurrence": 1, "include_failed": True}), ("search", {}, {"occurrence": "last"}), ("search", {}, {"occurrence": 1}),
        ("search", {}, {"occurrence": 2}), ("search", {}, {"occurrence": -1}), ("search", {}, {"occurrence": True}), ("search", {}, {"occurrence": 1.0}),
        ("search", {}, {"occurrence": "second"}), ("search", {}, {"occurrence": None}), ("search", {}, {"occurrence": [0]}), ("fetch", {"url": "it's"}, {}),
        ("fetch", {"url": 'say "hi"', "k": None}, {}), ("old", {"v": 2}, {}), ("old", {"v": 2.0, "w": 1e16}, {}), ("bare", {}, {}), ("absent", {}, {}), ("it's", {}, {}),
        ("final_result", {}, {}), ("approve", {}, {}), ("search", {"query": "x"}, {"match_mode": "superset"}), ("search", [], {}), ("search", None, {}), (5, {}, {}), (None, {}, {}),
    ]:  # fmt: skip
        yield one("ArgumentCorrectness", {"tool_name": tool_name, "expected_arguments": expected, **arguments}, output=None, spans=SPANS)
    yield one("ArgumentCorrectness", {"tool_name": "search", "expected_arguments": {}}, output=None)
    for text in BROKEN + STUBS:
        yield one("ArgumentCorrectness", {"tool_name": "t", "expected_arguments": {"a": 1}}, output=None, spans=[tool("t", text)])
    for text in ['{"a": NaN}', '{"a": "\\ud83e"}', '{"a": 1e999}', '{"a": 100000000000000000000}', '{"a": 1, "b": 2, "a": 3}', '{"b": 1.50, "a": 1.0}']:
        yield one("ArgumentCorrectness", {"tool_name": "t", "expected_arguments": {"a": 1}, "match_mode": "exact"}, output=None, spans=[tool("t", text)])

    for most in [0, 4, 5, 6, 6.0, 5.5, True, -1, "5", None]:
        yield one("MaxToolCalls", {"max_calls": most}, output=None, spans=SPANS)
        yield one("MaxToolCalls", {"max_calls": most, "include_failed": False}, output=None, spans=SPANS)
        yield one("MaxModelRequests", {"max_requests": most}, output=None, spans=SPANS)
        yield one("MaxModelRequests", {"max_requests": most}, output=None, spans=SPANS, metrics={"requests": 5.0})
        yield one("MaxModelRequests", {"max_requests": most}, output=None, spans=[], metrics={"requests": 5.9})
        yield one("MaxToolCalls", {"max_calls": most}, output=None, spans=[])
        yield one("MaxToolCalls", {"max_calls": most}, output=None)
        yield one("MaxModelRequests", {"max_requests": most}, output=None, metrics={"requests": 5.0})

    yield one("Equals", {}, output=1)
    yield one("Equals", {"value": 1, "other": 2}, output=1)
    yield one("HasMatchingSpan", {"name_equals": "x"}, output=1, spans=SPANS)
    yield one("Equals", {"value": 10**30}, output=10**30)
    yield one("Equals", {"value": 10**30}, output=1e30)
    yield one("Contains", {"value": 1}, output=[10**30])
    yield one("Contains", {"value": "a", "case_sensitive": "no"}, output="A")
    yield one("Contains", {"value": "a", "case_sensitive": None}, output="A")
    yield one("Contains", {"value": 1, "as_strings": 1}, output="1")


def tree(spans):
    nodes = []

    def add(span, parent):
        number = len(nodes) + 1
        start = START + timedelta(milliseconds=number)
        nodes.append(
            SpanNode(
                name=span["name"],
                trace_id=1,
                span_id=number,
                parent_span_id=parent,
                start_timestamp=start,
                end_timestamp=start + timedelta(seconds=span.get("seconds", 0)),
                attributes=span.get("attributes", {}),
                status=span.get("status", "unset"),
            )
        )
        for child in span.get("children", []):
            add(child, number)

    for span in spans:
        add(span, None)
    made = SpanTree()
    made.add_spans(nodes)
    return made


async def judge(evaluator, judged):
    spans = judged.get("spans")
    context = EvaluatorContext(
        name="case",
        inputs=None,
        metadata=None,
        expected_output=judged.get("expected"),
        output=judged["output"],
        duration=judged.get("duration", 0.0),
        _span_tree=SpanTreeRecordingError("not recorded") if spans is None else tree(spans),
        attributes={},
        metrics=judged.get("metrics", {}),
    )
    found = await run_evaluator(evaluator, context)
    if isinstance(found, EvaluatorFailure):
        return {"failure": found.error_message}
    outcomes = [{"name": result.name, "value": result.value, "reason": result.reason} for result in found]
    return {"outcomes": outcomes}


def main():
    assert version("pydantic-evals") == "2.62.0", version("pydantic-evals")
    lines = []
    for case in cases():
        try:
            evaluator = EVALUATORS[case["evaluator"]](**case["arguments"])
        except (TypeError, ValueError) as error:
            case["refused"] = str(error)
        else:
            spec = evaluator.as_spec()
            case["spec"] = spec.arguments if spec.arguments is None else spec.arguments
            case.update(asyncio.run(judge(evaluator, case["judged"])))
        if case["judged"].get("spans") is SPANS:
            case["judged"]["spans"] = "shared"
        lines.append(json.dumps(case, allow_nan=False))
    path = Path(__file__).with_suffix(".json")
    head = json.dumps({"spans": SPANS})[1:-1]
    path.write_text("{%s, \"cases\": [\n%s\n]}\n" % (head, ",\n".join(lines)))
    print(f"{path.name}: {len(lines)} cases, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
