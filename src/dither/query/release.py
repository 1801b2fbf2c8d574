"""The release: where private counts meet noise, and nowhere else: reserve, read, add noise, store, show.

    recall    a question that was answered before gives its stored answer, and nothing else happens
    rehearse  the SELECTs run on made-up rows: what can never work is refused before it is charged
    reserve   the ledger checks and charges; if somebody else computes the same answer, it is waited for
    touch     from now on nothing is given back
    read      SELECTs of integer totals, bounded a person: one for each limit that is found first, one for the choice of
              groups, where they are chosen, one for all counters, one for each other statistic
    noise     whole numbers for every group, present in the data or not, drawn from the quote's laws
    commit    what has noise is stored; the answer is made of what is *stored*

Once data was touched, whatever goes wrong is one error with one text: the charge stays, and the cause is not told, since it
may depend on a single row. The error is raised outside the handler, so that not even its context holds the cause.
"""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from dither.errors import BudgetError, DataError, DitherError, InProgressError, InputError, ReleaseError
from dither.ledger.entries.receipt import Receipt
from dither.ledger.ledger import Ledger
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.estimates import read_answer, scalar_text
from dither.query.answers.released import Released, batch_from_json, batch_to_json
from dither.query.counts import Count, TablePlaces, counts_of, histograms_of
from dither.query.engines.engine import Opened, Progress, Run, TableSource
from dither.query.engines.fan_out import check_matches
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.templates.relations import rows_of, with_tables
from dither.query.groups.group_choice import all_groups
from dither.query.holdings import Holdings
from dither.query.pricing.fingerprint import batch_question, question
from dither.query.pricing.offer import Offer
from dither.query.pricing.unprotected_facts import unprotected_words
from dither.query.statistics.statistic import Statistic

LONGEST_TEXT = 100_000  # characters of a question that the history keeps; a batch may be longer
LEASE = 300  # seconds in which nobody else computes the same answer
WAIT = 2 * LEASE  # seconds to wait for somebody else's answer: should she be lost, one of those who wait takes over
PAUSES = 0.005, 0.5  # seconds between two looks whether it is there: the first, and the longest
OWNERS_LOOK = "who has: dither policy check FILE --read-data"
FAILED = "it failed after data was touched; the charge stays, and the cause is not told: it may depend on a row"


def release(offer: Offer, holdings: Holdings, **how: Any) -> Answer:
    """Charge for an offer, release it, and give its answer; `how` are the keywords of `Release.done`."""
    work = Release(holdings, (offer,), offer.guarantee, question(offer), lambda: offer.price)
    stored, receipt = work.done(one_to_json, **how)
    return read_answer(offer, Released.from_json(stored), receipt)


@contextmanager
def lease_renewed(ledger: Ledger, receipt: Receipt, lease: int = LEASE) -> Iterator[None]:
    """While an answer is computed, for however long, nobody else begins to: the lease is renewed at every third of it."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(lease / 3):
            with suppress(DitherError):  # a ledger that cannot be written now may be later; the commit will tell
                ledger.touch(receipt, lease=lease)

    threading.Thread(target=work, name="dither-lease", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


@contextmanager
def untold() -> Iterator[None]:
    """Drop every error raised inside, since it may tell of a single row; also panics of Rust, which are no Exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: S110 - that there is no answer says it all
        pass


def one_to_json(found: Sequence[Released]) -> str:
    """What is stored of a release of one question."""
    return found[0].to_json()


def release_batch(
    offers: tuple[Offer, ...],
    parts: Sequence[Statistic],
    guarantee: Guarantee,
    explained: str,
    price: Callable[[], str],
    holdings: Holdings,
    **how: Any,
) -> BatchAnswer:
    """Charge for several offers at once, release them, and give their answers; `how` are the keywords of `Release.done`."""
    work = Release(holdings, offers, guarantee, batch_question(offers, parts), price)
    stored, receipt = work.done(batch_to_json, **how)
    several = zip(offers, batch_from_json(stored), strict=True)
    return BatchAnswer(tuple(read_answer(offer, one, receipt) for offer, one in several), guarantee, explained, receipt)


@dataclass(frozen=True)
class Release:
    """Questions that are charged together, from the reservation in the ledger to the stored answer."""

    holdings: Holdings
    offers: tuple[Offer, ...]
    guarantee: Guarantee
    question: dict[str, object]
    price: Callable[[], str] | None = None  # as it was asked for, should the ledger refuse it

    def done(
        self,
        written: Callable[[Sequence[Released]], str],
        *,
        idempotency_key: str | None,
        analyst: str,
        threads: int | None,
        progress: Progress | None,
        wait: float,
        daily: Guarantee | None = None,
        door: str = "",
    ) -> tuple[str, Receipt]:
        """The stored answer as `written` spells it, and the receipt of its charge; waits while somebody else computes it."""
        if threads is not None and (type(threads) is not int or not 1 <= threads <= 1024):
            raise DataError("threads", threads, "it is not a number of threads", "2")
        if type(wait) not in (int, float) or not 0 <= wait < math.inf:
            raise DataError("wait", wait, "it is not a number of seconds", "60")
        terms = {
            **{"idempotency_key": idempotency_key, "analyst": analyst},
            **{"data_version": self.holdings.policy.data_version, "policy_hash": self.holdings.policy.hash},
        }
        until, (pause, longest) = time.monotonic() + wait, PAUSES
        while True:
            try:
                return self._asked_once(written, terms, {"daily": daily, "door": door}, threads, progress)
            except InProgressError as error:
                if error.came in self.holdings.lost or time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, longest)

    def _asked_once(
        self,
        written: Callable[[Sequence[Released]], str],
        terms: dict[str, Any],
        own: dict[str, Any],
        threads: int | None,
        progress: Progress | None,
    ) -> tuple[str, Receipt]:
        """The same, in one attempt: InProgressError where somebody else computes the answer."""
        ledger, engine = self.holdings.ledger, self.holdings.engine
        stored = ledger.recall(self.guarantee, self.question, **terms)
        if stored is not None and stored.answer is not None:
            return stored.answer, stored
        relations = dict.fromkeys(one.question.relation for offer in self.offers for one in (offer, *offer.inner))
        tables = {table.name: table for relation in relations for table in relation.tables}
        sources = self.holdings.table_sources(tables.values())
        texts = {name: source.texts for name, source in sources.items()}
        place = TablePlaces(engine.words, {name: rows_of(engine.words, name) for name in sources}, texts, lists=KeyLists())
        engine.rehearse(sources, self._selects(place), threads=threads, lists=place.lists)
        for relation in relations:
            check_matches(relation, sources, engine, threads)
        with engine.opened([*sources.values()], threads) as opened:
            receipt = self._reserved({**terms, **own})
            if receipt.answer is not None:
                return receipt.answer, receipt
            try:
                ledger.touch(receipt)
                with lease_renewed(ledger, receipt):
                    found = self._computed(written, opened, sources, place, progress)
                answer = None if found is None else ledger.commit(receipt, found)
            except BaseException:
                self.holdings.lost.add(receipt.number)
                raise
            if answer is None:
                self.holdings.lost.add(receipt.number)
                instead = f"asking again after {LEASE} s, which costs nothing more, or asking the owner ({OWNERS_LOOK})"
                raise ReleaseError("question", receipt.name, FAILED, instead)
        self.holdings.lost.discard(receipt.number)
        return answer, receipt

    def _reserved(self, terms: dict[str, Any]) -> Receipt:
        """The receipt of the charge, or of the same question; what the ledger refuses goes into its access log."""
        ledger, text = self.holdings.ledger, ";\n".join(offer.sql for offer in self.offers)[:LONGEST_TEXT]
        text = text if self.holdings.policy.keeps_texts else ""
        try:
            outside = unprotected_words(fact for one in self.offers for fact in one.outside)
            return ledger.reserve(self.guarantee, self.question, **terms, lease=LEASE, text=text, unprotected=outside)
        except InputError as error:
            with suppress(DitherError):  # the refusal is what is told, logged or not
                ledger.record_refusal(text, error.why, analyst=terms["analyst"], door=terms["door"])
            if isinstance(error, BudgetError) and self.price is not None:
                # The ledger knows what is charged, and not what was asked for.
                raise BudgetError(error.where, self.price(), error.why, error.instead) from None
            raise

    def _computed(
        self,
        written: Callable[[Sequence[Released]], str],
        opened: Opened,
        sources: Mapping[str, TableSource],
        place: TablePlaces,
        progress: Progress | None,
    ) -> str | None:
        """The noisy counts as text to store; None if computing failed: the cause is not told."""
        heads = {name: source.relation for name, source in sources.items()}
        with untold():
            run = opened.read(progress, secrets.randbits(64), place.lists)
            return written(self.released(lambda sql, keep: run(with_tables(place.words, heads, sql), keep), place))
        return None

    def _selects(self, place: TablePlaces) -> list[str]:
        """All SELECTs, each once, to be rehearsed; where groups are chosen privately, for made-up groups."""
        found: dict[str, None] = {}
        for offer in (one for each in self.offers for one in steps(each)):
            several = [offer]
            if offer.found is not None:  # what follows is rehearsed under the lowest limits and under the highest
                found |= dict.fromkeys(one.select(place) for one in histograms_of(offer.found))
                several = [offer.found.lowest, offer.found.highest]
            for one in several:
                found |= dict.fromkeys(self._selects_of(one, place))
        return list(found)

    def _selects_of(self, offer: Offer, place: TablePlaces) -> list[str]:
        if offer.choice is None:
            return [one.select(place) for one in counts_of(offer, all_groups(offer.question))]
        chosen = offer.choice.rehearsed(offer.question)
        return [place.choice(offer.choice), *(one.select(place) for one in counts_of(offer, chosen))]

    def released(self, run: Run, place: TablePlaces) -> list[Released]:
        """The noisy numbers of each question; a statistic that serves several questions is released once."""
        done: list[tuple[Statistic, Any]] = []
        return [released_numbers(offer, run, place, done) for offer in self.offers]


def released_numbers(offer: Offer, run: Run, place: TablePlaces, done: list[tuple[Statistic, Any]]) -> Released:
    """Where counts of private rows meet noise: limits, groups, then statistics, of which `done` has some."""
    limits, constants = None, list[tuple[str | None, Released]]()
    if offer.constants is not None:
        for one in offer.constants.offers:
            first = released_numbers(one, run, place, done)
            constants.append((scalar_text(one, first), first))
        offer = offer.constants.at(Released([], constants=tuple(constants)).values)  # as they will be stored
    if offer.found is not None:
        limits = [noisy for count in histograms_of(offer.found) for _, noisy in _noisy(count, run, place)]
        offer = offer.found.offer(limits)
    choice, released = offer.choice, cast(Any, None)
    if choice is not None:
        released = choice.noisy(run(place.choice(choice), choice.keeps))
    chosen = offer.chosen(released)
    found: list[tuple[Statistic, Any]] = [(one, released["counts"]) for one in offer.statistics if one.of_choice]
    for count in counts_of(offer, chosen):
        known = [(one, value) for one, value in done if one is count.statistics[0]]
        if not known:
            known = _noisy(count, run, place)
            done += known
        found += known
    values = [next(value for other, value in found if other is one) for one in offer.statistics]
    counters = len(offer.counters)
    return Released(values[:counters], released, tuple(values[counters:]), limits, tuple(constants))


def steps(offer: Offer) -> list[Offer]:
    """The offers whose SELECTs run one after the other; of what follows from subqueries, for NULL and for a number."""
    first = offer.constants
    if first is None:
        return [offer]
    number = (Fraction(1, 3),) * len(first.offers)
    return [*(step for one in first.offers for step in steps(one)), first.unknown, first.at(number)]


def _noisy(count: Count, run: Run, place: TablePlaces) -> list[tuple[Statistic, Any]]:
    """Each statistic of a SELECT, with noise."""
    return [(one, one.noisy(counts) if len(counts) or not one.within else []) for one, counts in count.read(run, place)]
