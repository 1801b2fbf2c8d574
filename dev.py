"""Set up and run: `python3 dev.py demo` or `python3 dev.py test`.

Needs Python 3.11 or later with pip. Makes .venv in this folder, installs dither and what it needs into it, and
runs. Nothing is installed outside this folder and nothing needs root.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "installed-for"
COMMANDS = {
    "demo": ["-m", "dither", "demo"],
    "test": ["-m", "pytest", "-n", "logical"],  # a process for each core
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print(f"usage: python3 dev.py {{{','.join(COMMANDS)}}} [options of the command]", file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what an older Python gets to see
        found = ".".join(map(str, sys.version_info[:3]))
        print(f"dither needs Python 3.11 or later; this is {found}. Try python3.11 dev.py", file=sys.stderr)
        return 2
    set_up()
    return subprocess.run([PYTHON, *COMMANDS[sys.argv[1]], *sys.argv[2:]], cwd=HERE).returncode


def set_up() -> None:
    """Make the environment, or bring it up to date when pyproject.toml has changed."""
    wanted = hashlib.sha256((HERE / "pyproject.toml").read_bytes() + sys.version.encode()).hexdigest()
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted:
        return
    if not PYTHON.exists() or not run([PYTHON, "-m", "pip", "--version"]):
        make_environment()
    print("installing dither into .venv (a minute, the first time) ...", flush=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[test]"],
                   cwd=HERE, check=True)  # fmt: skip
    STAMP.write_text(wanted)


def make_environment() -> None:
    """venv; else virtualenv; else virtualenv fetched by pip into a folder of ours; else a message."""
    if run([sys.executable, "-m", "venv", "--clear", VENV]):
        return
    if run([sys.executable, "-m", "virtualenv", "--clear", VENV]):
        return
    tools = HERE / ".cache" / "virtualenv"
    fetch = [sys.executable, "-m", "pip", "install", "--quiet", "--target", tools, "virtualenv"]
    if run(fetch) and run([sys.executable, "-m", "virtualenv", "--clear", VENV], PYTHONPATH=str(tools)):
        return
    print("Python cannot make a virtual environment here. Install one package: python3-venv", file=sys.stderr)
    raise SystemExit(1)


def run(command: list[str | Path], **environment: str) -> bool:
    result = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=False)
    return result.returncode == 0


if __name__ == "__main__":
    raise SystemExit(main())
