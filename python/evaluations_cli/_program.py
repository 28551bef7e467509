"""Runs the program `evaluations`, and says what went wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Union

from ._binary import find_binary

PathLike = Union[str, "os.PathLike[str]"]


class EvaluationsError(Exception):
    """The program could not do what it was asked to. The text is its message.

    `exit_code` is 2 for bad usage or input and 130 for an interruption: `docs/command-line.md` lists all.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Ended:
    """What a command printed. Its exit code is 0, or 1 if it did its work and a check failed."""

    stdout: str
    stderr: str
    exit_code: int


def call(words: List[str], cwd: Optional[PathLike], quiet: bool, environment: Optional[Mapping[str, str]] = None) -> Ended:
    """Run a command. Unless `quiet`, its messages appear on `sys.stderr` meanwhile. Raises EvaluationsError if it could not do its work."""
    results: List[str] = []
    messages: List[str] = []
    pipes: Dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, **(environment or {})}
    with subprocess.Popen([find_binary(), *words], cwd=cwd, env=environment, encoding="utf-8", errors="replace", **pipes) as process:
        assert process.stdout and process.stderr
        reading = threading.Thread(target=results.extend, args=(process.stdout,), daemon=True)
        reading.start()
        try:
            for message in process.stderr:
                messages.append(message)
                if not quiet:
                    sys.stderr.write(message)
        except BaseException:
            # Such as Ctrl-C. A run keeps its finished cases, and may wait for open requests; a second Ctrl-C does not.
            process.terminate()
            try:
                process.wait()
            except KeyboardInterrupt:
                process.kill()
            raise
        reading.join()
    stderr = "".join(messages)
    if process.returncode not in (0, 1):
        # An error is the last message. A run that an error stops prints a warning and its report.
        said = re.search(r"^error: (.*)|^warning: (stopped early.*?)$", stderr, re.MULTILINE | re.DOTALL)
        message = (said[1] or said[2]).strip() if said else f"`evaluations {words[0]}` ended with exit code {process.returncode}"
        raise EvaluationsError(message, process.returncode)
    return Ended("".join(results), stderr, process.returncode)


def options(given: Mapping[str, Any]) -> List[str]:
    """Return arguments as options: `skip_qa=True` is `--skip-qa`; a list repeats an option, and a dict repeats it with `KEY=VALUE`.

    A name that is a word of Python ends in `_`. Values other than texts and paths are written as JSON, which is YAML.
    """

    def text(value: Any) -> str:
        return os.fspath(value) if isinstance(value, (str, os.PathLike)) else json.dumps(value)

    words: List[str] = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, Mapping):
            words += [f"{option}={key}={text(held)}" for key, held in value.items()]
        elif isinstance(value, (list, tuple)):
            words += [f"{option}={text(held)}" for held in value]
        elif value is not None and value is not False:
            words.append(option if value is True else f"{option}={text(value)}")
    return words
