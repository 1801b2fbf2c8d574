"""Set up and run, with nothing but Python 3.11 or later and pip; nothing is installed outside this folder or needs root.

    python3 dev.py demo      three private questions about a made-up clinic
    python3 dev.py check     style (ruff) and types (mypy, strict)
    python3 dev.py test      the tests that are quick, on all cores: five minutes on two
                             --full: all of them, also those with servers, a browser or Spark; --rest: those not quick
                             --all: long forms too, with more random examples
                             --changed: those that ran code which was changed since they last passed
                             all else goes to pytest: tests/noise -x runs that folder, whatever it takes
    python3 dev.py kernels   the tests as other processors would compute them; likewise

Makes .venv in this folder and installs into it what the command needs: dither alone; some tools for the quick tests; for
`check` and all tests also servers, a browser's driver and Spark (2.3 GB).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "installed-for"
PYTEST = ["-m", "pytest", "-n", "logical"]  # a process for each core
LARGER = {"": ["", "[dev]", "[test]"], "[dev]": ["[dev]", "[test]"], "[test]": ["[test]"]}  # what has all of it
COMMANDS = {
    "demo": [["-m", "dither", "demo"]],
    "check": [["-m", "ruff", "check", "."], ["-m", "ruff", "format", "--check", "."], ["-m", "mypy", "--strict", "src"]],
    "test": [PYTEST],
    "kernels": [["-m", "tests.kernels"]],
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print(f"usage: python3 dev.py {{{','.join(COMMANDS)}}} [options of the command]", file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what an older Python gets to see
        found = ".".join(map(str, sys.version_info[:3]))
        print(f"dither needs Python 3.11 or later; this is {found}. Try python3.11 dev.py", file=sys.stderr)
        return 2
    command, *options = sys.argv[1:]
    if command == "test":
        options = test_options(options)
    set_up("" if command == "demo" else "[dev]" if "--tier=default" in options else "[test]")
    code = 0
    for arguments in COMMANDS[command]:
        code = subprocess.run([PYTHON, *arguments, *options], cwd=HERE).returncode or code
    if command == "demo" and code == 0:
        dither = (SCRIPTS / "dither").relative_to(HERE)
        print(f"\nFrom now on, in this folder: {dither} --help, or python programs with {PYTHON.relative_to(HERE)}")
    return code


def test_options(options: list[str]) -> list[str]:
    """The options of pytest: the tests of a tier, unless files or folders are named."""
    tiers = {"--full": ["--tier=full"], "--rest": ["--tier=rest"], "--all": ["--tier=full", "--all"]}
    found = [part for one in options for part in tiers.get(one, ["--testmon"] if one == "--changed" else [one])]
    named = any((HERE / one.partition("::")[0]).exists() for one in options if not one.startswith("-"))
    return found if named or any(one.startswith("--tier") for one in found) else ["--tier=default", *found]


def set_up(extras: str) -> None:
    """Make the environment, or bring it up to date when pyproject.toml has changed or more is needed."""
    project = hashlib.sha256((HERE / "pyproject.toml").read_bytes() + f"{sys.version} {HERE}".encode()).hexdigest()
    stamp = STAMP.read_text() if PYTHON.exists() and STAMP.exists() else ""
    if stamp in (f"{project} {more}" for more in LARGER[extras]):
        return
    if not PYTHON.exists() or not run([PYTHON, "-m", "pip", "--version"]):
        make_environment()
    extras = next((more for more in LARGER[extras][1:] if more in stamp), extras)  # never back to less than was there
    print(f"installing dither{extras} into .venv (a minute, the first time) ...", flush=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", f".{extras}"],
                   cwd=HERE, check=True)  # fmt: skip
    STAMP.write_text(f"{project} {extras}")


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
