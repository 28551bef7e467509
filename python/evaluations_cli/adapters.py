"""Makes targets of what frameworks for retrieval and agents build: `serve(langchain(chain))`.

Each adapter returns a function for `serve` and `run`. None imports its framework. `id` names the entry of the documents' metadata that
holds the id of the document in the dataset; without it, `evaluations_cli` takes `id` or `source_id`, else the framework's own id, and
documents with other ids are matched by their text.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._replies import document, first

Adapted = Callable[[Any], Any]


def langchain(runnable: Any, *, id: Optional[str] = None, input: Optional[Callable[[Any], Any]] = None) -> Adapted:
    """Adapt a retriever, chain, model or graph of LangChain, which has `invoke`.

    A chain whose input is a dict needs `input`, such as `input=lambda question: {"input": question}`. Of a dict that it returns, `answer`,
    `result`, `output` or the last of `messages` is the answer, and `documents`, `context` or `source_documents` are the documents.
    """

    def ask(question: Any) -> Any:
        found = runnable.invoke(input(question) if input else question)
        if isinstance(found, list):
            return {"documents": _documents(found, id)}
        if not isinstance(found, Mapping):
            return _of_message(found)
        answer = first(found, "answer", "result", "output")
        if answer is None and found.get("messages"):
            answer = found["messages"][-1]
        documents = first(found, "documents", "context", "source_documents")
        reply = {} if answer is None else _of_message(answer)
        if isinstance(documents, list):
            reply["documents"] = _documents(documents, id)
        return reply or {"answer": found}

    return ask


def _of_message(answer: Any) -> Dict[str, Any]:
    """The reply of a chat model: the text of its message, with tokens and calls of tools. Anything else is the answer."""
    if not hasattr(answer, "content"):
        return {"answer": answer}
    text = getattr(answer, "text", None)
    reply: Dict[str, Any] = {"answer": str(text) if isinstance(text, str) else answer.content}
    usage = getattr(answer, "usage_metadata", None)
    if usage:
        reply["usage"] = {name: usage[name] for name in ("input_tokens", "output_tokens")}
        model = first(getattr(answer, "response_metadata", None) or {}, "model_name", "model")
        reply.update({"model": model} if model else {})
    calls = getattr(answer, "tool_calls", None)
    if calls:
        reply["tool_calls"] = [{"name": call["name"], "arguments": call["args"]} for call in calls]
    return reply


def llamaindex(engine: Any, *, id: Optional[str] = None) -> Adapted:
    """Adapt a query engine, chat engine or retriever of LlamaIndex. Its documents have the ids of those that their nodes come from."""

    def ask(question: Any) -> Any:
        if not hasattr(engine, "query") and not hasattr(engine, "chat"):
            return {"documents": _documents(engine.retrieve(question), id)}
        response = engine.query(question) if hasattr(engine, "query") else engine.chat(question)
        # `str` also reads a streamed response to its end.
        return {"answer": str(response), "documents": _documents(response.source_nodes, id)}

    return ask


def haystack(
    pipeline: Any, *, id: Optional[str] = None, input: Optional[Callable[[Any], Any]] = None, documents: Optional[str] = None
) -> Adapted:
    """Adapt a pipeline of Haystack.

    The question goes into every open input named `query`, `question` or `text`; `input` makes other data for `pipeline.run`. The answer
    is the first of `answers` or `replies`. The documents are those of the answer, of the last component, or of the only one that has
    any; `documents` names the component if there are several.
    """
    outputs = pipeline.outputs(include_components_with_connected_outputs=True)
    if documents and "documents" not in outputs.get(documents, {}):
        raise ValueError(f"the pipeline has no component `{documents}` with documents; it has {', '.join(outputs)}")
    finding = [documents] if documents else [name for name, sockets in outputs.items() if "documents" in sockets]

    def data(question: Any) -> Any:
        asked = {"query": question, "question": question, "text": question}
        opened = pipeline.inputs().items()
        return {name: {socket: asked[socket] for socket in sockets if socket in asked} for name, sockets in opened if asked.keys() & sockets}

    def ask(question: Any) -> Any:
        found = pipeline.run((input or data)(question), include_outputs_from=set(finding))
        reply: Dict[str, Any] = {}
        held = None
        for answer in [answer for made in found.values() for answer in made.get("answers") or made.get("replies") or []][:1]:
            reply["answer"] = answer if isinstance(answer, str) else first(answer, "data", "text")
            held = None if documents else first(answer, "documents")
        if not held and finding:
            held = found.get(_only(finding, pipeline), {}).get("documents")
        if held is not None:
            reply["documents"] = _documents(held, id)
        return reply

    return ask


def _only(finding: List[str], pipeline: Any) -> str:
    """The component whose documents count: the only one, or the only one at the end of the pipeline."""
    last = [name for name in finding if name in pipeline.outputs()] if len(finding) > 1 else finding
    if len(last) != 1:
        raise ValueError(f"several components have documents: {', '.join(finding)}; name one with `documents=`")
    return last[0]


def pydantic_ai(agent: Any, *, id: Optional[str] = None, documents: Optional[str] = None) -> Adapted:
    """Adapt an agent of pydantic-ai. `documents` names the tool that returns a list of documents."""

    async def ask(question: Any) -> Any:
        result = await agent.run(question)
        usage = result.usage() if inspect.ismethod(result.usage) else result.usage
        messages = result.all_messages()
        parts = [part for message in messages for part in message.parts]
        calls = [part for part in parts if part.part_kind == "tool-call"]
        reply = {
            "answer": result.output,
            "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
            "tool_calls": [{"name": call.tool_name, "arguments": call.args_as_dict()} for call in calls],
        }
        models = [message.model_name for message in messages if first(message, "model_name")]
        if models:
            reply["model"] = models[-1]
        if documents:
            returned = [part.content for part in parts if part.part_kind == "tool-return" and part.tool_name == documents]
            reply["documents"] = _documents([found for content in returned for found in content], id)
        return reply

    return ask


def _documents(found: List[Any], id: Optional[str]) -> List[Any]:
    return [document(it, id) for it in found]
