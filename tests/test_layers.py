"""Arrows only downward: the imports of every file are read, and an upward one fails."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dither

SOURCE = Path(dither.__file__).parent

# Lowest first. Rooms on one line do not import each other. A room is a folder or a file of the package.
FLOORS = [
    ["errors", "front"],
    ["extras"],
    ["numeric"],
    ["noise"],
    ["privacy"],
    ["channels"],
    ["mechanisms"],
    ["local", "density", "ledger"],
    ["query"],
    ["testing", "demo", "plot"],
    ["cli"],
    ["__main__"],
]
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


def imports(tree: ast.AST) -> set[str]:
    """The rooms of dither that a file imports, wherever in the file it does so."""
    rooms = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("dither.")}
    return rooms


def upward(room: str, found: set[str]) -> set[str]:
    return {other for other in found if other != room and not FLOOR[other] < FLOOR[room]}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downward(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room == "__init__":
        return  # the front: it names everything and imports nothing before it is asked to
    assert room in FLOOR, f"say in FLOORS where {room} stands"
    found = imports(ast.parse(path.read_text())) - {"__version__"}
    assert not upward(room, found)


def test_an_upward_import_is_caught():
    tree = ast.parse("def f():\n    from dither.noise.laplace import DiscreteLaplace")
    assert upward("numeric", imports(tree)) == {"noise"}
    assert not upward("demo", imports(tree))
    assert upward("testing", imports(ast.parse("import dither.demo"))) == {"demo"}


def test_the_front_imports_nothing_before_it_is_asked():
    for folder in ("", "density", "local", "noise"):
        tree = ast.parse((SOURCE / folder / "__init__.py").read_text())
        top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert {getattr(node, "module", None) for node in top} <= {"__future__", "typing", "dither.front"}
    assert imports(ast.parse((SOURCE / "front.py").read_text())) == set()
