"""CONTRIBUTING is true: the files that it names are there, and its templates do what they are templates of."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import types
from pathlib import Path

import pytest
import yaml

import dither
from dither.query.engines.words import Words
from tests.docs.docstrings import failures, missing
from tests.docs.snippets import blocks

ROOT = Path(__file__).parent.parent.parent
SOURCE = Path(dither.__file__).parent
PAGE = ROOT / "CONTRIBUTING.md"
NEAR = (ROOT, SOURCE, SOURCE / "query", ROOT / "tests")
TEMPLATES = [text for kind, text in blocks(PAGE) if kind == "python"]


def named(text: str) -> set[str]:
    """Files and folders that a page names in `...` or links to, but for those that dev.py makes. What has <...> in it is the
    reader's to name."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = {part for quoted in re.findall(r"`([^`\n]+)`", prose) for part in quoted.split()}
    found |= set(re.findall(r"\]\(([^)#:]+)\)", prose))
    paths = {one for one in found if re.fullmatch(r"[\w.-]+(?:/[\w.-]*)+|[\w.-]+\.(?:py|md|toml|yaml|yml)", one)}
    return {one for one in paths if not one.startswith(".venv/")}


def absent(text: str) -> list[str]:
    """Those that are nowhere; a name without a folder may be of any file of the package."""
    files = {path.name for path in SOURCE.rglob("*.py")}
    folders = {f"{path.name}/" for path in SOURCE.rglob("*") if path.is_dir()}
    there = files | folders
    return sorted(one for one in named(text) if one not in there and not any((near / one).exists() for near in NEAR))


def test_every_file_that_it_names_is_there():
    text = PAGE.read_text(encoding="utf-8")
    assert {"tests/test_layers.py", "docs/architecture.md", "local/registry.py", "dev.py", "surveys/"} <= named(text)
    assert not absent(text)


def unnamed(text: str) -> list[str]:
    """Rooms, and files beside them, of the package and of `query/`, that no row of the two tables of rooms names."""
    first, second = re.findall(r"^\| room \| what it holds \|\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    found = []
    for table, folder in ((first, SOURCE), (second, SOURCE / "query")):
        rooms = {f"{one.name}/" for one in folder.iterdir() if (one / "__init__.py").is_file()}
        rooms |= {one.name for one in folder.glob("*.py")} - {"__init__.py"}
        cells = " ".join(row.split("|")[1] for row in table.splitlines())
        held = {one.split("/")[0] + "/" if "/" in one else one for one in re.findall(r"`([^`]+)`", cells)}
        found += sorted(rooms - held)
    return found


def test_every_room_is_in_a_table():
    text = PAGE.read_text(encoding="utf-8")
    assert unnamed(text) == []
    assert unnamed(text.replace("`density/`", "`densities/`").replace("`dataset.py`", "`data.py`")) == [
        "density/",
        "dataset.py",
    ]


def test_a_file_that_is_not_there_is_found():
    """Planted: a file that was renamed, in a table, a command and a link."""
    for text in ("| `local/registrar.py` |", "`python3 dev.py test tests/mechanism`", "[x](docs/no.md)", "`made.py`"):
        assert absent(text), text
    assert not absent("`mechanisms/<name>.py`, `python3 dev.py`, `e^epsilon / 2`")


@pytest.fixture
def template(monkeypatch):
    """Makes a template a module of the package, as if it stood in its file."""

    def made(number: int, name: str) -> types.ModuleType:
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(TEMPLATES[number], f"{PAGE.name}, template {number}", "exec"), module.__dict__)
        return module

    return made


def said(public: type) -> None:
    """Checks that a class says what the docstring of a public one must say, and that its example runs."""
    assert missing(public.__name__, public) == []
    assert failures(public.__name__, public) == []


def test_the_template_of_a_mechanism_conforms(template):
    said(template(0, "dither.mechanisms.additive.noisy_count").NoisyCount)
    test = template(1, "tests.mechanisms.additive.test_noisy_count")
    for mechanism in test.CASES:
        test.test_conforms(mechanism)
    test.test_half_the_noise_is_caught()


def test_the_template_of_words_is_one(template):
    words = template(2, "dither.query.engines.example.words").ExampleWords()
    assert isinstance(words, Words)
    assert words.divide("a", "2") == "truncate(a / 2)"


def test_the_template_of_a_survey_passes_the_suite(template):
    said(template(3, "dither.local.surveys.one_name").OneName)
    test = template(4, "tests.local.surveys.test_one_name")
    for survey in test.SURVEYS:
        test.test_one_name_passes_the_suite(survey)


def test_templates_begin_with_what_they_are():
    assert len(TEMPLATES) == 5
    for text in TEMPLATES:
        assert ast.get_docstring(ast.parse(text))


def test_hooks_are_local_and_run_what_the_check_runs():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == ["python3 dev.py check"]
    steps = [command[1:3] for command in runpy.run_path(str(ROOT / "dev.py"))["COMMANDS"]["check"]]
    assert steps == [["ruff", "check"], ["ruff", "format"], ["mypy", "--strict"]]
