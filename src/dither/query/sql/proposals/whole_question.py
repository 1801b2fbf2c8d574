"""What a refusal proposes, put into the whole question: a text that is tried before anybody is told of it.

A refusal names a part of the question, and a text that would work in its place. Here the two are put together. The text may
be an expression, a list of columns, a clause (`HAVING n > 10`) or a whole SELECT; where prose follows ("COUNT(x); SUM or AVG
of it"), what stands before it is taken. What does not read as SQL proposes nothing.

A proposal says nothing by itself. `with_rewrite` has it read as any question is, with the same policy; where that is refused
too, it goes on from the second refusal. Only what was read in full is told, as `rewrite` of the error: a question that is
answered, and the nearest that is known; it is the same question only where `why` is about its spelling.

Nothing private is near: a rewrite is made of the text and the policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import islice
from typing import ParamSpec, TypeVar

import sqlglot
from sqlglot import exp

from dither.errors import QuestionError

Made = TypeVar("Made")
Other = TypeVar("Other")
Given = ParamSpec("Given")
DIALECT = "duckdb"
_SILENT = ContextVar("_SILENT", default=False)
MOST_STEPS = 4  # refusals that are followed, one from the other
MOST_PARTS = 400  # nodes of a question: the rewrite of a longer one is not looked for
CLAUSES = {"HAVING": "having", "ORDER BY": "order", "LIMIT": "limit", "GROUP BY": "group", "WHERE": "where", "FROM": "from_"}
PROSE = re.compile(r"; |, or |, where |, and so on| for a |: |, with ")  # what follows is said to people


@contextmanager
def no_proposals() -> Iterator[None]:
    """While it lasts, refusals propose no whole question: they are asked for whether there is one, and told to nobody."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


def never_fails(otherwise: Other) -> Callable[[Callable[Given, Made]], Callable[Given, Made | Other]]:
    """A refusal must not fail because a part of the question has a shape that nobody thought of."""

    def wrap(made: Callable[Given, Made]) -> Callable[Given, Made | Other]:
        @wraps(made)
        def tried(*args: Given.args, **kwargs: Given.kwargs) -> Made | Other:
            try:
                return made(*args, **kwargs)
            except Exception:  # a parser's trees have many shapes
                return otherwise

        return tried

    return wrap


def proposal(node: exp.Expr, instead: str) -> str | None:
    """The whole question with `instead` in place of a node; None where that is no question."""
    for text in dict.fromkeys([instead, PROSE.split(instead)[0]]):
        found = edited(node, lambda mine, text=text: _put(mine, text))  # type: ignore[misc]
        if found is not None:
            return found
    return None


def edited(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr | None]) -> str | None:
    """The whole question after a change of a node in a copy of it; `change` may give another question altogether."""
    if _SILENT.get():
        return None
    root = node.root()
    if not isinstance(root, exp.Select) or len(list(islice(root.walk(), MOST_PARTS + 1))) > MOST_PARTS:
        return None
    place: list[tuple[str, int | None]] = []
    at = node
    while at is not root and at.parent is not None:
        place.append((str(at.arg_key), at.index))
        at = at.parent
    copy: exp.Expr = root.copy()
    mine = copy
    for key, index in reversed(place):
        found = mine.args[key]
        mine = found if index is None else found[index]
    try:
        return (change(mine) or copy).sql(DIALECT)
    except Exception:  # whatever goes wrong in a parser, or in a writer, is a text that proposes nothing
        return None


def without(node: exp.Expr, *details: str) -> str | None:
    """The whole question without some details of a node, or without all of it."""

    def drop(mine: exp.Expr) -> None:
        for detail in details:
            mine.set(detail, None)
        if not details:
            mine.pop()

    return edited(node, drop)


@never_fails("the same with another value")
def part_with(around: exp.Expr, node: exp.Expr, text: str) -> str:
    """A part of the question with a text in place of a node within it, as SQL."""
    copy = exp.Paren(this=around.copy())
    same = next((found for found in copy.walk() if found is not copy and found == node), None)
    if same is not None:
        same.replace(_in_parentheses(_expressions(text)[0], same.parent))
    return str(copy.this.sql(DIALECT))


def with_rewrite(text: object, read: Callable[[object], Made], tree_of: Callable[[object], exp.Select]) -> Made:
    """What is read of a text; of a refusal, which question would be read instead."""

    def tried(text: object) -> Made:
        try:
            return read(text)
        except QuestionError as error:
            if error.proposal is None and error.where.startswith("line ") and isinstance(error.came, str):
                error.proposal = _found_again(tree_of(text), error.came, error.instead)
            raise

    try:
        return tried(text)
    except QuestionError as error:
        error.rewrite = _answered(error, tried)
        if error.rewrite is not None:
            error.add_note(f"The whole question: {error.rewrite}")
        raise


def _answered(error: QuestionError, read: Callable[[str], object]) -> str | None:
    """The first question that is read, from what a refusal proposes; None where all of them are refused."""
    seen: set[str] = set()
    text = error.proposal
    for _ in range(MOST_STEPS):
        if text is None or text in seen:
            return None
        seen.add(text)
        try:
            read(text)
        except QuestionError as another:
            text = another.proposal
        else:
            return text
    return None


def _found_again(tree: exp.Select, came: str, instead: str) -> str | None:
    """A proposal for the part of a question that reads so, where the refusal had only a copy of it, as windows are read."""
    for node in islice(tree.walk(), MOST_PARTS):
        if isinstance(node, exp.Window) and node.sql(DIALECT) == came:
            return proposal(node, instead)
    return None


def _put(mine: exp.Expr, text: str) -> exp.Expr | None:
    """A text in place of a node."""
    if isinstance(mine, exp.Window):
        written = mine.sql(DIALECT)
        over = written[written.index(" OVER (") :]
        if text.startswith("ROWS "):  # another frame
            text = re.sub(r" (?:ROWS|RANGE|GROUPS) .*\)$", f" {text})", written)
        text = text.replace(" OVER (...)", over).replace(" OVER (ORDER BY ...)", over)
    upper = text.upper()
    if upper.startswith(("SELECT ", "WITH ")):
        made = sqlglot.parse_one(text, read=DIALECT)
        if mine.parent is None or not isinstance(mine, (exp.Query, exp.Subquery)):
            return made
        mine.replace(exp.Subquery(this=made, alias=mine.args.get("alias")) if isinstance(mine, exp.Subquery) else made)
        return None
    if upper.startswith("ON ") and isinstance(mine, exp.Join):
        mine.set("on", _expressions(text[3:])[0])
        mine.set("using", None)
        return None
    for words, arg in CLAUSES.items():
        if upper.startswith(f"{words} "):
            select = mine if isinstance(mine, exp.Select) else mine.find_ancestor(exp.Select)
            whole = sqlglot.parse_one(" ".join(("SELECT 1" if arg == "from_" else "SELECT 1 FROM t", text)), read=DIALECT)
            if select is None:
                raise ValueError("there is no SELECT around it")
            select.set(arg, whole.args[arg])
            return None
    if isinstance(mine, exp.Table):
        mine.replace(sqlglot.parse_one(" ".join(("SELECT 1 FROM", text)), read=DIALECT).args["from_"].this)
        return None
    _replace(mine, _expressions(text))
    return None


def _expressions(text: str) -> list[exp.Expr]:
    whole = sqlglot.parse_one(f"SELECT {text}", read=DIALECT)
    if not isinstance(whole, exp.Select) or any(found and key != "expressions" for key, found in whole.args.items()):
        raise ValueError("it is no list of expressions")
    return list(whole.expressions)


def _replace(mine: exp.Expr, made: list[exp.Expr]) -> None:
    """Expressions in place of a node, wherever its SELECT has it; several are columns of SELECT."""
    if mine.parent is None:
        mine.set("expressions", made)
        return
    if isinstance(mine.parent, exp.Alias) and (len(made) > 1 or isinstance(made[0], exp.Alias)):
        mine = mine.parent
    select = mine.parent_select
    if len(made) > 1:
        if select is None or mine.parent is not select:
            raise ValueError("several expressions are columns of SELECT")
        listed = select.expressions
        spot = next(at for at, one in enumerate(listed) if one is mine)
        select.set("expressions", [*listed[:spot], *made, *listed[spot + 1 :]])
        return
    new = _in_parentheses(made[0], mine.parent)
    parts = [] if select is None else [*select.expressions, *_grouped(select)]
    again = [part.unalias() for part in parts if part.unalias() == mine and part.unalias() is not mine]
    mine.replace(new)
    for found in again:  # a key stands in SELECT and in GROUP BY
        if found.parent is not None:
            found.replace(new.copy())


def _in_parentheses(new: exp.Expr, around: exp.Expr | None) -> exp.Expr:
    """An expression that keeps its meaning beside operators: trees are written as they are, whatever binds more tightly."""
    binds = isinstance(new, (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In))
    loose = isinstance(around, (exp.Binary, exp.Unary, exp.Between, exp.In, exp.Is)) and not isinstance(around, exp.Paren)
    return exp.Paren(this=new) if binds and loose else new


def _grouped(select: exp.Select) -> list[exp.Expr]:
    group = select.args.get("group")
    return [] if group is None else list(group.expressions)
