"""The public API as a text: each public name with its signature, and the public methods and attributes of each class.

    python -m tools.api            prints it
    python -m tools.api --write    writes tools/api.txt, with which a test compares it

A front is a package whose stub (`__init__.pyi`) lists its names; a public module is one that a front lists, and has an
`__all__`. Everything is read from the sources and nothing is imported, so the text is the same on every Python, without
extras. Members that a class inherits from a class that is not public stand with it; those of a public base stand there.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
STORED = Path(__file__).with_suffix(".txt")
HEAD = "# The public API of dither, written by `python -m tools.api --write`: a change of a line is a change for users."
SILENT = {"argument_errors", "cached_property", "override", "abstractmethod", "total_ordering", "final", "overload"}
INSIDE = {  # special methods that nobody calls: Python, attrs, pickle and scikit-learn do
    *("__post_init__", "__attrs_post_init__", "__init_subclass__", "__class_getitem__", "__slots__", "__match_args__"),
    *("__getattr__", "__setattr__", "__dir__", "__eq__", "__hash__", "__repr__", "__str__"),
    *("__reduce__", "__getstate__", "__setstate__", "__copy__", "__deepcopy__"),
    *("__array_ufunc__", "__array_priority__", "__sklearn_tags__", "__sklearn_clone__"),
}
LONGEST = 110  # letters of a signature in one line
Place = tuple[str, str]  # a module, and a name that it defines


# -- the list of fronts and modules --------------------------------------------------------------------------------------


def file_of(module: str) -> Path | None:
    """The file of a module of dither, if it is one."""
    path = ROOT / "src" / module.replace(".", "/")
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.exists()), None)


@cache
def tree_of(module: str) -> ast.Module:
    """The syntax tree of a module."""
    file = file_of(module)
    assert file is not None, module
    return ast.parse(file.read_text(encoding="utf-8"))


def listed(front: str) -> dict[str, Place]:
    """The names that the stub of a front lists, each with its home."""
    stub = ast.parse((ROOT / "src" / front.replace(".", "/") / "__init__.pyi").read_text(encoding="utf-8"))
    rows = [
        (node.module or "", alias.name) for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    return {name: (home, name) for home, name in rows}


def module_named(place: Place) -> str:
    """The module that a name of a front stands for, '' if it is something else."""
    home, name = place
    is_module = file_of(f"{home}.{name}") is not None and definition(home, name) is None
    return f"{home}.{name}" if is_module else ""


def definition(module: str, name: str) -> ast.stmt | None:
    """The statement at the top of a module that defines a name: the last one, and the first of several overloads."""
    found: list[ast.stmt] = []
    waiting: list[ast.AST] = [*tree_of(module).body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.If, ast.Try)):
            waiting[:0] = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        elif name in _names(node):
            assert isinstance(node, ast.stmt)
            found.append(node)
    return found[-1] if found else None


def _names(node: ast.AST) -> set[str]:
    """The names that a statement defines."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _fronts() -> list[str]:
    stubs = (ROOT / "src").rglob("__init__.pyi")
    return sorted(".".join(stub.parent.relative_to(ROOT / "src").parts) for stub in stubs)


FRONTS = _fronts()
MODULES = {  # by the name that a user writes
    f"{front}.{name}": module
    for front in FRONTS
    for name, place in sorted(listed(front).items())
    if (module := module_named(place)) and module not in FRONTS
}


PUBLIC = [*FRONTS, *MODULES.values()]  # every module with public names


def names(module: str) -> list[str]:
    """The public names of a front or of a public module."""
    if module in FRONTS:
        return sorted([*listed(module), *(["__version__"] if definition(module, "__version__") else [])])
    found: list[str] = []
    for node in tree_of(module).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(node, (ast.Assign, ast.AugAssign)) and getattr(target, "id", "") == "__all__":
            found += ast.literal_eval(node.value)
    return sorted(found)


def resolved(module: str, name: str) -> tuple[str, ast.stmt]:
    """Where a name is defined, through imports: the module and the statement."""
    node = definition(module, name)
    while isinstance(node, ast.ImportFrom) and f"{node.module}".startswith("dither"):
        module, name = f"{node.module}", next(one.name for one in node.names if name == (one.asname or one.name))
        node = definition(module, name)
    assert node is not None, f"{module}.{name} is not defined"
    return module, node


# -- signatures ----------------------------------------------------------------------------------------------------------


def text() -> str:
    """The whole text."""
    public = {place for module in PUBLIC for place in _places(module)}
    blocks = []
    for called, module in zip([*FRONTS, *MODULES], PUBLIC, strict=True):
        lines = [line for name in names(module) for line in _entry(module, name, public)]
        blocks.append("\n".join([f"{called}:", *(f"    {line}" for line in lines)]))
    return "\n\n".join([HEAD, *blocks]) + "\n"


def home_of(module: str, name: str) -> Place:
    """Where a public name is imported from."""
    return listed(module).get(name, (module, name)) if module in FRONTS else (module, name)


def _places(module: str) -> Iterator[Place]:
    """Where the public names of a module are defined."""
    for name in names(module):
        if not module_named(home_of(module, name)):
            yield resolved(*home_of(module, name))[0], name


def _entry(module: str, name: str, public: set[Place]) -> Iterator[str]:
    """The lines of a public name."""
    if module_named(home_of(module, name)):
        yield f"{name}: module"
        return
    home, node = resolved(*home_of(module, name))
    if isinstance(node, ast.ClassDef):
        yield from _class(home, node, public)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _functions(home, [one for one in tree_of(home).body if getattr(one, "name", "") == name])
    else:
        yield f"{name}: str" if name == "__version__" else _value(node, name)


def _class(module: str, node: ast.ClassDef, public: set[Place]) -> Iterator[str]:
    """A class: how it is made, its fields in the order in which a constructor takes them, and its other members by name."""
    bases = ", ".join([*map(ast.unparse, node.bases), *map(ast.unparse, node.keywords)])
    yield f"{_decorators(node)}class {node.name}" + (f"({bases})" if bases else "")
    fields: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for home, one in reversed([*_inherited(module, node, public)]):  # the base first, and what it says is replaced
        stated = {name for field in one.body if isinstance(field, ast.AnnAssign) for name in _names(field)}
        for name, lines in _members(home, one).items():
            (fields if name in stated or name in fields else others)[name] = lines
    for name in (*fields, *(name for name in sorted(others) if name not in fields)):
        yield from (f"    {line}" for line in fields.get(name, others.get(name, [])))


def _inherited(module: str, node: ast.ClassDef, public: set[Place]) -> Iterator[tuple[str, ast.ClassDef]]:
    """A class and those of its bases that are not public, and stand in dither."""
    yield module, node
    for base in node.bases:
        name = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(name, ast.Name) and definition(module, name.id) is not None:
            home, found = resolved(module, name.id)
            if isinstance(found, ast.ClassDef) and (home, found.name) not in public:
                yield from _inherited(home, found, public)


def _members(module: str, node: ast.ClassDef) -> dict[str, list[str]]:
    """The lines of each public member that a class defines itself."""
    found: dict[str, list[str]] = {}
    functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for one in node.body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.setdefault(one.name, []).append(one)
        for name in _names(one) if isinstance(one, (ast.Assign, ast.AnnAssign)) else ():
            found[name] = [_value(one, name)]
    for name, several in functions.items():
        found[name] = [*_functions(module, several)]
        for inner in (inner for one in several for inner in ast.walk(one)):
            targets = inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]
            for target in (one for each in targets if each is not None for one in ast.walk(each)):
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    found.setdefault(target.attr, [target.attr])
    is_public = {name: not name.startswith("_") or (name.startswith("__") and name not in INSIDE) for name in found}
    return {name: lines for name, lines in found.items() if is_public[name]}


def _functions(module: str, several: Sequence[ast.stmt]) -> Iterator[str]:
    """A function, or its overloads; a property without its call; and the keywords that a typed dictionary names."""
    functions = [one for one in several if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    overloads = [one for one in functions if "overload" in map(ast.unparse, one.decorator_list)]
    for node in overloads or functions[:1]:  # of a property the getter
        returns = ast.unparse(node.returns) if node.returns else "?"
        if {"property", "cached_property"} & set(map(ast.unparse, node.decorator_list)):
            yield f"@property {node.name}: {returns}"
            continue
        kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        yield from _call(f"{_decorators(node)}{kind} {node.name}", ast.unparse(node.args), returns)
        said = node.args.kwarg.annotation if node.args.kwarg else None
        if isinstance(said, ast.Subscript) and ast.unparse(said.value) == "Unpack":
            home, terms = resolved(module, ast.unparse(said.slice))
            assert isinstance(terms, ast.ClassDef)
            for _, one in _inherited(home, terms, set()):
                yield from (f"    {_value(field, '')}" for field in one.body if isinstance(field, ast.AnnAssign))


def _call(head: str, arguments: str, returns: str) -> Iterator[str]:
    """The line of a signature, or a line for each parameter if it is long."""
    if len(f"{head}{arguments}{returns}") < LONGEST:
        yield f"{head}({arguments}) -> {returns}"
        return
    yield f"{head}("
    depth, begin = 0, 0
    for at, sign in enumerate(f"{arguments},"):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            yield f"    {arguments[begin:at].strip()},"
            begin = at + 1
    yield f") -> {returns}"


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Decorators that a caller notices."""
    found = [ast.unparse(one) for one in node.decorator_list]
    kinds = {one: one.partition("(")[0].rpartition(".")[2] for one in found}
    return "".join(f"@{one} " for one, kind in kinds.items() if kind not in SILENT and kind[0] != "_")


def _value(node: ast.stmt, name: str) -> str:
    """A field or a constant: its type, and its value if that is a literal."""
    value = getattr(node, "value", None)
    said = name
    if isinstance(node, ast.AnnAssign):
        said = f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in ("field", "attrib", "ib"):
        has_default = any(one.arg in ("default", "default_factory", "factory") for one in value.keywords)
        return f"{said} = ..." if has_default else said
    if value is None or (
        isinstance(value, ast.Tuple) and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
    ):
        return said
    return (
        f"{said} = {ast.unparse(value)}" if isinstance(value, (ast.Constant, ast.Name, ast.Attribute)) else f"{said} = ..."
    )


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        STORED.write_text(text(), encoding="utf-8")
    else:
        print(text(), end="")
