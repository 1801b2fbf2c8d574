"""Documentation that fails the build when it is wrong: README, docs and examples run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dither import demo
from tests.docs import readme_picture
from tests.docs.snippets import Page, PageError, blocks, shape

ROOT = Path(__file__).parent.parent.parent
ELSEWHERE = {"cluster.md"}  # needs Spark: run with its session, by tests/query/engines/spark/test_page.py
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.name not in ELSEWHERE]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_snippet_of_a_page_runs(page, tmp_path):
    found = Page(page)
    found.run(tmp_path)
    assert set(found.absent) <= {"dither[torch]"}, "the tests have every extra but torch, which is large: it stands alone"


def page_of(tmp_path: Path, code: str, output: str, kind: str = "output") -> Page:
    path = tmp_path / "page.md"
    path.write_text(f"```python\n{code}\n```\n\n```{kind}\n{output}\n```\n")
    return Page(path)


def test_rounded_floats_agree_within_one_unit_in_their_last_digit(tmp_path):
    for code, output in (
        ("print(round(2 / 3, 3), 'of', 12)", "0.668 of 12"),
        ("print(f'{2 / 3:.3f} of {12}')", "0.666 of 12"),
        ("import numpy as np\nprint(np.array([2 / 3]).round(2))", "[0.66]"),
        ("print(f'{12345.678:,.1f}')", "12,345.6"),
        ("print(f'{2e-7 / 3:.1e}')", "6.8e-08"),
        ("print(round(2 / 3, 3), 'of', 12)", "... of 12"),
    ):
        page_of(tmp_path, code, output, "output-float").run(tmp_path)
    for code, output in (
        ("print(round(2 / 3, 3))", "0.669"),
        ("print(round(2 / 3, 3), 'of', 12)", "0.667 of 13"),
        ("print(round(2 / 3, 3), 'of')", "0.667 on"),
        ("print(f'{2e-7 / 3:.1e}')", "6.7e-07"),
        ("print(round(2 / 3, 3), round(1 / 3, 3))", "0.667"),
    ):
        with pytest.raises(PageError, match="promises"):
            page_of(tmp_path, code, output, "output-float").run(tmp_path)


def test_exact_numbers_agree_to_the_last_digit_and_rounded_ones_must_be_marked(tmp_path):
    page_of(tmp_path, "import dither\nprint(dither.pure('0.5').epsilon())", "0.5").run(tmp_path)
    with pytest.raises(PageError, match="promises"):
        page_of(tmp_path, "print(0.667)", "0.668").run(tmp_path)
    with pytest.raises(PageError, match="output-float"):
        page_of(tmp_path, "print(round(2 / 3, 3))", "0.667").run(tmp_path)
    with pytest.raises(PageError, match="what is"):
        page_of(tmp_path, "print(1)", "1", "outptu").run(tmp_path)


def test_what_could_pass_unseen_is_refused(tmp_path):
    for code, output in (("print(round(0.7, 3))", "0.61"), ("print(f'{2000.0:.0e}')", "1,234.5")):
        with pytest.raises(PageError, match="promises"):
            page_of(tmp_path, code, output, "output-float").run(tmp_path)
    page_of(tmp_path, "print(round(0.7, 3))", "0.701", "output-float").run(tmp_path)  # a zero that is not printed
    for code in ("print('%.3f' % 0.1)", "print('{:.3f}'.format(0.1))"):
        with pytest.raises(PageError, match="not looked at"):
            page_of(tmp_path, code, "0.100").run(tmp_path)
    with pytest.raises(ModuleNotFoundError):
        page_of(tmp_path, "import dither.not_in_the_wheel", "").run(tmp_path)
    page = page_of(tmp_path, "print(1)", "1")
    page.path.write_text(page.path.read_text() + "\n  ```output\n2\n  ```\n")
    with pytest.raises(PageError, match="is not read as it stands"):
        page.run(tmp_path)


@pytest.mark.parametrize(
    "code",
    [
        "print(f'{0.8375:.3}')",
        "print(round(0.8375, 3))",
        "print(f'{0.1 + 0.025:.2f}')",
        "print(format(0.5 * (1 + 2e-16), '.0f'))",
        "import numpy as np\nprint(np.array([0.3, 0.8375]).round(3))",
        "import numpy as np\nprint(np.round(np.array([0.3, 0.8375]), 3))",
        "print(f'{2.5:.0f}', f'{0.3:.{1}f}')",
    ],
)
def test_a_tie_is_found(code, tmp_path):
    with pytest.raises(PageError, match="prints a tie"):
        page_of(tmp_path, code, "...", "output-float").run(tmp_path)


def test_drawn_numbers_agree_in_their_shape(tmp_path):
    code = "print('ward   n  low')\nprint('---  --  ---')\nprint('east  1,042  -3.5')"
    page_of(tmp_path, code, "ward  n  low\n----  -  ---\neast  977  12", "output-shape").run(tmp_path)
    for output in (
        "ward  n\n---  --\neast  977",  # a column less
        "ward  n  low\n---  --  ---\nwest  977  12",  # another word
        "ward  n  low\n---  --  ---\neast  ...  12",  # no number
        "ward  n  low\n---  --  ---\neast  977  12\nwest  977  12",  # a row more
        "ward  n  low\n---  --  ---\neast  977  about 12",
    ):
        with pytest.raises(PageError, match="promises"):
            page_of(tmp_path, code, output, "output-shape").run(tmp_path)


def test_the_readme_shows_the_script_that_is_saved():
    first, second = [text for kind, text in blocks(ROOT / "README.md") if kind == "python"][:2]
    assert f"{first}\n{second}" == demo.ASK


def test_the_readme_prints_what_its_commands_print(tmp_path):
    """The two commands as a reader types them, in an empty folder, in processes of their own."""
    saved = subprocess.run(
        [sys.executable, "-m", "dither", "demo", "--save", "clinic"], capture_output=True, cwd=tmp_path, timeout=120
    )
    assert saved.returncode == 0, saved.stderr
    asked = subprocess.run(
        [sys.executable, "ask.py"], capture_output=True, text=True, encoding="utf-8", cwd=tmp_path / "clinic", timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"},
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    price, answer = [text for kind, text in blocks(ROOT / "README.md") if kind.startswith("output")][:2]
    assert asked.stdout.startswith(price)
    assert shape(asked.stdout.removeprefix(price)) == shape(answer)


def test_the_picture_of_the_readme_is_the_answer_that_it_prints():
    """Drawn again, from the same seed: the same marks and words, and numbers up to another processor's last digit."""
    found = readme_picture.answer()
    stored = readme_picture.PICTURE.read_text(encoding="utf-8")
    assert readme_picture.differences(found.svg(), stored) == []
    assert readme_picture.differences(stored.replace("oncology", "onkology"), stored)  # planted
    assert readme_picture.differences(stored.replace('cx="', 'cx="1'), stored)
    printed = next(text for kind, text in blocks(ROOT / "README.md") if kind == "output-shape")
    for row in found.rows():
        line = next(line for line in printed.splitlines() if line.startswith(row["ward"]))
        assert [float(one) for one in line.split()[1:]] == pytest.approx(
            [row[name] for name in ("cost", "cost_low", "cost_high")], abs=0.11
        )


def test_the_readme_names_every_extra():
    """With what it is for; those of contributors apart."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"^\| `([\w-]+)` \|.*MB \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(set(extras) - {"dev", "docs", "release", "test"})


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
    assert commands == [
        "python3 -m venv env && . env/bin/activate",
        "pip install .",
        "dither demo --save clinic",
        "cd clinic && python ask.py",
        "python3 dev.py demo",
        "python3 dev.py test",
    ]
    assert "python3 dev.py test" in (ROOT / ".ci" / "run").read_text()


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_column_of_a_table_has_a_name():
    """Readers of a screen hear the name of a column before its cells."""
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for head in re.findall(r"^(\|.*\|)\n\|[ :]*--", page.read_text(), re.MULTILINE):
            assert all(name.strip() for name in head[1:-1].split("|")), f"{page.name}: {head}"


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
