"""The vendored module of CodeMirror is what its recipe makes, small, licensed, and as the content policy wants it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RECIPE = ROOT / "tools" / "codemirror"
ASSETS = Path(str(files("dither.server.page"))) / "assets"
BUNDLE = ASSETS / "codemirror.js"
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|\beval\s*\(|new\s+Function\b|createPolicy"
    r"|\bimport\s*\(|\bimport\.meta|^import\b|;import\s*[\"'{*]|\bfrom\s*[\"']\.|sourceMappingURL|\w+://(?!www\.w3\.org/)"
    r"|XMLHttpRequest|\bfetch\s*\(|WebSocket|sendBeacon|localStorage|sessionStorage|document\.cookie",
    re.MULTILINE,
)


def recipe_hash() -> str:
    """The SHA-256 that the recipe names."""
    (found,) = re.findall(r"\b[0-9a-f]{64}\b", (RECIPE / "README.md").read_text("utf-8"))
    return str(found)


def test_the_bundle_is_the_one_of_the_recipe():
    assert hashlib.sha256(BUNDLE.read_bytes()).hexdigest() == recipe_hash()


def test_the_bundle_is_small():
    data = BUNDLE.read_bytes()
    assert len(data) < 370_000
    assert len(gzip.compress(data, 9, mtime=0)) < 125_000


def test_the_bundle_makes_no_markup_runs_no_text_and_asks_nobody():
    text = BUNDLE.read_text("ascii")
    assert FORBIDDEN.findall(text) == []
    for bad in (
        "a.innerHTML=b",
        "eval (x)",
        "new Function(x)",
        "import('x')",
        "x='https://example.org'",
        'import{a}from"./b"',
    ):
        assert FORBIDDEN.search(bad), bad


def test_versions_are_exact_and_licences_complete():
    package = json.loads((RECIPE / "package.json").read_text("utf-8"))
    versions = package["dependencies"]
    assert all(
        re.fullmatch(r"\d+\.\d+\.\d+", version) for version in [*versions.values(), *package["devDependencies"].values()]
    )
    assert versions["codemirror"].startswith("6.0.")
    licences = (ASSETS / "codemirror.LICENSE.txt").read_text("utf-8")
    assert [name for name, version in versions.items() if f"\n{name} {version}\n" not in licences] == []
    assert sorted(path.name for path in RECIPE.iterdir() if path.name != "node_modules") == [
        "README.md",
        "entry.js",
        "package.json",
    ]


def test_the_editor_imports_what_the_bundle_has():
    exports = set(re.findall(r"(\w+)(?=[,}])", BUNDLE.read_text("ascii").rpartition("export{")[2]))
    lines = re.findall(r"^export \{(.*)\}", (RECIPE / "entry.js").read_text("utf-8"), re.MULTILINE)
    entry = {name.strip() for names in lines for name in names.split(",")}
    script = (ASSETS / "editor.js").read_text("utf-8")
    assert exports == entry
    assert [name for name in sorted(entry) if not re.search(rf"\b{name}\b", script)] == []  # no more than is needed


def test_functions_that_are_offered_are_those_that_are_documented():
    """Each stands in the tables of what SQL is answered, whose examples are released in the tests."""
    told = " ".join((ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in ("sql", "query", "questions"))
    names = re.search(r"FUNCTIONS = words\(`([^`]*)`\)", (ASSETS / "sql.js").read_text("utf-8"))
    assert names is not None
    assert [name for name in names[1].split() if not re.search(rf"\b{name.upper()}\b", told)] == []


def test_our_part_of_the_editor_is_short():
    assert len((ASSETS / "editor.js").read_text("utf-8").splitlines()) < 220
    assert len((ASSETS / "sql.js").read_text("utf-8").splitlines()) < 150


def test_the_recipe_makes_the_same_bytes_again(every, tmp_path):
    if not every or not (shutil.which("node") and (npm := shutil.which("npm"))):
        pytest.skip("not run: the bundle is made anew with --all, by Node and npm")
    folder = shutil.copytree(RECIPE, tmp_path / "recipe", ignore=shutil.ignore_patterns("node_modules", "codemirror.js"))
    got = subprocess.run([npm, "install", "--no-package-lock", "--ignore-scripts"], cwd=folder, capture_output=True)
    if got.returncode != 0:
        pytest.skip("not run: the packages of the editor are not to be had here")
    subprocess.run([npm, "run", "build"], cwd=folder, check=True, capture_output=True)
    assert hashlib.sha256((folder / "codemirror.js").read_bytes()).hexdigest() == recipe_hash()
