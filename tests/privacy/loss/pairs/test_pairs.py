"""Dominating pairs: formulas against sums and integrals, bounds against values, domination against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import acb, arb

from dither import Loss, ln
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy import amplify
from dither.privacy.loss.pairs import poisson_sampled_decay
from dither.privacy.loss.pairs.discrete_gaussian import DiscreteGaussianPair
from dither.privacy.loss.pairs.discrete_laplace import LONGEST, discrete_laplace
from dither.privacy.loss.pairs.finite import FinitePair, common
from dither.privacy.loss.pairs.fixed_size_sampled import FixedSizeSampledPair
from dither.privacy.loss.pairs.laplace import LaplacePair
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import MomentPair, Pair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.loss.pairs.poisson_sampled_normal import PoissonSampledNormalPair, _Sum
from dither.privacy.loss.pairs.rotations import turns
from dither.privacy.loss.profile.enumerate import SingleProfile
from tests.privacy import pairs as tables
from tests.privacy.oracles import divergence

ONE = Fraction(1)
FORMULAS: list[MomentPair] = [
    NormalPair(Fraction(1, 3)),
    LaplacePair(Number("0.4")),
    LaplacePair(Number(6)),
    FinitePair.response(Number(1), 2),
    FinitePair.response(Number("ln(3)"), 5),
    FinitePair.approximate(Number("0.3"), Fraction(1, 10)),
    DiscreteGaussianPair(Fraction(1, 5), 1),
    DiscreteGaussianPair(Fraction(3), 2),
    PoissonSampledNormalPair(NormalPair(ONE), Fraction(1, 100)),
    PoissonSampledNormalPair(NormalPair(ONE), Fraction(1, 100), turned=True),
    PoissonSampledNormalPair(NormalPair(Fraction(1, 9)), Fraction(1, 2)),
    PoissonSampledNormalPair(NormalPair(Fraction(4)), Fraction(1, 20), turned=True),
]
NAMES = [f"{pair.kind}{i}" for i, pair in enumerate(FORMULAS)]


def moment_by_cells(pair: Pair, c: float) -> tuple[float, float]:
    """Bounds on M(c) from atoms and cells alone."""
    low, high = (float(end) for end in pair.span(Fraction(1, 10**30)))
    lower = upper = sum(float(atom.p) * math.exp(c * float(atom.loss)) for atom in pair.atoms(Fraction(1, 10**30)))
    if float(pair.whole()[0]) > 0:
        marks = [low + (high - low) * i / 4000 for i in range(4001)]
        sums = [float(pair.above(to_ball(Fraction(mark)))[0]) for mark in marks]
        for a, b, x, y in zip(marks, marks[1:], sums, sums[1:], strict=False):
            lower, upper = lower + (x - y) * math.exp(c * a), upper + (x - y) * math.exp(c * b)
    return lower, upper


@pytest.mark.parametrize("pair", FORMULAS, ids=NAMES)
def test_moments_agree_with_the_law(pair):
    with precision(96):
        for c in (0.4, 3.0):
            lower, upper = moment_by_cells(pair, c)
            value = math.exp(float(pair.log_moment(to_ball(Fraction(c)))))
            assert lower * (1 - 1e-9) <= value <= upper * (1 + 1e-9)
            assert math.exp(pair.rough(c)) == pytest.approx(value, rel=0.1)
            above = math.exp(float(pair.log_moment_above(to_ball(Fraction(c))).upper()))
            assert value * (1 - 1e-12) <= above <= value * 1.01


@pytest.mark.parametrize("pair", FORMULAS, ids=NAMES)
def test_p_and_q_are_distributions_and_losses_are_their_ratio(pair):
    with precision(96):
        p, q = pair.whole()
        atoms = pair.atoms(Fraction(1, 10**25))
        total_p = p + sum((atom.p for atom in atoms), start=to_ball(0)) + to_ball(pair.lost())
        total_q = q + sum((atom.q for atom in atoms), start=to_ball(0)) + to_ball(pair.reverse().lost())
        assert abs(total_p - 1) < arb("1e-20")
        assert abs(total_q - 1) < arb("1e-20")
        for atom in atoms[:50]:
            assert (atom.p - atom.q * atom.loss.exp()).contains(0)
        # small cells: the ratio of what P and Q give them lies between their ends
        low, high = pair.span(Fraction(1, 10**6))
        for i in range(20):
            a, b = low + (high - low) * i / 20, low + (high - low) * (i + 1) / 20
            (p, q), (r, s) = pair.above(to_ball(a)), pair.above(to_ball(b))
            if p - r > arb("1e-15"):
                assert to_ball(a).exp() * (q - s) <= (p - r) * (1 + arb("1e-12"))
                assert (p - r) <= to_ball(b).exp() * (q - s) * (1 + arb("1e-12"))


@pytest.mark.parametrize("pair", FORMULAS, ids=NAMES)
def test_the_values_on_a_line_and_their_decay(pair):
    with precision(128):
        c, h = to_ball(Fraction(5, 2)), to_ball(Fraction(3, 10))
        values = pair.on_line(c, h, 60)
        assert values[0].real.contains(1)
        assert values[0].real.rad() < arb("1e-15")
        lattice = pair.lattice()
        half = math.inf if lattice is None else math.pi / float(lattice.step)
        wave = pair.wave(c)
        for n in (1, 3, 7, 20, 59):
            if n * 0.3 > half:
                break
            size = abs(values[n])
            for m in (1, n // 2, n):
                bound = pair.decay(c, h * max(m, 1))
                if wave is not None:
                    bound *= (-wave.strength * (h * n * wave.rate).sin() ** 2).exp()
                assert size.lower() <= bound.upper()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("mu2", "rate"), [("1", "1/100"), ("1/4", "1/3"), ("4", "1/1000")])
def test_the_sum_over_points_equals_the_integral(mu2, rate, turned):
    pair = PoissonSampledNormalPair(NormalPair(Fraction(mu2)), Fraction(rate), turned)
    with precision(128):
        c, h = to_ball(2), to_ball(Fraction(7, 4))
        values = pair.on_line(c, h, 30)
        mu, q = to_ball(pair.base.mu2).sqrt(), to_ball(pair.rate)

        def integral(s: acb) -> acb:
            def inside(z: acb, _: bool) -> acb:
                return (-z * z / 2 + s * (1 + q * ((mu * z - mu * mu / 2).exp() - 1)).log()).exp()

            parts = [acb.integral(inside, acb(a), acb(a + 4)) for a in range(-24, 24, 4)]
            return sum(parts, start=acb(0))

        first = integral(acb(-c) if turned else acb(c + 1))
        for n in (0, 1, 9, 29):
            s = acb(-c, -h * n) if turned else acb(c + 1, h * n)
            expected = integral(s) / first
            assert abs(values[n] - expected).lower() < arb("1e-18")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("mu2", "rate", "c"), [("1", "1/100", 3.4), ("1", "1/100", 8), ("1/4", "1/5", 12), ("1", "9/10", 1)]
)
def test_the_decay_of_a_sampled_gaussian_holds_far_out(mu2, rate, c, turned):
    """Against the sums themselves, from where it starts to where the total variation takes over."""
    pair = PoissonSampledNormalPair(NormalPair(Fraction(mu2)), Fraction(rate), turned)
    with precision(96):
        line = to_ball(Fraction(c))
        scale = 0.01 / float(Fraction(rate))
        for step in (0.5, 7.0, 40.0):
            h = to_ball(Fraction(step * scale))
            values = pair.on_line(line, h, 9)
            for n in range(1, 9):
                bound = pair.decay(line, h * n)
                assert all(abs(value).lower() <= bound.upper() for value in values[n:])
        assert pair.decay(line, to_ball(Fraction(10**6 * scale))) < arb("0.1")


def test_a_decay_that_is_known_less_well_is_bounded_by_more(monkeypatch):
    """With losses as wide balls, every end that is rounded the wrong way is seen."""

    def bounds(radius):
        def wide(*given):
            masses, edges = cells(*given)
            return masses, [edge + arb(0, radius) for edge in edges]

        monkeypatch.setattr(poisson_sampled_decay, "_cells", wide)
        total = 1 + to_ball(1).expm1() / 100  # E w^2
        decay = poisson_sampled_decay.build(Fraction(1), Fraction(1, 10), to_ball(2), total)
        return [decay.after(to_ball(v)) for v in (1, 2, 3, 5, 8, 13, 20)]

    cells = poisson_sampled_decay._cells
    with precision(96):
        narrow, wide = bounds(0), bounds(1e-3)
        assert all(one < other for one, other in zip(narrow, wide, strict=True))


@pytest.mark.parametrize("turned", [False, True])
def test_errors_on_a_line_are_parts_of_a_large_total(turned):
    """The total here is about e^26, and the values are parts of it."""
    pair = PoissonSampledNormalPair(NormalPair(Fraction(1)), Fraction(1, 3), turned)
    with precision(128):
        values = pair.on_line(to_ball(8), to_ball(Fraction(1, 10)), 4)
        assert values[0].real.contains(1)
        assert all(value.real.rad() < arb("1e-15") and value.imag.rad() < arb("1e-15") for value in values)


def test_a_sum_of_too_few_points_is_refused():
    """However few digits are asked for, the error of the sum is one, and the sum is right up to it."""
    pair, refused = PoissonSampledNormalPair(NormalPair(Fraction(1)), Fraction(1, 3), False), 0
    with precision(128):
        cubes = [to_ball(Fraction(math.comb(3, k) * 2 ** (3 - k), 27)) * to_ball(k * (k - 1) // 2).exp() for k in range(4)]
        for part in range(1, 61):
            try:
                points = _Sum(pair, to_ball(3), 0.0, part / 20)
            except ArithmeticError:
                refused += 1
                continue
            assert points.error > 0
            assert points.total().contains(sum(cubes, start=to_ball(0)))
    assert 0 < refused < 30


@pytest.mark.parametrize(("epsilon", "people", "delta"), [(1, 10_000, 1e-6), (0.5, 10**6, 1e-9), (3, 10**5, 1e-3)])
def test_the_closed_form_of_shuffling_is_the_published_one(epsilon, people, delta):
    e = math.exp(epsilon)
    inside = 8 * math.sqrt(e * math.log(4 / delta) / people) + 8 * e / people
    expected = math.log1p((e - 1) / (e + 1) * inside)
    assert amplify.shuffled_closed_form(epsilon, people, delta) == pytest.approx(expected, rel=1e-12)


def test_turns_do_not_grow():
    with precision(128):
        for n, value in enumerate(turns(to_ball(Fraction(7, 3)), 500)):
            assert (value - acb(0, to_ball(Fraction(7, 3)) * n).exp()).contains(0)
            assert value.real.rad() < arb("1e-33")


# -- discrete Gaussian and Laplace noise -------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma2", "shift"), [("1/20", 1), ("1/2", 1), ("4", 3)])
@pytest.mark.parametrize("count", [2, 4])
def test_discrete_gaussians_equal_direct_convolution(sigma2, shift, count):
    variance = Fraction(sigma2)
    with precision(192):
        reach = 40
        weights = {z: to_ball(-Fraction(z * z) / (2 * variance)).exp() for z in range(-reach, reach + 1)}
        total = sum(weights.values(), start=to_ball(0))
        law, one = {0: to_ball(1)}, {z: weight / total for z, weight in weights.items()}
        for _ in range(count):
            law = _convolved(law, one)
        for eps in ("0", "0.7", "3.1"):
            exactly = to_ball(0)
            for z, p in law.items():
                loss = to_ball((2 * shift * z + count * shift**2) / (2 * variance))
                if loss > to_ball(Fraction(eps)):
                    exactly += p * (1 - (to_ball(Fraction(eps)) - loss).exp())
            found = (count * Loss.discrete_gaussian(variance, shift=shift)).delta_bracket(eps)
            assert arb(found.lower) <= exactly + arb("1e-40")
            assert exactly <= arb(found.upper) + arb("1e-40")
            assert found.upper - found.lower <= 1e-7 * found.upper + 1e-40


def _convolved(a: dict[int, arb], b: dict[int, arb]) -> dict[int, arb]:
    found: dict[int, arb] = {}
    for (x, p), (y, q) in product(a.items(), b.items()):
        if abs(x + y) <= 60:
            found[x + y] = found[x + y] + p * q if x + y in found else p * q
    return found


def discrete_laplace_table(a: Fraction, shift: int, reach: int) -> tables.Pair:
    """P(x) ~ a^|x| and the same moved, the tails in one outcome at each end: exactly."""
    mass = (1 - a) / (1 + a)

    def law(centre: int) -> list[Fraction]:
        inner = [mass * a ** abs(x - centre) for x in range(-reach, reach + 1)]
        low, high = a ** (reach + centre + 1) / (1 + a), a ** (reach - centre + 1) / (1 + a)
        return [low, *inner, high]

    return tuple(law(0)), tuple(law(shift))


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_laplace_noise_and_a_larger_move(shift):
    a = Fraction(2, 3)
    rate = ln(1 / a)
    pair, longer = discrete_laplace(rate, shift), discrete_laplace(rate, shift + 1)
    table = discrete_laplace_table(a, shift, 30)
    for ratio in (Fraction(1), Fraction(6, 5), Fraction(5, 2), Fraction(4)):
        exactly = divergence(table, ratio)
        with precision(128):
            found = SingleProfile(pair).delta(to_ball(ratio).log())
            assert found.contains(arb(to_ball(exactly)))
            assert SingleProfile(longer).delta(to_ball(ratio).log()) >= found


@pytest.mark.parametrize("a", [Fraction(1, 3), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("shift", [LONGEST + 1, 100])
def test_long_moves_are_dominated_by_continuous_noise(a, shift):
    pair = discrete_laplace(ln(1 / a), shift)
    assert isinstance(pair, LaplacePair)
    table = discrete_laplace_table(a, shift, 2 * shift)
    with precision(256):
        for i in range(40):
            eps = to_ball(pair.e) * i / 40
            ratio = eps.exp()
            exactly = sum((max_ball(to_ball(p) - ratio * to_ball(q)) for p, q in zip(*table, strict=True)), start=to_ball(0))
            assert SingleProfile(pair).delta(eps).upper() >= exactly.lower()
        extra = pair.e.ball() - (ln(1 / a) * shift).ball()
        assert extra <= ln(1 / a).ball() ** 2 / 4 + arb("1e-30")


def max_ball(value: arb) -> arb:
    return value.max(to_ball(0))


def test_losses_on_one_lattice():
    assert common([Number("0.1"), Number("0.25")]) == Number("0.05")
    assert common([Number("ln(3)") * 2, Number("ln(3)") * 3]) == Number("ln(3)")
    assert common([Number("ln(3)"), Number("ln(2)")]) is None
    assert FinitePair.response(Number(1), 2).lattice() == (Number(-1), Number(2))
    assert FinitePair.response(Number(1), 5).lattice() == (Number(-1), Number(1))


# -- samples -----------------------------------------------------------------------------------------------------------

BASE = (
    (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(0)),
    (
        Fraction(1, 5),
        Fraction(2, 5),
        Fraction(1, 5),
        Fraction(1, 5),
    ),
)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize("count", [1, 3])
def test_a_sample_is_a_mixture(rate, count):
    p, q = BASE
    mixed = tuple((1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)), q
    loss = count * Loss.from_pair(*BASE).poisson_subsampled(rate)
    whole = tables.fold(*[mixed] * count)
    for ratio in (Fraction(1), Fraction(101, 100), Fraction(3, 2), Fraction(7)):
        found = loss.delta_bracket(ln(ratio) if ratio != 1 else 0)
        exactly = tables.delta(whole, ratio)
        assert Fraction(found.lower) <= exactly <= Fraction(found.upper)
        assert Fraction(found.upper) - exactly < Fraction(1, 10**12)


def test_a_sample_of_a_sample_and_of_everybody():
    loss = Loss.laplace(1)
    assert loss.poisson_subsampled(1) == loss
    assert loss.poisson_subsampled("0.5").poisson_subsampled("0.5") == loss.poisson_subsampled("0.25")
    assert amplify.poisson(loss, "0.5") == loss.poisson_subsampled("0.5")
    assert amplify.without_replacement(loss, 7, 7) == loss


@pytest.mark.parametrize(("people", "sample"), [(2, 1), (3, 1), (3, 2)])
def test_a_fixed_sample_dominates_the_real_thing(people, sample):
    """Binary response about the number of ones in the sample, all neighbours, all samples: never above the pair."""
    top = Fraction(3)

    def release(ones: int) -> tuple[Fraction, ...]:  # about a number that moves by at most one: a table with ratios <= 3
        weights = [top ** -abs(ones - y) for y in range(sample + 1)]
        return (*tuple(w / 8 for w in weights), 1 - sum(weights, start=Fraction(0)) / 8)

    def mechanism(data: tuple[int, ...]) -> tuple[Fraction, ...]:
        chosen = [combination for combination in product((0, 1), repeat=people) if sum(combination) == sample]
        outcomes = [release(sum(d for d, c in zip(data, taken, strict=True) if c)) for taken in chosen]
        return tuple(sum(column, start=Fraction(0)) / len(chosen) for column in zip(*outcomes, strict=True))

    # the hardest pair of the mechanism without sampling, among all that can happen
    local = [(release(a), release(b)) for a in range(sample + 1) for b in (a - 1, a + 1) if 0 <= b <= sample]
    for p, q in local:
        assert max(max(x / y, y / x) for x, y in zip(p, q, strict=True)) <= top
    loss = amplify.without_replacement(Loss.pure(ln(top)), sample, people)
    for data in product((0, 1), repeat=people):
        for i in range(people):
            other = (*data[:i], 1 - data[i], *data[i + 1 :])
            for ratio in (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(2)):
                exactly = divergence((mechanism(data), mechanism(other)), ratio)
                assert exactly <= Fraction(loss.delta(ln(ratio) if ratio != 1 else 0))


def test_a_fixed_sample_has_the_curve_of_the_theorem():
    """g delta(eps) at log(1 + g (e^eps - 1)), in both orders, and a curve that belongs to a pair."""
    rate = Fraction(1, 4)
    p, q = BASE
    pair = FixedSizeSampledPair(FinitePair.approximate(Number("ln(3)"), Fraction(1, 50)), rate)
    with precision(160):
        atoms = pair.atoms(Fraction(0))
        assert all(atom.p >= 0 for atom in atoms)
        assert abs(sum((atom.p for atom in atoms), start=to_ball(pair.lost())) - 1) < arb("1e-40")
        assert abs(sum((atom.q for atom in atoms), start=to_ball(pair.reverse().lost())) - 1) < arb("1e-40")
        for ratio in (Fraction(11, 10), Fraction(2), Fraction(29, 10)):
            moved = (1 + to_ball(rate) * (to_ball(ratio) - 1)).log()
            plain = SingleProfile(pair.base).delta(to_ball(ratio).log())
            assert abs(SingleProfile(pair).delta(moved) - to_ball(rate) * plain) < arb("1e-20")
    table = FixedSizeSampledPair(next(iter(Loss.from_pair(p, q).terms))[0], rate)
    with precision(160):
        for one in (table, table.reverse()):
            for ratio in (Fraction(1), Fraction(11, 10), Fraction(2)):
                base = tables.flip(BASE) if one is not table else BASE
                exactly = rate * divergence(base, 1 + (ratio - 1) / rate)
                assert abs(SingleProfile(one).delta(to_ball(ratio).log()) - to_ball(exactly)) < arb("1e-20")


@pytest.mark.parametrize(
    "pair",
    [
        PoissonSampledPair(LaplacePair(Number(1)), Fraction(1, 10)),
        PoissonSampledPair(LaplacePair(Number(1)), Fraction(1, 10), turned=True),
        FixedSizeSampledPair(LaplacePair(Number(2)), Fraction(1, 3)),
        FixedSizeSampledPair(NormalPair(ONE), Fraction(1, 10)),
        PoissonSampledPair(DiscreteGaussianPair(Fraction(2), 1), Fraction(1, 5)),
        PoissonSampledPair(FinitePair.approximate(Number(1), Fraction(1, 100)), Fraction(1, 5), turned=True),
    ],
)
def test_amplified_pairs_are_pairs(pair):
    test_p_and_q_are_distributions_and_losses_are_their_ratio(pair)


def test_amplification_amplifies():
    plain = (50 * Loss.gaussian(2)).epsilon("1e-6")
    sampled = (50 * Loss.gaussian(2).poisson_subsampled("0.1")).epsilon("1e-6")
    assert sampled < plain / 3
    one, many = amplify.shuffled(1, 100).epsilon("1e-6"), amplify.shuffled(1, 10_000).epsilon("1e-6")
    assert many < one <= 1
    assert many < amplify.shuffled_closed_form(1, 10_000, "1e-6")
    assert many < amplify.shuffled(1, 10_000, answers=None).epsilon("1e-6")
    assert amplify.shuffled(0, 10).epsilon() == 0
    assert amplify.shuffled(2, 1).bracket("0.1").upper == pytest.approx(Loss.pure(2).epsilon("0.1"), abs=1e-12)
