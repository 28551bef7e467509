"""Writes pyyaml_golden.json: what PyYAML's safe_load reads from scalars and documents.

    pip install PyYAML==6.0.3 && python make_pyyaml_golden.py > pyyaml_golden.json

Each entry is {"text", "value"} with the value as JSON holds it, or {"text", "outcome"} where PyYAML or JSON has no value:
"error" (PyYAML refuses the text), "gives up" (PyYAML matches the scalar and then fails to convert it) or "no JSON" (a value
that JSON cannot hold). Dates and times are the text that was written; integers beyond 64 bits are floats.
"""

import datetime
import itertools
import json
import math
import random
import sys

import yaml

assert yaml.__version__ == "6.0.3", yaml.__version__

WORDS = """
y Y n N yes Yes YES yEs no No NO true True TRUE tRue false False FALSE on On ON off Off OFF oN
~ null Null NULL nUll none None undefined nil
0 -0 +0 00 000 01 07 08 09 010 -010 +010 0o10 0o17 0O17 0x 0x1F 0X1F -0x1f +0xFF 0x_ 0x_1 0xg 0b 0b101 -0b101 0b_ 0b1_0 0b2
1 -1 +1 12 1_000 1__0 1_ _1 1_000_000 -1_0 --1 +-1 1- 1+ 0_ 0_0 0_7 0_8 0__7
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616
123456789012345678901234567890 0xffffffffffffffff 0x10000000000000000 0777777777777777777777777
1.0 1. .1 -.1 +.1 -0.0 +1.5 -1.5 1.5.6 . .. ... ._ ._1 .1_ 1._5 1_0.5 1.5_0 0_.5 .e1 .5e+1 .5e1
1e3 1E3 1e+3 1.0e3 1.0e+3 1.0E+3 1.0e-3 1.e+3 1.e3 1.5e+ 1.5e+_ 1.0e+999 -1.0e+999 1.0e-999 1.5e+1_0 e1 E+1 1.5f 1_.5e+2
.inf .Inf .INF -.inf +.inf -.Inf .iNf inf Infinity .nan .NaN .NAN .Nan nan NaN -.nan +.nan
1:30 1:60 1:5 1:05 0:30 00:30 12:30:45 12:30:60 190:20:30 -1:30 +1:30 1:30.5 1:30. 1:30.5_0 0:30. 0:30.5 1:3:0.25 1_0:30 1:_30 1: :1 1::2 1:30:
1:30.5e+3 1:30x 99999999999999999999:59 1:30,5
2021-05-08 2021-5-8 2021-13-45 2021-02-30 02021-05-08 21-05-08 2021-05 2021-05-081 2021-05-08T10:11:12 2021-05-08t10:11:12
2021-05-08T10:11:12Z 2021-05-08T10:11:12.5Z 2021-05-08T10:11:12.Z 2021-05-08T1:11:12 2021-05-08T10:1:12 2021-05-08T10:11
2021-05-08T10:11:12+02 2021-05-08T10:11:12+02:00 2021-05-08T10:11:12-5 2021-05-08T10:11:12+2:0 2021-5-8T10:11:12 2021-05-08T
2021-05-08T10:11:12ZZ 2021-05-08T10:11:12z 2021-05-08T25:11:12 2001-1-1
<< <<< = == =a a=b < > | - ? : -- -a ?a :a a: a#b #a & &a * ! !a % %a @ @a ` `a , ,a [ ] { } ' " '' "" '~' "1" 'yes' a'b a"b
1.2.3 1,000 1/2 50% $5 1e 1e-3 0.1e 12e03 -12 1d 0x1.8p1 ১২ １ é naïve yes! no. on: yes,no true_ _true
tag:yaml http://example.org:80/x?y=1#z C:\\dir a:b ::1 12:30pm 1-2 2021-W05 2021/05/08
""".split()

PHRASES = [
    "", " ", "2021-05-08 10:11:12", "2021-05-08 10:11:12 -5", "2021-05-08  10:11:12 Z", "2021-05-08\t10:11:12", "2021-05-08 10",
    "2021-05-08 10:11:12.123456789 +05:30", "a b", "a  b", "a # comment", "a #", "1 # one", "yes # y", "1 000", "- 1", "1 -", "a: b",
]

TAGGED = [
    "!!str 1", "!!str yes", "!!str", "!!str ~", "!!str 2021-05-08", "!!int '3'", "!!int 0x1F", "!!int '1:30'", "!!int x", "!!int ''",
    "!!float 3", "!!float '1e3'", "!!float .inf", "!!float x", "!!float 1_0", "!!bool 'yes'", "!!bool 'YES'", "!!bool x", "!!null ''",
    "!!null x", "!!null", "! 1", "! yes", "!x 1", "!!python/none", "!!python/tuple [1]", "!!binary aGk=", "!!timestamp 2021-05-08",
    "!!seq [1]", "!!map {a: 1}", "!!set {b, a}", "!!omap [a: 1, b: 2]", "!!pairs [a: 1, a: 2]", "!!omap [{a: 1, b: 2}]", "!!set [a]",
    "!<tag:yaml.org,2002:str> 1", "!!int 1.5",
]

DOCUMENTS = [
    "", "# comment\n", "---\n", "--- a\n", "---\na: 1\n...\n", "%YAML 1.1\n---\na: 010\n", "a: 1\n---\nb: 2\n", "- a\n- b\n",
    "a: 1\na: 2\n", "a: 1\nb: 2\na: 3\n", "? a\n: 1\n", "? a\n", "a:\nb:\n", "- \n-\n", "{a, b: , c: 1}", "[a, b, ]", "{a: [1, {b: c}], 'd': \"e\"}",
    "base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n", "more:\n  y: 3\n  <<: {x: 1, y: 2}\n", "- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]\n  z: 3\n",
    "- &a {x: 1}\n- &b {<<: *a, y: 2}\n- {<<: *b, x: 3}\n", "a: {<<: {x: 1}, <<: {x: 2}}\n", "a: {<<: 1}\n", "a: {'<<': 1}\n", "a: {<<: [1]}\n",
    "- &x [1, 2]\n- *x\n- *x\n", "- &x 1\n- &x 2\n- *x\n", "- *x\n", "&x a: 1\n*x : 2\n", "a: &x [*x]\n", "&a a: &b b\n*a : *b\n",
    "text: |\n  one\n  two\n", "text: |-\n  one\n  two\n", "text: |+\n  one\n\n\n", "text: >\n  one\n  two\n\n  three\n", "text: >-\n  one\n   two\n  three\n",
    "text: |2\n    one\n", "plain: one\n  two\n\n  three\n", "single: 'one\n  two\n\n  three'\n", "double: \"one\\\n  two\\n\\t\\x41\\u00e9\\U0001F600\\/\\_\\e\"\n",
    "'it''s': \"a\\\"b\"\n", "a: 'b' # c\n", "a:\n- 1\n- 2\nb:\n  - 3\n", "- - 1\n  - 2\n- - 3\n", "- a: 1\n  b: 2\n- c: 3\n", "a: b: c\n", "a: [1\n", "a: 'b\n",
    "\ta: 1\n", "a:\t1\n", "a: 1\n b: 2\n", "2: a\ntrue: b\n~: c\n1.5: d\n2021-05-08: e\n", "[a]: 1\n", "{[a]: 1}\n", "? [a]\n: 1\n", "a: !x {b: 1}\n", "a: %x\n", "a: @x\n",
    "a: \"\\q\"\n", "a: {b:1}\n", "a: {b:1, \"c\":2}\n", "a: [b:1, c: 2, \"d\":3]\n", "a: {x: http://h:80/p}\n", "a: -\n", "a: - b\n", "a: ?b\n", "- ?b\n- :c\n- -d\n",
    "a: [-1, - 2]\n", "a: 'x' y\n", "{a: 1\n b: 2}\n", "a: [\n1,\n2\n]\n", "a: {\nb: 1\n}\n", "a: &x\n  b: 1\nc: *x\n", "a: &x b\nc: [*x, d]\n", "a: !!str &x 1\nb: *x\n",
    "a: yes\nb: 'yes'\nc: \"yes\"\nd: |\n  yes\n", "\ufeffa: 1\n", "a: 1\r\nb: 2\r\n", "a:   1   \n", "a: b\n# c\nd: e\n", "a: 'b\n\n\n  c'\n", "#\n# x\n\n\na: 1\n\n\n",
    "a: |\n  b", "a: >-\n  b\n  c", "a: |+\n  b", "a: |\n  b\n ", "- |\n  b\n\n", "\"a\\n\"", "! \"1\"", "a: ! 'yes'\n",
    "a: 'b \u2028  c'\n", "a: b\u2029 c\n", "a: 'b\n  \u2028  c'\n", "a: \"b\\u2028 c\"\n",
    "a: 'b\x85    c'\n", "a: b\x85  c\x85d: e\x85", "# c\x85a: 5\n", "a: |\x85  b\r\x85  c\n", "a: >\n  b\x85  c\x85\x85  d\n", "a: \"b\x85  c\"\n",
    "- '\n\n\u2028  '\n", "- 'a\n\n\u2029\n  b\u2028c'\n", "a:\n  - - 'b\n\n\u2028\u2029\n\n      c'\n", "a: 'b\u2028\n  c'\n", "a: b \u2029\n\n  c\n",
    "a: 'it''s \u2028 it''s'\n", "a: b\u2028\n  \u2029 c\n", "a: b\u2029\nc: d\n",
    "a: >\n\n  b\n\n\n  c\n", "a: |\n\n  b\n   c\n  d\n", "- |\n x\n- >\n y\n", "a: \"b\n  c \\\n   d\"\n", "key with blanks: value with blanks\n", "? |\n  block\n: - one\n  - two\n",
]


def as_json(value):
    if isinstance(value, (datetime.date, bytes)):
        raise TypeError
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError
    if isinstance(value, bool) or value is None or isinstance(value, (float, str)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else float(value)
    if isinstance(value, dict):
        return {key(k): as_json(v) for k, v in value.items()}
    if isinstance(value, set):
        return [as_json(v) for v in value]
    return [as_json(v) for v in value]


def key(value):
    return value if isinstance(value, str) else str(value) if isinstance(value, datetime.date) else json.dumps(value)


class Loader(yaml.SafeLoader):
    """Keeps the text of dates and times, after it has constructed them, and the order of sets."""

    def timestamp(self, node):
        self.construct_yaml_timestamp(node)
        return node.value

    def ordered(self, node):
        return list(self.construct_mapping(node))


Loader.add_constructor("tag:yaml.org,2002:timestamp", Loader.timestamp)
Loader.add_constructor("tag:yaml.org,2002:set", Loader.ordered)


def read(text):
    entry = {"text": text}
    try:
        value = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        unconstructed = ["'tag:yaml.org,2002:value'", "'tag:yaml.org,2002:merge'"]
        outcome = "gives up" if any(tag in str(error) for tag in unconstructed) else "error"
        return entry | {"outcome": outcome}
    except (ValueError, IndexError, KeyError, AttributeError):
        return entry | {"outcome": "gives up"}
    try:
        return entry | {"value": as_json(value)}
    except (TypeError, RecursionError):
        return entry | {"outcome": "no JSON"}


def generated():
    """Scalars from the characters that the patterns of YAML 1.1 are about."""
    alphabets = ["0179_.:+-", "01_xbof7", "0123459:._", "e+-.19_", "yesnoNFtrufal", "2021-05-8T:1 Z+."]
    random.seed(11)
    for alphabet, length in itertools.product(alphabets, range(1, 9)):
        for _ in range(24):
            yield "".join(random.choice(alphabet) for _ in range(length)).strip()


def main():
    scalars = list(dict.fromkeys([*WORDS, *PHRASES, *generated()]))
    golden = {
        "pyyaml": yaml.__version__,
        # In a list, so that what cannot begin a document is tried where values stand.
        "scalars": [read(f"- {scalar}\n") for scalar in scalars] + [read(f"- {scalar}\n") for scalar in TAGGED],
        "documents": [read(document) for document in DOCUMENTS],
    }
    def lines(entries):
        return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)

    sys.stdout.write('{"pyyaml": "%s",\n"scalars": [\n%s\n],\n"documents": [\n%s\n]}\n' % (
        golden["pyyaml"], lines(golden["scalars"]), lines(golden["documents"])))


main()
