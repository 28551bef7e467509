"""A small RAG service: finds sections of a handbook by their words, and answers with a sentence."""

import json
import math
import re
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def words(text):
    return set(text.split())


def passages(folder):
    for page in sorted(Path(folder).glob("*.md")):
        for section in page.read_text(encoding="utf-8").split("\n## "):
            yield page.name, section


PASSAGES = [(page, text, words(text)) for page, text in passages("handbook")]
COUNTS = Counter(word for _, _, found in PASSAGES for word in found)


def weight(shared):
    return len(shared)


def ask(question, top_k=3):
    asked = words(question)
    ranked = sorted(PASSAGES, key=lambda passage: -weight(asked & passage[2]))[:top_k]
    sentences = re.split(r"(?<=[.!?])\s+", ranked[0][1].split("\n\n", 1)[1].strip())
    answer = max(sentences, key=lambda sentence: weight(asked & words(sentence)))
    return {"answer": answer, "documents": [{"id": page, "text": text} for page, text, _ in ranked]}


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(ask(request["question"], request.get("top_k", 3))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


ThreadingHTTPServer(("127.0.0.1", 8000), Service).serve_forever()
