"""The commands of the program as functions."""

from __future__ import annotations

import contextlib
import importlib.machinery
import json
import os
import pkgutil
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from ._program import Ended, PathLike, call, options
from ._relay import answering
from .results import Change, Check, Comparison, Gate, Json, Result, Run

# An address such as `http://…`, or a function.
Target = Union[str, Callable[..., Any]]
# A run by any of its names.
Named = Union[PathLike, Run, Result]


def run(dataset: PathLike, target: Optional[Target] = None, *, cwd: Optional[PathLike] = None, quiet: bool = False, **given: Any) -> Result:
    """Benchmark a target, or the built-in pipeline, on a dataset: `evaluations run`.

    The target is an address or a function, as for `serve`. The program starts a process for each concurrent request, and each process imports
    the function. A function that cannot be imported, such as one of a notebook, runs in threads of this process. Further arguments are options of the
    command: `skip_qa=True`, `limit=10`, `profile=["bm25", "hybrid"]`, `set={"search.limit": 5}`.

    Raises EvaluationsError if the run cannot be made or is interrupted.
    """
    return _measured("run", dataset, target, cwd, quiet, given)


def evaluate(file: PathLike, target: Optional[Target] = None, *, cwd: Optional[PathLike] = None, quiet: bool = False, **given: Any) -> Result:
    """Run the cases of a dataset file: `evaluations eval`. As `run`, but a function gets the `inputs` of a case."""
    return _measured("eval", file, target, cwd, quiet, given)


def compare(*runs: Named, cwd: Optional[PathLike] = None, quiet: bool = False, **given: Any) -> Comparison:
    """Say what changed between runs, and whether by more than chance: `evaluations compare`.

    Without runs, those of the last command are compared with earlier ones. Further arguments are options: `measure=["nDCG@10"]`.
    """
    ended, documents = _with_json(["compare", *_names(runs), *options(given)], cwd, quiet)
    changes = [Change.of(document) for document in documents if "before" in document]
    return Comparison(changes, documents, ended.stdout, ended.exit_code)


def gate(*runs: Named, cwd: Optional[PathLike] = None, quiet: bool = False, **given: Any) -> Gate:
    """Check runs by rules: `evaluations gate`. Without runs, those of the last command are checked.

    Arguments are options: `min={"nDCG@10": 0.6}`, `max_drop={"nDCG@10": 0.02}`, `max={"latency.p95": "2s"}`, `baseline="main"`. A gate
    that fails is a result; EvaluationsError says that it could not check anything.
    """
    ended, [document] = _with_json(["gate", *_names(runs), *options(given)], cwd, quiet)
    checks = [
        Check(run["run"], check["name"], check["verdict"], check["reason"]) for run in document["runs"] for check in run["checks"]
    ]
    return Gate(ended.exit_code == 0, document["verdict"], checks, ended.stdout)


def _measured(command: str, dataset: PathLike, target: Optional[Target], cwd: Optional[PathLike], quiet: bool, given: Json) -> Result:
    with _address(target) as (address, environment):
        # Only `--verbose` says where the runs are.
        words = [command, os.fspath(dataset), *options({"target": address, **given}), "--verbose"]
        ended = call(words, cwd, quiet, environment)
    folders = re.findall(r": report in (.+)$", ended.stderr, re.MULTILINE)
    warnings = re.findall(r"^warning: (.+)$", ended.stderr, re.MULTILINE)
    return Result([Run.read(folder) for folder in folders], ended.stdout, warnings, ended.exit_code)


def _with_json(words: List[str], cwd: Optional[PathLike], quiet: bool) -> Tuple[Ended, List[Json]]:
    """Run a command, and read what it writes with `--out`: one file, or one for each pair of runs."""
    with tempfile.TemporaryDirectory() as folder:
        ended = call([*words, f"--out={folder}/out.json"], cwd, quiet=True)
        if not quiet:
            sys.stderr.writelines(message for message in ended.stderr.splitlines(True) if folder not in message)
        return ended, [json.loads(file.read_text(encoding="utf-8")) for file in sorted(Path(folder).iterdir())]


def _names(runs: Tuple[Named, ...]) -> List[str]:
    """The runs as the command line names them."""
    single = [run for named in runs for run in (named.runs if isinstance(named, Result) else [named])]
    return [os.fspath(run.folder if isinstance(run, Run) else run) for run in single]


@contextlib.contextmanager
def _address(target: Optional[Target]) -> Iterator[Tuple[Optional[str], Dict[str, str]]]:
    """The address of a target, and the environment that it needs. A function is served while the context lasts.

    Comparisons and baselines tell targets apart by their addresses, so the address of a function is the same on every machine: it says
    `python`, and the folder of this interpreter comes first on the PATH.
    """
    if target is None or isinstance(target, str):
        yield target, {}
        return
    if not callable(target):
        raise TypeError(f"a target is an address or a function, not `{type(target).__name__}`; see `evaluations_cli.adapters`")
    folder, interpreter = os.path.split(sys.executable)
    if any(os.path.exists(os.path.join(folder, name)) for name in ("python", "python.exe")):
        interpreter = "python"
    environment = {
        "PATH": os.pathsep.join([folder, os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path),
    }
    name = f"{getattr(target, '__module__', '')}:{getattr(target, '__qualname__', type(target).__name__)}"
    # A name such as `<lambda>` would mean something to the shell. It is only shown, because such a function answers in this process.
    command = f"exec:{interpreter} -m evaluations_cli serve " + re.sub(r"[^\w.:]", "", name)
    if _can_be_imported(target, name):
        yield command, environment
    else:
        with answering(target) as relayed:
            yield command, {**environment, **relayed}


def _can_be_imported(function: Callable[..., Any], name: str) -> bool:
    """Whether another process finds the function under this name, too. Test runners also load modules that are on no path."""
    module = name.partition(":")[0]
    if module == "__main__" or importlib.machinery.PathFinder.find_spec(module.partition(".")[0]) is None:
        return False
    try:
        return pkgutil.resolve_name(name) is function
    except (AttributeError, ImportError, ValueError):
        return False
