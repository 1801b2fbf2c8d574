"""The public API is what tools/api.txt says: a change for users is seen in a diff, and meant."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import re
from collections.abc import Iterator

import pytest
from tools import api

import dither.lazy

MADE = api.text()
BY_SCIKIT_LEARN = {f"set_{method}_request" for method in ("fit", "predict", "score", "transform", "partial_fit")}


def changes(stored: str, found: str) -> Iterator[str]:
    """The lines that differ, with two around them, each group below its module and its class or function."""
    lines = stored.splitlines()
    for line in difflib.unified_diff(lines, found.splitlines(), "tools/api.txt", "the code", n=2, lineterm=""):
        if begin := re.match(r"@@ -(\d+)", line):
            above = lines[: int(begin[1])]
            module = [one for one in above if one and one[0] != " "][-1]
            name = ([one for one in above if re.match(r" {4}[^ )]", one)] or [""])[-1]
            yield f"@@ {module} {name.strip()}"
        else:
            yield line


def test_the_public_api_is_what_the_file_says():
    found = "\n".join(changes(api.STORED.read_text(encoding="utf-8"), MADE))
    assert not found, f"if it is meant: python -m tools.api --write\n{found}"


def test_a_method_that_is_gone_is_seen_with_its_class():
    gone = MADE.replace("        def to_arrow(self) -> pyarrow.Table\n", "", 1)
    found = [*changes(MADE, gone)]
    assert [line for line in found[2:] if line[0] in "+-"] == ["-        def to_arrow(self) -> pyarrow.Table"]
    assert found[2] == "@@ dither: @dataclass(frozen=True, eq=False) class Answer(Operators)"


# -- the list of fronts and names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", api.PUBLIC)
def test_the_names_that_are_read_are_those_that_are_imported(name):
    module = importlib.import_module(name)
    assert api.names(name) == sorted({*module.__all__, *getattr(module, "_LAZY", ())})
    for public in api.names(name):
        home = api.home_of(name, public)
        value = getattr(module, public)
        assert inspect.ismodule(value) == bool(api.module_named(home))
        if inspect.isclass(value):
            assert api.resolved(*home)[0] == value.__module__
            assert isinstance(api.resolved(*home)[1], ast.ClassDef)


def test_every_module_is_that_of_its_public_name():
    for called, name in api.MODULES.items():
        front, _, inner = called.rpartition(".")
        assert getattr(importlib.import_module(front), inner) is importlib.import_module(name)
    assert set(dither.lazy.FRONTS) <= set(api.FRONTS)


def test_every_public_member_stands_in_the_text():
    """Read from the living classes: what is read from the sources must have it, below the class or a public base of it."""
    fronts = {name: importlib.import_module(name) for name in api.PUBLIC}
    public = {getattr(module, name) for front, module in fronts.items() for name in api.names(front)}
    seen = 0
    for front, module in fronts.items():
        for name in api.names(front):
            one = getattr(module, name)
            if inspect.isclass(one):
                bases = [base for base in one.__mro__[1:] if base in public]
                written = "\n".join(api._entry(front, name, {(base.__module__, base.__name__) for base in bases}))
                inherited = {member for base in bases for member in dir(base)}
                ours = [vars(base) for base in one.__mro__ if base.__module__.startswith("dither")]
                for member in {member for each in ours for member in each if member[0] != "_"} - inherited - BY_SCIKIT_LEARN:
                    assert re.search(rf"^    .*\b{member}\b", written, re.MULTILINE), f"{front}.{name}.{member}"
                    seen += 1
    assert seen > 1000


# -- signatures ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def front(tmp_path, monkeypatch):
    """A package with one front, of which a test writes the modules."""

    def make(**modules: str) -> str:
        folder = tmp_path / "src" / "dither"
        folder.mkdir(parents=True)
        for name, text in {"__init__": "", **modules}.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(api, "ROOT", tmp_path)
        api.tree_of.cache_clear()
        lines = list(api._entry("dither.a", "A", {("dither.b", "Public")}))
        api.tree_of.cache_clear()
        return "\n".join(lines)

    return make


def test_a_class_has_fields_in_order_then_its_members_by_name_and_those_of_inner_bases(front):
    base = "class Public:\n    def h(self): ...\n"
    base += "class Base:\n    z: int = 3\n    def f(self) -> int: ...\n    def g(self) -> int: ..."
    own = """
from dither.b import Base, Public
@dataclass(frozen=True)
class A(Base[int], Public):
    y: Sequence["str"]
    x: int = field(default=2, repr=False)
    LIMIT = 7
    _inner: int = 1
    def __post_init__(self) -> None:
        self.made = 1
    @cached_property
    def size(self) -> int: ...
    @classmethod
    @argument_errors
    def of(cls, *, x: int = 1) -> A: ...
    def _private(self): ...
    def g(self) -> bool: ...
    def __len__(self) -> int: ...
"""
    assert front(a=own, b=base).split("\n") == [
        "@dataclass(frozen=True) class A(Base[int], Public)",
        *("    z: int = 3", "    y: Sequence['str']", "    x: int = ..."),
        *("    LIMIT = 7", "    def __len__(self) -> int", "    def f(self) -> int", "    def g(self) -> bool"),
        *("    made", "    @classmethod def of(cls, *, x: int=1) -> A", "    @property size: int"),
    ]


def test_overloads_and_keywords_of_a_typed_dictionary(front):
    own = """
from dither.b import Terms
@overload
def A(x: int) -> int: ...
@overload
def A(x: str, **terms: Unpack[Terms]) -> str: ...
def A(x, **terms): ...
"""
    terms = "class Terms(TypedDict):\n    epsilon: float\n    size: int"
    assert front(a=own, b=terms).split("\n") == [
        "def A(x: int) -> int",
        *("def A(x: str, **terms: Unpack[Terms]) -> str", "    epsilon: float", "    size: int"),
    ]


def test_a_long_signature_has_a_line_for_each_parameter(front):
    wanted = [f"x{number}: dict[str, tuple[int, int]]=(1, 2)" for number in range(5)]
    own = f"def A({', '.join(wanted)}) -> int: ..."
    assert front(a=own).split("\n") == ["def A(", *(f"    {one}," for one in wanted), ") -> int"]


def test_a_name_that_is_nowhere_is_refused(front):
    with pytest.raises(AssertionError, match=r"dither\.a\.A is not defined"):
        front(a="B = 1")
