"""Lets functions answer that no other process can import, such as those of a notebook.

The program starts `python -m evaluations_cli serve NAME` as for any function. That process passes its requests on to this one, over a
connection on this machine that begins with a secret.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import socket
import socketserver
import threading
from typing import Any, BinaryIO, Callable, Dict, Iterator

from ._serve import answer_requests

# Holds the port and the secret.
VARIABLE = "EVALUATIONS_CLI_RELAY"


@contextlib.contextmanager
def answering(function: Callable[..., Any]) -> Iterator[Dict[str, str]]:
    """Answer in threads of this process while the context lasts. Yields what the processes that relay need in their environment."""
    secret = secrets.token_hex(16).encode()

    class Connection(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if hmac.compare_digest(self.rfile.readline().strip(), secret):
                answer_requests(function, self.rfile, self.wfile)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield {VARIABLE: f"{server.server_address[1]} {secret.decode()}"}
        finally:
            server.shutdown()


def relay(address: str, requests: BinaryIO, replies: BinaryIO) -> None:
    """Pass requests to the process at the address, and its replies back."""
    port, secret = address.split()
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        connection.sendall(secret.encode() + b"\n")

        def send() -> None:
            while data := os.read(requests.fileno(), 1 << 16):
                connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)

        threading.Thread(target=send, daemon=True).start()
        while data := connection.recv(1 << 16):
            replies.write(data)
            replies.flush()
