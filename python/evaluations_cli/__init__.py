"""The program `evaluations` in Python: makes functions targets of evaluations, and runs them.

    from evaluations_cli import run

    result = run("sample", my_function, skip_qa=True)
    print(result["nDCG@5"])
"""

from . import adapters
from ._binary import BinaryNotFound, find_binary
from ._commands import compare, evaluate, gate, run
from ._program import EvaluationsError
from ._serve import serve
from .results import Change, Check, Comparison, Gate, Mean, MeasureChange, Result, Run

__all__ = ["adapters", "compare", "evaluate", "find_binary", "gate", "run", "serve"]
__all__ += ["BinaryNotFound", "Change", "Check", "Comparison", "EvaluationsError", "Gate", "Mean", "MeasureChange", "Result", "Run"]
