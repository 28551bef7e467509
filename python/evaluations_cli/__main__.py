"""`python -m evaluations_cli`: runs the binary with the same arguments."""

import os
import subprocess
import sys

from evaluations_cli import BinaryNotFound, find_binary


def main() -> None:
    """Become the binary; on Windows, which cannot do so, wait for it and exit with its code."""
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


if __name__ == "__main__":
    main()
