"""The quote: a question with its price and its error, before anything private is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dither.errors import NumberError, QuestionError
from dither.mechanisms.additive import read_confidence
from dither.numeric.number import integer
from dither.privacy.guarantee import Guarantee
from dither.privacy.loss import Loss
from dither.query import price
from dither.query.bounding import Bounding, choose_bounding
from dither.query.canonical import question
from dither.query.choice import Choice, Chosen, all_cells
from dither.query.explain import explain_quote
from dither.query.lost import read_lost
from dither.query.made import Made, most_cells, priced, with_keys, with_top
from dither.query.options import Options, apply_options, check_options, read_options
from dither.query.parse import parse
from dither.query.part import Part
from dither.query.plan.question import Plan
from dither.query.promise import HOWS, Promise, counts_rho, read_promise, stated_price
from dither.query.show import preformatted
from dither.query.strategy import Place, Reading, Strategy, choose_strategy
from dither.query.unknown import read_other
from dither.query.words import explain_plan

if TYPE_CHECKING:
    from dither.query.answer import Answer
    from dither.query.dataset import Dataset
    from dither.query.engines.duckdb import Progress

LARGEST_SIZE = 10**15
LEAST_ALPHA = Fraction(1, 10**12)  # error bars that fail less often than this are not computed


@dataclass(frozen=True)
class Quote:
    """What a question would cost and how far its answer may be off. `release()` asks it."""

    dataset: Dataset = field(repr=False)
    sql: str
    plan: Plan = field(repr=False)
    strategy: Strategy = field(repr=False)
    bounding: Bounding = field(repr=False)
    noise: tuple[price.Mechanism, ...] = field(repr=False)  # of each family of counters
    parts: tuple[Part, ...] = field(repr=False)  # what is released beside them
    confidence: Fraction
    size: int | None
    asked: object = field(default=None, repr=False)  # the epsilon that was stated
    choice: Choice | None = field(default=None, repr=False)  # of groups, where a private release chooses them
    weighed: str = field(default="", repr=False)  # why groups are chosen first, or why not

    @property
    def guarantee(self) -> Guarantee:
        """What the ledger will charge."""
        return price.total(priced(self.choice, self.noise, self.parts))

    def loss(self) -> Loss:
        """The privacy loss of this one question: all its noise is fixed before anything is released."""
        return price.loss(priced(self.choice, self.noise, self.parts))

    def chosen(self, released: Any) -> Chosen:
        """The groups that are counted, from what was stored of their choice."""
        return all_cells(self.plan) if self.choice is None else self.choice.chosen(self.plan, released)

    def epsilon(self, delta: object = 0) -> float:
        """The epsilon of this one question at a delta of your choice, by the exact law of its loss; rounded up."""
        return price.epsilon(priced(self.choice, self.noise, self.parts), delta)

    @property
    def question(self) -> dict[str, object]:
        """How the ledger knows it: the same for every text that means the same."""
        return question(self)

    @property
    def errors(self) -> dict[str, float | None]:
        """How far each aggregate may be off because of noise; None for an average without a size hint."""
        return {
            aggregate.name: self.error_of(reading)
            for aggregate, reading in zip(self.plan.aggregates, self.strategy.readings, strict=True)
        }

    def error_of(self, reading: Reading) -> float | None:
        """How far one aggregate may be off because of noise."""
        if isinstance(reading, Place):
            return self.parts[reading.part].error(reading.place, self.confidence)
        noise, resolution = self.noise[reading.family], self.bounding.resolution
        return price.reading_error(reading, noise, resolution, self.confidence, self.size)

    @property
    def affordable(self) -> int:
        """How many questions of this price the ledger has left."""
        return self.dataset.ledger.remaining().like(self.guarantee)

    @property
    def price(self) -> str:
        """The guarantee as people know it: epsilon, and at which delta where there is no epsilon alone."""
        return price.text(priced(self.choice, self.noise, self.parts), self.dataset.ledger.budget, self.asked)

    def explain(self) -> str:
        """Price, error, bounds and what they mean, in words."""
        return explain_quote(self)

    def describe(self) -> str:
        """How dither understood the question."""
        return explain_plan(self.plan)

    def compare(self, *others: Quote) -> str:
        """This quote beside others, line by line: prices, errors, bounds and noise."""
        from dither.query.compare import compare

        return compare((self, *others))

    def _repr_html_(self) -> str:
        return preformatted(self.explain())

    def release(
        self,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Charge the ledger, then ask. The same question under the same policy and data version is answered for free."""
        from dither.query.release import release

        return release(self, idempotency_key=idempotency_key, analyst=analyst, threads=threads, progress=progress)

    def __str__(self) -> str:
        return self.explain()


def make_quote(
    dataset: Dataset,
    sql: Any,
    *,
    epsilon: object,
    rho: object,
    guarantee: object,
    error: object,
    confidence: object,
    size: object,
    bounding: object,
    delta: object,
    other: object,
    promise: Promise | None = None,
    lost: Fraction | None = None,
) -> Quote:
    """The quote for a question; see `Dataset.quote`. In a batch its price and its delta are given parts of the whole."""
    policy, budget = dataset.policy, dataset.ledger.budget
    plan, options = read_question(dataset, sql)
    if promise is not None and (options.epsilon is not None or options.delta is not None):
        raise QuestionError("OPTIONS", sql, "a batch has one price for all its questions", "quote([...], epsilon='0.5')")
    epsilon, guarantee = stated_price(options, budget, epsilon=epsilon, rho=rho, guarantee=guarantee, error=error)
    _check_names(plan)
    level, hint = _confidence(confidence), None if size is None else integer(size, name="size", least=1)
    if hint is not None and hint > LARGEST_SIZE:
        raise NumberError("size", "so large", f"no group has more than {LARGEST_SIZE} rows", "1000")
    if error is not None and any(way is not None for way in (epsilon, rho, guarantee)):
        raise NumberError("price", "error beside another way", "a price is stated in exactly one way", HOWS)
    alone, others = promise is None, read_other(plan, other)
    if lost is None:
        lost = read_lost(plan, budget, delta, guarantee, counts_rho=counts_rho(budget))
    if promise is None and error is None:
        promise = read_promise(budget, epsilon, rho, guarantee, lost)
    is_pure = promise.is_pure if promise is not None else not counts_rho(budget)
    strategy = choose_strategy(plan, pure=is_pure)
    cells = most_cells(plan, strategy)

    def under(cells: int) -> price.Circumstances:
        way = choose_bounding(plan, strategy, bounding, cells=cells, unit=budget.unit, pure=is_pure)
        return price.Circumstances(plan, strategy, way, cells, level, hint, is_pure)

    def made_of(promise: Promise | None) -> Made:
        if lost:
            return with_keys(under(cells), promise, error, lost=lost, other=others)
        return (
            Made(under(cells), *price.for_error(error, under(cells))) if promise is None else with_top(under, cells, promise)
        )

    made = made_of(promise)
    fitting = None if promise is None else promise.fitting(price.total(made.priced))
    made = made if fitting is None else made_of(fitting)
    for part in [] if made.under.strategy.families or made.choice else made.parts:
        if bounding is not None and part.bounding.way != bounding:
            why = f"of what is asked here, a person is bounded in one way: '{part.bounding.way}'"
            raise QuestionError("bounding", bounding, why, "leaving it out")
    if alone:  # otherwise the batch is one question, and looked at as a whole
        price.check_limit(price.total(made.priced), policy.per_question)
    found, stated = made.under, epsilon if alone else None
    return Quote(
        *(dataset, sql, plan, found.strategy, found.bounding, made.noise, made.parts, level, hint),
        asked=stated,
        choice=made.choice,
        weighed=made.weighed,
    )


def read_question(dataset: Dataset, sql: Any) -> tuple[Plan, Options]:
    """What is asked, and what the question says about its own privacy."""
    text, options = read_options(sql)
    plan = parse(text, apply_options(options, dataset.policy))
    check_options(options, dataset.policy, plan)
    return plan, options


def _check_names(plan: Plan) -> None:
    """Each aggregate x also has columns x_low and x_high, which nothing else may be called."""
    taken = [group.name.lower() for group in plan.groups]
    taken += [f"{aggregate.name.lower()}{end}" for aggregate in plan.aggregates for end in ("", "_low", "_high")]
    for name in taken:
        if taken.count(name) > 1:
            raise QuestionError(
                "SELECT", name, "two columns of the answer would have that name", "another name: ... AS total"
            )


def _confidence(stated: object) -> Fraction:
    """0.95, or '95%'."""
    if isinstance(stated, str) and stated.strip().endswith("%"):
        from dither.numeric.number import rational

        stated = rational(stated.strip()[:-1], name="confidence") / 100
    level = read_confidence(stated)
    if 1 - level < LEAST_ALPHA:
        raise NumberError("confidence", stated, "it is nearer to 1 than 1e-12", "0.95")
    return level
