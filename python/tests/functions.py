"""Functions that the tests serve from other processes."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

print("printed at import")


def text(question):
    return question.upper()


def documents(question):
    return ["d1", 2, ("d3", 0.5), {"id": "d4", "score": 0.25}]


def both(question):
    return {"answer": "yes", "documents": ["d1"], "metrics": {"tokens": 3}}


def inputs(case):
    return {"country": case["country"]}


@dataclass
class Passage:
    id: str
    text: str
    score: float


@dataclass
class Reply:
    answer: str
    documents: list


def objects(question):
    return Reply("yes", [Passage("d1", "a text", 0.5)])


async def later(question):
    await asyncio.sleep(0)
    return question


def words(question):
    yield "one "
    yield "two"


async def later_words(question):
    yield "one "
    await asyncio.sleep(0)
    yield "two"


def found(question):
    yield {"id": "d1"}
    yield {"id": "d2"}


def failing(question):
    raise LookupError(f"no answer to {question}")


def leaving(question):
    sys.exit("the function leaves")


def printing(question):
    print("printed by Python")
    os.write(1, b"printed to the descriptor\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
    return {"answer": sys.stdin.read() + subprocess.run(["cat"], stdout=subprocess.PIPE, text=True, check=True).stdout}


def unwritable(question):
    return {"object": {"answer": object()}, "surrogate": "\ud800", "document": [object()], "key": {"answer": {(1, 2): 3}}}[question]


def forking(question):
    if os.fork() == 0:
        return "the child"
    os.wait()
    return "the parent"


def conversations(question, messages, conversation):
    return f"{conversation}: " + " ".join(it["content"] for it in messages)


def many_conversations(questions, messages, conversation):
    return [f"{name} {len(each)}" for name, each in zip(conversation, messages)]


def parameters(question, parameters):
    return f"{question} {parameters.get('top_k')}"


def batch(questions):
    if "bad" in questions:
        raise ValueError("a bad batch")
    if "short" in questions:
        return []
    return [ValueError("no") if question == "one bad" else f"{question} of {len(questions)}" for question in questions]


together = threading.Barrier(3)


def meeting(question):
    """Returns only if three requests are answered at the same time."""
    together.wait(timeout=20)
    return question


waiting = []


async def async_meeting(question):
    """Returns only if three requests are answered at the same time, on one event loop."""
    waiting.append(asyncio.get_running_loop())
    while len(waiting) < 3:
        await asyncio.sleep(0.01)
    return len(set(map(id, waiting)))


def thread(question):
    return threading.current_thread() is threading.main_thread()


def killed(country):
    if country == "Kenya":
        always_killed(country)
    return "no capital"


def always_killed(question):
    os.kill(os.getpid(), 9)


def blocking(country):
    if country == "Kenya":
        time.sleep(60)
    return "no capital"


not_a_function = 3
