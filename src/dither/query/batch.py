"""Several questions priced, charged and released as one: a fixed list of mechanisms.

Every question gets the part of the price that its counters weigh (`counters/counter_sets.py`), as if all were one
question. Counts of rows about one relation are also tried *together*: from the cells that they share, at the sum of their
parts. That is taken where the sum of squared error bars is smaller. All that decides it is public.

What the ledger charges is the sum of all that is released; `loss()` composes the exact laws of all of it, which is allowed
since the list is fixed before anything is released.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Any

from dither.arguments import argument_errors
from dither.errors import NumberError, PrecisionError, QuestionError, SizeError
from dither.numeric.number import NumberLike, integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import finite_epsilon
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.derived.errors import errors_of
from dither.query.answers.explain import explain_batch
from dither.query.answers.table import preformatted
from dither.query.counters.counter_sets import Reading, choose_counters
from dither.query.counters.estimators import Guesses
from dither.query.engines.engine import Progress
from dither.query.groups.group_choice import unknown_groups
from dither.query.groups.unknown_keys import read_other
from dither.query.holdings import Holdings, left_words
from dither.query.plan.question import Question
from dither.query.pricing import price
from dither.query.pricing.ask import Ask, NoiseKind
from dither.query.pricing.fingerprint import batch_question
from dither.query.pricing.found_policy import HARD
from dither.query.pricing.gain import Gain
from dither.query.pricing.guesses import read_guesses
from dither.query.pricing.key_delta import counts_values, share_lost
from dither.query.pricing.make_offer import make_offer, read_question
from dither.query.pricing.offer import Offer
from dither.query.pricing.spend import Spend, counts_rho, largest_epsilon, read_noise, read_spend, rho_in
from dither.query.pricing.unprotected_facts import unprotected_words
from dither.query.quote import Quote
from dither.query.release import WAIT, release_batch
from dither.query.statistics.bounding import Weights
from dither.query.statistics.counter_release import Priced
from dither.query.statistics.statistic import Price, Statistic
from dither.query.workload.common_cells import CommonCells, countable, find_common_cells
from dither.query.workload.shared_counts import SharedCounts, one_by_one
from dither.terminal import Explanation

MOST_QUESTIONS = 1000
EXAMPLE = "['SELECT COUNT(*) FROM visits', 'SELECT AVG(cost) FROM visits']"


@argument_errors
@dataclass(frozen=True)
class Batch:
    """What several questions would cost together, and how far their answers may be off. Made by `Dataset.quote`.

    Args:
        holdings: policy, ledger and sources of the dataset.
        offers: the questions, each with its mechanisms and its part of the price.
        gains: which questions are answered together, and how much better that is.
        asked: the epsilon that was stated; None if the price was stated otherwise.

    Raises:
        BudgetError, InProgressError, ReleaseError: by `release`, which see.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> rows = pyarrow.table({"age": [31, 44, 62]})
        >>> people = dither.protect(rows, name="people", person="each row", ledger=ledger, bounds={"age": (0, 100)})
        >>> batch = people.quote(["SELECT COUNT(*) AS n FROM people", "SELECT SUM(age) AS age FROM people"], epsilon=1)
        >>> len(batch), batch.price, batch[0].price
        (2, 'ε = 1 (add/remove one person)', 'ε = 0.5 (add/remove one person)')
        >>> folder.cleanup()
    """

    holdings: Holdings = field(repr=False)
    offers: tuple[Offer, ...]
    gains: tuple[Gain, ...] = field(repr=False)  # which of them are answered together
    asked: NumberLike | None = field(default=None, repr=False)  # the epsilon that was stated

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: what the ledger will charge."""
        return self.holdings.ledger.budget.counted(price.total(self._released))

    def loss(self) -> Loss:
        """The privacy loss of all questions together, by the exact laws of their noise."""
        return price.loss(self._released)

    def epsilon(self, delta: NumberLike | None = None) -> float:
        """The epsilon of all questions together at a delta of your choice, by the exact law of the loss; rounded up."""
        return finite_epsilon(price.epsilon(self._released, 0 if delta is None else delta), delta, self.price)

    @property
    def price(self) -> str:
        """The guarantee as people know it: epsilon, and at which delta where there is no epsilon alone."""
        return price.text(self._released, self.holdings.ledger.budget, self.asked)

    @property
    def _released(self) -> list[Priced]:
        """All statistics and choices of groups of the batch, each once."""
        parts = self.parts
        own = [one for offer in self.offers for one in offer.released if all(one is not part for part in parts)]
        return [*own, *parts]

    @property
    def parts(self) -> list[Statistic]:
        """The statistics that are not counters; one that serves several questions once."""
        found: list[Statistic] = []
        for part in (part for offer in self.offers if not offer.in_steps for part in offer.others):
            if all(part is not other for other in found):
                found.append(part)
        return found

    @property
    def unprotected(self) -> str:
        """What the guarantee does not cover, since the owner took it from the data; '' where there is nothing."""
        return unprotected_words(fact for offer in self.offers for fact in offer.outside)

    @property
    def question(self) -> dict[str, object]:
        """How the ledger knows the batch: the same for all lists of texts that mean the same."""
        return batch_question(self.offers, self.parts)

    @property
    def errors(self) -> list[dict[str, float | None]]:
        """How far each aggregate of each question may be off because of noise."""
        return [errors_of(offer) for offer in self.offers]

    @property
    def affordable(self) -> int:
        """How many batches of this price the ledger has left."""
        return self.holdings.ledger.remaining().like(self.guarantee)

    def explain(self, *, details: bool = False, analyst: str | None = None) -> Explanation:
        """Price and error of all questions, and which are answered together; with `details`, what is left as counted; of
        the share of `analyst`, where that is what she can spend."""
        ledger, which = self.holdings.ledger, "batch like this one"
        left = left_words(ledger, self.guarantee, analyst, which=which, details=details)
        told = self._explained(f"\nLeft       {left}")
        return Explanation("\n".join([told, *self.holdings.engine_words]))

    def _explained(self, left: str) -> str:
        return explain_batch(self.offers, self.gains, f"{self.price}{left}")

    @argument_errors
    def release(
        self,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        threads: int | None = None,
        progress: Progress | None = None,
        wait: float = WAIT,
        daily: Guarantee | None = None,
        door: str = "",
    ) -> BatchAnswer:
        """Charge the ledger once, then ask all. The same batch under the same policy and data version is free.

        Args:
            idempotency_key: a name for this charge: the same key never pays twice, and stands for one question.
            analyst: who asks; needed where the ledger has shares.
            threads: of the engine, 1 to 1024; left out, as many as there are cores.
            progress: called with the part of the reading that is done, from 0 to 1, several times a second; always with 0
                where the engine does not tell it (PostgreSQL).
            wait: seconds that the same answer is waited for while somebody else computes it.
            daily: the most that the analyst may spend of her share in one UTC day.
            door: the way by which it came, for the history.

        Raises:
            BudgetError: what is left of the budget, of the analyst's share or of its daily portion is less than the price.
            ConflictError: another policy is in force, or the key stands for another question.
            DataError: the source does not fit the policy, or an argument is of the wrong kind.
            InProgressError: somebody else still computes this answer.
            ReleaseError: it failed after data was read; the charge stays.
        """
        how: dict[str, Any] = {"idempotency_key": idempotency_key, "analyst": analyst, "threads": threads}
        how |= {"progress": progress, "wait": wait, "daily": daily, "door": door}
        told = self._explained("")
        return release_batch(self.offers, self.parts, self.guarantee, told, lambda: self.price, self.holdings, **how)

    def __len__(self) -> int:
        return len(self.offers)

    def __iter__(self) -> Iterator[Quote]:
        return (Quote(offer, self.holdings) for offer in self.offers)

    def __getitem__(self, place: int) -> Quote:
        return Quote(self.offers[integer(place, name="place of a question")], self.holdings)

    def __repr__(self) -> str:
        return f"Batch({len(self)} question{'s' if len(self) > 1 else ''}, price={self.price!r})"

    def __str__(self) -> str:
        return str(self.explain())

    def _repr_html_(self) -> str:
        return preformatted(self.explain())


def make_batch(ask: Ask, holdings: Holdings) -> Batch:
    """The batch of several questions, whose texts are a list; see `Dataset.quote`."""
    texts = ask.text
    assert isinstance(texts, list)
    if not 0 < len(texts) <= MOST_QUESTIONS:
        raise SizeError("questions", len(texts), f"a batch has 1 to {MOST_QUESTIONS} of them", EXAMPLE)
    if ask.error is not None:
        why = "the errors of a batch depend on how its price is shared"
        raise QuestionError("error", ask.error, why, "epsilon='1' for all of it, then batch.errors")
    budget = holdings.ledger.budget
    questions = [read_question(text, holdings.policy)[0] for text in texts]
    guesses = read_guesses(ask.size, ask.spread, questions, holdings.policy)
    in_rho = counts_rho(budget)
    lost = share_lost(questions, budget, ask.delta, ask.guarantee, counts_rho=in_rho)
    if ask.other is not None and not any(map(unknown_groups, questions)):
        read_other(questions[0], ask.other)
    noise = read_noise(ask.noise, budget, ask.guarantee)
    if noise == "geometric" or ask.limits == HARD:  # of a choice of values that may be made, and need not
        lost = [Fraction(0) if counts_values(question) else part for question, part in zip(questions, lost, strict=True)]
    batch = _at_delta(ask, holdings, questions, guesses, lost, noise)
    used = [
        part if offer.shows_values or not counts_values(question) else Fraction(0)
        for question, part, offer in zip(questions, lost, batch.offers, strict=True)
    ]
    batch = batch if used == lost else _at_delta(ask, holdings, questions, guesses, used, noise)
    price.check_limit(batch.guarantee, holdings.policy.per_question, budget)
    return batch


def _at_delta(
    ask: Ask,
    holdings: Holdings,
    questions: list[Question],
    guesses: Guesses,
    lost: list[Fraction],
    noise: NoiseKind | None,
) -> Batch:
    """The batch at the delta of each question."""
    texts, budget = ask.text, holdings.ledger.budget
    promise = read_spend(budget, ask.epsilon, ask.rho, ask.guarantee, sum(lost, start=Fraction(0)), noise)
    others = [ask.other if unknown_groups(question) else None for question in questions]
    own = [replace(ask, text=text, other=other) for text, other in zip(texts, others, strict=True)]
    weights = [choose_counters(question, pure=promise.is_pure).weight(pure=promise.is_pure) for question in questions]
    shared = [Fraction(weight, sum(weights)) for weight in weights]

    def made(promise: Spend) -> Batch:
        offers = [
            make_offer(mine, holdings, promise=promise.part(share), lost=part, guesses=guesses)
            for mine, share, part in zip(own, shared, lost, strict=True)
        ]
        return _together(ask, holdings, offers, shared, promise)

    if promise.most is not None:
        promise = Spend(epsilon=largest_epsilon(promise.most, lambda e: rho_in(budget, made(Spend(epsilon=e)).guarantee)))
    batch = made(promise)
    fitting = promise.fitting(batch.guarantee)
    return batch if fitting is None else made(fitting)


def _together(ask: Ask, holdings: Holdings, offers: list[Offer], shared: list[Fraction], promise: Spend) -> Batch:
    """The batch of these offers, of which some are answered together where that is better."""
    gains = []
    for places in _alike(offers) if ask.bounding in (None, Weights.way) else []:  # a person is bounded in that way there
        share = sum((shared[at] for at in places), start=Fraction(0))
        gain = _answer_together(offers, places, promise.part(share))
        gains += [] if gain is None else [gain]
    alone = promise.is_pure and counts_rho(holdings.ledger.budget)  # an epsilon without the delta of the budget
    return Batch(holdings, tuple(offers), tuple(gains), None if alone else ask.epsilon)


def _alike(offers: list[Offer]) -> list[list[int]]:
    """Places of questions that count rows of one relation: two or more of each."""
    found: dict[Any, list[int]] = {}
    for at, offer in enumerate(offers):
        if offer.choice is None and not offer.in_steps and countable(offer.question):
            found.setdefault(offer.question.relation, []).append(at)
    return [places for places in found.values() if len(places) > 1]


def _answer_together(offers: list[Offer], places: list[int], promise: Spend) -> Gain | None:
    """Put the part that answers these questions together into their quotes, where it is better."""
    own = [offers[at] for at in places]
    atoms = find_common_cells([offer.question for offer in own])
    part = None if atoms is None else _part(atoms, promise, own[0])
    if part is None:
        return None
    rows = [prod(len(group.listed) for group in offer.question.groups) for offer in own]
    apart = one_by_one([next(iter(offer.errors.values())) for offer in own], rows)
    if part.squares() >= apart:
        return None
    for place, at in enumerate(places):
        offers[at] = replace(offers[at], statistics=(part,), readings=(Reading(0, place),), bounding=part.bounding)
    return Gain(tuple(places), (part.squares() / sum(rows)) ** 0.5, (apart / sum(rows)) ** 0.5)


def _part(atoms: CommonCells, promise: Spend, like: Offer) -> SharedCounts | None:
    amount = promise.rho if promise.epsilon is None else promise.epsilon
    assert amount is not None
    made = Price(amount, promise.is_pure, like.bounding.unit, len(atoms.rows), like.confidence)
    try:
        return SharedCounts.make(atoms, made)
    except (NumberError, SizeError, PrecisionError):  # noise that cannot be drawn, or too much of it: one by one, then
        return None
