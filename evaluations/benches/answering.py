"""Answers and judges 1,000 questions against a server that takes 200 ms for each reply, 32 at once.

    python evaluations/benches/answering.py target/release/evaluations

Needs Python 3.11 and nothing else. Prints the wall time of question answering beside the ideal (calls x 0.2 s / 32), the
tool's own processor time for each case, and its peak memory, indexing and start included in the last two.
"""

import asyncio
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = int(os.environ.get("CASES", "1000"))
CONCURRENCY = 32
DELAY = 0.2

ANSWER = json.dumps({"choices": [{"message": {"role": "assistant", "content": "It is tower number 7. [1]"},
                                  "finish_reason": "stop"}],
                     "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412}})
VERDICT = json.dumps({"choices": [{"message": {"role": "assistant",
                                               "content": '{"reason": "the same tower", "pass": true}'},
                                   "finish_reason": "stop"}],
                      "usage": {"prompt_tokens": 300, "completion_tokens": 12, "total_tokens": 312}})


async def serve(port):
    calls = 0

    async def connection(reader, writer):
        nonlocal calls
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.decode("latin-1").split("\r\n"):
                    if line.lower().startswith("content-length:"):
                        length = int(line.split(":", 1)[1])
                body = await reader.readexactly(length)
                calls += 1
                await asyncio.sleep(DELAY)
                reply = (VERDICT if b"response_format" in body else ANSWER).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                             % len(reply) + reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=256)
    port.value = server.sockets[0].getsockname()[1]
    async with server:
        await server.serve_forever()


def run_server(port):
    asyncio.run(serve(port))


def dataset(folder):
    with open(folder / "documents.jsonl", "w") as documents, open(folder / "questions.jsonl", "w") as questions:
        for number in range(CASES):
            text = f"Tower number {number} stands in district {number * 7919 % 1000}. " * 8
            documents.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
            questions.write(json.dumps({"id": f"q{number}", "question": f"Which tower stands in district {number}?",
                                        "answer": f"Tower number {number}", "relevant": f"d{number}"}) + "\n")
    (folder / "towers.yaml").write_text(
        "name: towers\n"
        "documents: {source: {path: documents.jsonl}, uri: id, text: text}\n"
        "questions: {source: {path: questions.jsonl}, id: id, text: question, answer: answer, relevant: relevant}\n")


def settings(folder, port):
    base = f"http://127.0.0.1:{port}/v1"
    (folder / "settings.yaml").write_text(json.dumps({
        "search": {"profile": "bm25"},
        "qa": {"model": {"provider": "openai", "name": "answerer", "base_url": base}},
        "evaluations": {"judge": {"provider": "openai", "name": "judge", "base_url": base},
                        "concurrency": CONCURRENCY},
        "providers": {"openai": {"max_concurrency": CONCURRENCY}},
    }))


def main():
    binary = Path(sys.argv[1]).resolve()
    port = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=run_server, args=(port,), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset(folder)
        while port.value == 0:
            pass
        settings(folder, port.value)
        environment = dict(os.environ, EVALUATIONS_DATA_DIR=str(folder / "data"))
        command = [binary, "run", "towers.yaml", "--config", "settings.yaml", "--skip-retrieval", "--no-progress",
                   "--quiet", "--out", "report.json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads((folder / "report.json").read_text())
    server.kill()
    outputs = sum("output" in case["result"] for case in report["cases"])
    ideal = 2 * CASES * DELAY / CONCURRENCY
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"cases answered   {outputs} of {CASES}")
    print(f"wall, ideal      {report['seconds']:.2f} s, {ideal:.2f} s: {report['seconds'] / ideal - 1:+.1%}")
    print(f"processor time   {processor / CASES * 1000:.2f} ms a case")
    print(f"peak memory      {after.ru_maxrss / 1000:.0f} MB")


if __name__ == "__main__":
    main()
