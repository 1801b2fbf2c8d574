"""Base or extra, never half: the package imports what `pyproject.toml` installs, and asks for an extra by its name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dither.errors import MissingExtraError
from dither.extras import needs

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dither"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORTED_AS = {
    "python-flint": "flint",
    "pyyaml": "yaml",
    "vl-convert-python": "vl_convert",
    "ibis-framework": "ibis",
    "scikit-learn": "sklearn",
    "prometheus-client": "prometheus_client",
}
FRAMES = {"pandas", "polars"}  # people who hand over such a frame have it; others are told its own name


def modules(requirements: list[str]) -> set[str]:
    names = {re.split(r"[\[<>=]", requirement)[0].strip().lower() for requirement in requirements} - {"dither"}
    return {IMPORTED_AS.get(name, name) for name in names}


BASE = modules(PROJECT["dependencies"])
EXTRAS = {
    f"dither[{name}]": modules(wanted)
    for name, wanted in PROJECT["optional-dependencies"].items()
    if name not in ("all", "test")
}


def imported(tree: ast.AST, package: str = "") -> Iterator[tuple[str, str]]:
    """What a file imports when it runs, with the package that a `with needs(...)` around it names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, package) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module), package
        else:
            yield from imported(node, asked(node) or package)


def asked(node: ast.AST) -> str | None:
    """The package of `with needs("package")`."""
    if isinstance(node, ast.With):
        call = node.items[0].context_expr
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "needs":
            return str(ast.literal_eval(call.args[0]))
    return None


def faults(tree: ast.AST) -> list[str]:
    found = []
    for name, package in imported(tree):
        top = name.split(".")[0]
        if top in sys.stdlib_module_names or top in BASE | {"dither"} or top in EXTRAS.get(package, {package} & FRAMES):
            continue
        found.append(name)
    return found


def test_every_import_is_of_the_base_or_names_its_extra():
    found = {path: faults(ast.parse(path.read_text())) for path in sorted(SOURCE.rglob("*.py"))}
    assert {str(path.relative_to(SOURCE)): wrong for path, wrong in found.items() if wrong} == {}


def test_an_import_of_a_test_tool_is_caught():
    assert faults(ast.parse("def f():\n    from scipy.special import log_ndtr")) == ["scipy.special"]
    assert faults(ast.parse("import altair")) == ["altair"]
    assert faults(ast.parse("with needs('dither[yaml]'):\n    import altair")) == ["altair"]
    assert not faults(ast.parse("with needs('dither[plot]'):\n    import altair"))
    assert not faults(ast.parse("if TYPE_CHECKING:\n    import altair"))


def test_every_dependency_is_used():
    trees = [ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")]
    used = {name.split(".")[0] for tree in trees for name, _ in imported(tree)}
    assert (
        used >= BASE | EXTRAS["dither[plot]"] | EXTRAS["dither[ibis]"] | EXTRAS["dither[postgres]"] | EXTRAS["dither[yaml]"]
    )


def test_a_missing_extra_says_what_to_install():
    with (
        pytest.raises(
            MissingExtraError, match=r"does not have altair\. What would work: pip install 'dither\[plot\]'"
        ) as told,
        needs("dither[plot]"),
    ):
        raise ModuleNotFoundError("No module named 'altair'", name="altair")
    assert isinstance(told.value, ImportError)


BLOCK = """
import importlib.abc, runpy, sys
class OnlyTheBase(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, OnlyTheBase())
sys.argv = {arguments!r}
runpy.run_path({script!r}, run_name="__main__")
"""
ABSENT = {"scipy", *FRAMES, *set().union(*EXTRAS.values())} - {"pydantic"}  # which typer, of the base, may need itself


SQL = {"duckdb", "pyarrow", "sqlglot"}


def without(absent: set[str], script: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script where some libraries cannot be imported."""
    code = BLOCK.format(absent=absent, script=str(script), arguments=[str(script), *arguments])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=120)


def with_the_base_alone(script: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script where nothing but the base can be imported."""
    return without(ABSENT, script, folder, *arguments)


def test_one_question_of_every_kind_is_printed_with_the_base_alone(tmp_path):
    done = with_the_base_alone(ROOT / "tests" / "base" / "every_question.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all printed" in done.stdout


def test_what_asks_no_sql_needs_no_engine_no_arrow_and_no_parser(tmp_path):
    done = without(ABSENT | SQL, ROOT / "tests" / "base" / "without_sql.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all done without SQL" in done.stdout


@pytest.mark.parametrize("library", sorted(SQL))
def test_an_import_that_is_blocked_fails(tmp_path, library):
    (tmp_path / "script.py").write_text(f"import dither\ndither.noise.uniform(2)\nprint('so far')\nimport {library}\n")
    done = without(SQL, tmp_path / "script.py", tmp_path)
    assert (done.stdout, done.returncode) == ("so far\n", 1)
    assert done.stderr.endswith(f"No module named '{library}'\n")


def test_the_command_line_says_which_extra_is_missing(tmp_path):
    (tmp_path / "meta.yaml").write_text('"": {}')
    done = with_the_base_alone(SOURCE / "__main__.py", tmp_path, "policy", "import", "meta.yaml")
    assert done.returncode == 2
    assert done.stderr.endswith("What would work: pip install 'dither[yaml]'.\n")
    assert "Traceback" not in done.stderr
    done = with_the_base_alone(SOURCE / "__main__.py", tmp_path, "demo", "--save", "clinic")
    assert done.returncode == 0, done.stderr
    assert "a picture of the first answer: clinic/answer.svg" in done.stdout  # drawn without a library
    done = with_the_base_alone(SOURCE / "__main__.py", tmp_path, "ledger", "show", "postgresql://nowhere.invalid/x")
    assert done.returncode == 2
    assert "pip install 'dither[postgres]'" in done.stderr
