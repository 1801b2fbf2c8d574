"""The quote: a question with its privacy price and its error, ready to be released; an offer beside its dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dither.arguments import argument_errors
from dither.errors import BudgetError, DataError, DitherError
from dither.numeric.number import NumberLike
from dither.numeric.representation import LONGEST_LINE, LONGEST_VALUE, cut
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import finite_epsilon
from dither.query.answers.answer import Answer
from dither.query.answers.compare import NO_PRICE, Column, Comparison, compare, other_noise
from dither.query.answers.derived.errors import errors_of
from dither.query.answers.explain import explain_offer
from dither.query.answers.table import preformatted
from dither.query.engines.engine import Progress
from dither.query.holdings import Holdings, left_words
from dither.query.plan.describe import describe
from dither.query.pricing.ask import Ask, Terms
from dither.query.pricing.fingerprint import question
from dither.query.pricing.make_offer import make_offer
from dither.query.pricing.offer import Offer
from dither.query.release import WAIT, release
from dither.terminal import Explanation


@argument_errors
@dataclass(frozen=True)
class Quote:
    """What a question would cost and how far its answer may be off; `release` asks it. Made by `Dataset.quote`.

    Args:
        offer: the question with its mechanisms and their price.
        holdings: policy, ledger and sources of the dataset.
        ask: the question as it was put.

    Raises:
        BudgetError, InProgressError, ReleaseError: by `release`, which see.
        DataError: `compare` got something else than quotes.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> rows = pyarrow.table({"age": [31, 44, 62]})
        >>> people = dither.protect(rows, name="people", person="each row", ledger=ledger)
        >>> quote = people.quote("SELECT COUNT(*) AS n FROM people", epsilon="0.5")
        >>> quote.price, quote.errors, quote.affordable
        ('ε = 0.5 (add/remove one person)', {'n': 6.0}, 6)
        >>> folder.cleanup()
    """

    offer: Offer
    holdings: Holdings = field(repr=False)
    ask: Ask | None = field(default=None, repr=False, compare=False)  # as it was put; None for a question of a batch

    @property
    def sql(self) -> str:
        """The question, as it was put."""
        return self.offer.sql

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: what the ledger will charge."""
        return self.offer.guarantee

    def loss(self) -> Loss:
        """The privacy loss of this one question, by the exact laws of its noise, which is fixed before any release."""
        return self.offer.loss()

    def epsilon(self, delta: NumberLike | None = None) -> float:
        """The epsilon of this one question at a delta of your choice, by the exact law of its loss; rounded up."""
        return finite_epsilon(self.offer.epsilon(0 if delta is None else delta), delta, self.price)

    @property
    def price(self) -> str:
        """The guarantee as people know it: epsilon, and at which delta where there is no epsilon alone."""
        return self.offer.price

    @property
    def errors(self) -> dict[str, float | None]:
        """How far each aggregate may be off because of noise, and each computed column that is a sum of them; None for an
        average without `size`, for a deviation, correlation or slope without `size` and `spread`, and for what depends on
        the released numbers: `explain` says why."""
        return errors_of(self.offer)

    @property
    def confidence(self) -> Fraction:
        """The probability with which each error bar holds."""
        return self.offer.confidence

    @property
    def unprotected(self) -> str:
        """What the guarantee does not cover, since the owner took it from the data; '' where there is nothing."""
        return self.offer.unprotected

    @property
    def question(self) -> dict[str, object]:
        """How the ledger knows it: the same for every text that means the same."""
        return question(self.offer)

    @property
    def affordable(self) -> int:
        """How many questions of this price the ledger has left."""
        return self.holdings.ledger.remaining().like(self.guarantee)

    def explain(self, *, details: bool = False, analyst: str | None = None) -> Explanation:
        """Price, error, bounds and what they mean, in words; with `details`, what is left also as the budget counts it; of
        the share of `analyst`, where that is what she can spend."""
        left = left_words(self.holdings.ledger, self.guarantee, analyst, details=details)
        told = explain_offer(self.offer, f"\nLeft       {left}")
        return Explanation("\n".join([told, *self.holdings.engine_words]))

    def describe(self) -> Explanation:
        """How dither understood the SQL, clause by clause."""
        return Explanation(describe(self.offer.question))

    def compare(self, *others: Quote, epsilon: Sequence[NumberLike] | None = None) -> Comparison:
        """A table of this quote beside `others`: prices, shares of the budget, errors, and how a person is bounded.

        Without others, and where the budget counts rho, beside the other kind of noise: at the same charge, and at the same
        epsilon, which is another charge. The budget decides what an answer costs, so the first of them is the fair one.
        Reads nothing and costs nothing.

        Args:
            others: quotes of the same or of other questions.
            epsilon: other prices of this question, such as [0.1, 0.5, 1]; those that are not allowed stand below, with why.
        """
        for other in others:
            if not isinstance(other, Quote):
                raise DataError("quote", other, "it is not a quote", "clinic.quote(sql, epsilon=1).compare(another)")
        columns, refused = [Column(quote.offer, quote.affordable) for quote in (self, *others)], []
        if epsilon is not None:
            more, too_dear = self._at(epsilon)
            return compare([*columns, *more], too_dear)
        if self.ask is not None and not others:
            for beside, terms in other_noise(self.offer):
                try:
                    quote = make_quote(replace(self.ask, **terms), self.holdings)
                    columns.append(Column(quote.offer, quote.affordable, beside))
                except DitherError as error:
                    refused.append(f"{str(terms['noise']).capitalize()} noise at the {beside}: {error.why}")
        return compare(columns, refused)

    def _at(self, epsilon: Sequence[NumberLike]) -> tuple[list[Column], list[str]]:
        """This question at other prices, and why not at some."""
        if self.ask is None:
            why = "this quote is part of a batch, and has no price of its own to change"
            raise DataError("epsilon", epsilon, why, "clinic.quote(sql, epsilon=1).compare(epsilon=[0.1, 0.5])")
        columns, refused = list[Column](), list[str]()
        if not isinstance(epsilon, (list, tuple)):
            raise DataError("epsilon", epsilon, "other prices come in a list", "[0.1, 0.5, 1]")
        for price in epsilon:
            try:
                terms: Terms = {**NO_PRICE, "epsilon": price}
                quote = make_quote(replace(self.ask, **terms), self.holdings)
                columns.append(Column(quote.offer, quote.affordable))
            except BudgetError as error:
                refused.append(f"ε = {price}: {error.why}")
        return columns, refused

    def _repr_html_(self) -> str:
        return preformatted(self.explain())

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
    ) -> Answer:
        """Charge the ledger, then ask. The same question under the same policy and data version is answered for free.

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
        how = {"idempotency_key": idempotency_key, "analyst": analyst, "threads": threads, "progress": progress}
        return release(self.offer, self.holdings, **how, wait=wait, daily=daily, door=door)

    def __repr__(self) -> str:
        errors = {name: None if error is None else float(f"{error:.4g}") for name, error in self.errors.items()}
        asked = cut(" ".join(self.sql.split()), LONGEST_VALUE)
        return cut(f"Quote({asked!r}, price={self.price!r}, errors={errors})", LONGEST_LINE)

    def __str__(self) -> str:
        return str(self.explain())


def make_quote(ask: Ask, holdings: Holdings) -> Quote:
    """The quote for a question that was put as `ask` says."""
    return Quote(make_offer(ask, holdings), holdings, ask)
