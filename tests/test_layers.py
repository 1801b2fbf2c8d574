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


def arrows(files: dict[str, str]) -> dict[str, set[str]]:
    """For each module of dither by its text: the modules it imports, at the top, in functions or for types only."""
    found: dict[str, set[str]] = {}
    for name, text in files.items():
        found[name] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            for one in names:
                module = one if one in files else one.rpartition(".")[0]
                found[name] |= {module} & set(files) - {name}
    return found


def cycle(graph: dict[str, set[str]]) -> set[str]:
    """What is left when files that import nothing left, and files that nothing left imports, are taken away."""
    left = dict(graph)
    while True:
        wanted = set().union(*left.values())
        ends = [name for name, found in left.items() if not found & set(left) or name not in wanted]
        if not ends:
            return set(left)
        for name in ends:
            del left[name]


def test_files_import_each_other_in_no_circle():
    files = {
        ".".join(("dither", *path.relative_to(SOURCE).with_suffix("").parts)): path.read_text()
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py"
    }
    assert "dither.numeric.number" in files
    assert not cycle(arrows(files))


def test_a_circle_is_found():
    number = "from dither.a.ball import ends\nclass Number: ..."
    for text in (
        "from dither.a.number import Number",
        "def f():\n    from dither.a import number",
        "if TYPE_CHECKING:\n    from dither.a.number import Number",
        "import dither.a.number",
    ):
        files = {"dither.a.number": number, "dither.a.ball": text, "dither.b": "import dither.a.ball", "dither.c": ""}
        assert cycle(arrows(files)) == {"dither.a.number", "dither.a.ball"}
    assert not cycle(arrows({"dither.a.number": number, "dither.a.ball": "import math"}))


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
