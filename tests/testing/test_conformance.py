"""The check passes what is right (see tests/mechanisms) and catches what is wrong: each bug here is planted."""

from __future__ import annotations

import contextlib
import math
import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from attrs import frozen
from flint import arb, fmpq

import dither
from dither import (
    DiscreteGaussian,
    Gaussian,
    Geometric,
    Laplace,
    Number,
    Processed,
    Staircase,
    Unit,
    approx,
    bounded_range,
    gdp,
    pure,
    renyi,
    sensitivity,
    zcdp,
)
from dither.errors import BrokenPromise, DataError, GuaranteeError, SizeError
from dither.mechanisms.additive.additive import Additive
from dither.noise import Bernoulli, DiscreteLaplace, RoundedGaussian
from dither.numeric.lattice import Lattice
from dither.testing import Outcomes, check_mechanism, check_privacy, mechanism_checks, outcomes
from dither.testing.enumerate import as_key

REPLACE = Unit.REPLACE_ONE


def broken(mechanism, match, **how):
    with pytest.raises(BrokenPromise, match=match):
        check_mechanism(mechanism, **how)


def test_a_report_says_what_was_checked():
    report = check_mechanism(Geometric(epsilon=1, sensitivity=2))
    assert abs(report.epsilon - 1) < 1e-12  # attained: no smaller epsilon would be true
    assert report.missing < 1e-28
    assert report.outputs > 200
    assert report.pairs == 8
    assert "largest log ratio 1" in str(report)


# -- bugs in the noise -----------------------------------------------------------------------------------------------


class ScaleHalved(Geometric):
    law = property(lambda self: DiscreteLaplace(rate=2 * self.epsilon / self.sensitivity))


class DrawnAgain(Geometric):
    """Draws until the release lies inside the bounds, instead of moving it there."""

    def release(self, value):
        low, high = self.bounds
        while True:
            noisy = max(low, min(high, value)) + self.law.sample()
            if low <= noisy <= high:
                return noisy


class RoundingForgotten(Laplace):
    law = property(lambda self: DiscreteLaplace(rate=self.epsilon * self.step / self.sensitivity))


class HalvesToEven(Laplace):
    law = property(lambda self: DiscreteLaplace(rate=self.epsilon / self.lattice.scalar_cost(self.sensitivity)))

    def release(self, value):
        return float((round(Fraction(value) / self.step) + self.law.sample()) * self.step)


class FloatsAdded(Geometric):
    """Scaled noise added to a float: which floats can come out depends on the value."""

    def release(self, value):
        return float(value) * 0.7 + 0.1 * self.law.sample()

    def error(self, confidence):
        return 1e9


class TailCut(Geometric):
    def release(self, value):
        return value + max(-20, min(20, self.law.sample()))


class OneSided(Geometric):
    def release(self, value):
        return value + abs(self.law.sample())


class FreshFromTheData(Geometric):
    """The noise is smaller for small values."""

    def release(self, value):
        return value + (self.law.sample() if value > 0 else self.law.sample() // 2)


class StaircaseVector(Staircase):
    """Staircase noise in each coordinate, at the epsilon of one."""

    def release(self, value):
        return [Staircase.release(self, x) for x in value]

    def error(self, confidence):
        return 1e9


@pytest.mark.parametrize(
    ("mechanism", "how"),
    [
        (ScaleHalved(epsilon=1, sensitivity=1), {}),
        (DrawnAgain(epsilon=4, sensitivity=2, bounds=(0, 4)), {"cutoff": "1e-7"}),
        (RoundingForgotten(epsilon=1, sensitivity="0.7", step="0.5"), {}),
        (RoundingForgotten(epsilon=2, sensitivity=1, step=1, dimension=2), {"cutoff": "1e-12"}),
        (HalvesToEven(epsilon=1, sensitivity=2, step=2), {"pairs": [(1, 3)]}),
        (FloatsAdded(epsilon=1, sensitivity=1), {}),
        (TailCut(epsilon=1, sensitivity=1), {}),
        (OneSided(epsilon=1, sensitivity=1), {}),
        (FreshFromTheData(epsilon=1, sensitivity=1), {}),
        (StaircaseVector(epsilon=1, sensitivity=1, step="0.25"), {"pairs": [([0, 0], [0.5, 0.5])], "cutoff": "1e-9"}),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Additive) else "",
)
def test_bugs_in_the_noise_are_caught(mechanism, how):
    broken(mechanism, "is false", **how)


# -- bugs in the promise ---------------------------------------------------------------------------------------------


class ClaimedGaussian(DiscreteGaussian):
    guarantee = property(lambda self: gdp(mu2=self.l2_squared / self.sigma2, unit=self.unit))


class HalfTheRho(DiscreteGaussian):
    guarantee = property(lambda self: zcdp(self.l2_squared / (4 * self.sigma2), unit=self.unit))


class DeviationForVariance(Gaussian):
    law = property(lambda self: RoundedGaussian(sigma2=self.sigma2**2))


class L2ForL1(Geometric):
    """Laplace noise for an L2 sensitivity."""

    def shifts(self):
        return Gaussian(l2_sensitivity=self.sensitivity, sigma=1, dimension=self.dimension, integers=True).shifts()


class PureGaussian(Gaussian):
    guarantee = property(lambda self: pure(5, unit=self.unit))


@pytest.mark.parametrize(
    ("mechanism", "how"),
    [
        (ClaimedGaussian(l2_sensitivity=1, sigma2=1), {}),
        (ClaimedGaussian(l2_sensitivity=1, sigma2="0.25"), {}),
        (ClaimedGaussian(l2_sensitivity=1, sigma2=25), {}),
        (ClaimedGaussian(l2_sensitivity=2, sigma2=1, dimension=2), {"cutoff": "1e-14"}),
        (HalfTheRho(l2_sensitivity=1, sigma2=4), {}),
        (DeviationForVariance(l2_sensitivity=1, sigma2="0.25", integers=True), {}),
        (L2ForL1(epsilon=2, sensitivity=3, dimension=2), {"cutoff": "1e-12"}),
        (PureGaussian(l2_sensitivity=1, sigma=1, integers=True), {}),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Additive) else "",
)
def test_bugs_in_the_promise_are_caught(mechanism, how):
    broken(mechanism, "is false", **how)


# -- bugs in the sensitivity: data sets, not values -------------------------------------------------------------------


def histogram(data):
    return [sum(1 for row in data if row == cell) for cell in ("a", "b")]


def test_the_dropped_factor_of_a_replaced_person_is_caught():
    how = {"query": histogram, "universe": ["a", "b"], "rows": 2, "cutoff": "1e-12"}
    broken(Geometric(epsilon=1, sensitivity=1, dimension=2, unit=REPLACE), "is false", **how)
    check_mechanism(Geometric(epsilon=1, sensitivity=1, dimension=2), **how)
    right = sensitivity.histogram(unit=REPLACE)
    assert abs(check_mechanism(Geometric(epsilon=2, sensitivity=right, dimension=2), **how).epsilon - 2) < 1e-9


def test_the_textbooks_sensitivity_of_a_sum_is_caught():
    how = {"query": sum, "universe": [-5, 0, 2], "rows": 2}
    broken(Geometric(epsilon=1, sensitivity=2), "is false", **how)
    check_mechanism(Geometric(epsilon=1, sensitivity=sensitivity.sum(-5, 2)), **how)
    broken(Geometric(epsilon=1, sensitivity=5, unit=REPLACE), "is false", **how)
    check_mechanism(Geometric(epsilon=1, sensitivity=sensitivity.sum(-5, 2, unit=REPLACE)), **how)


# -- mechanisms that say it outright, sometimes ------------------------------------------------------------------------


class Leaky:
    """With probability 0.3 the value itself, and otherwise nothing."""

    def __init__(self, guarantee):
        self.guarantee = guarantee

    def error(self, confidence):
        raise DataError("confidence", confidence, "none", "none")

    def release(self, value):
        return max(-5, min(5, value)) if Bernoulli("0.3").sample() else -99


class RarelyRaw(Leaky):
    """The value with probability 0.05, otherwise with a lot of noise."""

    def release(self, value):
        if type(value) is not int:
            raise DataError("value", value, "whole numbers only", "1")
        return ("raw", value) if Bernoulli("0.05").sample() else value + DiscreteLaplace(rate="0.5").sample()


@pytest.mark.parametrize("kind", [Leaky, RarelyRaw])
@pytest.mark.parametrize(
    "guarantee",
    [zcdp("0.5"), gdp(1), approx(1, "0.01"), renyi({2: "0.5", 64: 1}), approx(5, "1e-9"), pure(3), bounded_range(3)],
    ids=str,
)
def test_what_is_said_outright_is_caught(kind, guarantee):
    broken(kind(guarantee), "is false", pairs=[(0, 1)])


def test_a_delta_that_is_large_enough_passes():
    report = check_mechanism(RarelyRaw(approx("0.5", "0.0501")), pairs=[(0, 1)])
    assert report.epsilon == pytest.approx(0.5)


class RawFarAway(Geometric):
    """Large values go out as they are."""

    def release(self, value):
        return value if value > 1000 and self.law.sample() is not None else Geometric.release(self, value)


class OneAxisOnly(Gaussian):
    """Promises what a change along one axis costs."""

    guarantee = property(lambda self: gdp(mu2=Fraction(math.isqrt(math.floor(self.l2_squared)) ** 2) / self.sigma2))


def test_the_default_neighbours_find_these():
    broken(RawFarAway(epsilon=1, sensitivity=1), "is false")
    broken(OneAxisOnly(l2_squared=3, sigma2="1/30", dimension=5, integers=True), "is false", cutoff="1e-8")
    bounded = RawFarAway(epsilon=1, sensitivity=1, bounds=(10**10, 10**11))
    broken(bounded, "is false")


class FloatsForSome(Geometric):
    def release(self, value):
        noisy = Geometric.release(self, value)
        return float(noisy) if value > 0 else noisy


class Refuses(Geometric):
    def release(self, value):
        if value == 1:
            raise DataError("value", value, "one is refused", "another")
        return Geometric.release(self, value)


class Rows:
    """Data whose text does not say what is in it."""

    def __init__(self, rows):
        self.rows = rows

    def __repr__(self):
        return f"{len(self.rows)} rows"


class ExactSum(Geometric):
    def release(self, value):
        return sum(value.rows) + 0 * self.law.sample()


def test_values_are_told_apart_by_themselves_and_not_by_their_text():
    broken(ExactSum(epsilon=1, sensitivity=1), "is false", pairs=[(Rows([1, 2]), Rows([1, 5]))])
    with pytest.raises(DataError, match="are equal"):
        check_mechanism(Geometric(epsilon=1, sensitivity=1), pairs=[(5, 5)])


def test_bounded_range_is_checked_as_such():
    # losses of +0.9 and -0.9, both rare: epsilon 1 holds, a range of 1 does not
    up, down = Fraction(math.exp(0.9)), Fraction(math.exp(-0.9))
    p = [Fraction(1, 1000), Fraction(1, 1000), Fraction(998, 1000)]
    q = [p[0] / up, p[1] / down]
    own, law = two_points(p, [*q, 1 - sum(q)])
    own.guarantee = pure(1)
    check_mechanism(own, pairs=[(0, 1)], law=law)
    own.guarantee = bounded_range(1)
    broken(own, "differ by more than", pairs=[(0, 1)], law=law)
    own.guarantee = bounded_range("1.81")
    check_mechanism(own, pairs=[(0, 1)], law=law)


def test_types_and_refusals_tell_too():
    broken(FloatsForSome(epsilon=1, sensitivity=1), "is false")
    broken(Refuses(epsilon=1, sensitivity=1), "shows that it is there")


# -- bugs beside the noise -------------------------------------------------------------------------------------------


class NarrowError(Geometric):
    def error(self, confidence):
        return max(0, Geometric.error(self, confidence) - 1)


class OneCoordinateOnly(Geometric):
    """The half-width of one coordinate, said of all."""

    def error(self, confidence):
        return Geometric(epsilon=self.epsilon, sensitivity=self.sensitivity).error(confidence)


class WastefulWayBack(Geometric):
    @classmethod
    def for_error(cls, half_width, confidence, *, sensitivity):
        found = Geometric.for_error(half_width, confidence, sensitivity=sensitivity)
        return cls(epsilon=found.epsilon + 1, sensitivity=sensitivity)


class SlightlyWastefulWayBack(Geometric):
    @classmethod
    def for_error(cls, half_width, confidence, *, sensitivity):
        found = Geometric.for_error(half_width, confidence, sensitivity=sensitivity)
        return cls(epsilon=found.epsilon * Fraction(1001, 1000), sensitivity=sensitivity)


class OptimisticWayBack(Geometric):
    @classmethod
    def for_error(cls, half_width, confidence, *, sensitivity):
        found = Geometric.for_error(half_width, confidence, sensitivity=sensitivity)
        return cls(epsilon=found.epsilon / 2, sensitivity=sensitivity)


class HalfError(Geometric):
    def error(self, confidence):
        return Geometric.error(self, confidence) / 2


class NoWidth(Geometric):
    def error(self, confidence):
        return math.nan


class RefusesNaN(Laplace):
    def release(self, value):
        if value != value:
            raise DataError("value", value, "it is not a number", "a number")
        return Laplace.release(self, value)


class PassesInfinity(Laplace):
    def release(self, value):
        noisy = Laplace.release(self, value)
        return value if isinstance(value, float) and math.isinf(value) else noisy


class ReadsText(Geometric):
    def release(self, value):
        return Geometric.release(self, 0 if isinstance(value, str) else value)


class AnyShape(Geometric):
    def release(self, value):
        return [x + self.law.sample() for x in value] if isinstance(value, list) and len(value) != 2 else (
            Geometric.release(self, value)
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AnyEpsilon(Additive):
    epsilon: object
    dimension = None
    lattice = None
    law = DiscreteLaplace(1)
    guarantee = pure(1)

    def shifts(self):
        yield (Fraction(1),)


@frozen(kw_only=True, slots=False)
class AnyEpsilonOfAttrs(Additive):
    epsilon: object
    dimension = lattice = None
    law, guarantee, shifts = DiscreteLaplace(1), pure(1), AnyEpsilon.shifts


def test_a_narrow_error_is_caught():
    broken(NarrowError(epsilon=1, sensitivity=1), "exceeds 1 - 0")
    broken(NoWidth(epsilon=1, sensitivity=1), "half-width")
    broken(HalfError(epsilon="0.5", sensitivity=1), "exceeds 1 - 0")
    broken(OneCoordinateOnly(epsilon=2, sensitivity=1, dimension=3), "exceeds 1 - 0", cutoff="1e-9")


def test_a_wrong_way_back_is_caught():
    broken(WastefulWayBack(epsilon=1, sensitivity=1), "is enough")
    least = Geometric.for_error(3, "0.95", sensitivity=1).epsilon
    broken(SlightlyWastefulWayBack(epsilon=least, sensitivity=1), "is enough")
    broken(OptimisticWayBack(epsilon=1, sensitivity=1), "for_error")


def test_bad_input_that_is_answered_is_caught():
    broken(RefusesNaN(epsilon=1, sensitivity=1, step="0.5"), "must not depend on values")
    broken(PassesInfinity(epsilon=1, sensitivity=1, step="0.5"), "not finite")
    for careless, told, how in (
        (ReadsText(epsilon=1, sensitivity=1), "not a number", {}),
        (AnyShape(epsilon=3, sensitivity=1, dimension=2), "wrong shape", {"cutoff": "1e-9"}),
        (AnyEpsilon(epsilon=1), "was accepted", {}),
        (AnyEpsilonOfAttrs(epsilon=1), "was accepted", {}),
    ):
        with pytest.raises(DataError, match=told) as refused:  # no privacy is broken
            check_mechanism(careless, **how)
        assert "check_privacy(release, guarantee, pairs)" in refused.value.instead


def two_points(p, q):
    """A mechanism with these two laws on a few outputs."""

    class Own:
        release = staticmethod(Geometric(epsilon=1, sensitivity=1).release)

        def error(self, confidence):
            raise DataError("confidence", confidence, "none", "none")

    def law(value):
        masses = {as_key(o): arb(fmpq(x.numerator, x.denominator)) for o, x in enumerate((p, q)[value])}
        return Outcomes(masses, {as_key(o): o for o in range(len(p))}, arb(0), 1)

    return Own(), law


@pytest.mark.parametrize(
    ("p", "q", "guarantee"),
    [
        # only total variation is exceeded: the ratios stay below e^epsilon
        (["0.6", "0.4"], ["0.4", "0.6"], gdp("0.5")),
        # only in one direction: the other way round the rare output is missing
        (["0.9", "0.1"], ["1", "0"], approx(3, "0.05")),
        (["1", "0"], ["0.9", "0.1"], approx(3, "0.05")),
        # only at a Renyi order
        (["0.75", "0.25"], ["0.25", "0.75"], renyi({2: "0.84"})),
        # only between two ratios
        (["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"], approx("0.4", "0.03")),
    ],
    ids=str,
)
def test_each_part_of_the_curve_is_looked_at(p, q, guarantee):
    own, law = two_points([Fraction(x) for x in p], [Fraction(x) for x in q])
    own.guarantee = guarantee
    broken(own, "is false", pairs=[(0, 1)], law=law)


def test_a_law_of_your_own_can_be_checked():
    coin = {0: Fraction(3, 4), 1: Fraction(1, 4)}

    class Own:
        guarantee = pure("ln(3)")
        release = staticmethod(
            lambda value: value if value in (0, 1) else Geometric(epsilon=1, sensitivity=1).release(value)
        )

        def error(self, confidence):
            raise DataError("confidence", confidence, "a bit has no error", "nothing")

    def law(value):
        return outcomes(lambda _: value ^ _coin(coin[1]), None)

    report = check_mechanism(Own(), pairs=[(0, 1)], law=law)
    assert abs(report.epsilon - math.log(3)) < 1e-12
    Own.guarantee = pure(Number("1.0986"))
    broken(Own(), "is false", pairs=[(0, 1)], law=law)


def _coin(p):
    from dither.noise import Bernoulli

    return int(Bernoulli(p).sample())


def test_what_cannot_be_checked_is_said():
    class Constant(Geometric):
        def release(self, value):
            return 7

    with pytest.raises(DataError, match="drew nothing"):
        check_mechanism(Constant(epsilon=1, sensitivity=1))
    with pytest.raises(DataError, match="nothing to compare"):
        check_mechanism(Geometric(epsilon=1, sensitivity=1), pairs=[])
    for pairs in ([1], [(1, 2, 3)]):
        with pytest.raises(DataError, match="two values"):
            check_mechanism(Geometric(epsilon=1, sensitivity=1), pairs=pairs)
    with pytest.raises(DataError, match="without a query"):
        check_mechanism(Geometric(epsilon=1, sensitivity=1), universe=[0, 1])
    with pytest.raises(DataError, match=r"a class.*Geometric\(\.\.\.\)"):
        check_mechanism(Geometric)
    with pytest.raises(SizeError, match="leaves out"):
        check_mechanism(Geometric(epsilon=1, sensitivity=1), cutoff="0.1")
    with pytest.raises(SizeError, match="coarser"):
        check_mechanism(Laplace(epsilon="0.001", sensitivity=1))
    words = Processed(mechanism=Geometric(epsilon=1, sensitivity=1), function=str)
    assert check_mechanism(words).epsilon == pytest.approx(1)
    with pytest.raises(DataError, match="small universe"):
        check_mechanism(Geometric(epsilon=1, sensitivity=1), query=sum, universe=range(100), rows=5)


def test_ties_go_up_in_the_lattice_and_that_matters():
    assert Lattice(1).index(0.5) == 1
    assert Lattice(1).index(1.5) == 2


class TellsAll:
    """Tells the value outright, beside noise that has nothing to do with it."""

    def __init__(self, guarantee):
        self.guarantee = guarantee

    def error(self, confidence):
        raise DataError("confidence", confidence, "it has none", "another mechanism")

    def release(self, value):
        if type(value) is not int:
            raise DataError("value", value, "it is no number", "3")
        return max(0, min(1, value)), Geometric(epsilon=1, sensitivity=1).release(0)


@pytest.mark.parametrize("promise", [dither.pure(30), dither.approx(15, "1e-6"), dither.zcdp(100)], ids=str)
@pytest.mark.parametrize("given", [False, True])
def test_laws_that_leave_out_too_much_are_refused(promise, given):
    mechanism = TellsAll(promise)
    law = (lambda value: outcomes(mechanism.release, value, cutoff="1e-6")) if given else None
    with pytest.raises(SizeError, match="leaves out"):
        check_mechanism(mechanism, pairs=[(0, 1)], cutoff="1e-6", law=law)


def test_a_promise_must_be_one():
    for wrong in (None, "pure"):
        with pytest.raises(DataError, match="no guarantee"):
            check_mechanism(TellsAll(wrong), pairs=[(0, 1)])


# -- plain functions ---------------------------------------------------------------------------------------------------


def answer(smokes):
    """Randomized response: the truth with probability 3/4; whatever is no truth value is taken for one."""
    return bool(smokes) ^ bool(Bernoulli("1/4").sample())


def test_a_plain_function_is_checked_for_privacy_and_nothing_else():
    report = check_privacy(answer, pure("ln(3)"), [(False, True)])
    assert report.epsilon == pytest.approx(math.log(3))
    assert (report.pairs, report.outputs, report.errors) == (1, 2, 0)
    assert str(report).endswith("left out 0.0e+00")
    for guarantee in (pure(1), gdp("0.5"), zcdp("0.1"), approx(1, "0.01")):
        with pytest.raises(BrokenPromise, match="is false"):
            check_privacy(answer, guarantee, [(False, True)])
    with pytest.raises(DataError, match="are equal"):
        check_privacy(answer, pure(2), [(True, True)])
    with pytest.raises(DataError, match="no guarantee"):
        check_privacy(answer, 1, [(False, True)])
    with pytest.raises(DataError, match="drew nothing"):
        check_privacy(bool, pure(1), [(False, True)])


@pytest.mark.parametrize(
    "draw", [random.random, np.random.random, np.random.default_rng(3).random], ids=["random", "numpy", "own"]
)
@pytest.mark.parametrize("often", [0.5, 0.05])
def test_what_is_random_beside_dither_is_no_broken_promise(draw, often):
    """The promise is true; the enumeration cannot see it, and says so."""

    def flips_again(smokes):
        return answer(smokes) ^ (draw() < often)

    def adds_again(number):
        return number + Geometric(epsilon=1, sensitivity=1).release(0) + (draw() < often)

    for release, guarantee, pair in ((flips_again, pure("ln(3)"), (False, True)), (adds_again, pure(1), (0, 1))):
        for _ in range(20):
            with contextlib.suppress(DataError):
                check_privacy(release, guarantee, [pair])  # no BrokenPromise


@pytest.mark.parametrize("draw", [random.random, np.random.random], ids=["random", "numpy"])
def test_a_rare_draw_past_dither_is_seen_by_the_state_of_its_generator(draw):
    def tells_rarely(smokes):
        return smokes if draw() < 1e-9 else answer(smokes)

    with pytest.raises(DataError, match="draws from random or numpy"):
        check_privacy(tells_rarely, pure("ln(3)"), [(False, True)])


def test_a_value_without_noise_is_compared_with_one_that_has_noise():
    def sure_of_no(smokes):
        return answer(smokes) if smokes else False

    with pytest.raises(BrokenPromise, match="is false"):
        check_privacy(sure_of_no, pure(1), [(False, True)])

    def names_rarely(smokes):
        return bool(Bernoulli("1/1000").sample()) if smokes else False

    assert check_privacy(names_rarely, approx(0, "1/1000"), [(False, True)]).pairs == 1
    with pytest.raises(BrokenPromise, match="is false"):
        check_privacy(names_rarely, approx(0, "1/1001"), [(False, True)])


def test_what_cannot_be_called_is_no_function():
    for wrong in (3, Geometric(epsilon=1, sensitivity=1)):
        with pytest.raises(DataError, match="cannot be called") as refused:
            check_privacy(wrong, pure(1), [(0, 1)])
        assert "check_mechanism" in refused.value.instead


@pytest.mark.parametrize("pairs", [None, 5, [], [False, True], [(False, True, None)], {False: True}])
def test_pairs_that_are_none_are_refused_with_what_the_function_takes(pairs):
    """It has no query= and no universe=, which a mechanism's check has."""
    with pytest.raises(DataError, match="pair") as refused:
        check_privacy(answer, pure(2), pairs)
    assert "query" not in refused.value.instead
    assert "universe" not in refused.value.instead


def test_bad_input_that_ends_in_another_error_is_told_in_words():
    """A class of one's own refuses nothing: Python's operators do, and no privacy is broken."""

    class Own:
        guarantee = pure("ln(3)")

        def release(self, smokes):
            return smokes ^ Bernoulli("1/4").sample()

        def error(self, confidence):
            raise GuaranteeError("error", confidence, "a truth value has no half-width", "its probability of error")

    with pytest.raises(DataError, match="ends in a TypeError") as refused:
        check_mechanism(Own(), pairs=[(False, True)])
    assert "check_privacy(release, guarantee, pairs)" in refused.value.instead


def test_what_a_mechanism_lacks_is_named():
    class Own:
        release = staticmethod(answer)

    with pytest.raises(DataError, match="it has no guarantee") as refused:
        check_mechanism(Own())
    assert "dither.pure(1)" in refused.value.instead
    Own.guarantee = pure("ln(3)")
    with pytest.raises(DataError, match="it has no error") as refused:
        check_mechanism(Own(), pairs=[(False, True)])
    assert "error(confidence)" in refused.value.instead
    assert check_privacy(Own().release, Own.guarantee, [(False, True)]).epsilon == pytest.approx(math.log(3))
    with pytest.raises(DataError, match="it has no guarantee"):
        check_mechanism(answer)


# -- checks by name --------------------------------------------------------------------------------------------------

CHECKS = dict(mechanism_checks(Gaussian(l2_sensitivity=1, sigma=1, integers=True)))
NAMES = ["guarantee", "error", "for_error", "bad values", "bad parameters"]


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_passes_by_itself(name):
    CHECKS[name]()


@pytest.mark.parametrize(
    ("mechanism", "wrong"),
    [
        (ScaleHalved(epsilon=1, sensitivity=1), ["guarantee", "for_error"]),  # half the epsilon would do for that error
        (NarrowError(epsilon=1, sensitivity=2), ["error", "for_error"]),
        (WastefulWayBack(epsilon=1, sensitivity=1), ["for_error"]),
        (ReadsText(epsilon=1, sensitivity=1), ["bad values"]),
        (AnyEpsilon(epsilon=1), ["bad parameters"]),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Additive) else "",
)
def test_the_check_that_fails_says_what_is_wrong(mechanism, wrong):
    """Each of the planted bugs above is found by the check of its name, and the others pass or follow from it."""
    found = []
    for name, check in mechanism_checks(mechanism):
        try:
            check()
        except (BrokenPromise, DataError):
            found.append(name)
    assert found == wrong


def test_checks_are_listed_in_order_and_compute_nothing_before_they_are_called():
    def pairs():
        raise RuntimeError("asked for")
        yield

    listed = mechanism_checks(Geometric(epsilon=1, sensitivity=1), pairs=pairs())
    assert [name for name, _ in listed] == NAMES
    with pytest.raises(RuntimeError, match="asked for"):
        listed[0][1]()
    with pytest.raises(DataError, match="a class"):
        mechanism_checks(Geometric)


def test_a_law_is_computed_once_for_all_checks():
    seen = []

    class Counted(Geometric):
        def release(self, value):
            seen.append(value)
            return Geometric.release(self, value)

    own = Counted(epsilon=8, sensitivity=1)
    checks = dict(mechanism_checks(own, pairs=iter([(0, 1)]), cutoff="1e-9"))
    checks["error"]()
    before = len(seen)
    checks["guarantee"]()
    checks["guarantee"]()
    assert before
    assert len(seen) == before


def test_what_is_refused_is_refused_in_every_check_that_needs_it():
    for name, check in mechanism_checks(Geometric(epsilon=1, sensitivity=1), universe=[0, 1])[:2]:
        with pytest.raises(DataError, match="without a query"):
            check()
        assert name in NAMES
