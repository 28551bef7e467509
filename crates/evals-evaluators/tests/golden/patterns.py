"""Makes patterns.json: what regular expressions match in Python 3.11.7, for the patterns that evaluators take.

    python3 crates/evals-evaluators/tests/golden/patterns.py

Each row is a pattern, flags, a text, and whether `re.search`, `re.match` and `re.fullmatch` find it; or null where Python
refuses the pattern.
"""

import json
import re
import warnings
from pathlib import Path

PATTERNS = [
    ("a)|(b", "", ["a", "b"]),
    (r"\\{,2}", "", ["\\", "{,2}"]),
    (r"[\]a-c&&b]{2}", "", ["]&", "d"]),
    ("abc", "", ["abc", "xabcx", "abcd", "ab"]),
    ("^a$", "", ["a", "a\n", "a\n\n", "b\na", "ba"]),
    ("^a$", "m", ["a", "a\nb", "b\na", "b\na\n", "ba"]),
    ("(?m)^a$", "", ["b\na\nc", "ba"]),
    ("(?m:^a$)|b$", "", ["c\na\nc", "b\nx", "b\n"]),
    (r"a\Z", "", ["a", "a\n"]),
    (r"\Aa", "", ["a", "\na"]),
    ("a.b", "", ["a\nb", "axb", "a🦀b"]),
    ("a.b", "s", ["a\nb"]),
    ("(?s)a.b", "", ["a\nb"]),
    ("straße", "i", ["STRAßE", "STRASSE"]),
    ("(?i)ÉCOLE", "", ["école"]),
    (r"\d+", "", ["٣", "12", "x"]),
    (r"\w+", "", ["漢字", "é", "-", "a_b"]),
    (r"\s", "", ["\u00a0", "\u2003", "x"]),
    (r"\bcat\b", "", ["cat", "concat", "a cat!"]),
    (r"[[]", "", ["[", "a"]),
    (r"[]a]+", "", ["]a", "b"]),
    (r"[^]a]", "", ["]", "b"]),
    (r"[a-z&&b]", "", ["&", "b", "C"]),
    (r"[a\-z]", "", ["-", "b"]),
    (r"[+--]", "", [",", "-", "*"]),
    (r"[a--]", "", ["a", "-"]),
    (r"[\]\[]", "", ["[", "]", "\\"]),
    (r"[~~a]", "", ["~", "a"]),
    (r"[\d\-x]", "", ["5", "-", "x", "y"]),
    ("a{2}", "", ["aa", "a", "a{2}"]),
    ("a{2,}", "", ["aaa", "a"]),
    ("a{,2}", "", ["", "aaa"]),
    ("a{,}", "", ["a{,}", "aa"]),
    ("a{x}", "", ["a{x}", "a"]),
    ("{", "", ["{", "}"]),
    ("}", "", ["{", "}"]),
    ('{"a": 1}', "", ['{"a": 1}', "x"]),
    ("a{2}}", "", ["aa}", "aa"]),
    (r"\{\}", "", ["{}"]),
    (r"(?P<q>['\"]).*(?P=q)", "", ["'a'", "'a\""]),
    (r"(a)\1", "", ["aa", "ab"]),
    ("(?<=a)b", "", ["ab", "cb"]),
    ("(?<!a)b", "", ["ab", "cb"]),
    ("a(?=b)", "", ["ab", "ac"]),
    ("a(?!b)", "", ["ab", "ac"]),
    ("(?>a+)b", "", ["aab"]),
    ("a++b", "", ["aab"]),
    ("a*?b", "", ["aab"]),
    ("(?#comment)a", "", ["a", "b"]),
    ("a(?# a (comment)b", "", ["ab", "a"]),
    ("a b # c", "x", ["ab", "a b"]),
    ("a b # $ (", "x", ["ab", "a b"]),
    ("(?x) a\n b # c\n $", "", ["ab", "ab\n", "abc"]),
    ("(?x:a b) c", "", ["ab c", "a b c"]),
    ("(?i:A)b", "", ["ab", "aB"]),
    ("(?-i:A)b", "i", ["AB", "aB"]),
    (r"\<a\>", "", ["<a>", "a"]),
    (r"\-\.\/\ \#", "", ["-./ #"]),
    (r"\t\n\r\x41\u00e9", "", ["\t\n\rAé"]),
    ("é|漢", "", ["é", "漢", "e"]),
    ("", "", ["", "a"]),
    ("a|", "", ["a", "", "b"]),
    ("(", "", [""]),
    ("a)", "", [""]),
    ("[a", "", [""]),
    ("*a", "", [""]),
    ("a**", "", [""]),
    ("a\\", "", [""]),
    ("(?P<n>a)(?P=m)", "", [""]),
    ("$", "", ["", "\n", "a", "a\nb"]),
    ("a$b", "", ["a$b", "a\nb"]),
    (r"a\$", "", ["a$"]),
    ("[$]", "", ["$", "a"]),
    ("(a|b)*c", "", ["ababc", "ab"]),
]


def found(pattern, flags, text):
    try:
        with warnings.catch_warnings(action="ignore"):
            compiled = re.compile(pattern, sum(getattr(re, flag.upper()) for flag in flags))
    except re.error:
        return None
    return [bool(find(text)) for find in (compiled.search, compiled.match, compiled.fullmatch)]


def main():
    rows = [[pattern, flags, text, found(pattern, flags, text)] for pattern, flags, texts in PATTERNS for text in texts]
    path = Path(__file__).with_suffix(".json")
    path.write_text("[\n%s\n]\n" % ",\n".join(map(json.dumps, rows)))
    print(f"{path.name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
