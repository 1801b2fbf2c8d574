"""The measures of the architecture only improve, and each of them counts what it says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from tools import measures
from tools.measures import QUESTION, RATCHET, STORED, improved, ratchet, read, sources

STATED: dict[str, int] = json.loads(STORED.read_text(encoding="utf-8"))


def worse(found: dict[str, int]) -> dict[str, str]:
    """The measures that are above their limits, each with both numbers."""
    return {name: f"{found[name]}, was {limit}" for name, limit in STATED.items() if found[name] > limit}


def test_no_measure_gets_worse():
    assert [*STATED] == [*RATCHET]
    assert worse(ratchet(sources())) == {}, "see tools/measures.py; with a good reason, raise the number in its JSON file"


def test_a_measure_that_gets_worse_is_found():
    assert worse({name: limit - 1 for name, limit in STATED.items()}) == {}
    for name, limit in STATED.items():
        assert worse(STATED | {name: limit + 1}) == {name: f"{limit + 1}, was {limit}"}


def test_writing_lowers_and_never_raises():
    assert improved({"a": 3, "b": 3, "gone": 1}, {"a": 2, "b": 4, "new": 5}) == {"a": 2, "b": 3, "new": 5}


def test_the_question_is_that_of_the_readme():
    assert QUESTION in (STORED.parent.parent / "README.md").read_text(encoding="utf-8")


# -- each measure --------------------------------------------------------------------------------------------------------


def test_statements_are_counted_without_imports_and_docstrings():
    (nodes,) = read({"a.py": '"""Words."""\nimport os\nx = 1\ndef f():\n    """Words."""\n    return x'}).values()
    assert measures.statements(nodes) == 3


def test_names_of_several_classes():
    files = read(
        {"a.py": "class A: ...\nclass B: ...", "b.py": "class A: ...\nclass C:\n    class B: ...", "c.py": "A = 1\nC = 2"}
    )
    assert measures.several(files) == {"A", "B"}


def test_types_beside_the_offer():
    files = read({"query/p/offer.py": "class Offer: ...", "query/p/q/x.py": "class X: ...", "query/r.py": "class R: ..."})
    assert measures.types_of_offer(files) == {"Offer", "X"}


def test_places_that_charge():
    both = "def f(books):\n    books.reserve(1)\n    books.commit(2)"
    files = read(
        {
            "ledger.py": f"class Ledger: ...\n{both}",
            "a.py": both,
            "b.py": "connection.commit()",
            "c.py": "reserve(); commit()",
        }
    )
    assert measures.charges(files) == {"a.py"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("isinstance(x, Sum)", True),
        ("issubclass(type(x), (int, s.Sum))", True),
        ("match x:\n    case Sum(): ...", True),
        ("type(x) is Sum", True),
        ("READERS = {Sum: 1}", True),
        ("KINDS = (Sum, s.Mean)", True),
        ("f(Sum).g()", True),
        ("class Total(Sum): ...", True),
        ("Sum(1)", False),
        ("s.Sum.of(1).value", False),
        ("def f(x: Sum, y: list[s.Mean] = list[Sum]()) -> Sum: ...", False),
        ("x: Sum = Sum(1)", False),
        ("isinstance(x, s.Counter)", False),  # not a class of the operators
    ],
)
def test_files_that_name_operators(text, names):
    head = "from dither.query.plan import sums as s\nfrom dither.query.plan.sums import Sum\n"
    files = {
        "query/plan/sums.py": "from a import Counter\nclass Sum: ...\nclass Mean: ...",
        "query/engines/a.py": head + text,
    }
    assert measures.names_operators(read(files)) == ({"query/engines/a.py"} if names else set())
    assert measures.names_operators(read(files | {"query/engines/a.py": f"from other import Sum\n{text}"})) == set()


def test_any_in_what_is_released():
    field = "class Released:\n    chosen: Any = None\n    parts: tuple[Any, ...] = ()\n    def f(self, x: Any) -> int: ...\n"
    noisy = "def noisy(counts: Any) -> dict[str, Any]: ...\ndef other() -> Any: ..."
    assert measures.untyped(read({"query/a.py": field, "query/b.py": noisy, "local/c.py": noisy})) == 3
    with pytest.raises(AssertionError, match="what is it called now"):
        measures.untyped(read({"query/a.py": "x = 1"}))


def test_the_longest_chain_of_imports():
    files = {
        "a.py": "from dither.b import c",
        "b/c.py": "def f():\n    import dither.d",
        "d.py": "",
        "b/__init__.py": "",
        "e.py": "",
    }
    assert measures.longest_chain(read(files)) == 3
    with pytest.raises(RecursionError):
        measures.longest_chain(read(files | {"d.py": "from dither.a import x"}))


def test_functions_that_run_and_questions_that_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(measures, "SOURCE", tmp_path)
    text = """
class Question: ...
def unused(): ...
def read(): return Question()
def twice():
    def inner(): return [f() for f in (lambda: read(), read)]
    return inner()
"""
    for folder in ("query/sql", "query/plan", "testing"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "m.py").write_text(text, encoding="utf-8")
    sql, plan, testing = (
        runpy.run_path(str(tmp_path / folder / "m.py")) for folder in ("query/sql", "query/plan", "testing")
    )
    value, seen, made = measures.run(lambda: (sql["twice"](), plan["read"](), testing["read"](), len(Path("a").parts)))
    assert value[3] == 1
    file = "query/sql/m.py"
    assert seen == {(file, "read"), (file, "twice"), (file, "twice.<locals>.inner"), ("query/plan/m.py", "read")}
    assert made == {(file, "read"): 2}
