"""Where data meets noise, and nowhere else: reserve, read, add noise, store, show.

    recall    a question that was answered before gives its stored answer, and nothing else happens
    rehearse  the SELECTs run on made-up rows: what can never work is refused before it is charged
    reserve   the ledger checks and charges; if somebody else computes the same answer, it is waited for
    touch     from now on nothing is given back
    read      SELECTs of integer totals, bounded a person: one for the choice of groups, where they are chosen, one for all
              counters, one for each part beside them
    noise     whole numbers for every group, present in the data or not, drawn from the quote's laws
    commit    what has noise is stored; the answer is made of what is *stored*

Once data was touched, whatever goes wrong is one error with one text: the charge stays, and the cause is not told, since it
may depend on a single row. The error is raised outside the handler, so that not even its context holds the cause.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import DataError, InProgressError, ReleaseError
from dither.ledger.entries.receipt import Receipt
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.estimates import read_answer
from dither.query.answers.released import Released, batch_from_json, batch_to_json
from dither.query.engines.duckdb.fan_out import check_matches
from dither.query.engines.duckdb.run import Progress, Run
from dither.query.engines.duckdb.table_source import TableSource
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import relation_sql, rows_of, with_tables
from dither.query.engines.templates.totals import totals_sql
from dither.query.groups.group_choice import GroupKeys, Groups, all_groups
from dither.query.groups.shown_key_counts import ShownKeyCounts
from dither.query.holdings import Holdings
from dither.query.plan.question import Question
from dither.query.plan.relations import Relation, Scan
from dither.query.pricing.fingerprint import batch_question, question
from dither.query.pricing.offer import Offer
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_sets import CounterSet
from dither.query.statistics.statistic import Statistic

LONGEST_TEXT = 100_000  # characters of a question that the history keeps; a batch may be longer
LEASE = 300  # seconds in which nobody else computes the same answer
WAIT = 2 * LEASE  # seconds to wait for somebody else's answer: should she be lost, one of those who wait takes over
PAUSES = 0.005, 0.5  # seconds between two looks whether it is there: the first, and the longest
FAILED = "it failed after data was touched; the charge stays, and the cause is not told: it may depend on a row"


class TablePlaces:
    """SELECTs about tables whose rows are somewhere, each written once."""

    def __init__(
        self, places: Mapping[str, str], texts: Mapping[str, frozenset[str]], salt: int | str = DUCKDB.salt
    ) -> None:
        self._places, self._texts, self._salt = places, texts, salt  # what stands after FROM; columns that are held as text
        self._written: dict[tuple[int, ...], tuple[str, object]] = {}  # by object: 1 equals True, but not in SQL

    def select(self, plan: Question, families: Sequence[CounterSet], bounding: Bounding) -> str:
        """The SELECT of bounded totals."""
        asked = plan, bounding, *families
        which = tuple(map(id, asked))
        if which not in self._written:
            where, texts = self._relation(plan.relation)
            self._written[which] = totals_sql(DUCKDB, plan, families, bounding, where, self._salt, texts), asked
        return self._written[which][0]

    def _relation(self, relation: Relation) -> tuple[str, frozenset[str]]:
        if isinstance(relation, Scan):
            return self._places[relation.table.name], self._texts[relation.table.name]
        found = {table: (place, self._texts[table]) for table, place in self._places.items()}
        return f"({relation_sql(DUCKDB, relation, found)})", frozenset()


def release(offer: Offer, holdings: Holdings, **how: Any) -> Answer:
    """The answer to a question."""
    work = Release(holdings, (offer,), offer.guarantee, question(offer))
    stored, receipt = work.done(_one_to_json, **how)
    return read_answer(offer, Released.from_json(stored), receipt)


@contextmanager
def _untold() -> Iterator[None]:
    """What goes wrong inside may tell of single rows: nothing of it goes on. Libraries in Rust panic outside Exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: S110 - that there is no answer says it all
        pass


def _one_to_json(found: list[Released], places: list[list[int]], parts: list[Any]) -> str:
    return replace(found[0], parts=tuple(parts[at] for at in places[0])).to_json()


def release_batch(
    offers: tuple[Offer, ...],
    parts: Sequence[Statistic],
    guarantee: Guarantee,
    explained: str,
    holdings: Holdings,
    **how: Any,
) -> BatchAnswer:
    """The answers to several questions that are charged and released as one."""
    work = Release(holdings, offers, guarantee, batch_question(offers, parts))
    stored, receipt = work.done(batch_to_json, **how)
    several = zip(offers, batch_from_json(stored), strict=True)
    return BatchAnswer(tuple(read_answer(offer, one, receipt) for offer, one in several), guarantee, explained, receipt)


@dataclass(frozen=True)
class Release:
    """Questions that are charged together, and what is done for them."""

    holdings: Holdings
    offers: tuple[Offer, ...]
    guarantee: Guarantee
    question: dict[str, object]

    def done(
        self,
        written: Callable[[list[Released], list[list[int]], list[Any]], str],
        *,
        idempotency_key: str | None,
        analyst: str,
        threads: int | None,
        progress: Progress | None,
        wait: float,
    ) -> tuple[str, Receipt]:
        """What is stored, and for what charge."""
        if threads is not None and (type(threads) is not int or not 1 <= threads <= 1024):
            raise DataError("threads", threads, "it is not a number of threads", "2")
        if type(wait) not in (int, float) or not 0 <= wait < math.inf:
            raise DataError("wait", wait, "it is not a number of seconds", "60")
        ledger = self.holdings.ledger
        terms = {"idempotency_key": idempotency_key, "analyst": analyst, **self._terms}
        receipt = ledger.recall(self.guarantee, self.question, **terms)
        if receipt is None:
            tables = {table.name: table for offer in self.offers for table in offer.plan.relation.tables}
            sources = {name: self.holdings.table_source(table) for name, table in tables.items()}
            texts = {name: source.texts for name, source in sources.items()}
            place = TablePlaces({name: rows_of(DUCKDB, name) for name in sources}, texts)
            self.holdings.engine.rehearse(sources, self._selects(place), threads=threads)
            for relation in {offer.plan.relation for offer in self.offers}:
                check_matches(relation, sources, self.holdings.engine, threads)
            receipt = self._reserved(terms, wait)
        if receipt.answer is not None:
            return receipt.answer, receipt
        ledger.touch(receipt)
        text = None
        with _untold(), self._reading(sources, threads, progress) as run:
            text = written(*self._noisy(run, place))
        if text is None:
            instead = f"asking again after {LEASE} s, which costs nothing more, or asking the owner"
            raise ReleaseError("question", receipt.name, FAILED, instead)
        return ledger.commit(receipt, text), receipt

    @property
    def _terms(self) -> dict[str, Any]:
        """What an answer is about, beside the question and the price."""
        policy = self.holdings.policy
        return {"data_version": policy.data_version, "policy_hash": policy.hash}

    def _reserved(self, terms: dict[str, Any], wait: float) -> Receipt:
        """The charge; or, where somebody else computes the same answer, the charge with that answer once it is there."""
        text = ";\n".join(offer.sql for offer in self.offers)[:LONGEST_TEXT]
        until, (pause, longest) = time.monotonic() + wait, PAUSES
        while True:
            try:
                return self.holdings.ledger.reserve(self.guarantee, self.question, **terms, lease=LEASE, text=text)
            except InProgressError:
                if time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, longest)

    @contextmanager
    def _reading(self, sources: Mapping[str, TableSource], threads: int | None, progress: Progress | None) -> Iterator[Run]:
        """SELECTs on the rows of tables by name."""
        found, salt = {name: source.relation for name, source in sources.items()}, secrets.randbits(64)
        with self.holdings.engine.reading([*sources.values()], threads=threads, progress=progress, salt=salt) as run:
            yield lambda sql, keep: run(with_tables(DUCKDB, found, sql), keep)

    def _selects(self, place: TablePlaces) -> list[str]:
        """All SELECTs, each once; where groups are chosen, those that follow are about made-up ones."""
        found, parts = [], dict[int, str]()
        for offer in self.offers:
            chosen = all_groups(offer.plan) if offer.choice is None else offer.choice.rehearsed(offer.plan)
            if offer.choice is not None:
                found.append(place.select(offer.choice.plan, (offer.choice.family,), offer.choice.bounding))
            if offer.strategy.families:
                found.append(place.select(chosen.plan, offer.strategy.families, offer.bounding))
            for part in offer.parts:
                if id(part) not in parts and not isinstance(part, ShownKeyCounts):
                    parts[id(part)] = place.select(_counted(offer, part, chosen.plan), (part.family,), part.bounding)
        return [*found, *parts.values()]

    def _noisy(self, run: Run, place: TablePlaces) -> tuple[list[Released], list[list[int]], list[Any]]:
        """What is released of each question but its parts, the places of those among all parts, and all parts: one may serve
        several questions, and is released once."""
        parts: list[tuple[Statistic, Any]] = []
        found = [_noisy(offer, run, place, parts) for offer in self.offers]
        return [one for one, _ in found], [places for _, places in found], [made for _, made in parts]


def exact_totals(
    run: Run,
    place: TablePlaces,
    plan: Question,
    families: Sequence[CounterSet],
    bounding: Bounding,
    cells: Sequence[GroupKeys] | None = None,
) -> list[tuple[int, ...]]:
    """The totals of every group, in order, zeros where the data has nothing. PRIVATE: only noise may see it.

    Groups are all combinations of declared keys, or the `cells` that were chosen.
    """
    width = len(plan.groups)
    if cells is None:
        cells = all_groups(plan).cells
    if not cells:
        return []
    declared = set(cells)
    found = run(place.select(plan, families, bounding), lambda row: row[:width] in declared)
    totals = {row[:width]: row[width:] for row in found}
    if len(totals) != len(found):  # two groups of the engine's that Python takes for one: one would hide the other
        raise RuntimeError("the engine gave a group twice")
    nothing = (0,) * sum(len(family.measures) for family in families)
    return [totals.get(cell, nothing) for cell in cells]


def _noisy(offer: Offer, run: Run, place: TablePlaces, parts: list[tuple[Statistic, Any]]) -> tuple[Released, list[int]]:
    """The counters of a question with noise, the groups that were chosen, and the places of its parts among all."""
    released = None
    if offer.choice is not None:
        choice = offer.choice
        rows = run(place.select(choice.plan, (choice.family,), choice.bounding), choice.keeps)
        released = choice.noisy(rows)
    chosen, counters, own = offer.chosen(released), [], []
    if offer.strategy.families:
        totals = exact_totals(run, place, chosen.plan, offer.strategy.families, offer.bounding, chosen.cells)
        counters = _counters(offer, totals)
    for part in offer.parts:
        at = next((at for at, (other, _) in enumerate(parts) if other is part), len(parts))
        if at == len(parts):
            parts.append((part, _part(offer, part, run, place, chosen, released)))
        own.append(at)
    return Released(counters, released), own


def _part(offer: Offer, part: Statistic, run: Run, place: TablePlaces, chosen: Groups, released: Any) -> Any:
    """What a part releases about the groups that were chosen."""
    if isinstance(part, ShownKeyCounts):
        return released["counts"]
    inner, cells = part.plan.groups[-1].listed, None
    if offer.choice is not None:
        cells = [(*cell, key) for cell in chosen.cells for key in inner]
    counted = exact_totals(run, place, _counted(offer, part, chosen.plan), (part.family,), part.bounding, cells)
    rows = [[int(count) for (count,) in counted[at : at + len(inner)]] for at in range(0, len(counted), len(inner))]
    return part.noisy(rows) if rows else []


def _counted(offer: Offer, part: Statistic, plan: Question) -> Question:
    """What a part counts: in the groups of the question that were chosen, where they were."""
    return part.plan if offer.choice is None else replace(part.plan, groups=(*plan.groups, part.plan.groups[-1]))


def _counters(offer: Offer, totals: list[tuple[int, ...]]) -> list[list[list[int]]]:
    released, place = [], 0
    for family, mechanism in zip(offer.strategy.families, offer.noise, strict=True):
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
