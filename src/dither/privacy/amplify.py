"""Amplification: a mechanism that sees only some people, or reports that nobody can link to a person.

    poisson(loss, rate)                          each person takes part with this probability, alone; people come and go
    without_replacement(loss, sample, people)    exactly `sample` of `people` take part; people are replaced
    shuffled(epsilon, people, answers=k)         k-ary randomized response of all, in random order; people are replaced
    shuffled(epsilon, people, answers=None)      any local randomizer with this epsilon, the same for all people
    shuffled_closed_form(epsilon, people, delta) the formula of Feldman, McMillan and Talwar 2021, for comparison

Each gives a `Loss`: ask it, add it up, or turn it into a guarantee. What is promised holds for a sampler that does
what is said here: independent choices, a secret sample, exactly these sizes. `calibrate` finds the noise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import SupportsIndex

from flint import arb

from dither.arguments import argument_errors
from dither.errors import GuaranteeError, NumberError, UnitError
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number, NumberLike, exact, integer
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.pairs.fixed_size_sampled import FixedSizeSampledPair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.loss.pairs.shuffled import ShuffledPair
from dither.privacy.records import read_delta
from dither.privacy.unit import Unit

__all__ = ["poisson", "shuffled", "shuffled_closed_form", "without_replacement"]


@argument_errors
def poisson(loss: Loss, rate: NumberLike) -> Loss:
    """The mechanism on a Poisson sample: `loss.poisson_subsampled(rate)`.

    Args:
        loss: of one mechanism, about adding or removing.
        rate: the probability with which each person takes part, in (0, 1].

    Raises:
        GuaranteeError: it is no loss, a sum, or about people who are replaced.
        NumberError: the rate is no rational number in (0, 1].
        UnitError: the loss is about a replacement.

    Example:
        >>> from dither import Loss, amplify
        >>> round(amplify.poisson(Loss.gaussian(2), rate="0.01").epsilon("1e-6"), 3)
        0.044
    """
    return _read_loss(loss).poisson_subsampled(rate)


@argument_errors
def without_replacement(loss: Loss, sample: SupportsIndex, people: SupportsIndex) -> Loss:
    """The mechanism on a sample of fixed size, drawn without replacement, for people who are replaced.

    Args:
        loss: of one mechanism, whose pair is its own reverse.
        sample: how many take part.
        people: of how many, public.

    Raises:
        GuaranteeError: it is no loss, a sum, amplified already, or its pair is not its own reverse.
        NumberError: a count is no whole number above 0, or the sample is larger than the people.
        UnitError: the loss is about adding or removing.

    Example:
        >>> from dither import Loss, amplify
        >>> round(amplify.without_replacement(Loss.laplace(1), sample=10, people=1000).epsilon("1e-6"), 3)
        0.017
    """
    taken = integer(sample, name="sample", least=1)
    population = integer(people, name="people", least=1)
    if taken > population:
        raise NumberError("sample", sample, f"there are only {population} people", f"a number from 1 to {population}")
    base = _read_loss(loss).alone()
    if loss.unit is not None and loss.unit.replacement is not loss.unit:
        raise UnitError(
            "unit", loss.unit.value, "a sample of a fixed size is about people who are replaced", "a replace unit"
        )
    if isinstance(base, (PoissonSampledPair, FixedSizeSampledPair, ShuffledPair)):
        raise GuaranteeError("loss", str(loss), "it is amplified already", "a loss before amplification")
    if base.reverse() != base:
        why = "a replacement can go either way, and this pair is not the same both ways"
        raise GuaranteeError("loss", str(loss), why, "a pair that is its own reverse")
    return loss if taken == population else Loss(((FixedSizeSampledPair(base, Fraction(taken, population)), 1),), loss.unit)


@argument_errors
def shuffled(epsilon: NumberLike, people: SupportsIndex, *, answers: SupportsIndex | None = 2) -> Loss:
    """The reports of all people together, each randomized at the source, in random order (the shuffle model).

    Args:
        epsilon: of the local randomizer, at least 0.
        people: how many report, public.
        answers: k of k-ary randomized response; None for any local randomizer, the same for all people.

    Raises:
        NumberError: epsilon is below 0, or a count is too small or no whole number.

    Example:
        >>> from dither import amplify
        >>> round(amplify.shuffled(1, people=1000).epsilon("1e-6"), 3)
        0.149
    """
    local = exact(epsilon, name="epsilon", nonnegative=True)
    number = integer(people, name="people", least=1)
    k = None if answers is None else integer(answers, name="answers", least=2)
    return Loss(((ShuffledPair(local, number, k), 1),) if local else (), Unit.REPLACE_ONE)


@argument_errors
def shuffled_closed_form(epsilon: NumberLike, people: SupportsIndex, delta: NumberLike) -> float:
    """log(1 + (e^e - 1)/(e^e + 1) (8 sqrt(e^e log(4/delta) / n) + 8 e^e / n)), where it is proved; rounded up.

    Args:
        epsilon: e, of the local randomizer, above 0.
        people: n, how many report.
        delta: above 0 and below 1.

    Raises:
        NumberError: a parameter is outside its range, or epsilon beyond what the formula is proved for.

    Example:
        >>> from dither import amplify
        >>> round(amplify.shuffled_closed_form(1, people=10_000, delta="1e-6"), 3)
        0.214
    """
    local = exact(epsilon, name="epsilon", positive=True)
    number, lost = integer(people, name="people", least=1), read_delta(delta)
    if lost == 0:
        raise NumberError("delta", delta, "the formula needs a delta", "'1e-6'")
    limit = certify(lambda: (to_ball(number) / (16 * to_ball(2 / lost).log())).log())
    if not local <= Number(Fraction(limit.lower)):
        why = f"the formula is proved up to log(n / (16 log(2/delta))), here {limit.lower:.4g}"
        raise NumberError("epsilon", epsilon, why, "more people, or amplify.shuffled, which has no such condition")

    def formula() -> arb:
        e = local.ball().exp()
        inside = 8 * (e * to_ball(4 / lost).log() / number).sqrt() + 8 * e / number
        return ((e - 1) / (e + 1) * inside).log1p()

    return certify(formula).upper


def _read_loss(value: Loss) -> Loss:
    if not isinstance(value, Loss):
        raise GuaranteeError("loss", value, "it is not a loss", "Loss.gaussian(2), or the .loss() of a mechanism")
    return value
