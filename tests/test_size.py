"""What may only grow so far: a docstring, a proof beside code; and parameters that take anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dither

SOURCE = Path(dither.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
WORDS = 40  # lines of a docstring before its sections, or of a block of comments
PROOF = 30  # lines; a longer one stands in a page beside the file
HEADS = ("Theorem", "Legend", "Proof", "Source")
SECTION = re.compile(r"^(?:Args|Raises|Returns|Yields|Attributes|Note|Example|Examples):$", re.MULTILINE)

# Methods that Python itself calls with whatever there is.
CALLED_BY_PYTHON = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__setattr__"}
# Parameters that are an `object`, by the reason why truly anything may come: file, function and parameter. A line goes when
# the parameter says more; a new one needs a reason.
ANYTHING = {
    "it is only shown, in an error": """
        cli/flags.py _shown came
        errors.py show value
        errors.py DitherError.__init__ came
        errors.py stated given
    """,
    "it is asked what it is, and the answer is yes, no or a refusal": """
        channels/labels.py check_hashable label
        channels/labels.py check_callable function
        channels/matrix.py check_channel value
        channels/optimal/optimal.py _is_number label
    """,
    "it is the other side of an operator; what is no number is not implemented": """
        channels/rational_function.py Ratio._read other
        numeric/log_sum.py LogSum._compare other
        numeric/log_sum.py LogSum._operand value
    """,
    "numbers of many libraries are read from it, by what they can do": """
        numeric/lattice.py as_array values
        numeric/parse.py from_object value
    """,
    "it is stored JSON, which anybody may have written": """
        ledger/entries/charge_request.py _plain value
        local/registry.py by_name kind
        numeric/number.py Number.from_json stored
        numeric/parse.py from_stored stored
        numeric/parse.py _stored_rational text
        privacy/budget/filter_state.py Filter.stored totals
        privacy/budget/filter_state.py _from_record value
        privacy/guarantee/approx.py _stored count
        privacy/guarantee/approx.py _stored delta
        privacy/guarantee/approx.py _stored epsilon
        privacy/guarantee/approx.py _stored own
        privacy/loss/pairs/json.py read_terms stored
        privacy/loss/pairs/json.py read_pair stored
        privacy/records.py refuse_newer version
        privacy/records.py stored_list value
        privacy/records.py stored_fraction value
        privacy/records.py stored_delta value
        privacy/records.py stored_count value
        privacy/records.py stored_number value
    """,
    "it is a row, or an outcome, of any kind": """
        mechanisms/threshold/reusable_holdout.py place_of value
        testing/enumerate.py Outcomes.probability output
        testing/invalid_input.py check_values.release filling
    """,
    "it is a question: text, an expression of a library that may not be there, or neither, which is refused with words": """
        query/groups/unknown_keys.py read_other stated
        query/public/parse.py read_public text
        query/sql/ibis.py as_sql question
        query/sql/options.py read_options text
        query/sql/parse.py parse text
        query/sql/parse.py _tree text
        query/sql/parse.py read_subqueries text
        query/sql/parse.py read_tree text
        query/sql/clauses/public_table.py read_public_table text
        query/sql/syntax.py read text
    """,
    "it is a node or a leaf of a tree: of a question, of SQL, or of Ibis": """
        query/engines/words.py Words.constant value
        query/plan/expressions.py columns_of node
        query/plan/expressions.py constants_of node
        query/plan/spelling.py spell node
        query/plan/spelling.py spelled_as node
        query/sql/domains.py _as_key value
        query/sql/group_keys.py _Finder._find_parts node
        query/sql/group_keys.py _Finder._label value
        query/sql/ibis.py _flat tree
        query/sql/rewrites/equivalents.py _is_one node
    """,
}
ALLOWED = {line.strip() for lines in ANYTHING.values() for line in lines.strip().splitlines()}


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


# -- docstrings and proofs -----------------------------------------------------------------------------------------------


def prose(text: str) -> Iterator[tuple[str, int]]:
    """Where words stand in a file, and how many lines they are: docstrings before their sections, and blocks of comments."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            words = SECTION.split(ast.get_docstring(node) or "", maxsplit=1)[0].strip()
            yield words, len(words.splitlines())
    for block in re.findall(r"(?:^ *#.*\n)+", text + "\n", re.MULTILINE):
        yield block.strip(), len(block.splitlines())


def proofs(words: str) -> Iterator[int]:
    """How many lines each proof has: up to the next head, or to the end."""
    lines = [line.lstrip("# ") for line in words.splitlines()]
    starts = [at for at, line in enumerate(lines) if line.startswith("Proof")]
    for start in starts:
        heads = (at for at in range(start + 1, len(lines)) if lines[at].startswith((*HEADS, "Lemma", "Corollary")))
        yield len("\n".join(lines[start : next(heads, len(lines))]).strip().splitlines())


def too_long(text: str) -> list[str]:
    found = []
    for words, lines in prose(text):
        if lines > WORDS:
            found.append(f"{lines} lines of words: {words.splitlines()[0]}")
        found += [f"a proof of {count} lines: {words.splitlines()[0]}" for count in proofs(words) if count > PROOF]
    return found


def test_long_proofs_stand_in_a_page_beside_the_file():
    found = {name(path): too_long(path.read_text()) for path in FILES}
    assert {file: long for file, long in found.items() if long} == {}


@pytest.mark.parametrize("page", sorted(SOURCE.rglob("*.md")), ids=name)
def test_a_page_beside_a_file_is_named_in_it_and_has_the_heads_of_a_proof(page):
    beside = page.with_suffix(".py")
    assert beside.exists()
    assert page.name in beside.read_text(), "the file says where its proof stands"
    found = re.findall(r"^#+ (\w+)", page.read_text(), re.MULTILINE)
    assert [head for head in HEADS if head not in found] == []


def test_a_long_docstring_and_a_long_proof_are_found():
    line = "    and so on\n"
    args = "    Args:\n" + 50 * "        x: a number\n"
    assert too_long(f'def f(x):\n    """What it does.\n\n{args}    """\n') == []
    assert len(too_long(f'def f(x):\n    """What it does.\n\n{41 * line}{args}    """\n')) == 1
    assert len(too_long(f'"""Theorem. It holds.\n\nProof. It is clear,\n{31 * line}"""\n')) == 1
    assert too_long(f'"""Theorem. It holds.\n\nProof. It is clear,\n{12 * line}\nSource. Somebody,\n{22 * line}"""\n') == []
    assert len(too_long("x = 1\n" + 41 * "# a thought\n" + "y = 2\n")) == 1


# -- parameters that take anything ---------------------------------------------------------------------------------------


def objects(tree: ast.AST, inside: str = "") -> Iterator[str]:
    """Parameters whose type is `object`, alone or as one of several, with their functions."""
    for node in ast.iter_child_nodes(tree):
        within = inside
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            within = f"{inside}{node.name}."
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name not in CALLED_BY_PYTHON:
            taken = node.args
            for each in (*taken.posonlyargs, *taken.args, taken.vararg, *taken.kwonlyargs, taken.kwarg):
                said = ast.unparse(each.annotation) if each is not None and each.annotation is not None else ""
                if each is not None and not each.arg.startswith("_") and "object" in said.split(" | "):
                    yield f"{within[:-1]} {each.arg}"
        yield from objects(node, within)


def test_parameters_that_take_anything_are_few_and_have_a_reason():
    found = {f"{name(path)} {each}" for path in FILES for each in objects(ast.parse(path.read_text()))}
    assert sorted(found - ALLOWED) == [], "say what is read, or why it may be anything"
    assert sorted(ALLOWED - found) == [], "no longer an object"


def test_a_parameter_that_takes_anything_is_found():
    text = "class C:\n    def f(self, a: object, *b: object, c: object | None = None, d: int = 0, _: object = 0): ..."
    assert list(objects(ast.parse(text))) == ["C.f a", "C.f b", "C.f c"]
    assert list(objects(ast.parse("def __eq__(self, other: object): ..."))) == []
    assert list(objects(ast.parse("def f():\n    async def g(a: object): ..."))) == ["f.g a"]
