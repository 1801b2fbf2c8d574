"""Behavior does not change by the way: every golden record is what it was, and nothing that there is has none."""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import json
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from dither import errors, query
from dither.fields import field_names
from dither.numeric.number import Number
from dither.query import plan
from dither.query.batch import Batch
from dither.query.dataset import Dataset
from dither.query.groups.group_choice import GroupChoice
from dither.query.plan import derived, expressions
from dither.query.plan.aggregates import Aggregate
from dither.query.plan.base import Expression
from dither.query.plan.derived import Term
from dither.query.pricing.ask import Terms
from dither.query.pricing.offer import Offer
from dither.query.quote import Quote
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.statistic import Statistic
from tests.docs.engines_page import coded, leaves
from tests.golden.clinic import BUDGETS
from tests.golden.hostile import REFUSED
from tests.golden.records import (
    FILES,
    FOLDER,
    REFUSALS,
    Clinic,
    Golden,
    all_golden,
    asked,
    hostile,
    path,
    records,
    refused_golden,
    words_of_refusals,
    written,
)

SOURCE = Path(query.__file__).parent


@pytest.mark.parametrize("kind", BUDGETS)
def test_questions_mean_read_and_say_what_they_did(kind, tmp_path):
    found = all_golden(kind, tmp_path)
    for file in FILES:
        text = path(file, kind).read_text(encoding="utf-8")
        before, now = json.loads(text), records(found, file)
        assert list(now) == list(before), f"{file}: the questions that there are; python -m tests.golden.records"
        for name, record in now.items():
            for fact in {**before[name], **record}:
                assert record.get(fact) == before[name].get(fact), f"{file} of {name!r} under {kind}: {fact}"
        assert written(now) == text, "the file is as it is written"


def test_refusals_say_what_they_did():
    text, now = path(*REFUSALS).read_text(encoding="utf-8"), words_of_refusals()
    before = json.loads(text)
    for name, record in now.items():
        assert record == before.get(name), f"{name}; python -m tests.golden.records"
    assert written(now) == text


def test_each_file_is_one_of_a_budget():
    known = {path(file, kind).name for file in FILES for kind in BUDGETS}
    assert {one.name for one in FOLDER.iterdir()} == {*known, path(*REFUSALS).name}
    names = [name for name, _, _ in [*asked("rho"), *hostile()]]
    assert len(set(names)) == len(names)


# -- nothing is left out -----------------------------------------------------------------------------------------------

NOT_ASKED = {"Facts", "Rows", "OwnTotal"}  # what follows from nodes, rows that are joined, and a protocol
FAMILIES = (Expression, Term, Aggregate, Statistic, Bounding, GroupChoice)
ASKED_BY = (Dataset.quote, Quote.release, Batch.release)
NO_QUESTIONS = {  # files of `dither.query` that refuse something else than a question
    "policy files": ("policy/", "owner/", "sources/", "sample/", "budget_plan/", "dataset.py", "protect.py", "features.py"),
    "stored answers, and what is done with an answer": ("answers/", "quote.py"),
    "engines of other tests": ("engines/", "conformance/"),
    "questions of Ibis, which loads slowly": ("sql/ibis.py",),
    "what a theorem rules out": ("pricing/offer.py",),
}


@pytest.fixture(scope="module")
def quoted(tmp_path_factory) -> dict[str, dict[str, Any]]:
    """Quote all questions under each kind of budget; those that are refused are left out."""
    return {kind: quotes_of(Clinic.save(tmp_path_factory.mktemp("golden") / kind, kind), kind) for kind in BUDGETS}


def quotes_of(clinic: Clinic, kind: str) -> dict[str, Any]:
    with clinic.data.ledger:
        found = {name: clinic.quoted(name, sql, terms) for name, sql, terms in asked(kind)}
    return {name: one[0] for name, one in found.items() if not isinstance(one, Golden)}


@pytest.fixture(scope="module")
def parts(quoted) -> list[object]:
    """Collect all values that the offers of these quotes are made of."""
    every = [offer for quotes in quoted.values() for quote in quotes.values() for offer in offers_of(quote)]
    return [*parts_of(every, {})]


def offers_of(quote: Quote | Batch) -> Iterator[Offer]:
    """Yield the offers of a quote, with those that follow from what is released first."""
    for offer in quote.offers if isinstance(quote, Batch) else [quote.offer] if quote.question else []:
        yield offer
        if offer.found is not None:
            yield from (offer.found.lowest, offer.found.highest)
        if offer.constants is not None:
            yield from (offer.constants.unknown, *offer.constants.offers)


def parts_of(value: object, seen: dict[int, object]) -> Iterator[object]:
    if id(value) in seen or isinstance(value, (str, int, type)):
        return
    seen[id(value)] = value
    names = fields_of(type(value))
    if names:
        yield value
    inside = [getattr(value, name) for name in names]
    if isinstance(value, dict):
        inside += [*value, *value.values()]
    elif isinstance(value, (tuple, list, frozenset)):
        inside += [*value]
    for part in inside:
        yield from parts_of(part, seen)


def fields_of(kind: type) -> list[str]:
    return [*(field_names(kind) or getattr(kind, "_fields", ()))]


def classes() -> set[type]:
    """Collect the classes of which questions and their releases are made, without their base classes."""
    for one in pkgutil.walk_packages(query.__path__, f"{query.__name__}."):
        importlib.import_module(one.name)
    of_plan = [vars(module).values() for name, module in sys.modules.items() if name.startswith(f"{plan.__name__}.")]
    own = {kind for kinds in of_plan for kind in kinds if inspect.isclass(kind) and fields_of(kind)}
    own = {kind for kind in own if kind.__module__.startswith(f"{plan.__name__}.") and kind.__name__ not in NOT_ASKED}
    own = {kind for kind in own if not any(other is not kind and issubclass(other, kind) for other in own)}
    return {*coded(), *own, *(kind for family in FAMILIES for kind in leaves(family))}


def without_record(parts: list[object]) -> set[str]:
    """Return the names of the classes that no part has."""
    return {kind.__name__ for kind in classes() - {type(part) for part in parts}}


def choices() -> set[tuple[type, str, object]]:
    """Collect the values of fields that are a Literal or a truth value; those of boundings follow from others."""
    found = set()
    for kind in (one for one in classes() if not issubclass(one, Bounding)):
        for name, hint in get_type_hints(kind).items():
            options = get_args(hint) if get_origin(hint) is Literal else (True, False) if hint is bool else ()
            found |= {(kind, name, value) for value in options if name in fields_of(kind)}
    return found


def test_every_class_of_questions_and_releases_has_a_record(parts):
    assert len(classes()) > 130
    assert without_record(parts) == set()


@pytest.mark.parametrize(
    "base", [expressions.Like, Statistic, Bounding, GroupChoice, derived.Term], ids=lambda base: base.__name__
)
def test_a_class_without_a_record_is_found(base, parts, monkeypatch):
    kind = dataclass(frozen=True)(type("Unrecorded", (base,), {"__module__": expressions.__name__, "code": "unrecorded"}))
    if base is expressions.Like:  # of one that has a record itself
        monkeypatch.setattr(expressions, "Unrecorded", kind, raising=False)
    try:
        assert without_record(parts) == {"Unrecorded"}
    finally:
        monkeypatch.undo()
        del kind
        gc.collect()  # so that no other test finds it among the classes that there are


def test_every_value_of_their_fields_has_a_record(parts):
    wanted = choices()
    named = {(kind, name) for kind, name, _ in wanted}
    seen = {(kind, name, getattr(part, name)) for part in parts for kind, name in named if type(part) is kind}
    assert len(wanted) > 100
    assert wanted - seen == set()
    part = next(part for part in parts if isinstance(part, expressions.DatePart))
    assert (type(part), "part", part.part) in seen


# -- keywords ----------------------------------------------------------------------------------------------------------


def answered(quoted: dict[str, dict[str, Any]], *, batch: bool) -> list[dict[str, Any]]:
    """Collect the keywords of the questions that are answered under some budget."""
    every = {kind: [*asked(kind)] for kind in BUDGETS}
    return [
        terms
        for kind in BUDGETS
        for name, sql, terms in every[kind]
        if name in quoted[kind] and isinstance(sql, list) == batch
    ]


def words_of(hint: Any) -> set[str]:
    """Return the words that a type allows."""
    return {*get_args(hint)} if get_origin(hint) is Literal else {word for one in get_args(hint) for word in words_of(one)}


def unused(hints: dict[str, Any], every: list[dict[str, Any]]) -> set[str]:
    """Return the keywords that no question has, and the words of keywords that none has."""
    stated = {(name, value) for terms in every for name, value in terms.items() if isinstance(value, (str, bool))}
    words = {f"{name}={word}" for name, hint in hints.items() for word in words_of(hint) if (name, word) not in stated}
    return words | (hints.keys() - {name for terms in every for name in terms})


def test_every_keyword_and_each_of_its_words_has_a_record(quoted):
    hints = get_type_hints(Terms, localns={"Number": Number})
    assert {*hints} == {*inspect.signature(Dataset.quote).parameters} - {"self", "sql"}
    assert sum(len(words_of(hint)) for hint in hints.values()) >= 9
    single, several = answered(quoted, batch=False), answered(quoted, batch=True)
    assert unused(hints, single) == set()
    assert {*hints} - {name for terms in several for name in terms} == {"error"}, "which is refused of a batch"
    assert any(isinstance(sql, list) and terms.get("error") for sql, terms in REFUSED.values())
    shares = {str(terms["intervals"]) for terms in single if "intervals" in terms}
    assert shares == {"True", "False", "1/2"}


def test_a_keyword_or_a_word_without_a_record_is_found(quoted):
    hints = {"noise": Literal["gaussian", "geometric", "staircase"] | None, "temperature": float}
    assert unused(hints, answered(quoted, batch=False)) == {"noise=staircase", "temperature"}


# -- refusals ----------------------------------------------------------------------------------------------------------


def raised_by(source: Path) -> set[str]:
    """Return the errors of dither that a file raises by name."""
    calls = [node.exc for node in ast.walk(ast.parse(source.read_text("utf-8"))) if isinstance(node, ast.Raise)]
    names = {one.func.id for one in calls if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    return {"QuestionError" if name in ("refuse", "_refuse") else name for name in names} & {*errors.__all__}


def refusing() -> dict[str, set[str]]:
    """Return the files of `dither.query` that refuse questions, with the errors that they raise."""
    others = tuple(name for names in NO_QUESTIONS.values() for name in names)
    found = {path.relative_to(SOURCE).as_posix(): raised_by(path) for path in SOURCE.rglob("*.py")}
    return {name: kinds for name, kinds in found.items() if kinds and not name.startswith(others)}


def test_every_error_of_a_question_has_a_record():
    told = {
        name for work in ASKED_BY for name in re.findall(r"\b[A-Z]\w+Error\b", str(work.__doc__).partition("Raises:")[2])
    }
    stored = json.loads(path("meaning", "rho").read_text("utf-8")).values()
    seen = {record["refused"] for record in stored if "refused" in record}
    assert len(told) >= 9
    assert told | {name for kinds in refusing().values() for name in kinds} <= seen
    assert "ArgumentError" in seen


def test_an_error_that_a_file_raises_is_seen(tmp_path):
    (tmp_path / "new.py").write_text("def f(x):\n    if x:\n        raise UnitError(x)\n    raise refuse(x) from None\n")
    assert raised_by(tmp_path / "new.py") == {"UnitError", "QuestionError"}


def test_every_file_that_refuses_questions_has_a_record(tmp_path):
    found = refused_golden("rho", tmp_path).values()
    assert all(one.error is not None for one in found), "under this budget each is refused"
    places = {place for one in found for place in places_of(one.error)[-1:]}
    assert len(refusing()) > 40
    assert refusing().keys() - places == set()


def places_of(error: BaseException) -> list[str]:
    """Return the files of `dither.query` in the traceback of an error; the last one raised it, or called what did."""
    frames = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    return [frame.relative_to(SOURCE).as_posix() for frame in frames if frame.is_relative_to(SOURCE)]
