"""Several questions priced, charged and released as one: a fixed list of mechanisms.

Every question gets the part of the price that its counters weigh (`strategy.py`), as if all were one question. Counts of
rows about one relation are also tried *together*: from the cells that they share, at the sum of their parts. That is taken
where the sum of squared error bars is smaller. All that decides it is public.

What the ledger charges is the sum of all that is released; `loss()` composes the exact laws of all of it, which is allowed
since the list is fixed before anything is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from dither.errors import NumberError, PrecisionError, QuestionError, SizeError
from dither.privacy.guarantee import Guarantee
from dither.privacy.loss import Loss
from dither.query import price
from dither.query.atoms import Atoms, countable, find_atoms
from dither.query.canonical import batch_question
from dither.query.choice import Choice
from dither.query.lost import share_lost
from dither.query.made import priced
from dither.query.part import Part, Price
from dither.query.price import Mechanism
from dither.query.promise import Promise, counts_rho, read_promise
from dither.query.quote import Quote, make_quote, read_question
from dither.query.shared import SharedCounts, one_by_one
from dither.query.shown import ShownCounts
from dither.query.strategy import Place, Strategy, choose_strategy
from dither.query.unknown import read_other

if TYPE_CHECKING:
    from dither.query.answers import Answers
    from dither.query.dataset import Dataset
    from dither.query.engines.duckdb import Progress

MOST_QUESTIONS = 1000
EXAMPLE = "['SELECT COUNT(*) FROM visits', 'SELECT AVG(cost) FROM visits']"


@dataclass(frozen=True)
class Gain:
    """How much better some questions are answered together."""

    questions: tuple[int, ...]  # their places in the batch
    together: float  # root mean square of their error bars
    apart: float  # as if each was asked by itself, at its part of the price


@dataclass(frozen=True)
class Batch:
    """What several questions would cost together, and how far their answers may be off."""

    dataset: Dataset = field(repr=False)
    quotes: tuple[Quote, ...]
    gains: tuple[Gain, ...] = field(repr=False)  # which of them are answered together
    asked: object = field(default=None, repr=False)  # the epsilon that was stated

    @property
    def guarantee(self) -> Guarantee:
        """What the ledger will charge."""
        return price.total(self._released)

    def loss(self) -> Loss:
        """The privacy loss of all questions together."""
        return price.loss(self._released)

    def epsilon(self, delta: object = 0) -> float:
        """The epsilon of all questions together at a delta of your choice, by the exact law of the loss; rounded up."""
        return price.epsilon(self._released, delta)

    @property
    def price(self) -> str:
        """The guarantee as people know it."""
        return price.text(self._released, self.dataset.ledger.budget, self.asked)

    @property
    def _released(self) -> list[Mechanism | Part | Choice]:
        """All that is released, each once."""
        own = [one for quote in self.quotes for one in priced(quote.choice, quote.noise, ())]
        counted = [quote.choice for quote in self.quotes if any(isinstance(part, ShownCounts) for part in quote.parts)]
        return [*(one for one in own if all(one is not choice for choice in counted)), *self.parts]

    @property
    def parts(self) -> list[Part]:
        """What is released beside counters; one that serves several questions once."""
        found: list[Part] = []
        for part in (part for quote in self.quotes for part in quote.parts):
            if all(part is not other for other in found):
                found.append(part)
        return found

    @property
    def question(self) -> dict[str, object]:
        """How the ledger knows it."""
        return batch_question(self.quotes, self.parts)

    @property
    def errors(self) -> list[dict[str, float | None]]:
        """How far each aggregate of each question may be off because of noise."""
        return [quote.errors for quote in self.quotes]

    @property
    def affordable(self) -> int:
        """How many batches of this price the ledger has left."""
        return self.dataset.ledger.remaining().like(self.guarantee)

    def explain(self) -> str:
        """Price and error of all questions, and which of them are answered together."""
        from dither.query.explain import explain_batch

        return explain_batch(self)

    def release(
        self,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Answers:
        """Charge the ledger once, then ask all. The same batch under the same policy and data version is free."""
        from dither.query.release import release_batch

        return release_batch(self, idempotency_key=idempotency_key, analyst=analyst, threads=threads, progress=progress)

    def __len__(self) -> int:
        return len(self.quotes)

    def __iter__(self) -> Iterator[Quote]:
        return iter(self.quotes)

    def __getitem__(self, place: int) -> Quote:
        return self.quotes[place]

    def __str__(self) -> str:
        return self.explain()


def make_batch(dataset: Dataset, questions: Sequence[Any], **terms: Any) -> Batch:
    """The batch of several questions; see `Dataset.quote`."""
    if not 0 < len(questions) <= MOST_QUESTIONS:
        raise SizeError("questions", len(questions), f"a batch has 1 to {MOST_QUESTIONS} of them", EXAMPLE)
    if terms.get("error") is not None:
        why = "the errors of a batch depend on how its price is shared"
        raise QuestionError("error", terms["error"], why, "epsilon='1' for all of it, then batch.errors")
    budget = dataset.ledger.budget
    plans = [read_question(dataset, sql)[0] for sql in questions]
    in_rho = counts_rho(budget)
    lost = share_lost(plans, budget, terms["delta"], terms["guarantee"], counts_rho=in_rho)
    if terms["other"] is not None and not any(lost):
        read_other(plans[0], terms["other"])
    promise = read_promise(budget, terms["epsilon"], terms["rho"], terms["guarantee"], sum(lost, start=Fraction(0)))
    own = [{**terms, "lost": part, "other": terms["other"] if part else None} for part in lost]
    weights = [choose_strategy(plan, pure=promise.is_pure).weight(pure=promise.is_pure) for plan in plans]
    shared = [Fraction(weight, sum(weights)) for weight in weights]

    def made(promise: Promise) -> Batch:
        quotes = [
            make_quote(dataset, sql, promise=promise.part(share), **mine)
            for sql, share, mine in zip(questions, shared, own, strict=True)
        ]
        return _together(dataset, quotes, shared, promise, terms)

    batch = made(promise)
    fitting = promise.fitting(batch.guarantee)
    batch = batch if fitting is None else made(fitting)
    price.check_limit(batch.guarantee, dataset.policy.per_question)
    return batch


def _together(
    dataset: Dataset, quotes: list[Quote], shared: list[Fraction], promise: Promise, terms: dict[str, Any]
) -> Batch:
    """The batch of these quotes, of which some are answered together where that is better."""
    gains = []
    for places in _alike(quotes) if terms["bounding"] in (None, "weights") else []:  # a person is bounded in that way there
        share = sum((shared[at] for at in places), start=Fraction(0))
        gain = _answer_together(quotes, places, promise.part(share))
        gains += [] if gain is None else [gain]
    return Batch(dataset, tuple(quotes), tuple(gains), terms["epsilon"])


def _alike(quotes: list[Quote]) -> list[list[int]]:
    """Places of questions that count rows of one relation: two or more of each."""
    found: dict[Any, list[int]] = {}
    for at, quote in enumerate(quotes):
        if quote.choice is None and countable(quote.plan):
            found.setdefault(quote.plan.relation, []).append(at)
    return [places for places in found.values() if len(places) > 1]


def _answer_together(quotes: list[Quote], places: list[int], promise: Promise) -> Gain | None:
    """Put the part that answers these questions together into their quotes, where it is better."""
    own = [quotes[at] for at in places]
    atoms = find_atoms([quote.plan for quote in own])
    part = None if atoms is None else _part(atoms, promise, own[0])
    if part is None:
        return None
    rows = [prod(len(group.listed) for group in quote.plan.groups) for quote in own]
    apart = one_by_one([quote.error_of(quote.strategy.readings[0]) for quote in own], rows)
    if part.squares() >= apart:
        return None
    for number, at in enumerate(places):
        strategy = Strategy((), (Place(0, number),))
        quotes[at] = replace(quotes[at], strategy=strategy, bounding=part.bounding, noise=(), parts=(part,))
    return Gain(tuple(places), (part.squares() / sum(rows)) ** 0.5, (apart / sum(rows)) ** 0.5)


def _part(atoms: Atoms, promise: Promise, like: Quote) -> SharedCounts | None:
    amount = promise.rho if promise.epsilon is None else promise.epsilon
    assert amount is not None
    made = Price(amount, promise.is_pure, like.bounding.unit, len(atoms.rows), like.confidence)
    try:
        return SharedCounts.make(atoms, made)
    except (NumberError, SizeError, PrecisionError):  # noise that cannot be drawn, or too much of it: one by one, then
        return None
