"""What the page of a question shows: the dataset, the form as it was typed, its price, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.server.core.callers import Caller
from dither.server.core.gateway import PAGE, Gateway
from dither.server.core.problems import Problem
from dither.server.page.facts.price_facts import PriceFacts, plain_price, price_facts
from dither.server.page.facts.price_scale import price_scale
from dither.server.page.facts.problem_place import problem_place
from dither.server.page.facts.question_form import QuestionForm
from dither.server.page.facts.schema_facts import schema_facts

LATEST = 20  # stored answers among which the same question is looked for
QUOTES = ("'", '"', "--", "/*")  # inside of them a space means something
PRICE = {"epsilon": "0.1"}  # where no first price is known


@dataclass(frozen=True)
class DatasetFacts:
    """What the policy declares, and how to begin."""

    name: str
    tables: list[dict[str, Any]]
    questions: list[str]
    price: Mapping[str, str]
    scale: list[str]
    slots: list[str]

    @property
    def first_question(self) -> str:
        """One by groups, if there is one: it has a chart to show."""
        return next((sql for sql in self.questions if " GROUP BY " in sql), next(iter(self.questions), ""))

    @property
    def currency(self) -> str:
        """In what prices are stated."""
        return "rho" if "rho" in self.price else "epsilon"


async def dataset_facts(gateway: Gateway, caller: Caller, name: str) -> DatasetFacts:
    """A dataset for this page; a problem where it is absent, or cannot be asked."""
    declared = await gateway.dataset(caller, name)
    first = await gateway.first_questions(caller, name)
    price = first.get("price") or PRICE
    (budget,) = await gateway.budget(caller, name)
    whole = (budget.get("share") or budget).get("budget")
    scale = price_scale("rho" if "rho" in price else "epsilon", declared.get("per_question"), whole)
    slots = [f"{seconds:g}" for seconds in declared.get("slots", ())]
    return DatasetFacts(name, declared["tables"], first["questions"], price, scale, slots)


async def ask_facts(
    gateway: Gateway, caller: Caller, form: QuestionForm, dataset: DatasetFacts | None, *, problem: Problem | None = None
) -> dict[str, Any]:
    """All that the template needs. A quote is looked up: for nothing; where there is none, its problem is told."""
    found: PriceFacts | None = None
    same: dict[str, Any] | None = None
    refusal = problem
    wishes = [(name, wish, "") for name, wish in form.wishes.items()]
    if dataset is not None:
        found, refused = await _priced(gateway, caller, form)
        refusal = problem or refused
        columns = found
        if found is None and refused is not None and refused.where.startswith("error"):
            columns, _ = await _priced(gateway, caller, _at_first_price(form, dataset))
        wishes = _wishes(form, columns) if columns is not None else wishes
        same = await _same(gateway, caller, form)
    return {
        "datasets": gateway.dataset_names(caller),
        "form": form,
        "tables": [] if dataset is None else schema_facts(dataset.tables),
        "schema_text": json.dumps({"tables": [] if dataset is None else dataset.tables}, ensure_ascii=False),
        "chips": [] if dataset is None else [_chip(form, sql, dataset) for sql in dataset.questions],
        "scale": [] if dataset is None else dataset.scale,
        "slots": [] if dataset is None else dataset.slots,
        "currency": "epsilon" if dataset is None else dataset.currency,
        "found": found,
        "same": same,
        "wishes": wishes,
        "refusal": refusal,
        "place": None if refusal is None else problem_place(refusal, form.sql),
        **{"failure": None, "under_way": None, "answered": None, "price_first": False},
    }


async def _priced(gateway: Gateway, caller: Caller, form: QuestionForm) -> tuple[PriceFacts | None, Problem | None]:
    try:
        rho = form.price.get("rho", "") if form.way == "rho" else ""
        return price_facts(await gateway.quote(caller, form.asked(), door=PAGE), rho), None
    except Problem as problem:
        return None, problem


def _at_first_price(form: QuestionForm, dataset: DatasetFacts) -> QuestionForm:
    """The same question at a price that needs no column to be known: its quote tells which there are."""
    way = "rho" if dataset.currency == "rho" else "epsilon"
    return QuestionForm(form.dataset, form.sql, way, dataset.price, more=form.more)  # type: ignore[arg-type]


def _wishes(form: QuestionForm, found: PriceFacts) -> list[tuple[str, str, str]]:
    """A field for each column, with what was typed for it; what was typed for a column of another name goes by its place."""
    typed = list(form.wishes.values()) if len(form.wishes) == len(found.columns) else []
    return [
        (name, form.wishes.get(name, typed[place] if place < len(typed) else ""), found.sizes.get(name, ""))
        for place, name in enumerate(found.columns)
    ]


def _chip(form: QuestionForm, sql: str, dataset: DatasetFacts) -> dict[str, str]:
    first = QuestionForm(price=dataset.price, way="rho" if dataset.currency == "rho" else "epsilon")
    return {"sql": sql, "address": first.terms_address(dataset=form.dataset, sql=sql)}


async def _same(gateway: Gateway, caller: Caller, form: QuestionForm) -> dict[str, Any] | None:
    """The latest stored answer to the same text, which can be opened for nothing."""
    words = _normal(form.sql)
    if not words or not words.isprintable():
        return None
    try:
        stored = await gateway.answers(caller, dataset=form.dataset, words=words, count=LATEST)
    except Problem:
        return None
    found = next((one for one in stored if _normal(one["sql"]) == words), None)
    if found is None:
        return None
    when = str(found["when"]).replace("T", " ").removesuffix("Z")
    return {**found, "when": when, "price": plain_price(found["price"])}


def _normal(sql: str) -> str:
    """The text without spaces that mean nothing."""
    return sql.strip() if any(quote in sql for quote in QUOTES) else " ".join(sql.split())
