"""Where data meets noise, and nowhere else: reserve, read, add noise, store, show.

    reserve   the ledger checks and charges; a question that was answered before gives its stored answer here
    touch     from now on nothing is given back
    read      SELECTs of integer totals, bounded a person: one for the choice of groups, where they are chosen, one for all
              counters, one for each part beside them
    noise     whole numbers for every group, present in the data or not, drawn from the quote's laws
    commit    what has noise is stored; the answer is made of what is *stored*

Once data was touched, whatever goes wrong is one error with one text: the charge stays, and the cause is not told, since it
may depend on a single row. The error is raised outside the handler, so that not even its context holds the cause.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dither.errors import DataError, ReleaseError
from dither.query.answer import Answer
from dither.query.answers import Answers
from dither.query.choice import Cell, Chosen, all_cells
from dither.query.engines.duckdb import Engine, Progress, Run
from dither.query.engines.relation import relation_sql
from dither.query.engines.totals import totals_sql
from dither.query.matches import check_matches
from dither.query.relation import Relation, Scan
from dither.query.shown import ShownCounts
from dither.query.table_source import table_source

if TYPE_CHECKING:
    from dither.ledger.receipt import Receipt
    from dither.privacy.guarantee import Guarantee
    from dither.query.batch import Batch
    from dither.query.bounding import Bounding
    from dither.query.dataset import Dataset
    from dither.query.part import Part
    from dither.query.plan.question import Plan
    from dither.query.quote import Quote
    from dither.query.strategy import Family

VERSION = 1
LONGEST_TEXT = 100_000  # characters of a question that the history keeps; a batch may be longer
LEASE = 300  # seconds in which nobody else computes the same answer
FAILED = "it failed after data was touched; the charge stays, and the cause is not told: it may depend on a row"
Released = dict[str, Any]  # what is stored of one question, as JSON can hold it


@dataclass(frozen=True)
class Place:
    """Where the rows of tables are for an engine, and which of their columns it holds as text."""

    places: Mapping[str, str]
    texts: Mapping[str, frozenset[str]]
    salt: int

    def select(self, plan: Plan, families: Sequence[Family], bounding: Bounding) -> str:
        """The SELECT of bounded totals."""
        where, texts = self._relation(plan.relation)
        return totals_sql(plan, families, bounding, where, self.salt, texts)

    def _relation(self, relation: Relation) -> tuple[str, frozenset[str]]:
        if isinstance(relation, Scan):
            return self.places[relation.table.name], self.texts[relation.table.name]
        found = {table: (place, self.texts[table]) for table, place in self.places.items()}
        return f"({relation_sql(relation, found)})", frozenset()


def release(quote: Quote, **how: Any) -> Answer:
    """The answer to a quote."""
    work = Work(quote.dataset, (quote,), quote.guarantee, quote.question)
    stored, receipt = work.done(lambda found, parts: _with_parts(found[0], parts), **how)
    return Answer(quote, _read(stored, "released"), receipt)


def release_batch(batch: Batch, **how: Any) -> Answers:
    """The answers to a batch."""
    work = Work(batch.dataset, batch.quotes, batch.guarantee, batch.question)
    stored, receipt = work.done(lambda found, parts: {"batch": found, "parts": parts}, **how)
    whole = _read(stored, "batch")
    found = [_with_parts(one, whole["parts"]) for one in whole["batch"]]
    answers = tuple(Answer(quote, one, receipt) for quote, one in zip(batch.quotes, found, strict=True))
    return Answers(batch, answers, receipt)


@dataclass(frozen=True)
class Work:
    """Questions that are charged together, and what is done for them."""

    dataset: Dataset
    quotes: tuple[Quote, ...]
    guarantee: Guarantee
    question: dict[str, object]

    def done(
        self,
        written: Callable[[list[Released], list[Any]], Released],
        *,
        idempotency_key: str | None,
        analyst: str,
        threads: int | None,
        progress: Progress | None,
    ) -> tuple[str, Receipt]:
        """What is stored, and for what charge."""
        dataset = self.dataset
        tables = {table.name: table for quote in self.quotes for table in quote.plan.relation.tables}
        if threads is not None and (type(threads) is not int or not 1 <= threads <= 1024):
            raise DataError("threads", threads, "it is not a number of threads", "2")
        sources = {name: table_source(table, dataset.source(table)) for name, table in tables.items()}
        texts, salt = {name: source.texts for name, source in sources.items()}, secrets.randbits(64)
        schemas = {name: source.schema for name, source in sources.items()}

        def made_up(places: Mapping[str, str]) -> Place:
            return Place({name: sources[name].read(where) for name, where in places.items()}, texts, salt)

        with Engine() as engine:
            engine.rehearse(lambda places: self._selects(made_up(places)), schemas)
            for relation in {quote.plan.relation for quote in self.quotes}:
                check_matches(relation, sources)
            receipt = dataset.ledger.reserve(
                self.guarantee,
                self.question,
                idempotency_key=idempotency_key,
                analyst=analyst,
                data_version=dataset.policy.data_version,
                lease=LEASE,
                policy_hash=dataset.policy.hash,
                text=";\n".join(quote.sql for quote in self.quotes)[:LONGEST_TEXT],
            )
            stored = receipt.answer
            if stored is None:
                dataset.ledger.touch(receipt)
                text = None
                with suppress(Exception):  # what it says may tell of single rows
                    places = {name: source.relation for name, source in sources.items()}
                    with engine.reading([*sources.values()], threads=threads, progress=progress) as run:
                        text = _text(written(*self._noisy(run, Place(places, texts, salt))))
                if text is None:
                    why = FAILED
                    instead = f"asking again after {LEASE} s, which costs nothing more, or asking the owner"
                    raise ReleaseError("question", receipt.name, why, instead)
                stored = dataset.ledger.commit(receipt, text)
        return stored, receipt

    def _selects(self, place: Place) -> list[str]:
        """All SELECTs, each once; where groups are chosen, those that follow are about made-up ones."""
        found, parts = [], dict[int, str]()
        for quote in self.quotes:
            chosen = all_cells(quote.plan) if quote.choice is None else quote.choice.rehearsed(quote.plan)
            if quote.choice is not None:
                found.append(place.select(quote.choice.plan, (quote.choice.family,), quote.choice.bounding))
            if quote.strategy.families:
                found.append(place.select(chosen.plan, quote.strategy.families, quote.bounding))
            for part in quote.parts:
                if id(part) not in parts and not isinstance(part, ShownCounts):
                    parts[id(part)] = place.select(_counted(quote, part, chosen.plan), (part.family,), part.bounding)
        return [*found, *parts.values()]

    def _noisy(self, run: Run, place: Place) -> tuple[list[Released], list[Any]]:
        """What is stored of each question, and all parts, of which one may serve several questions: it is released once."""
        parts: list[tuple[Part, Any]] = []
        found = [_noisy(quote, run, place, parts) for quote in self.quotes]
        return found, [made for _, made in parts]


def exact_totals(
    run: Run,
    place: Place,
    plan: Plan,
    families: Sequence[Family],
    bounding: Bounding,
    cells: Sequence[Cell] | None = None,
) -> list[tuple[int, ...]]:
    """The totals of every group, in order, zeros where the data has nothing. PRIVATE: only noise may see it.

    Groups are all combinations of declared keys, or the `cells` that were chosen.
    """
    width = len(plan.groups)
    if cells is None:
        cells = all_cells(plan).cells
    if not cells:
        return []
    declared = set(cells)
    found = run(place.select(plan, families, bounding), lambda row: row[:width] in declared)
    totals = {row[:width]: row[width:] for row in found}
    if len(totals) != len(found):  # two groups of the engine's that Python takes for one: one would hide the other
        raise RuntimeError("the engine gave a group twice")
    nothing = (0,) * sum(len(family.measures) for family in families)
    return [totals.get(cell, nothing) for cell in cells]


def _noisy(quote: Quote, run: Run, place: Place, parts: list[tuple[Part, Any]]) -> Released:
    """For each family, for each group in order, its measures; the groups that were chosen; the places of parts among all."""
    found: Released = {"released": []}
    if quote.choice is not None:
        choice = quote.choice
        rows = run(place.select(choice.plan, (choice.family,), choice.bounding), choice.keeps)
        found["chosen"] = choice.noisy(rows)
    chosen = quote.chosen(found.get("chosen"))
    if quote.strategy.families:
        totals = exact_totals(run, place, chosen.plan, quote.strategy.families, quote.bounding, chosen.cells)
        found["released"] = _counters(quote, totals)
    if quote.parts:
        found["parts"] = []
    for part in quote.parts:
        at = next((at for at, (other, _) in enumerate(parts) if other is part), len(parts))
        if at == len(parts):
            parts.append((part, _part(quote, part, run, place, chosen, found)))
        found["parts"].append(at)
    return found


def _part(quote: Quote, part: Part, run: Run, place: Place, chosen: Chosen, found: Released) -> Any:
    """What a part releases about the groups that were chosen."""
    if isinstance(part, ShownCounts):
        return found["chosen"]["counts"]
    inner, cells = part.plan.groups[-1].listed, None
    if quote.choice is not None:
        cells = [(*cell, key) for cell in chosen.cells for key in inner]
    counted = exact_totals(run, place, _counted(quote, part, chosen.plan), (part.family,), part.bounding, cells)
    rows = [[int(count) for (count,) in counted[at : at + len(inner)]] for at in range(0, len(counted), len(inner))]
    return part.noisy(rows) if rows else []


def _counted(quote: Quote, part: Part, plan: Plan) -> Plan:
    """What a part counts: in the groups of the question that were chosen, where they were."""
    return part.plan if quote.choice is None else replace(part.plan, groups=(*plan.groups, part.plan.groups[-1]))


def _counters(quote: Quote, totals: list[tuple[int, ...]]) -> list[list[list[int]]]:
    released, place = [], 0
    for family, mechanism in zip(quote.strategy.families, quote.noise, strict=True):
        last = place + len(family.measures)
        noise = mechanism.law.sample((len(totals), last - place)).tolist()
        released.append(
            [
                [int(total) + drawn for total, drawn in zip(row[place:last], drawn_row, strict=True)]
                for row, drawn_row in zip(totals, noise, strict=True)
            ]
        )
        place = last
    return released


def _with_parts(found: Released, parts: list[Any]) -> Released:
    """What is stored of a question, with its parts instead of their places."""
    return {**found, "parts": [parts[at] for at in found["parts"]]} if "parts" in found else found


def _text(found: Released) -> str:
    return json.dumps({"dither": VERSION, **found}, separators=(",", ":"))


def _read(stored: str, wanted: str) -> Released:
    try:
        found: Released = json.loads(stored)
        if found["dither"] != VERSION or not isinstance(found[wanted], list):
            raise ValueError("another version")
        return found
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            "stored answer", stored, "this version of dither did not write it", "the version that did"
        ) from error
