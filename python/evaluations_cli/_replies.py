"""What a function may return, as a reply of the protocol that `docs/targets-reference.md` describes."""

from __future__ import annotations

import dataclasses
import json
import numbers
from typing import Any, Dict, Iterable, Mapping, Optional, Union

# A reply has at least one of these members; a dict without any is an answer.
CONTENT = ("answer", "output", "documents", "tool_calls", "spans", "refused", "error")
MEMBERS = (*CONTENT, "citations", "usage", "model", "attributes", "metrics", "version", "latency_ms", "latency_seconds")


def reply_of(value: Any) -> Dict[str, Any]:
    """Return the reply for what a function returned.

    A text, a number or None is the answer, and a list is the documents. A dict, or an object with attributes, is the reply itself if
    it has an answer or documents, and otherwise the answer.
    """
    if isinstance(value, BaseException):
        return {"error": f"{type(value).__name__}: {value}"}
    if isinstance(value, (list, tuple)):
        return {"documents": [document(found) for found in value]}
    if isinstance(value, Mapping):
        members = dict(value)
    else:
        held = {name: getattr(value, name, None) for name in MEMBERS}
        members = {name: member for name, member in held.items() if member is not None and not callable(member)}
    if not any(name in members for name in CONTENT):
        return {"answer": value}
    if members.get("documents") is not None:
        members["documents"] = [document(found) for found in members["documents"]]
    return members


def document(found: Any, key: Optional[str] = None) -> Union[str, Dict[str, Any]]:
    """Return one found document as a reply has it: an id, or a dict of `id`, `score`, `title` and `text`.

    Takes ids, dicts, pairs with a score, and the documents of LangChain, LlamaIndex and Haystack. `key` names the entry of their metadata
    that holds the id of the document; without it, that is the entry `id` or `source_id`, or else the object's own id.
    """
    if isinstance(found, (str, numbers.Integral)):
        return str(found)
    if isinstance(found, tuple) and len(found) == 2:
        inner = document(found[0], key)
        return {**({"id": inner} if isinstance(inner, str) else inner), "score": found[1]}
    if isinstance(found, Mapping):
        return dict(found)
    # LlamaIndex puts the score beside the node.
    node = getattr(found, "node", found)
    metadata = first(node, "metadata", "meta") or {}
    if key is not None and key not in metadata:
        raise KeyError(f"no `{key}` in the metadata of a document, which has {', '.join(metadata) or 'none'}")
    held = first(metadata, *(("id", "source_id") if key is None else (key,)))
    members = {
        "id": first(node, "ref_doc_id", "id", "id_") if held is None else held,
        "score": first(found, "score"),
        "title": first(metadata, "title") or first(node, "title"),
        "text": first(node, "page_content", "content", "text"),
    }
    if members["id"] is None and members["text"] is None:
        raise TypeError(f"`{type(found).__name__}` is not a document: it has neither an id nor a text")
    return {name: value for name, value in members.items() if value is not None}


def first(value: Any, *names: str) -> Any:
    """The first of these entries of a dict, or attributes of an object, that is not None."""
    read = value.get if isinstance(value, Mapping) else lambda name: getattr(value, name, None)
    return next((held for held in map(read, names) if held is not None), None)


def joined(chunks: Iterable[Any]) -> Any:
    """What a generator yielded, as one value: texts become one text, anything else a list."""
    held = list(chunks)
    return "".join(held) if all(isinstance(chunk, str) for chunk in held) else held


def line(reply: Mapping[str, Any]) -> bytes:
    """Return a reply as a line of JSON. Raises TypeError or ValueError for a value that JSON cannot hold."""
    return json.dumps(reply, default=_plain, ensure_ascii=False).encode() + b"\n"


def _plain(value: Any) -> Any:
    """A value that JSON does not know: pydantic's models, numbers and arrays of numpy, times, dataclasses and sets."""
    for method in ("model_dump", "tolist", "isoformat"):
        if hasattr(value, method):
            return getattr(value, method)()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"`{type(value).__name__}` cannot be written as JSON")
