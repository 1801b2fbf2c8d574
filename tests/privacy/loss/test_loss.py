"""Loss distributions: against oracles, against enumeration, from above and from below."""

from __future__ import annotations

import contextlib
import math
import pickle
from fractions import Fraction
from math import comb

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dither import Flat, Geometric, Loss, Unit, approx, gdp, ln, parallel, pure
from dither.errors import GuaranteeError, NumberError, PrecisionError, UnitError
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.privacy import amplify
from dither.privacy.compose import compose
from dither.privacy.formulas.normal import profile as gaussian
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import MomentPair
from dither.privacy.loss.profile import convolve as grid
from dither.privacy.loss.profile import discretise as cells
from dither.privacy.loss.profile import fourier as line
from dither.privacy.loss.profile import profile
from dither.privacy.loss.profile import starting_points as tilt
from dither.privacy.loss.profile.enumerate import enumerate_losses
from tests.privacy import pairs
from tests.privacy.oracles import divergence, laplace_delta

# -- known numbers ---------------------------------------------------------------------------------------------------

ORACLES = [
    (lambda: 1000 * Loss.gaussian(20), "1e-6", "8.30622504995472819117712553977", 1e-9),
    (lambda: 1000 * Loss.laplace(20), "1e-6", "8.20444034393", 1e-9),
    (lambda: 1000 * Loss.laplace(20), "1e-12", "11.8195340436", 1e-9),
    (lambda: 1000 * Loss.laplace(20), "1e-15", "13.2399774290", 1e-9),
    (lambda: 10**4 * Loss.gaussian(1).poisson_subsampled("0.01"), "1e-6", "6.907384495045082347688477", 1e-9),
    (lambda: 10**6 * Loss.gaussian(1000), "1e-6", "4.88655411746221199637049944247", 1e-9),
    (lambda: 100 * Loss.pure("0.1"), "1e-6", "4.774567588107986", 1e-13),
    (lambda: 1000 * Loss.pure("0.01"), "1e-9", "1.782932299894833", 1e-13),
    (lambda: 20 * Loss.pure(1), "1e-6", "19.99947389711616", 1e-13),
    (lambda: 10 * Loss.pure("0.1"), "1e-6", ".9993709057217588", 1e-13),
]


@pytest.mark.parametrize(("build", "delta", "oracle", "close"), ORACLES)
def test_known_epsilons_are_met_from_above_and_below(build, delta, oracle, close):
    found = build().bracket(delta)
    unsure = Fraction(1, 10**10) if len(oracle) < 15 else Fraction(1, 10**14)  # of the oracle's own digits
    assert Fraction(found.lower) - unsure <= Fraction(oracle) <= Fraction(found.upper) + unsure
    assert found.upper - float(oracle) <= close
    assert build().epsilon(delta) == found.upper


def test_the_other_order_of_a_sampled_gaussian():
    loss = 10**4 * Loss.gaussian(1).poisson_subsampled("0.01")
    removing, adding = loss.orders()
    assert removing == loss.terms
    found = profile.epsilon_between(adding, Fraction("1e-6"))
    assert Fraction(found.lower) <= Fraction("6.20748437879422777959773608") <= Fraction(found.upper)
    assert found.width < 1e-8


def test_a_million_copies_cost_no_more_than_one():
    for loss in (Loss.pure("0.001"), Loss.laplace(1000), Loss.discrete_gaussian(10**6), Loss.discrete_laplace(1000)):
        found = (10**6 * loss).bracket("1e-6")
        assert 4.8 < found.lower <= found.upper < 5.0
        assert found.width < 1e-8


def test_bounds_move_the_right_way():
    loss = Loss.laplace(20)
    by_delta = [(300 * loss).epsilon(Fraction(1, 10**power)) for power in (3, 12)]
    assert by_delta == sorted(by_delta)
    by_count = [(count * loss).epsilon("1e-6") for count in (1, 1000, 4000)]
    assert by_count == sorted(by_count)
    assert (1000 * Loss.laplace(21)).epsilon("1e-6") < (1000 * Loss.laplace(20)).epsilon("1e-6")
    deltas = [(1000 * loss).delta(epsilon) for epsilon in (0, 1, 4, 8, 16, 49)]
    assert deltas == sorted(deltas, reverse=True)
    assert (1000 * loss).delta(50) == 0


def test_epsilon_and_delta_are_inverse():
    for loss in (1000 * Loss.laplace(20), 30 * Loss.pure("0.3"), 500 * Loss.gaussian(2).poisson_subsampled("0.05")):
        for delta in ("1e-3", "1e-6", "1e-20"):
            found = loss.bracket(delta)
            at = loss.delta_bracket(Fraction(found.upper))
            assert at.lower <= float(delta)
            assert at.upper == pytest.approx(float(delta), rel=1e-6)


# -- enumeration -----------------------------------------------------------------------------------------------------


def response_delta(top: Fraction, count: int, ratio: Fraction) -> Fraction:
    """delta of binary response with e^epsilon = top, `count` times, at e^eps = ratio: exactly."""
    scale = (1 + top) ** count
    total = Fraction(0)
    for lies in range(count + 1):
        likelihood = top ** (count - 2 * lies)
        if likelihood <= ratio:
            break
        total += comb(count, lies) * top ** (count - lies) * (1 - ratio / likelihood)
    return total / scale


@pytest.mark.parametrize("count", [1, 2, 7, 60, 500, 2000])
def test_randomized_response_equals_the_exact_binomial(count):
    top = Fraction(21, 20)
    loss = count * Loss.randomized_response(ln(top))
    for steps in (0, count // 8, count // 3):
        ratio = Fraction(math.ceil(top**steps * 1000), 1000)
        exactly = response_delta(top, count, ratio)
        found = loss.delta_bracket(ln(ratio))
        assert Fraction(found.lower) <= exactly <= Fraction(found.upper)
        if exactly > 1e-300:
            assert found.upper <= found.lower * (1 + 1e-9)


@pytest.mark.parametrize("delta", ["1e-6", "1e-30"])
def test_the_inverse_of_two_thousand_answers(delta):
    top, target = Fraction(21, 20), Fraction(delta)
    loss = 2000 * Loss.randomized_response(ln(top))
    found = loss.bracket(delta)
    with precision(4096):
        for end, meets in ((found.upper, True), (found.lower, False)):
            low, high = (Fraction(int(x * 2**200), 2**200) for x in _around_exp(Fraction(end)))
            assert (response_delta(top, 2000, low) <= target) is meets
            assert (response_delta(top, 2000, high) <= target) is meets
    assert found.width < 1e-9


def _around_exp(value: Fraction) -> tuple[Fraction, Fraction]:
    from dither.numeric.balls import ends

    return ends(to_ball(value).exp())


@st.composite
def tables(draw) -> pairs.Pair:
    """A pair of distributions on a few outcomes; some may be impossible for one of them."""
    size = draw(st.integers(2, 4))
    while True:
        p, q = ([draw(st.integers(0, 6)) for _ in range(size)] for _ in range(2))
        if sum(a * b for a, b in zip(p, q, strict=True)):
            break
        p, q = [1] * size, list(range(1, size + 1))
        break
    return tuple(Fraction(a, sum(p)) for a in p), tuple(Fraction(b, sum(q)) for b in q)


@settings(max_examples=40, deadline=None)
@given(st.lists(tables(), min_size=1, max_size=3), st.integers(1, 2))
def test_random_tables_composed_by_brute_force_never_exceed_ours(listed, copies):
    used = [table for table in listed for _ in range(copies)][:4]
    whole = pairs.fold(*used)
    loss = compose([Loss.from_pair(*table) for table in used])
    for ratio in (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(4), Fraction(20), Fraction(300)):
        exactly = pairs.delta(whole, ratio)
        found = loss.delta_bracket(ln(ratio) if ratio != 1 else 0)
        assert Fraction(found.lower) <= exactly <= Fraction(found.upper)
        assert Fraction(found.upper) - exactly <= Fraction(1, 10**12)


@settings(max_examples=8, deadline=None)
@given(tables(), tables(), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.3, 1.0, 5.0]))
def test_the_grid_encloses_what_can_be_enumerated(one, other, m, n, c):
    loss = m * Loss.from_pair(*one) + n * Loss.from_pair(*other)
    whole = pairs.fold(*[one] * m, *[other] * n)
    lost = profile.lost_of(loss.terms)
    with precision(128):
        above = cells.build(loss.terms, lost[1], c, math.log(1e-6), up=True)
        below = cells.build(loss.terms, lost[0], c, math.log(1e-6), up=False)
        for ratio in (Fraction(1), Fraction(5, 4), Fraction(3), Fraction(40)):
            exactly = to_ball(divergence(whole, ratio))
            eps = to_ball(ratio).log()
            assert above.delta(eps) >= exactly - arb("1e-30")
            assert below.delta(eps) <= exactly + arb("1e-30")
            assert above.delta(eps) - below.delta(eps) < arb("2e-3")


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(2, 5), st.sampled_from(["1e-2", "1e-5"]))
def test_the_line_encloses_what_can_be_enumerated(table, count, delta):
    loss = count * Loss.from_pair(*table)
    lost = profile.lost_of(loss.terms)
    terms = [(pair, n) for pair, n in loss.terms if isinstance(pair, MomentPair)]
    whole = pairs.fold(*[table] * count)
    with precision(128):
        c, eps = tilt.tilt_for_delta(terms, math.log(float(delta)))
        try:
            drawn = line.draw(terms, to_ball(lost[0]), c, max(eps, 0.01), math.log(float(delta)))
        except ArithmeticError:
            drawn = None
        if drawn is None:
            return  # nothing is claimed
        for ratio in (Fraction(1), Fraction(5, 4), Fraction(3), Fraction(40)):
            ball = drawn.delta(to_ball(ratio).log())
            exactly = to_ball(divergence(whole, ratio))
            assert ball.upper() >= exactly - arb("1e-30")
            assert ball.lower() <= exactly + arb("1e-30")


def test_the_line_of_response_without_any_small_print():
    """Atoms that come back for ever: the folded sum is exact, also with epsilon close to the largest loss."""
    for count in (3, 10, 100, 5000):
        loss = count * Loss.randomized_response("0.05")
        terms = [(pair, n) for pair, n in loss.terms if isinstance(pair, MomentPair)]
        with precision(128):
            sums = enumerate_losses(loss.terms, to_ball(0))
            for delta in (1e-3, 1e-6, 1e-12):
                c, eps = tilt.tilt_for_delta(terms, math.log(delta))
                drawn = line.draw(terms, to_ball(0), c, eps, math.log(delta))
                assert drawn is not None
                assert sums is not None
                for part in (0.0, 0.3, 0.9, 1.0, 1.03):
                    at = to_ball(Fraction(eps * part))
                    assert drawn.delta(at).overlaps(sums.delta(at))


# -- Laplace noise: few and large, many and small ----------------------------------------------------------------------


@pytest.mark.parametrize(("e", "count"), [("5", 2), ("0.3", 20)])
def test_few_large_laplace_terms(e, count):
    rate = Fraction(e)
    loss = count * Loss.laplace(1 / rate)
    for part in (Fraction(1, 3), Fraction(99, 100)):
        eps = rate * count * part
        with precision(600):
            exactly = laplace_delta(rate, count, eps)
        found = loss.delta_bracket(eps)
        assert arb(found.lower) <= exactly <= arb(found.upper)
        assert found.upper - found.lower <= 1e-4 * found.upper


@pytest.mark.parametrize("delta", ["1e-3", "1e-30"])
def test_the_epsilon_of_few_laplace_terms(delta):
    rate, count = Fraction("0.7"), 15
    found = (count * Loss.laplace(1 / rate)).bracket(delta)
    with precision(800):
        target = to_ball(Fraction(delta))
        assert laplace_delta(rate, count, Fraction(found.upper)) <= target
        assert laplace_delta(rate, count, Fraction(found.lower)) >= target
    assert found.width < 1e-4


def test_many_laplace_terms_by_the_line_agree_with_the_closed_form():
    rate, count = Fraction("0.4"), 220
    loss = count * Loss.laplace(1 / rate)
    terms = [(pair, n) for pair, n in loss.terms if isinstance(pair, MomentPair)]
    with precision(128):
        c, eps = tilt.tilt_for_delta(terms, math.log(1e-6))
        drawn = line.draw(terms, to_ball(0), c, eps, math.log(1e-6))
        assert drawn is not None
        ball = drawn.delta(to_ball(Fraction(eps)))
    with precision(2000):
        exactly = laplace_delta(rate, count, Fraction(eps))
        assert ball.lower() <= exactly <= ball.upper()
        assert (ball.upper() - ball.lower()) / exactly < arb("1e-6")


def test_kinds_together_equal_the_same_kinds_apart():
    """k equal mechanisms through the mixed way equal the k-fold way; a pair split in two equals itself."""
    mixed = 500 * Loss.laplace(20) + Loss.gaussian(10) + 500 * Loss.laplace(20) + 3 * Loss.gaussian(10)
    plain = 1000 * Loss.laplace(20) + Loss.gaussian(5)
    assert mixed == plain
    assert mixed.bracket("1e-6") == plain.bracket("1e-6")
    alone = (1000 * Loss.laplace(20)).bracket("1e-6")
    with_little = (1000 * Loss.laplace(20) + Loss.gaussian(10**5)).bracket("1e-6")
    assert alone.lower <= with_little.upper
    assert with_little.upper - alone.upper < 1e-3


def test_response_and_noise_together_by_two_ways():
    loss = 40 * Loss.randomized_response("0.2") + 60 * Loss.laplace(10) + Loss.gaussian(2)
    by_line = loss.bracket("1e-6")
    with precision(128):
        terms, none = loss.terms, Fraction(0)
        above = cells.build(terms, none, 2.0, math.log(1e-6), up=True)
        below = cells.build(terms, none, 2.0, math.log(1e-6), up=False)
        upper = profile.solve(above, Fraction("1e-6"), 3.0).upper
        lower = profile.solve(below, Fraction("1e-6"), 3.0).lower
    assert lower <= by_line.upper
    assert by_line.lower <= upper
    assert by_line.width < 1e-8
    assert upper - lower < 0.05


class _Narrow(NormalPair):
    """Gaussian noise that says little about where its losses lie."""

    def span(self, small):
        return Fraction(0), Fraction(3)


COARSE = [{}, {"BITS": 14}, {"CUT": Fraction(1, 500)}, {"SIZE": 64}, {"BITS": 16, "CUT": Fraction(1, 2000), "SIZE": 128}]


@pytest.mark.parametrize("changes", COARSE)
def test_the_grid_holds_however_coarse_it_is(monkeypatch, changes):
    """Few bits, a generous cut, few points, a span that is too narrow: worse bounds, never wrong ones."""
    for name, value in changes.items():
        monkeypatch.setattr(cells if name == "SIZE" else grid, name, value)
    rate, count = Fraction(1), 16
    laplace, narrow = (count * Loss.laplace(1)).terms, ((_Narrow(Fraction(1, 4)), count),)
    single = ((_Narrow(Fraction(4)), 1),)  # a third of it lies beyond
    for terms, points in ((laplace, (0, 1, 4, 9, 15.5)), (narrow, (0, 1, 4, 9)), (single, (0, 1, 4, 9))):
        with precision(128):
            above = cells.build(terms, Fraction(0), 0.5, math.log(1e-2), up=True)
            below = cells.build(terms, Fraction(0), 0.5, math.log(1e-2), up=False)
        for eps in map(Fraction, points):
            with precision(300):
                exactly = laplace_delta(rate, count, eps) if terms is laplace else gaussian(to_ball(2), to_ball(eps))
                assert above.delta(to_ball(eps)) >= exactly
                assert below.delta(to_ball(eps)) <= exactly


def test_losses_that_come_back_beside_losses_that_do_not():
    """Discrete Gaussians recur on the line for ever: beside Laplace noise only what is proved may be left out."""
    drawn_at_all = []
    for count in (6, 200):
        loss = 12 * Loss.discrete_gaussian(1) + count * Loss.laplace(1)
        terms = [(pair, n) for pair, n in loss.terms if isinstance(pair, MomentPair)]
        with precision(128):
            above = cells.build(loss.terms, Fraction(0), 0.5, math.log(1e-3), up=True)
            below = cells.build(loss.terms, Fraction(0), 0.5, math.log(1e-3), up=False)
            c, eps = tilt.tilt_for_delta(terms, math.log(1e-3))
            drawn = line.draw(terms, to_ball(0), c, eps, math.log(1e-3))
            for part in (0.6, 0.9, 1.0):
                at = to_ball(Fraction(eps * part))
                assert below.delta(at) > above.delta(at) * arb("0.95")
                if drawn is not None:
                    drawn_at_all.append(count)
                    assert drawn.delta(at).lower() <= above.delta(at).upper()
                    assert below.delta(at).lower() <= drawn.delta(at).upper()
    assert set(drawn_at_all) == {200}


def test_a_loss_beside_epsilon_counts():
    for close in (Fraction(1, 10**10), Fraction(1, 10**30)):
        with precision(400):
            exactly = (1 - to_ball(-close).exp()) / (1 + to_ball(-1).exp()) ** 2
        found = (2 * Loss.pure(1)).delta_bracket(2 - close)
        assert arb(found.lower) <= exactly <= arb(found.upper)
        assert found.lower > 0


# -- losses that are infinite ------------------------------------------------------------------------------------------


def test_what_is_lost_is_said():
    loss = Loss.approx(1, "1e-6")
    assert loss.lost() == Fraction("1e-6")
    assert loss.epsilon("1e-7") == math.inf
    assert loss.epsilon("1e-6") == 1.0
    assert loss.delta(50) == pytest.approx(1e-6)
    both = 10 * loss + Loss.gaussian(3)
    assert both.epsilon("9e-6") == math.inf
    assert both.bracket("2e-5").lower > 2
    one_sided = Loss.from_pair(["1/2", "1/2", 0], ["1/2", "1/4", "1/4"])
    assert one_sided.lost() == Fraction(1, 4)  # in the other order
    assert one_sided.epsilon("0.2") == math.inf
    assert math.isfinite(one_sided.epsilon("0.26"))
    assert Loss.pure(0).epsilon() == 0
    assert (0 * loss).epsilon() == 0
    assert (0 * loss).delta(0) == 0


def test_delta_zero():
    assert (3 * Loss.pure("0.5")).bracket() == (1.5, 1.5)
    assert (2 * Loss.laplace(2)).epsilon(0) == 1.0
    assert Loss.gaussian(1).epsilon(0) == math.inf


# -- guarantees --------------------------------------------------------------------------------------------------------


def test_a_guarantee_backed_by_a_loss():
    loss = 1000 * Loss.gaussian(1).poisson_subsampled("0.01")
    promise = Guarantee.from_loss(loss, unit="add/remove one person")
    assert promise.epsilon("1e-6") == loss.epsilon("1e-6")
    assert promise.delta(3) == loss.delta(3)
    assert promise.bracket("1e-6") == loss.bracket("1e-6")
    assert Guarantee.from_json(promise.to_json()) == promise
    assert promise.rho() == 500.0  # of the noise without the sample: sampling does not hurt
    assert promise.renyi(3) < 1
    twice = promise + promise
    assert twice == Guarantee.from_loss(2 * loss, unit=Unit.ADD_REMOVE)
    with_more = promise + pure("0.1") + gdp("0.1")
    assert promise.epsilon("1e-6") < with_more.epsilon("1e-6") < promise.epsilon("1e-6") + 1
    assert promise.within(twice)
    assert not twice.within(promise)
    assert 0.05 <= promise.tradeoff("0.05") < 1
    with pytest.raises(GuaranteeError, match="group"):
        promise.group(2)


def test_a_guarantee_gives_a_loss():
    found = (pure(1) + gdp(1)).loss()
    assert found.terms == (Loss.pure(1) + Loss.gaussian(1)).terms
    assert found.unit is Unit.ADD_REMOVE
    from dither import bounded_range, zcdp

    assert bounded_range(1).loss().terms == Loss.pure(1).terms  # not as tight, and true
    with pytest.raises(GuaranteeError, match="curve"):
        zcdp(1).loss()


def test_mixed_guarantees_are_at_least_as_tight_as_the_sum():
    both = pure("0.5") + gdp(1)
    assert both.epsilon("1e-6") < 0.5 + gdp(1).epsilon("1e-6")
    assert both.epsilon("1e-6") >= gdp(1).epsilon("1e-6")
    found = both.bracket("1e-6")
    assert found.lower <= found.upper <= found.lower + 1e-8


def test_a_loss_says_whom_it_protects():
    poisson = Loss.laplace(1).poisson_subsampled("0.1")
    assert Guarantee.from_loss(poisson, unit="add/remove one row").unit is Unit.ADD_REMOVE_ROW
    fixed = amplify.without_replacement(Loss.laplace(1), 10, 100)
    assert Guarantee.from_loss(fixed, unit="replace one person").unit is Unit.REPLACE_ONE
    assert Guarantee.from_loss(amplify.shuffled(1, 10)).unit is Unit.REPLACE_ONE
    with pytest.raises(UnitError, match="come or go"):
        Guarantee.from_loss(poisson, unit="replace one person")
    with pytest.raises(UnitError, match="replaced"):
        Guarantee.from_loss(fixed, unit="add/remove one person")
    with pytest.raises(GuaranteeError, match="replaced"):
        _ = poisson + fixed
    with pytest.raises(UnitError, match="does not say"):
        Guarantee.from_loss(Loss.gaussian(1))
    rows = Geometric(epsilon=1, sensitivity=1, unit=Unit.ADD_REMOVE_ROW).loss()
    assert Guarantee.from_loss(3 * rows).unit is Unit.ADD_REMOVE_ROW
    with pytest.raises(UnitError, match="is about"):
        Guarantee.from_loss(rows, unit="add/remove one person")
    with pytest.raises(UnitError, match="add up"):
        _ = rows + Flat(["a", "b"], epsilon=1).loss()
    with pytest.raises(UnitError, match="come or go"):
        Flat(["a", "b"], epsilon=1).loss().poisson_subsampled("0.1")
    with pytest.raises(UnitError, match="replaced"):
        amplify.without_replacement(rows, 1, 10)
    assert Guarantee.from_loss(0 * rows).epsilon() == 0
    with pytest.raises(GuaranteeError, match="not a loss"):
        Guarantee.from_loss(pure(1))


def test_a_replacement_may_go_either_way_in_every_question():
    """P x Q against Q x P is easier to tell apart than P x P against Q x Q: 0.30 and not 0.22 at e^eps = 3."""
    p, q = ("9/10", "1/10"), ("1/2", "1/2")
    loss = 2 * Loss.from_pair(p, q)
    assert loss.delta("ln(3)") == pytest.approx(0.22)
    one, other = (tuple(map(Fraction, row)) for row in (p, q))
    crossed = pairs.fold((one, other), (other, one))
    assert pairs.delta(crossed, Fraction(3)) == Fraction(3, 10)
    with pytest.raises(UnitError, match="either way"):
        Guarantee.from_loss(loss, unit="replace one person")
    with pytest.raises(GuaranteeError, match="either way"):
        amplify.without_replacement(Loss.from_pair(p, q), 1, 10)
    assert Guarantee.from_loss(loss, unit="add/remove one person").delta("ln(3)") == pytest.approx(0.22)


def test_a_move_between_cells_goes_both_ways():
    """Away from one cell and into another: P x Q against Q x P, which a sum in one order does not cover."""
    cell = Guarantee.from_loss(Loss.from_pair(("1/2", "1/2"), ("1/10", "9/10")), unit=Unit.ADD_REMOVE) + pure("0.01")
    inside = Guarantee.from_loss(Loss.pure("0.01"), unit=Unit.REPLACE_ONE) + pure("0.01", unit=Unit.REPLACE_ONE)
    with pytest.raises(UnitError, match="either way"):
        parallel([cell, cell], unit=Unit.REPLACE_ONE, inside=inside)
    sampled = Guarantee.from_loss(Loss.pure(1).poisson_subsampled("0.1"), unit=Unit.ADD_REMOVE)
    record = sampled.to_json().replace("add/remove one person", "replace one person")
    with pytest.raises((GuaranteeError, UnitError)):
        Guarantee.from_json(record)
    with pytest.raises(UnitError):
        _ = amplify.shuffled("0.01", 2) + Loss.from_pair(("1/2", "1/2"), ("1/10", "9/10"))


# -- corners -----------------------------------------------------------------------------------------------------------


def test_endless_losses_under_a_sample_are_not_cut_short():
    """Two discrete Gaussians on samples: what a short table would leave out is four times what it has."""
    loss = 2 * Loss.discrete_gaussian(1).poisson_subsampled("0.1")
    one, rate = {}, Fraction(1, 10)
    with precision(200):
        total = sum((to_ball(Fraction(-z * z, 2)).exp() for z in range(-30, 31)), start=to_ball(0))
        for z in range(-30, 31):
            p, q = (to_ball(Fraction(-((z - m) ** 2), 2)).exp() / total for m in (1, 0))
            one[z] = (p * to_ball(rate) + q * to_ball(1 - rate), q)
        for eps in (1, 2):
            ratio = to_ball(eps).exp()
            exactly = to_ball(0)
            for a, b in one.values():
                for c, d in one.values():
                    exactly += (a * c - ratio * b * d).max(to_ball(0))
            found = loss.delta_bracket(eps)
            assert arb(found.lower) <= exactly <= arb(found.upper)
            assert found.width < 0.01 * found.upper


def test_noise_that_is_moved_far():
    loss = Loss.discrete_gaussian(1, shift=10).poisson_subsampled("0.5") + Loss.laplace("0.2").poisson_subsampled("0.5")
    assert loss.delta(1) >= 0.6855  # P and Q have hardly an outcome in common


@pytest.mark.parametrize(
    "ask",
    [
        lambda: (50 * Loss.laplace(2).poisson_subsampled("0.5")).delta(13),
        lambda: (2 * approx(1, "0.5").group(3)).loss().delta(1),
        lambda: (2 * Loss.gaussian("1e-3").poisson_subsampled("0.5")).epsilon("1e-6"),
        lambda: (2 * Loss.laplace("1e-30")).epsilon("1e-6"),
        lambda: (Loss.gaussian(1) + Loss.laplace(1)).delta(10**9),
        lambda: (3 * Loss.gaussian(1).poisson_subsampled("0.01")).delta(10**6),
        lambda: Loss.discrete_gaussian(10**12).epsilon("1e-6"),
        lambda: (1000 * gdp(3) + 3 * approx(1, "1e-9")).epsilon("1e-3"),
        lambda: Loss.gaussian("1e-160").poisson_subsampled("0.1").epsilon("1e-6"),
    ],
)
def test_extremes_are_answered_or_refused(ask):
    with contextlib.suppress(PrecisionError, NumberError):
        assert ask() >= 0


def test_answers_at_the_edges():
    assert 0 < Loss.discrete_gaussian(1).delta(30) < 1e-100
    assert (2 * Loss.gaussian(1).poisson_subsampled("0.01")).delta("0.02") < 0.003
    assert (gdp(1) + approx(1, "0.5").group(3)).delta(1) == 1
    assert (15 * Loss.laplace("0.5")).bracket("1e-50").upper <= 30
    assert (30 * Loss.laplace(10)).epsilon("1e-50") <= 3
    assert (1000 * Loss.approx("0.1", "1e-9")).bracket("1e-6").width < 1e-6  # hardly more than what is lost
    turned = (2 * Loss.gaussian(2).poisson_subsampled("0.5")).delta_bracket("1.79")
    assert 1.3e-5 < turned.lower <= turned.upper < 1.4e-5
    assert (2 * amplify.shuffled("ln(2)", 1)).epsilon("0.1") <= 1.3863
    lost = 600 * Loss.approx(1, "1e-9")
    exactly = 1 - (1 - Fraction(1, 10**9)) ** 600
    below = Fraction(math.floor(exactly * 2**300), 2**300)
    assert lost.epsilon(below) == math.inf
    assert amplify.shuffled(1, 1).delta(1 - Fraction(1, 10**30)) >= 7.3e-31
    with pytest.raises(NumberError):
        Loss.discrete_gaussian("1e-10")
    with pytest.raises(NumberError):
        Loss.gaussian(1).poisson_subsampled("1e-400")


# -- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Loss.gaussian(0),
        lambda: Loss.gaussian(-1),
        lambda: Loss.gaussian(float("nan")),
        lambda: Loss.gaussian(float("inf")),
        lambda: Loss.laplace("0"),
        lambda: Loss.discrete_laplace(1, shift=0),
        lambda: Loss.discrete_gaussian(1, shift=1.5),
        lambda: Loss.randomized_response(1, k=1),
        lambda: Loss.pure(-1),
        lambda: Loss.approx(1, 1),
        lambda: Loss.approx(1, "-1e-9"),
        lambda: Loss.gaussian(1).poisson_subsampled(0),
        lambda: Loss.gaussian(1).poisson_subsampled("1.1"),
        lambda: Loss.gaussian(1).poisson_subsampled("-0.1"),
        lambda: Loss.gaussian(1).poisson_subsampled(float("nan")),
        lambda: (Loss.gaussian(1) + Loss.laplace(1)).poisson_subsampled("0.1"),
        lambda: (2 * Loss.laplace(1)).poisson_subsampled("0.1"),
        lambda: -1 * Loss.gaussian(1),
        lambda: 10**19 * Loss.gaussian(1),
        lambda: compose([]),
        lambda: compose([Loss.gaussian(1), pure(1)]),
        lambda: Loss.from_pair([], []),
        lambda: Loss.from_pair(["1/2", "1/2"], ["1/2", "1/4"]),
        lambda: Loss.from_pair(["1/2", "1/2"], ["1/2", "1/4", "1/4"]),
        lambda: Loss.from_pair([1, 0], [0, 1]),
        lambda: Loss.from_pair(["3/2", "-1/2"], ["1/2", "1/2"]),
        lambda: Loss.from_pair({"a": 1}, [1]),
        lambda: Loss.from_pair("ab", "ab"),
        lambda: Loss.gaussian(1).epsilon(1),
        lambda: Loss.gaussian(1).epsilon(-0.1),
        lambda: Loss.gaussian(1).delta(-1),
        lambda: Loss.gaussian(1).delta(float("nan")),
        lambda: amplify.without_replacement(Loss.gaussian(1), 11, 10),
        lambda: amplify.without_replacement(Loss.gaussian(1), 0, 10),
        lambda: amplify.without_replacement(Loss.gaussian(1).poisson_subsampled("0.1"), 1, 10),
        lambda: amplify.without_replacement(pure(1), 1, 10),
        lambda: amplify.poisson(1, "0.1"),
        lambda: amplify.shuffled(1, 0),
        lambda: amplify.shuffled(1, 10, answers=1),
        lambda: amplify.shuffled(-1, 10),
        lambda: amplify.shuffled_closed_form(1, 10, "1e-6"),
        lambda: amplify.shuffled(1, 10).poisson_subsampled("0.1"),
        lambda: Loss.from_json("{}"),
        lambda: Loss.from_json('{"loss": 2, "terms": []}'),
        lambda: Loss.from_json('{"loss": 1, "terms": [[{"kind": "normal", "mu2": "0"}, 1]], "unit": null}'),
        lambda: Loss.from_json('{"loss": 1, "terms": [[{"kind": "normal", "mu2": "1"}, -1]], "unit": null}'),
    ],
)
def test_bad_input_is_refused(wrong):
    with pytest.raises((GuaranteeError, NumberError, UnitError)):
        wrong()


def test_operators_leave_strangers_alone():
    with pytest.raises(TypeError):
        _ = Loss.gaussian(1) + 1
    with pytest.raises(TypeError):
        _ = 1.5 * Loss.gaussian(1)
    assert sum([Loss.gaussian(1), Loss.gaussian(1)]) == 2 * Loss.gaussian(1)


def test_records_keep_their_meaning():
    loss = (
        3 * Loss.gaussian("1.5")
        + Loss.laplace(2)
        + 4 * Loss.approx("ln(3)", "1e-9")
        + Loss.discrete_gaussian(3, shift=2)
        + 7 * Loss.gaussian(1).poisson_subsampled("0.1")
        + 2 * Loss.randomized_response(1, k=5).poisson_subsampled("0.3")
        + Loss.from_pair({"a": "1/2", "b": "1/2"}, {"a": "1/3", "b": "2/3"})
        + Loss.discrete_laplace(2, shift=3)
    )
    assert Loss.from_json(loss.to_json()) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss
    fixed = amplify.without_replacement(Loss.gaussian(2), 3, 10) + amplify.shuffled(1, 100, answers=3)
    assert Loss.from_json(fixed.to_json()) == fixed
    tampered = loss.to_json().replace('"gone": "0"', '"gone": "1/3"', 1)
    with pytest.raises(GuaranteeError):
        Loss.from_json(tampered)
    assert "Laplace" in str(loss)
    assert str(0 * loss) == "nothing"
