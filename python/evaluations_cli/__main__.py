"""`python -m evaluations_cli`: runs the binary with the same arguments, or with `serve module:function` answers with a function."""

import argparse
import os
import pkgutil
import subprocess
import sys
from typing import List

from evaluations_cli import BinaryNotFound, _relay, _serve, find_binary


def main() -> None:
    """Serve a function, or become the binary; on Windows, which cannot do so, wait for it and exit with its code."""
    if sys.argv[1:2] == ["serve"]:
        return serve(sys.argv[2:])
    try:
        binary = find_binary()
    except BinaryNotFound as error:
        sys.exit(f"error: {error}")
    command = [binary, *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(binary, command)
    running = subprocess.Popen(command)
    while True:
        try:
            sys.exit(running.wait())
        except KeyboardInterrupt:
            # Ctrl-C goes to the binary, too, which finishes its calls in flight.
            continue


def serve(arguments: List[str]) -> None:
    """Answer requests with the function that the arguments name. What its module prints goes to stderr, too."""
    parser = argparse.ArgumentParser(prog="python -m evaluations_cli serve", description="Make a function the target of an evaluation.")
    parser.add_argument("function", metavar="module:function")
    parser.add_argument("--batch", type=int, help="most questions that the function takes as a list")
    parser.add_argument("--concurrency", type=int, help="most requests that are answered at the same time")
    given = parser.parse_args(arguments)
    requests, replies = _serve.take_streams()
    address = os.environ.get(_relay.VARIABLE)
    if address:
        return _relay.relay(address, requests, replies)
    function = pkgutil.resolve_name(given.function)
    _serve.answer_requests(function, requests, replies, batch=given.batch, concurrency=given.concurrency)


if __name__ == "__main__":
    main()
