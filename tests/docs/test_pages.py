"""Documentation that fails the build when it is wrong: README, docs and examples run here."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from dither import demo

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def as_pattern(text: str) -> re.Pattern[str]:
    """Expected output, in which ... stands for anything on the line."""
    lines = [".*".join(re.escape(part) for part in line.rstrip().split("...")) for line in text.strip().splitlines()]
    return re.compile(r"\s*" + r" *\n".join(lines) + r"\s*")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_snippet_of_a_page_runs(page, tmp_path, monkeypatch):
    """```python blocks run in order in one namespace; an ```output block must match what the last one printed."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    printed = ""
    for kind, text in blocks(page):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as captured, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, str(page), "exec"), namespace)
            printed = captured.getvalue()
        elif kind == "console":
            set_up(text, tmp_path, monkeypatch)
        elif kind == "output":
            assert as_pattern(text).fullmatch(printed), f"{page.name} promises\n{text}\nbut the code printed\n{printed}"
        else:
            assert kind in ("text", "toml", "sql"), f"{page.name}: what is ```{kind}?"


def set_up(commands: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page tells its reader to do before its code runs: write the made-up clinic, and go there."""
    for line in commands.splitlines():
        if saved := re.match(r"\$ dither demo --save (\w+)", line):
            demo.save(folder / saved[1])
        if there := re.match(r"\$ cd (\w+)", line):
            monkeypatch.chdir(folder / there[1])


def test_the_readme_shows_the_script_that_is_saved():
    assert demo.ASK in [text for kind, text in blocks(ROOT / "README.md") if kind == "python"]


def test_every_attack_has_its_row_and_every_row_its_test():
    """A1 to A30, each with tests that exist, or the words that there is none."""
    page = (ROOT / "docs" / "attacks.md").read_text()
    numbered = re.findall(r"^\| (A\d+) \|", page, re.MULTILINE)
    assert numbered == [f"A{number}" for number in range(1, 31)]
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for row in [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| #", "| attack"))]:
        last = row.rstrip(" |").split(" | ")[-1]
        named = re.findall(r"`([^`]+)`", last)
        assert named or last.startswith(("not protected", "not built yet")), row
        for name in named:
            found = (ROOT / name).exists() if "/" in name else bool(list((ROOT / "tests").rglob(name)))
            assert found or f"def {name}(" in tests, f"docs/attacks.md names {name}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(example, tmp_path):
    result = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_there_are_examples_and_the_readme_names_them():
    assert EXAMPLES
    assert "examples/" in (ROOT / "README.md").read_text()


def test_the_readme_commands_are_the_ones_that_are_checked():
    commands = [line[2:] for kind, text in blocks(ROOT / "README.md") if kind == "console" for line in text.splitlines()
                if line.startswith("$ ")]  # fmt: skip
    assert commands[:2] == ["python3 dev.py demo", "python3 dev.py test"]
    assert "python3 dev.py test" in (ROOT / ".ci" / "run").read_text()


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_of_docs_is_linked_from_the_index():
    index = (ROOT / "docs" / "index.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, f"docs/index.md does not link {name}"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "dither", *arguments], capture_output=True, text=True, timeout=120)


def test_the_command_line():
    assert re.fullmatch(r"dither \d+\.\d+\.\d+\n", command("--version").stdout)
    shown = command("demo", "--epsilon", "ln(2)")
    assert shown.returncode == 0, shown.stderr
    assert "cardiology" in shown.stdout
    for bad in ("nan", "-1", "0", "1e999999999", ""):
        refused = command("demo", "--epsilon", bad)
        assert refused.returncode == 2
        assert "is refused" in refused.stderr
        assert "Traceback" not in refused.stderr
