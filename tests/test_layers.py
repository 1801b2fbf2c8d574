"""Arrows only downward between rooms, and in no circle between files: the imports of every file are read."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path

from tools.api import FRONTS

import dither
from tests.kernels import SHORT

SOURCE = Path(dither.__file__).parent

# Lowest first. Rooms on one line do not import each other. A room is a folder or a file of the package.
FLOORS = [
    ["errors", "fields", "hints", "lazy", "svg", "table"],
    ["arguments", "extras", "terminal"],
    ["altair_theme", "chart", "numeric"],
    ["noise"],
    ["privacy"],
    ["channels"],
    ["mechanisms"],
    ["local", "density", "ledger"],
    ["query"],
    ["learn", "client"],
    ["testing", "demo", "plot"],
    ["server"],
    ["cli"],
    ["__main__"],
]
# Who may import the package by names in a table: two fronts, and the group of commands. The others import at their tops.
BY_NAME = {"lazy.py", "cli/lazy_group.py"}
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


def test_imports_point_downward():
    wrong = {}
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue  # the front: it names everything and imports nothing before it is asked to
        assert room in FLOOR, f"say in FLOORS where {room} stands"
        found = upward(room, imports(ast.parse(path.read_text())) - {"__version__"})
        if found:
            wrong[str(path.relative_to(SOURCE))] = found
    assert wrong == {}


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
    files = texts()
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


def hidden(tree: ast.AST, inside: bool = False) -> list[str]:
    """Imports of the package inside functions, and imports by name: libraries may be imported late, the package may not."""
    found = []
    for node in ast.iter_child_nodes(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        found += [name for name in names if inside and name.split(".")[0] == "dither"]
        if getattr(node, "id", getattr(node, "attr", None)) in ("import_module", "__import__"):
            found.append(ast.unparse(node))
        found += hidden(node, inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return found


# Commands that need the extra `server` import it where they run, so that their --help works without it.
LATE = {
    "cli/serve.py": {"dither.server.core.config", "dither.server.listener"},
    "cli/mcp.py": {"dither.client.connect", "dither.server.mcp.protocol"},
}


def test_the_package_is_imported_at_the_top_of_a_file():
    for path in SOURCE.rglob("*.py"):
        found = hidden(ast.parse(path.read_text()))
        name = path.relative_to(SOURCE).as_posix()
        allowed = {"import_module"} if name in BY_NAME else LATE.get(name, set())
        assert {*found} == allowed, f"{name} imports in a function, or by name"


def test_an_import_in_a_function_is_caught():
    for text in (
        "def f():\n    from dither.noise.laplace import DiscreteLaplace",
        "def f():\n    import dither.noise",
        "class C:\n    async def f(self):\n        with needs('dither[postgres]'):\n            import dither.ledger",
        "from importlib import import_module\nlaw = import_module('dither.noise.laplace')",
        "import importlib\ndef f(): return importlib.import_module('dither.noise')",
        "law = __import__('dither')",
    ):
        assert hidden(ast.parse(text)), text
    for text in (
        "from dither.noise import laplace\ndef f():\n    import numpy",
        "if TYPE_CHECKING:\n    from dither.noise.laplace import DiscreteLaplace",
    ):
        assert not hidden(ast.parse(text)), text


def texts() -> dict[str, str]:
    return {
        ".".join(("dither", *path.relative_to(SOURCE).with_suffix("").parts)): path.read_text()
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py"
    }


def test_no_room_has_more_than_18_files():
    for folder in {path.parent for path in SOURCE.rglob("*.py")}:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= 18, folder


def test_no_public_name_of_a_front_is_also_a_file_or_folder_of_it():
    """`import dither.density.keys` would put the folder where the function is expected."""
    for front in FRONTS:
        module = importlib.import_module(front)
        folder = Path(module.__file__).parent
        held = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
        for name, home in module._LAZY.items():
            assert name not in held or home == front or f"{home}.{name}" in sys.modules, f"{front}.{name}"


def test_an_upward_import_is_caught():
    tree = ast.parse("def f():\n    from dither.noise.laplace import DiscreteLaplace")
    assert upward("numeric", imports(tree)) == {"noise"}
    assert not upward("demo", imports(tree))
    assert upward("testing", imports(ast.parse("import dither.demo"))) == {"demo"}


def test_the_front_imports_nothing_before_it_is_asked():
    for front in FRONTS:
        tree = ast.parse((SOURCE.parent / front.replace(".", "/") / "__init__.py").read_text())
        top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert {getattr(node, "module", None) for node in top} <= {"__future__", "typing", "dither.lazy"}
    assert imports(ast.parse((SOURCE / "lazy.py").read_text())) == set()


def test_files_that_docstrings_and_pages_name_are_there():
    root = SOURCE.parent.parent
    for path in SOURCE.rglob("*.py"):
        for named in re.findall(r"`([\w/]+\.(?:py|md))`", path.read_text()):
            room = SOURCE / path.relative_to(SOURCE).parts[0]
            near = (SOURCE, room, path.parent, path.parent.parent, root)
            assert any((folder / named).exists() for folder in near), f"{path.relative_to(SOURCE)} names {named}"
    for page in [*(root / "docs").rglob("*.md"), *root.glob("*.md")]:
        for room, rest in re.findall(r"`(?:src/dither/)?(\w+)/([\w/]+\.(?:py|md))`", page.read_text()):
            if (SOURCE / room).is_dir():
                assert (SOURCE / room / rest).exists(), f"{page.name} names {room}/{rest}"


def test_contributing_names_every_room():
    page = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text().partition("## The house")[2]
    for path in SOURCE.iterdir():
        if path.is_dir() and (path / "__init__.py").exists():
            assert f"`{path.name}/`" in page, path.name
            for inner in path.glob("*/__init__.py"):
                assert f"`{inner.parent.name}/" in page, f"{path.name}/{inner.parent.name}"


def test_what_another_processor_runs_is_there():
    root = Path(__file__).parent.parent
    assert [path for path in SHORT if not (root / path).exists()] == []
