"""Where an installer has put the binary of this package."""

import os
import sys
import sysconfig
from typing import Iterator


class BinaryNotFound(FileNotFoundError):
    """The binary is in none of the folders that installers use."""


def find_binary() -> str:
    """Return the path of the program `evaluations` that belongs to this package.

    Raises BinaryNotFound, which lists the folders that were searched.
    """
    name = "evaluations" + (sysconfig.get_config_var("EXE") or "")
    folders = list(dict.fromkeys(_folders()))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    searched = "".join(f"\n  {folder}" for folder in folders)
    raise BinaryNotFound(f"`{name}` is in none of these folders; install the package `evaluations-cli` again:{searched}")


def _folders() -> Iterator[str]:
    """The folders of programs, the likeliest first."""
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    # This environment, and the one that a virtual environment is layered upon.
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    package = os.path.dirname(os.path.abspath(__file__))
    above = os.path.dirname(package)
    # `pip install --target FOLDER` puts the package into FOLDER and programs into FOLDER/bin.
    yield os.path.join(above, "bin")
    yield os.path.join(above, scripts)
    # `pip install --prefix` and layered environments: PREFIX/lib/python3.x/site-packages, or PREFIX/Lib/site-packages on Windows.
    up = 2 if sys.platform == "win32" else 3
    prefix = above
    for _ in range(up):
        prefix = os.path.dirname(prefix)
    yield os.path.join(prefix, scripts)
    # `pip install --user`.
    user = {"win32": "nt_user", "darwin": "osx_framework_user"}.get(sys.platform, "posix_user")
    if hasattr(sysconfig, "get_preferred_scheme"):
        user = sysconfig.get_preferred_scheme("user")
    yield sysconfig.get_path("scripts", scheme=user)
