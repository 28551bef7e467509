"""The program `evaluations` as a Python package: finds and runs the binary that the wheel installed."""

from ._binary import BinaryNotFound, find_binary

__all__ = ["BinaryNotFound", "find_binary"]
