"""What type checkers tell a user: each mistake of `mistakes.py`, in its line, and nothing of a correct script or an example.

pyright comes as basedpyright, which brings what it runs on as a wheel, and is
told to report what pyright reports.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dither
from dither.demo import save
from dither.errors import DitherError

HERE = Path(__file__).parent
SOURCES = Path(dither.__file__).parent.parent
CORRECT, MISTAKES = HERE / "correct.py", HERE / "mistakes.py"
EXAMPLES = sorted((HERE.parent.parent / "examples").glob("*.py"))
MARK = "  # wrong"
UNTYPED = 'Skipping analyzing "pyarrow'  # mypy on a library that says nothing of its types
Report = dict[tuple[str, int], str]  # what is said of a line of a file


def run(command: list[str], folder: Path, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, env=environment)
    assert done.returncode in (0, 1), done.stderr + done.stdout  # 1: something is reported
    return done.stdout


def mypy(folder: Path, *files: Path) -> Report:
    """mypy --strict, as for an installed package: what is wrong inside it is not the user's to read."""
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--cache-dir", str(folder / "cache")]
    told = run([sys.executable, "-m", "mypy", *options, *map(str, files)], folder, MYPYPATH=str(SOURCES))
    found = re.findall(r"(\w+\.py):(\d+): error: (.*)", told)
    assert f"Found {len(found)} error" in told or "no issues found" in told, told
    return {(file, int(line)): words for file, line, words in found}


def pyright(folder: Path, *files: Path) -> Report:
    """pyright with its standard rules."""
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(SOURCES)], "include": [str(file) for file in files]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = ["-m", "basedpyright", "--project", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    told = json.loads(run([sys.executable, *command], folder))
    assert told["summary"]["filesAnalyzed"] == len(files), told["summary"]
    return {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1): one["message"]
        for one in told["generalDiagnostics"]
        if one["severity"] == "error"
    }


@pytest.mark.parametrize("checker", [mypy, pyright], ids=lambda checker: checker.__name__)
def test_a_checker_reports_each_mistake_in_its_line_and_nothing_else(checker, tmp_path):
    """One test, so that a checker runs once, on however many processes tests run."""
    report = checker(tmp_path, CORRECT, MISTAKES, *EXAMPLES)
    wrong = {place: words for place, words in report.items() if place[0] != MISTAKES.name and UNTYPED not in words}
    assert wrong == {}, "reported in a correct script"
    lines = MISTAKES.read_text().splitlines()
    told = {line: words for (file, line), words in report.items() if file == MISTAKES.name}
    marked = {at for at, text in enumerate(lines, 1) if text.endswith(MARK)}
    assert len(marked) > 80
    assert [lines[at - 1] for at in sorted(marked - set(told))] == [], "not reported"
    assert {lines[at - 1]: told[at] for at in sorted(set(told) - marked)} == {}, "reported, though right"


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """A folder with what the scripts ask about."""
    save(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_correct_script_runs(clinic):
    assert "left of" in run([sys.executable, "-W", "error", str(CORRECT)], clinic, PYTHONPATH=str(SOURCES))


def test_each_mistake_is_refused_when_it_runs(clinic):
    """So that the marked lines are mistakes: a checker that reported what works would be wrong itself."""
    names: dict[str, object] = {"__name__": "mistakes"}
    lines = MISTAKES.read_text().splitlines()
    exec("\n".join(line for line in lines if not line.endswith(MARK)), names)
    worked = []
    for line in lines:
        if line.endswith(MARK):
            try:
                exec(line, names)
            except (DitherError, TypeError, AttributeError):
                continue
            worked.append(line)
    assert worked == []
