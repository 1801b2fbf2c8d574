"""The public names: listed once, resolved lazily, seen by tools, documented."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.api import FRONTS, PUBLIC, names

import dither

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", FRONTS)
def test_all_lazy_names_and_the_stub_agree(name):
    module = importlib.import_module(name)
    stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text())
    seen, rest = {}, []
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            (alias,) = node.names
            assert alias.asname == alias.name, "re-exports are marked as such"
            assert alias.name not in seen, "a name is listed once"
            seen[alias.name] = node.module
        else:
            rest.append(ast.unparse(node))
    assert rest == ["__version__: str"] * (name == "dither")  # and no `__getattr__`: a checker knows what is not there
    assert seen == module._LAZY
    own = {"__version__"} & set(module.__all__)
    assert dir(module) == sorted(set(seen) | own)
    assert module.__all__ == [public for public in dir(module) if not hasattr(builtins, public)]
    for public in dir(module):
        assert getattr(module, public) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


def test_a_star_takes_no_builtin_away():
    given: dict[str, object] = {}
    exec("from dither import *", given)
    assert not [name for name in given if hasattr(builtins, name) and not name.startswith("__")]
    assert {"Laplace", "protect"} <= set(given)
    assert callable(dither.open)


def test_no_two_public_classes_have_one_name():
    found: dict[str, set[type]] = {}
    for front in PUBLIC:
        module = importlib.import_module(front)
        for name in names(front):
            if isinstance(value := getattr(module, name), type):
                found.setdefault(name, set()).add(value)
    assert [name for name, classes in found.items() if len(classes) > 1] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name):
    module = importlib.import_module(name)
    pages = "\n".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    for public in names(name):
        value = getattr(module, public)
        if public != "__version__":
            assert len(value.__doc__ or "") > 20, f"{name}.{public} has no docstring"
        assert re.search(rf"\b{re.escape(public)}\b", pages), f"{name}.{public} is not in README or docs"


def test_public_methods_have_docstrings():
    for name in FRONTS:
        module = importlib.import_module(name)
        for public in names(name):
            value = getattr(module, public)
            if isinstance(value, type):
                for member, thing in vars(value).items():
                    if callable(thing) and not member.startswith("_"):
                        inherited = any(getattr(getattr(base, member, None), "__doc__", None) for base in value.__mro__)
                        assert inherited, f"{name}.{public}.{member}"


def run(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout.strip()


def test_import_stays_light():
    heavy = "{'numpy', 'flint', 'cryptography', 'typer', 'rich', 'scipy'}"
    assert run(f"import sys, dither; print(sorted({heavy} & set(sys.modules)))") == "[]"
    assert run(f"import sys, dither; dither.ln(3); dither.errors; print(sorted({heavy} & set(sys.modules)))") == "[]"
    light = "{'numpy', 'flint', 'cryptography', 'scipy'}"
    assert run(f"import sys, dither.cli.main; print(sorted({light} & set(sys.modules)))") == "[]"
    draw = "import sys, dither.noise; dither.noise.DiscreteLaplace(3).sample(3)"
    assert run(f"{draw}; print('scipy' in sys.modules)") == "False"


def test_any_order_of_first_use_works():
    # a submodule must not shadow a public function of the same name
    first = "import dither; dither.noise.Categorical([1])"
    assert run(f"{first}; print(dither.noise.uniform(1), dither.noise.choose(1, 1))") == "0 [0]"
    for name in dither.noise.__all__:
        assert run(f"from dither.noise import {name}; print(callable({name}))") == "True"
