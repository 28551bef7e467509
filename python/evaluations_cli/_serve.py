"""Answers the requests of a target `exec:COMMAND` with a Python function."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import queue
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from ._replies import joined, line, reply_of

Request = Dict[str, Any]

# How long a batch waits for its next request.
GATHERING_SECONDS = 0.02
# The most calls of an async function at the same time, unless `concurrency` says otherwise.
ASYNC_CONCURRENCY = 64


def serve(function: Callable[..., Any], *, batch: Optional[int] = None, concurrency: Optional[int] = None) -> None:
    """Make a function the target of `evaluations … --target 'exec:python FILE.py'`. Returns when the run has ended.

    The function takes a question, or the inputs of a dataset file's case, and returns an answer, a list of documents, or a dict or an
    object with `answer` and `documents`. It may be async, or a generator, whose texts are joined. If it has an argument `parameters`, it
    gets those of the request. Arguments `messages` and `conversation` get the conversation that a question is part of, as a list of
    `{"role", "content"}` that ends with the question, and its id. An exception fails the case. What the function prints goes to stderr.

    With the setting `target.processes: 1`, several requests arrive at the same time. An async function then answers them together, and any
    other one in `concurrency` threads; by default only in the thread that called `serve`. With `batch=N`, the function takes a list
    of up to N questions (and lists of `messages` and `conversation`) and returns as many replies.
    """
    answer_requests(function, *take_streams(), batch=batch, concurrency=concurrency)


def take_streams() -> Tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout, for requests and replies alone.

    Whatever reads stdin afterwards finds its end, and whatever prints to stdout prints to stderr. This replaces file descriptors, so that
    it also holds for libraries in C and for child processes.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def answer_requests(
    function: Callable[..., Any],
    requests: Iterable[bytes],
    replies: Any,
    *,
    batch: Optional[int] = None,
    concurrency: Optional[int] = None,
) -> None:
    """Answer lines of requests with lines of replies, until there are no more requests or nobody reads the replies."""
    if not callable(function):
        raise TypeError(f"`{type(function).__name__}` is not a function; `evaluations_cli.adapters` makes functions of chains and agents")
    answering = _Answering(function, batch is not None, replies)
    arrived: queue.SimpleQueue[Optional[Request]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, arrived), daemon=True).start()
    concurrency = concurrency or (ASYNC_CONCURRENCY if _is_async(function) else 1)
    try:
        answering.write(line({"ready": True}))
        if concurrency == 1:
            for together in _gathered(arrived, batch or 1):
                answering.answer(together)
        else:
            with ThreadPoolExecutor(concurrency) as threads:
                for together in _gathered(arrived, batch or 1):
                    threads.submit(answering.answer, together)
    except ConnectionError:
        # The run has ended, and nobody waits for replies.
        pass


def _read(requests: Iterable[bytes], arrived: queue.SimpleQueue[Optional[Request]]) -> None:
    try:
        for request in requests:
            arrived.put(json.loads(request))
    finally:
        arrived.put(None)


def _gathered(arrived: queue.SimpleQueue[Optional[Request]], most: int) -> Iterator[List[Request]]:
    """The requests in batches. A batch ends when it is full, or when no further request comes in time."""
    while request := arrived.get():
        together = [request]
        try:
            while len(together) < most and (request := arrived.get(timeout=GATHERING_SECONDS)):
                together.append(request)
        except queue.Empty:
            pass
        yield together
        if request is None:
            return


class _Answering:
    """Calls the function, and writes what it returns."""

    def __init__(self, function: Callable[..., Any], is_batched: bool, replies: Any) -> None:
        self._function = function
        self._is_batched = is_batched
        self._takes = _arguments(function)
        self._replies = replies
        self._writing = threading.Lock()
        self._process = os.getpid()

    def answer(self, requests: List[Request]) -> None:
        """Write a reply for each request. Whatever goes wrong in the function fails these cases alone."""
        try:
            values = self._call(requests)
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            values = [error] * len(requests)
        for request, value in zip(requests, values):
            self.write(_reply_line(value, request["id"]))

    def _call(self, requests: List[Request]) -> List[Any]:
        inputs = [request["question"] if "question" in request else request["inputs"] for request in requests]
        named: Dict[str, Any] = {}
        if "parameters" in self._takes:
            named["parameters"] = requests[0].get("parameters") or {}
        for name, read in (("messages", _messages), ("conversation", _conversation)):
            if name in self._takes:
                values = [read(request) for request in requests]
                named[name] = values if self._is_batched else values[0]
        if not self._is_batched:
            return [_finished(self._function(inputs[0], **named))]
        values = list(_finished(self._function(inputs, **named)))
        if len(values) != len(inputs):
            raise ValueError(f"the function returned {len(values)} replies for a batch of {len(inputs)}")
        return values

    def write(self, written: bytes) -> None:
        """Write a line."""
        if os.getpid() != self._process:
            # The function forked, and its child returned. The parent replies.
            os._exit(0)
        with self._writing:
            self._replies.write(written)
            self._replies.flush()


def _reply_line(value: Any, request: Any) -> bytes:
    """The line of a reply. A value that is no reply, or that JSON cannot hold, fails the case."""
    try:
        return line({**reply_of(value), "id": request})
    except Exception as error:
        traceback.print_exc()
        return line({**reply_of(error), "id": request})


def _finished(value: Any) -> Any:
    """What a function returned, with awaitables awaited and generators run to their end."""
    if inspect.isasyncgen(value):
        return joined(_wait(_collected(value)))
    if inspect.isawaitable(value):
        return _wait(_awaited(value))
    return joined(value) if inspect.isgenerator(value) else value


async def _collected(chunks: Any) -> List[Any]:
    return [chunk async for chunk in chunks]


async def _awaited(value: Any) -> Any:
    return await value


_loop: Optional[asyncio.AbstractEventLoop] = None
_starting = threading.Lock()


def _wait(coroutine: Any) -> Any:
    """Run a coroutine on the one event loop of this process, because a client of an async library belongs to the loop that it was first used on."""
    global _loop
    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, daemon=True).start()
    return asyncio.run_coroutine_threadsafe(coroutine, _loop).result()


def _is_async(function: Callable[..., Any]) -> bool:
    called = (function, getattr(function, "__call__", None))
    return any(inspect.iscoroutinefunction(it) or inspect.isasyncgenfunction(it) for it in called)


def _arguments(function: Callable[..., Any]) -> List[str]:
    """The names of the arguments behind the question."""
    try:
        return list(inspect.signature(function).parameters)[1:]
    except ValueError:
        # A function in C may have no signature.
        return []


def _messages(request: Request) -> Any:
    """The messages up to the question. A question alone is the only one."""
    return request.get("messages") or [{"role": "user", "content": request.get("question", request.get("inputs"))}]


def _conversation(request: Request) -> str:
    """The id of the conversation. A question alone is a conversation by itself."""
    return str(request.get("conversation", request["id"]))
