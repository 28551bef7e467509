"""A system under test: answers questions about capitals over HTTP. Put your own in its place."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAPITALS = {"France": "Paris", "Japan": "Tokyo", "Kenya": "Mombasa"}


class Ask(BaseHTTPRequestHandler):
    def do_POST(self):
        inputs = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = CAPITALS.get(inputs["country"], "I do not know.")
        body = json.dumps({"answer": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


ThreadingHTTPServer(("127.0.0.1", 8765), Ask).serve_forever()
