"""Exponential, permute-and-flip and top k: what they choose, how often, and what that costs."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product

import numpy as np
import pytest

from dither import Exponential, PermuteAndFlip, TopK, Unit, accuracy, bounded_range, ln, pure, zcdp
from dither.errors import BrokenPromise, DataError, InputError, SizeError, UnitError
from dither.mechanisms.selection.selection import Selection
from dither.noise import OneSidedGeometric
from dither.noise.bernoulli import passes
from dither.testing import check_mechanism, outcomes

KINDS = [Exponential, PermuteAndFlip]
CASES = [
    Exponential(epsilon=1, sensitivity=1, candidates=2),
    Exponential(epsilon=ln(4), sensitivity=1, candidates=3, integers=True),
    Exponential(epsilon=2, sensitivity="0.7", candidates=["a", "b", "c"], step="0.5"),
    Exponential(epsilon=1, sensitivity=1, candidates=3, monotone=True),
    Exponential(epsilon=1, sensitivity=1, candidates=4, unit=Unit.REPLACE_ONE),
    Exponential(epsilon=1, sensitivity=1, candidates=1),
    PermuteAndFlip(epsilon=1, sensitivity=1, candidates=2),
    PermuteAndFlip(epsilon=ln(4), sensitivity=1, candidates=3, integers=True),
    PermuteAndFlip(epsilon=2, sensitivity="0.7", candidates=["a", "b", "c"], step="0.5"),
    PermuteAndFlip(epsilon=1, sensitivity=1, candidates=3, monotone=True),
    TopK(k=2, epsilon=1, sensitivity=1, candidates=2, integers=True),
    TopK(k=2, epsilon=2, sensitivity=1, candidates=3, monotone=True),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    report = check_mechanism(mechanism)
    if mechanism.size > 1 and not isinstance(mechanism, TopK):
        assert report.epsilon > 0.4 * float(mechanism.epsilon)


# -- exact laws, in rationals ---------------------------------------------------------------------------------------


def weights(scores, base):
    return [Fraction(base) ** (s - max(scores)) for s in scores]


def exponential_law(scores, base):
    each = weights(scores, base)
    return [w / sum(each) for w in each]


def flip_law(scores, base):
    """Permute-and-flip as it is told: every order, every flip."""
    each, chances = weights(scores, base), [Fraction(0)] * len(scores)
    for order in permutations(range(len(scores))):
        reached = Fraction(1, math.factorial(len(scores)))
        for i in order:
            chances[i] += reached * each[i]
            reached *= 1 - each[i]
    return chances


PATTERNS = [scores for n in (2, 3, 4) for scores in product(range(3), repeat=n) if min(scores) == 0]


@pytest.mark.parametrize(("kind", "law"), [(Exponential, exponential_law), (PermuteAndFlip, flip_law)])
def test_releases_have_the_stated_law(kind, law):
    for scores in PATTERNS[:: 3 if kind is Exponential else 2]:
        mechanism = kind(epsilon=2 * ln(2), sensitivity=1, candidates=len(scores), integers=True)
        found, expected = outcomes(mechanism.release, list(scores)), law(scores, 2)
        for i, chance in enumerate(expected):
            low, high = found.probability(i)
            assert low - 1e-15 <= float(chance) <= high + 1e-15


@pytest.mark.parametrize(("law", "spread"), [(exponential_law, False), (flip_law, True)])
def test_every_pair_of_score_patterns(law, spread):
    """e^epsilon = 4: no ratio above 4, and for the exponential mechanism no *range* of ratios above 4."""
    widest = Fraction(1)
    law = lru_cache(None)(law)
    for scores in PATTERNS:
        for move in product((-1, 0, 1), repeat=len(scores)):
            if len(scores) == 4 and (sum(move) + sum(scores)) % 3:
                continue  # a third of them
            p, q = law(scores, 2), law(tuple(s + m for s, m in zip(scores, move, strict=True)), 2)
            ratios = [a / b for a, b in zip(p, q, strict=True)]
            assert max(*ratios, *(1 / r for r in ratios)) <= 4
            widest = max(widest, max(ratios) / min(ratios))
    assert (widest > 4) is spread  # permute-and-flip has no bounded range
    for scores in PATTERNS:  # monotone, at twice the rate
        for move in product((0, 1), repeat=len(scores)):
            p, q = law(scores, 4), law(tuple(s + m for s, m in zip(scores, move, strict=True)), 4)
            assert all(a <= 4 * b and b <= 4 * a for a, b in zip(p, q, strict=True))


# -- rho --------------------------------------------------------------------------------------------------------------


class ClaimsBoundedRange(PermuteAndFlip):
    guarantee = property(lambda self: bounded_range(self.epsilon))


class ClaimsAnEighth(PermuteAndFlip):
    guarantee = property(lambda self: zcdp(self.epsilon.fraction() ** 2 / 8))


class HalfTheNoise(Exponential):
    rate = property(lambda self: self.epsilon / self.reach)


@pytest.mark.parametrize("bug", [ClaimsBoundedRange, ClaimsAnEighth, HalfTheNoise])
def test_planted_bugs_are_caught(bug):
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(bug(epsilon=1, sensitivity=1, candidates=2, integers=True))


@pytest.mark.parametrize(
    ("epsilon", "least", "most"), [("0.01", 0.99, 1), ("0.1", 0.95, 0.96), (1, 0.65, 0.67), (4, 0.31, 0.33)]
)
def test_rho_of_permute_and_flip_is_near_half_a_square_for_small_epsilon_only(epsilon, least, most):
    """The largest D_a / a over gaps, moves and orders, in parts of epsilon^2 / 2: two candidates, a hundred steps a move."""
    reach = 100
    mechanism = PermuteAndFlip(epsilon=epsilon, sensitivity=reach, candidates=2, integers=True)
    far = reach * 20 if mechanism.epsilon > 1 else reach * 8
    wins = {gap: float(first_wins(mechanism, gap)) for gap in range(-far, far + 2 * reach + 1, reach // 5)}
    p = np.array([wins[gap] for gap in range(-far, far + 1, reach // 5)])
    q = np.array([wins[gap + 2 * reach] for gap in range(-far, far + 1, reach // 5)])
    found = 0.0
    for order in 1 + np.logspace(-4, 3, 80):
        for one, other in ((p, q), (q, p)):
            terms = (
                order * np.log(one) - (order - 1) * np.log(other),
                order * np.log1p(-one) - (order - 1) * np.log1p(-other),
            )
            found = max(found, float((np.logaddexp(*terms) / (order - 1) / order).max()))
    assert least < found / (float(mechanism.epsilon) ** 2 / 2) <= most
    assert found <= mechanism.guarantee.rho()


def first_wins(mechanism, gap):
    """P(the first wins) where it lies so many steps above the second: q^gap / 2 is what the second has."""
    behind = (-mechanism.rate.ball() * abs(gap)).exp() / 2
    return behind if gap < 0 else 1 - behind


class ForgetsTheChosen(TopK):
    """Chooses k times from all candidates at the epsilon of one choice."""

    rate = property(lambda self: Selection.rate.fget(self))


def test_top_k_at_the_price_of_one_is_caught():
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(ForgetsTheChosen(k=2, epsilon=1, sensitivity=1, candidates=3, integers=True))


def test_guarantees():
    assert Exponential(epsilon=2, sensitivity=1, candidates=3).guarantee == bounded_range(2)
    assert Exponential(epsilon=2, sensitivity=1, candidates=3).guarantee.rho() == 0.5
    assert PermuteAndFlip(epsilon=2, sensitivity=1, candidates=3).guarantee == pure(2)
    top = TopK(k=4, epsilon=2, sensitivity=1, candidates=9)
    assert top.guarantee == 4 * bounded_range("1/2")
    assert top.guarantee.rho() == 4 / 32
    assert TopK.for_rho("0.1", k=5, sensitivity=1, candidates=9).guarantee.rho() == pytest.approx(0.1)
    assert TopK.for_rho("0.1", k=5, sensitivity=1, candidates=9).guarantee.rho() <= 0.1


# -- error ------------------------------------------------------------------------------------------------------------


def test_the_worst_case_is_attained_and_covered():
    for kind, law in ((Exponential, exponential_law), (PermuteAndFlip, flip_law)):
        for n, level in product((2, 3, 5), ("0.5", "0.9", "0.99")):
            mechanism = kind(epsilon=2 * ln(2), sensitivity=1, candidates=n, integers=True)
            k = int(mechanism.error(level))
            worst = [sum(law([0, *[-gap] * (n - 1)], 2)[1:]) for gap in (k + 1, k)]
            assert worst[0] <= 1 - Fraction(level)
            assert k == 0 or worst[1] >= 1 - Fraction(level)  # one less would not cover


def test_the_textbook_bound_covers_the_exact_tail():
    scores = [10, 10, 9, 7, 3, 0]
    mechanism = Exponential(epsilon="0.8", sensitivity=1, candidates=6, integers=True)
    for t in (0, 1, 3):
        bound = accuracy.exponential_shortfall("0.8", 6, t, best=2)
        assert mechanism.tail(scores, Fraction(bound)).upper <= math.exp(-t)
    # four nationalities, 95%: OPT - 2 (ln 4 + 3) / epsilon, that is 8.8 / epsilon
    assert accuracy.exponential_shortfall(1, 4, 3) == pytest.approx(8.7726, abs=1e-4)
    whole = exponential_law(scores, math.exp(0.4))
    assert mechanism.tail(scores, 3).lower == pytest.approx(float(sum(whole[3:])), abs=1e-12)
    assert mechanism.tail(scores, 0).lower > 0.999999999
    real = Exponential(epsilon=1, sensitivity=1, candidates=2)
    assert real.tail([Fraction(1, 5), Fraction(1, 10)], "0.1").lower == pytest.approx(0.4875, abs=1e-3)


def test_for_error():
    for kind in KINDS:
        found = kind.for_error(10, 0.95, sensitivity=1, candidates=50)
        assert found.error(0.95) <= 10
        assert kind(epsilon=found.epsilon * Fraction(9999, 10_000), sensitivity=1, candidates=50).error(0.95) > 10
    assert PermuteAndFlip.for_error(10, 0.95, sensitivity=1, candidates=50).epsilon < found_by(Exponential)
    top = TopK.for_error(10, 0.95, k=3, sensitivity=1, candidates=50)
    assert top.error(0.95) <= 10
    with pytest.raises(InputError, match="always chosen"):
        Exponential.for_error(10, 0.95, sensitivity=1, candidates=1)
    with pytest.raises(InputError, match="finer step"):
        Exponential.for_error("0.1", 0.95, sensitivity=1, candidates=2, step=1)


def test_small_things_that_errors_rest_on():
    assert Exponential(epsilon=1, sensitivity=1, candidates=3, integers=True).reach == 1
    assert Exponential(epsilon=1, sensitivity=1, candidates=3, step=1).reach == 2  # one step to spare
    assert Exponential.for_error("10.5", 0.95, sensitivity=1, candidates=50, integers=True).error(0.95) <= 10
    named = Exponential(epsilon=1, sensitivity=1, candidates=["a", "b", "c"])
    assert named.shortfall([1, 5, 2], "a") == 4
    assert named.shortfall([1, math.inf, 2], "b") == 0
    assert PermuteAndFlip(epsilon=1, sensitivity=1, candidates=3).shortfall([1, 5, 2], 2) == 3
    assert TopK(k=2, epsilon=1, sensitivity=1, candidates=3).shortfall([1, 5, 2], [1, 0]) == 1


def test_flips_beyond_64_bits(monkeypatch):
    monkeypatch.setattr(OneSidedGeometric, "sample", lambda self, size: np.array([0, 5, 4], dtype=object))
    assert passes(np.array([0, 5, 5], dtype=np.uint64), ln(2)).tolist() == [True, True, False]


def found_by(kind):
    return kind.for_error(10, 0.95, sensitivity=1, candidates=50).epsilon


def expected_loss(law, base, spacing, count):
    scores = [-spacing * i for i in range(count)]
    return sum(float(p) * -s for p, s in zip(law(scores, base), scores, strict=True))


def exact_flip_law(scores, base):
    """Permute-and-flip by polynomials: P(i) = w_i times the integral of the product over others of (1 - w_j x)."""
    each = [float(w) for w in weights(scores, base)]
    chances = []
    for i, mine in enumerate(each):
        polynomial = np.array([1.0])
        for j, other in enumerate(each):
            if j != i and other > 1e-18:
                polynomial = np.convolve(polynomial, [1.0, -other])
        chances.append(mine * sum(c / (k + 1) for k, c in enumerate(polynomial)))
    return chances


def test_monotone_permute_and_flip_errs_half_as_much():
    # 100 candidates 2 apart, epsilon 0.1: the exponential mechanism against monotone permute-and-flip, in floats
    x, w = np.polynomial.legendre.leggauss(400)
    x, w = (x + 1) / 2, w / 2
    scores = -2.0 * np.arange(100)

    def flips(rate):
        each = np.exp(rate * scores)
        factors = 1 - np.outer(each, x)  # the integral over x of the product over others
        logs = np.log(np.maximum(factors, 1e-300))
        whole = logs.sum(axis=0)
        return np.array([each[i] * np.sum(w * np.exp(whole - logs[i])) for i in range(100)])

    flat = np.exp(0.05 * scores)
    exponential = float(np.sum(flat / flat.sum() * -scores))
    chances = flips(0.1)
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    small = flips(0.4)[:3]
    assert small == pytest.approx(exact_flip_law([-2 * i for i in range(100)], math.exp(0.4))[:3], abs=1e-6)
    assert exponential == pytest.approx(19.5, abs=0.5)
    assert float(np.sum(chances * -scores)) <= exponential / 2
    # and the mechanisms draw from these laws
    for mechanism, expected in (
        (Exponential(epsilon="0.1", sensitivity=1, candidates=100), exponential),
        (PermuteAndFlip(epsilon="0.1", sensitivity=1, candidates=100, monotone=True), float(np.sum(chances * -scores))),
    ):
        draws = [2 * mechanism.release(scores) for _ in range(800)]
        assert abs(np.mean(draws) - expected) < 6 * 25 / 800**0.5


# -- any candidates, any score -----------------------------------------------------------------------------------------


def test_score_functions_and_labels():
    people = ["north", "north", "south", "west"]
    mechanism = PermuteAndFlip(
        epsilon=50,
        sensitivity=1,
        candidates=["north", "south", "west", "east"],
        score=lambda rows, place: rows.count(place),
        monotone=True,
    )
    assert {mechanism.release(people) for _ in range(20)} == {"north"}


def test_hot_spots_and_clusterings():
    """General utilities: a set of places, a way to divide people; one person moves each score by at most one."""
    places = [0, 1, 2]
    hot_spots = Exponential(
        epsilon=1,
        sensitivity=1,
        candidates=[(0, 1), (0, 2), (1, 2)],
        score=lambda infected, spots: sum(place in spots for place in infected),
    )
    data = [rows for n in range(3) for rows in product(places, repeat=n)]
    laws = {rows: outcomes(hot_spots.release, rows) for rows in data}
    ratio = 0.0
    for rows in data:
        if rows:
            for output in hot_spots.candidates:
                a, b = laws[rows].probability(output)[0], laws[rows[:-1]].probability(output)[0]
                ratio = max(ratio, abs(math.log(a / b)))
    assert 0.3 < ratio <= 1
    divisions = Exponential(
        epsilon=20,
        sensitivity=1,
        candidates=[frozenset([frozenset("ab"), frozenset("cd")]), frozenset([frozenset("ac"), frozenset("bd")])],
        score=lambda friends, split: sum(any({x, y} <= part for part in split) for x, y in friends),
    )
    assert divisions.release([("a", "b"), ("c", "d"), ("a", "b")]) == frozenset([frozenset("ab"), frozenset("cd")])


def test_from_channel_costs_a_factor_of_two():
    channel = {"yes": {"y": "3/4", "n": "1/4"}, "no": {"y": "1/4", "n": "3/4"}}
    again = Exponential.from_channel(channel, neighbours=[("yes", "no")])
    assert again.guarantee.epsilon() == pytest.approx(2 * math.log(3), rel=1e-4)
    for given, row in channel.items():
        law = outcomes(again.release, given)
        for output, p in row.items():
            assert law.probability(output)[0] == pytest.approx(float(Fraction(p)), rel=1e-4)
    for bad in (
        {"a": {"x": 1}, "b": {"x": "1/2", "y": "1/2"}},
        {"a": {"x": "1/2", "y": "1/3"}},
        {"a": {"x": "1/2", "y": "1/2"}, "b": {"x": "1/2", "y": "1/2"}},
    ):
        with pytest.raises(InputError):
            Exponential.from_channel(bad, neighbours=[("a", "a")])
    good = {"a": {"x": "1/2", "y": "1/2"}, "b": {"x": "1/3", "y": "2/3"}}
    short = {"a": {"x": "1/2", "y": "1/3"}, "b": {"x": "1/3", "y": "1/3"}}
    with pytest.raises(InputError, match="one in all"):
        Exponential.from_channel(short, neighbours=[("a", "b")])
    for pairs in ([("a", "c")], [("a", "b", "a")]):
        with pytest.raises(InputError):
            Exponential.from_channel(good, neighbours=pairs)
    with pytest.raises(InputError):
        Exponential.from_channel([1], neighbours=[])
    with pytest.raises(InputError):
        Exponential.from_channel(good, neighbours=[("a", "b")]).release("c")
    tiny = Fraction(1, 10**17)
    near = {"a": {"x": "0.9", "y": "0.1"}, "b": {"x": Fraction(9, 10) + tiny, "y": Fraction(1, 10) - tiny}}
    with pytest.raises(InputError, match="too little"):
        Exponential.from_channel(near, neighbours=[("a", "b")])
    for given, other in (("a", "b"), ("b", "a")):  # the order of a pair does not matter
        assert Exponential.from_channel(good, neighbours=[(given, other)]).guarantee.epsilon() == pytest.approx(
            2 * math.log(1.5), rel=1e-3
        )


def test_many_candidates():
    for kind in KINDS:
        mechanism = kind(epsilon=1, sensitivity=1, candidates=200_000)
        best = np.zeros(200_000, dtype=np.int64)
        best[77] = 1000
        assert mechanism.release(best) == 77
        assert 0 <= mechanism.release(np.random.default_rng(1).normal(size=200_000)) < 200_000
    assert TopK(k=3, epsilon=1000, sensitivity=1, candidates=1000).release(np.arange(1000)) == [999, 998, 997]


def test_flips_for_many_gaps():
    gaps = np.array([0, 1, 2, 5, 2**63, 2**64 - 1], dtype=np.uint64)
    counts = sum(passes(gaps, ln(2)).astype(int) for _ in range(4000))
    assert counts[0] == 4000
    for i, chance in ((1, 0.5), (2, 0.25), (3, 1 / 32)):
        assert abs(counts[i] - 4000 * chance) < 6 * (4000 * chance) ** 0.5
    assert counts[4] == counts[5] == 0
    wide = OneSidedGeometric(scale=2**59).rate
    far = np.array([2**58] * 400, dtype=np.uint64)
    assert abs(int(passes(far, wide).sum()) - 400 * math.exp(-0.5)) < 6 * 10
    huge = passes(np.array([0, 2**62], dtype=np.uint64), OneSidedGeometric(scale=2**59).rate)
    assert huge[0]


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_refused_with_words(kind):
    for bad, error in (
        ({"candidates": []}, SizeError),
        ({"candidates": 0}, InputError),
        ({"candidates": ["a", "a"]}, DataError),
        ({"candidates": [[1], [2]]}, DataError),
        ({"candidates": "ab"}, InputError),
        ({"candidates": 2**28}, SizeError),
        ({"epsilon": 0}, InputError),
        ({"sensitivity": -1}, InputError),
        ({"step": 0}, InputError),
        ({"score": 3}, DataError),
        ({"monotone": True, "unit": Unit.REPLACE_ONE}, UnitError),
        ({"monotone": "yes"}, InputError),
        ({"integers": 1}, InputError),
        ({"integers": True, "sensitivity": "0.5"}, InputError),
        ({"integers": True, "step": 2}, InputError),
        ({"epsilon": "1e-30"}, InputError),
        ({"epsilon": 10**9, "integers": True}, InputError),
    ):
        with pytest.raises(error, match="is refused"):
            kind(**{"epsilon": 1, "sensitivity": 1, "candidates": 3, **bad})
    mechanism = kind(epsilon=1, sensitivity=1, candidates=3)
    for scores in ([1, 2], [[1, 2, 3]], 7, None, ["a", "b", "c"], [True, False, True], np.array([1j, 2, 3])):
        with pytest.raises(InputError, match="is refused"):
            mechanism.release(scores)
    with pytest.raises(DataError):
        kind(epsilon=1, sensitivity=1, candidates=3, integers=True).release([1, 2, 3.0])
    # non-finite scores have a fixed place: NaN is 0, infinities are the ends of the lattice
    assert mechanism.release([math.inf, 0, -math.inf]) == 0
    assert mechanism.release([-math.inf, math.nan, -math.inf]) == 1
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
