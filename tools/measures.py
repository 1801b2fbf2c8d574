"""Measures of the architecture: what must not get worse, and what is printed for orientation.

    python -m tools.measures            prints all of them
    python -m tools.measures --types    also how complete the public types are, by basedpyright (10 seconds)
    python -m tools.measures --write    lowers the numbers in tools/measures.json that have improved; it raises none

The measures of `RATCHET` may only improve: a test compares them with `tools/measures.json`. Whoever has a reason to raise
one edits the file and gives the reason in the commit. None of them depends on the machine: the sources are read, or the
calls of one seeded process are counted. The others (statements, files, lines, seconds) are printed and may rise by what a
new capability needs.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dither

SOURCE = Path(dither.__file__).parent
STORED = Path(__file__).with_suffix(".json")
DURATIONS = STORED.parent.parent / "tests" / "durations.json"  # CPU seconds of the tests that run by default, by file
QUESTION = "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward"  # README's
ANOTHER = "SELECT COUNT(*) AS n FROM visits"
UNSEEN = "SELECT ward, AVG(cost) AS average FROM visits GROUP BY ward"  # a text that no cache can know
OPERATORS = "query/plan/"
READING = "query/sql/"
RANDOMIZE, OUTCOME = {"noisy", "randomize"}, {"Released", "Outcome"}  # private counts go in, public numbers are kept
LIGHT = ["", "import dither.cli.main", "dither.errors", "dither.ln", "dither.Geometric", "dither.noise.DiscreteLaplace",
         "dither.local.DirectEncoding", "dither.Ledger", "dither.connect"]  # fmt: skip  # entry points that load little
RATCHET = {
    "functions run by a quote": "distinct named functions of dither while README's question is quoted",
    "functions run by a release": "likewise, while the quote is released",
    "parses of one quote": "times that one quote with limits='auto' makes a Question of its text",
    "types of an offer": "classes of the package that defines Offer: what a text passes on its way to an offer",
    "places that charge": "files beside that of Ledger that both reserve and commit",
    "files that name operators": f"files outside {OPERATORS} that use one of its classes as a value, as in isinstance",
    "names of several classes": "class names that stand for two classes or more",
    "Any in what is released": "Any in results of functions that add noise to counts, and in fields of their outcome",
}
Function = tuple[str, str]  # file and qualified name
Files = dict[str, list[ast.AST]]  # all nodes of a file, its module first, by its path below the package


def sources() -> Files:
    """The files of the package."""
    return read({path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")})


def read(texts: dict[str, str]) -> Files:
    """The nodes of each text."""
    return {file: list(ast.walk(ast.parse(text))) for file, text in sorted(texts.items())}


# -- counted in the sources ----------------------------------------------------------------------------------------------


def statements(nodes: list[ast.AST]) -> int:
    """Statements without imports and docstrings."""
    found = [node for node in nodes if isinstance(node, ast.stmt) and not isinstance(node, (ast.Import, ast.ImportFrom))]
    return sum(not (isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)) for node in found)


def classes(files: Files) -> dict[str, list[str]]:
    """The files that define each class, by its name; a file stands there once for each definition."""
    found = defaultdict(list)
    for file, nodes in files.items():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(file)
    return found


def several(files: Files) -> set[str]:
    """Class names that stand for more than one class."""
    return {name for name, places in classes(files).items() if len(places) > 1}


def types_of_offer(files: Files) -> set[str]:
    """Classes defined in the folder of the file that defines `Offer`."""
    (place,) = classes(files)["Offer"]
    folder = place.rpartition("/")[0] + "/"
    return {name for name, places in classes(files).items() if any(one.startswith(folder) for one in places)}


def charges(files: Files) -> set[str]:
    """Files that call `reserve` and `commit`, without the one that defines `Ledger`."""
    (ledger,) = classes(files)["Ledger"]
    called = {
        file: {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
        for file, nodes in files.items()
    }
    return {file for file, names in called.items() if {"reserve", "commit"} <= names and file != ledger}


def names_operators(files: Files) -> set[str]:
    """Files outside the operators that use one of their classes as a value: neither called, nor in an annotation."""
    known = {
        f"dither.{module(file)}": {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        for file, nodes in files.items()
        if file.startswith(OPERATORS)
    }
    return {file for file, nodes in files.items() if not file.startswith(OPERATORS) and _uses(nodes, known)}


def module(file: str) -> str:
    """The dotted name of a file, below the package."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _uses(nodes: list[ast.AST], known: dict[str, set[str]]) -> bool:
    """True if a class of the known modules is used as a value, by its name or as an attribute of its module."""
    local: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                local |= {name} if alias.name in known.get(f"{node.module}", ()) else set()
                local |= {f"{name}.{one}" for one in known.get(f"{node.module}.{alias.name}", ())}
    return bool(local) and any(ast.unparse(node) in local for node in _values(nodes[0]))


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """Names and attributes that are read, without those that are called and without annotations."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            while field == "func" and isinstance(child, (ast.Attribute, ast.Subscript)):
                child = child.value  # of `a.b(c).d()` what `a.b` is called with, and neither `a.b` nor `d`
            if isinstance(child, ast.AST) and not (field == "func" and isinstance(child, ast.Name)):
                yield from _values(child)


def untyped(files: Files) -> int:
    """How often `Any` stands in results of functions of `RANDOMIZE`, and in fields and results of classes of `OUTCOME`."""
    annotations: list[ast.expr | None] = []
    for node in (node for file, nodes in files.items() if file.startswith("query/") for node in nodes):
        if isinstance(node, ast.FunctionDef) and node.name in RANDOMIZE:
            annotations.append(node.returns)
        if isinstance(node, ast.ClassDef) and node.name in OUTCOME:
            annotations += [getattr(one, "annotation", getattr(one, "returns", None)) for one in node.body]
    assert annotations, f"nothing is called {sorted(RANDOMIZE | OUTCOME)}: what is it called now?"
    return sum(getattr(node, "id", "") == "Any" for one in annotations if one is not None for node in ast.walk(one))


def longest_chain(files: Files) -> int:
    """Modules on the longest path of imports, wherever in a file they stand; RecursionError where they go in a circle."""
    names = {f"dither.{module(file)}" for file in files if not file.endswith("__init__.py")}
    graph = {}
    for file, nodes in files.items():
        found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        for node in (node for node in nodes if isinstance(node, ast.ImportFrom)):
            found |= {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
        graph[f"dither.{module(file)}"] = found & names

    @cache
    def depth(name: str) -> int:
        return 1 + max(map(depth, graph[name] - {name}), default=0)

    return max(map(depth, names))


# -- counted in processes of their own -----------------------------------------------------------------------------------


def run(what: Callable[[], Any]) -> tuple[Any, set[Function], Counter[Function]]:
    """What a call returns, the named functions of dither that run, and how often each of `READING` returned a Question."""
    seen, made = set[Function](), Counter[Function]()
    root = f"{SOURCE}{os.sep}"

    def hook(frame: Any, event: str, value: Any) -> None:
        code = frame.f_code
        if code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            function = (code.co_filename.removeprefix(root).replace(os.sep, "/"), code.co_qualname)
            if event == "call" and not function[0].startswith("testing/"):
                seen.add(function)
            if event == "return" and function[0].startswith(READING) and type(value).__name__ == "Question":
                made[function] += 1

    sys.setprofile(hook)
    try:
        return what(), seen, made
    finally:
        sys.setprofile(None)


def walk() -> dict[str, int]:
    """README's question on the demo, in a process that has released another one before."""
    from dither.demo import save
    from dither.testing import seeded

    warnings.simplefilter("ignore")  # a seed, so that every run takes the same way
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, seeded(1):
        os.environ["DITHER_HOME"] = str(Path(folder, "home"))
        save(Path(folder, "clinic"))
        clinic = dither.open(Path(folder, "clinic", "policy.toml"))
        clinic.quote(ANOTHER, epsilon="0.1").release()
        gc.collect()
        gc.disable()  # what is collected when is no part of a question
        quote, quoted, _ = run(lambda: clinic.quote(QUESTION, epsilon="0.5", size=5000))
        _, released, _ = run(quote.release)
        _, _, made = run(lambda: clinic.quote(UNSEEN, epsilon="0.5", size=5000, limits="auto"))
    return dict(zip(RATCHET, (len(quoted), len(released), max(made.values())), strict=False))


def python(code: str) -> Any:
    """The JSON that a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=STORED.parent.parent)
    return json.loads(done.stdout)


def loaded(code: str) -> int:
    """Lines of dither that a process has loaded after some code."""
    files = "[one.__file__ for name, one in list(sys.modules.items()) if name.split('.')[0] == 'dither']"
    paths = python(f"import json, sys, dither\n{code}\nprint(json.dumps({files}))")
    return sum(len(Path(path).read_text(encoding="utf-8").splitlines()) for path in paths)


def typed() -> str:
    """How many public names have a type that is known, as pyright counts them."""
    command = [sys.executable, "-m", "basedpyright", "--ignoreexternal", "--verifytypes", "dither", "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE.parent.parent, check=False)
    found = json.loads(done.stdout)["typeCompleteness"]
    counts = found["exportedSymbolCounts"]
    return f"{found['completenessScore']:.1%} ({counts['withUnknownType']} unknown, {counts['withAmbiguousType']} ambiguous)"


# -- all of them ---------------------------------------------------------------------------------------------------------


def ratchet(files: Files) -> dict[str, int]:
    """The measures that may only improve, in the order of `RATCHET`."""
    found = python("import json\nfrom tools.measures import walk\nprint(json.dumps(walk()))") | {
        "types of an offer": len(types_of_offer(files)),
        "places that charge": len(charges(files)),
        "files that name operators": len(names_operators(files)),
        "names of several classes": len(several(files)),
        "Any in what is released": untyped(files),
    }
    return {name: found[name] for name in RATCHET}


def orientation(files: Files) -> dict[str, Any]:
    """What is printed and compared with nothing."""
    lines = {file: len((SOURCE / file).read_text(encoding="utf-8").splitlines()) for file in files}
    imports = [node for nodes in files.values() for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    share = sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in imports) / sum(lines.values())
    cpu = "import json, time, dither\ndither.protect\nprint(json.dumps(time.process_time()))"
    found = {
        "statements": sum(map(statements, files.values())),
        "statements of query": sum(statements(nodes) for file, nodes in files.items() if file.startswith("query/")),
        "files": len(files),
        "lines": sum(lines.values()),
        "longest import chain": longest_chain(files),
        "share of import lines": f"{share:.1%}",
        "import of dither.protect, CPU s": round(min(python(cpu) for _ in range(3)), 2),
        **{f"lines loaded by {code or 'import dither'}": loaded(code) for code in LIGHT},
    }
    if DURATIONS.exists():
        found["default tests, CPU s"] = round(sum(json.loads(DURATIONS.read_text(encoding="utf-8"))["default"].values()))
    return found


def improved(stored: dict[str, int], found: dict[str, int]) -> dict[str, int]:
    """What the file would hold: of each measure the lower number, and of a new one the number that was found."""
    return {name: min(number, stored.get(name, number)) for name, number in found.items()}


def main(options: list[str]) -> None:
    files = sources()
    stored, found = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}, ratchet(files)
    for name, number in found.items():
        limit = stored.get(name, number)
        print(f"{number:>10,}  {name}" + (f" ({limit} in {STORED.name})" if number != limit else ""))
    for name, figure in orientation(files).items():
        print(f"{figure:>10,}  {name}" if isinstance(figure, int) else f"{figure:>10}  {name}")
    if "--types" in options:
        print(f"{typed()} public types that are known, by basedpyright")
    if "--write" in options:
        STORED.write_text(json.dumps(improved(stored, found), indent=4) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
