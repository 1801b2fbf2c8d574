"""Shuffled reports: the pair against its law in rationals, and its law against real shuffled mechanisms."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, pairwise, product
from math import comb, factorial, prod

import pytest
from flint import arb

from dither import ln
from dither.errors import InputError, PrecisionError
from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.formulas.binomial import mass, tail_bound
from dither.privacy.loss.pairs import shuffled
from dither.privacy.loss.pairs.shuffled import ShuffledPair

ODDS = [Fraction(3), Fraction(3, 2), Fraction(20)]
KINDS = [2, 3, 5, None]


@pytest.fixture(autouse=True)
def bits():
    with precision(128):
        yield


# -- the truth, in rationals ----------------------------------------------------------------------------------------


def binomial(n, p, k):
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def response(odds, k, n):
    """Given that n reports are random and one is the person's: what is seen, (a, b), with P and Q."""
    d = odds + k - 1

    def blanket(a, b):
        c = n - a - b
        if min(a, b, c) < 0:
            return Fraction(0)
        return Fraction(factorial(n), factorial(a) * factorial(b) * factorial(c)) * (k - 2) ** c / Fraction(k) ** n

    def view(x, y, a, b):
        return (x * blanket(a - 1, b) + y * blanket(a, b - 1) + (k - 2) * blanket(a, b)) / d

    return [(view(odds, 1, a, b), view(1, odds, a, b)) for a in range(n + 2) for b in range(n + 2 - a)]


@cache
def law(odds, n, k, levels=()):
    """The pair, (p, q) for all outcomes; with levels the number of random reports is rounded down to one of them."""
    rate = 1 / odds if k is None else k / (odds + k - 1)
    found = []
    for start in levels or range(n):
        up = [m for m in range(start, n) if not levels or max(s for s in levels if s <= m) == start]
        weight = sum(binomial(n - 1, rate, m) for m in (up if levels else [start]))
        found += [(weight * p, weight * q) for p, q in response(odds, k or 2, start)]
    assert sum(p for p, _ in found) == sum(q for _, q in found) == 1
    return [pair for pair in found if any(pair)]


def hockey(outcomes, level):
    return sum((p - level * q for p, q in outcomes if p > level * q), start=Fraction(0))


def inside(value, ball, *, digits=30):
    low, high = ends(ball)
    return low <= value <= high and high - low <= Fraction(1, 10**digits) * max(value, Fraction(1, 10**6))


def delta(pair, level):
    p, q = pair.above(ln(level).ball())
    return p - to_ball(level) * q


# -- the law of the pair --------------------------------------------------------------------------------------------


def check(pair, outcomes):
    ratios = sorted({p / q for p, q in outcomes} | {Fraction(1)})
    between = [(x + y) / 2 for x, y in pairwise(ratios)]
    for level in [*ratios[:: len(ratios) // 12 + 1], *between[:: len(between) // 12 + 1], ratios[0], ratios[-1]]:
        p, q = pair.above(ln(level).ball())
        assert inside(sum(x for x, y in outcomes if x > level * y), p), level
        assert inside(sum(y for x, y in outcomes if x > level * y), q), level
        assert hockey(outcomes, level) in Ends(delta(pair, level))
    for level in (ratios[-1] * 2, ratios[-1] * Fraction(1001, 1000)):
        assert [float(x) for x in pair.above(ln(level).ball())] == [0, 0]
        assert [float(x) for x in pair.above(-ln(level).ball())] == [1, 1]


class Ends:
    def __init__(self, ball):
        self.low, self.high = ends(ball)

    def __contains__(self, value):
        return self.low <= value <= self.high and self.high - self.low < Fraction(1, 10**30)


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("k", KINDS)
def test_above_is_the_sum_over_all_outcomes(odds, k):
    for n in range(1, 7):
        check(ShuffledPair(ln(odds), n, k), law(odds, n, k))


def starting(monkeypatch, starts):
    """Other levels than those of the pair."""
    shuffled.levels_of.cache_clear()
    mean = shuffled.level_starts
    monkeypatch.setattr(shuffled, "level_starts", lambda pair, people: (mean(pair, people)[0], starts))


@pytest.mark.parametrize(("odds", "n", "k"), [(Fraction(2), 12, 10), (Fraction(9), 12, 3), (Fraction(3, 2), 10, 4)])
def test_rounding_down_to_levels_dominates(odds, n, k, monkeypatch):
    levels = [0, 3, 4, 7, 9]
    with monkeypatch.context() as patch:
        starting(patch, levels)
        check(ShuffledPair(ln(odds), n, k), law(odds, n, k, tuple(levels)))
    shuffled.levels_of.cache_clear()
    for level in grid(odds)[::3]:
        assert hockey(law(odds, n, k), level) < hockey(law(odds, n, k, tuple(levels)), level)


@pytest.mark.parametrize(("n", "k"), [(40, 3), (150, 12), (300, 3)])
def test_levels_cost_little(n, k, monkeypatch):
    pair = ShuffledPair(Number(1), n, k)
    found = [delta(pair, level) for level in (Fraction(1), Fraction(21, 20), Fraction(5, 4))]
    with monkeypatch.context() as patch:
        starting(patch, list(range(n)))
        full = [delta(pair, level) for level in (Fraction(1), Fraction(21, 20), Fraction(5, 4))]
    shuffled.levels_of.cache_clear()
    for rounded, exact in zip(found, full, strict=True):
        assert exact.lower() <= rounded < exact * 1.15
    assert found[0] < full[0] * 1.01
    for people in range(1, 400):
        starts = shuffled.level_starts(ShuffledPair(Number(1), people, k), people)[1]
        assert starts == sorted(set(starts))
        assert starts[0] == 0
        assert starts[-1] < people
        assert people > 9 or len(starts) == people


@pytest.mark.parametrize("k", [2, 5])
def test_one_person_is_plain_response(k):
    for odds in ODDS:
        pair = ShuffledPair(ln(odds), 1, k)
        true, false = odds / (odds + k - 1), 1 / (odds + k - 1)
        epsilon = ln(odds).ball()
        for loss, p, q in [(0, true, false), (epsilon / 2, true, false), (-epsilon / 2, 1 - false, 1 - true)]:
            assert all(inside(x, y) for x, y in zip((p, q), pair.above(arb(loss)), strict=True))
        assert all(inside(x, y) for x, y in zip((1 - false, 1 - true), pair.above(-epsilon), strict=True))
        assert [float(x) for x in pair.above(epsilon)] == [0, 0]
    odds = Fraction(3)
    assert inside(Fraction(3, 4), ShuffledPair(ln(odds), 1, None).above(arb(0))[0])


@pytest.mark.parametrize("k", KINDS)
def test_the_pair_is_its_own_reverse(k):
    pair = ShuffledPair(Number("0.7"), 40, k)
    assert pair.reverse() is pair
    assert pair.whole() == (1, 1)
    assert pair.atoms(Fraction(1, 100)) == []
    for loss in (Fraction(1, 9), Fraction(3, 11), Fraction(6, 13)):  # no ratio of small numbers has such a logarithm
        (p, q), (p_down, q_down) = pair.above(to_ball(loss)), pair.above(to_ball(-loss))
        assert (p_down + q - 1).contains(0)
        assert (q_down + p - 1).contains(0)
        assert p > q * to_ball(loss).exp()
    outcomes = Counter(law(Fraction(3), 4, k))
    assert outcomes == Counter({(q, p): times for (p, q), times in outcomes.items()})


# -- domination -----------------------------------------------------------------------------------------------------


def seen(rows):
    """What a shuffler shows of reports with these laws: each multiset with its probability."""
    views: Counter = Counter()
    for reports in product(range(len(rows[0])), repeat=len(rows)):
        views[tuple(sorted(reports))] += prod((row[r] for row, r in zip(rows, reports, strict=True)), start=Fraction(1))
    return views


def worst(table, n, levels):
    """The largest divergences of the shuffled mechanism over all neighbours."""
    most = [Fraction(0)] * len(levels)
    for others in combinations_with_replacement(table, n - 1):
        views = [seen([row, *others]) for row in table]
        for p, q in product(views, views):
            outcomes = [(p[v], q[v]) for v in p]
            most = [max(m, hockey(outcomes, level)) for m, level in zip(most, levels, strict=True)]
    return most


def answers(odds, k):
    return [[(odds if x == y else Fraction(1)) / (odds + k - 1) for y in range(k)] for x in range(k)]


def subsets(odds, k, size):
    """Report a set of answers, more often one with the truth in it."""
    sets = list(combinations(range(k), size))
    rows = [[odds if x in s else Fraction(1) for s in sets] for x in range(k)]
    return [[weight / sum(row) for weight in row] for row in rows]


def unary(root, k):
    """One bit for each answer, each flipped: e^epsilon is root^2."""
    keep = root / (1 + root)
    vectors = list(product((0, 1), repeat=k))
    return [[prod((keep if bit == (x == y) else 1 - keep) for y, bit in enumerate(v)) for v in vectors] for x in range(k)]


def grid(odds):
    return [1 + (odds - 1) * Fraction(i, 12) for i in range(12)]


@pytest.mark.parametrize(
    ("odds", "n", "k"),
    [(Fraction(3), n, k) for n, k in ((1, 3), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (4, 3), (2, 4), (3, 4), (2, 5))]
    + [(Fraction(3, 2), 3, 3), (Fraction(20), 3, 3), (Fraction(20), 4, 2)],
)
def test_the_pair_dominates_shuffled_answers(odds, n, k):
    pair = ShuffledPair(ln(odds), n, k)
    levels = grid(odds)
    truths = worst(answers(odds, k), n, levels)
    for level, truth in zip(levels, truths, strict=True):
        assert truth <= ends(delta(pair, level))[1]
    if k > 2:  # the others have a third answer, and so their truth tells nothing
        assert inside(truths[0], delta(pair, levels[0]))
    if n < 3:
        assert all(inside(truth, delta(pair, level)) for level, truth in zip(levels, truths, strict=True))


@pytest.mark.parametrize(
    ("odds", "table"),
    [
        (Fraction(3), answers(Fraction(3), 3)),
        (Fraction(3), answers(Fraction(3), 2)),
        (Fraction(3), subsets(Fraction(3), 4, 2)),
        (Fraction(4), unary(Fraction(2), 2)),
        (Fraction(3), [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 6), Fraction(5, 6)]]),
        (Fraction(3), [[Fraction(3, 8), Fraction(3, 8), Fraction(1, 4)], [Fraction(1, 8), Fraction(1, 8), Fraction(3, 4)]]),
        (Fraction(2), [[Fraction(x, 4) for x in row] for row in ((2, 1, 1), (1, 2, 1), (1, 1, 2))]),
    ],
)
def test_the_pair_of_any_randomizer_dominates(odds, table):
    assert max(max(x / y for x, y in zip(r, s, strict=True)) for r, s in product(table, table)) <= odds
    for n in (1, 2, 3) if len(table[0]) > 3 else (1, 2, 3, 4):
        pair = ShuffledPair(ln(odds), n, None)
        for level, truth in zip(grid(odds), worst(table, n, grid(odds)), strict=True):
            assert truth <= ends(delta(pair, level))[1]


def test_the_counts_of_two_answers_alone_do_not_dominate():
    """Why the pair keeps the number of random reports: without it the divergence is below the mechanism's."""
    odds, n, k, level = Fraction(3), 2, 3, Fraction(5, 2)
    d = odds + k - 1
    blanket = {(0, 0): 1 - 2 / d, (1, 0): 1 / d, (0, 1): 1 / d}
    views: dict = {}
    for (a, b), chance in blanket.items():
        for (i, j), p, q in (((1, 0), odds / d, 1 / d), ((0, 1), 1 / d, odds / d), ((0, 0), (k - 2) / d, (k - 2) / d)):
            x, y = views.get((a + i, b + j), (0, 0))
            views[a + i, b + j] = x + chance * p, y + chance * q
    truth = worst(answers(odds, k), n, [level])[0]
    assert hockey(views.values(), level) == Fraction(1, 50)
    assert truth == Fraction(3, 50)
    assert inside(truth, delta(ShuffledPair(ln(odds), n, k), level))


# -- many people ----------------------------------------------------------------------------------------------------


def direct(n, level):
    """Binary answers with e^epsilon = 3, exactly: all t, all a."""
    p, q = 0, 0
    for t in range(1, n + 1):
        more, less, ways = 0, 0, 1  # ways: t over a, from a = t down
        for a in range(t, -1, -1):
            if t + 2 * a <= level * (t + 2 * (t - a)):
                break
            more, less = more + ways * (t + 2 * a), less + ways * (t + 2 * (t - a))
            ways = ways * a // (t - a + 1)
        p, q = p + (comb(n, t) * more << n - t), q + (comb(n, t) * less << n - t)
    return Fraction(p, n << 2 * n), Fraction(q, n << 2 * n)


@pytest.mark.parametrize("level", [Fraction(1), Fraction(51, 50), Fraction(3, 2), Fraction(13, 5)])
def test_the_window_leaves_out_nothing_that_is_not_added(level):
    n = 700
    pair = ShuffledPair(ln(3), n, 2)
    truth = direct(n, level)
    for bits in (64, 128, 400):
        with precision(bits):
            found = [ends(ball) for ball in pair.above(ln(level).ball())]
        for value, (low, high) in zip(truth, found, strict=True):
            assert low <= value <= high
            assert high - low <= value * Fraction(1, 2 ** (bits - 24))  # also next to tiny answers


def test_what_is_outside_the_window_is_added(monkeypatch):
    window = shuffled.window
    for below, above in ((Fraction(2, 5), 0), (0, Fraction(2, 5)), (Fraction(1, 4), Fraction(1, 4))):  # cut far too much

        def small(count, odds, below=below, above=above):
            low, high = window(count, odds)
            return low + int((high - low) * below), high - int((high - low) * above)

        for k, level in ((2, Fraction(51, 50)), (2, Fraction(3, 2)), (3, Fraction(51, 50)), (3, Fraction(7, 5))):
            pair = ShuffledPair(ln(3), 400, k)
            truth = pair.above(ln(level).ball())
            with monkeypatch.context() as patch:
                patch.setattr(shuffled, "window", small)
                found = pair.above(ln(level).ball())
            assert all(wide.overlaps(tight) for wide, tight in zip(found, truth, strict=True))
            assert found[0].rad() > truth[0].rad() * 1000


@pytest.mark.parametrize("k", [2, 3, 40, None])
def test_precision_and_people_only_help(k):
    loss = to_ball(Fraction(1, 20))
    rough = []
    for n in (500, 1500, 4000):
        pair = ShuffledPair(Number(1), n, k)
        p, q = pair.above(loss)
        with precision(300):
            fine = pair.above(to_ball(Fraction(1, 20)))
        assert p.overlaps(fine[0])
        assert q.overlaps(fine[1])
        assert p.rel_accuracy_bits() > 64
        assert fine[0].rel_accuracy_bits() > 200
        rough.append(p - loss.exp() * q)
    assert rough[0] > rough[1] > rough[2] > 0


def test_binomial_laws():
    for count, odds in product((1, 4, 30), (Fraction(1), Fraction(1, 7), Fraction(5))):
        chances = [binomial(count, odds / (1 + odds), k) for k in range(count + 1)]
        for k in range(count + 1):
            assert sum(chances[k:]) <= ends(tail_bound(count, to_ball(odds), k, 1))[1]
            assert sum(chances[: k + 1]) <= ends(tail_bound(count, to_ball(odds), k, -1))[1]
            assert inside(sum(chances[k:]), mass(count, to_ball(odds), k, count))
            assert inside(sum(chances[: k + 1]), mass(count, to_ball(odds), k, 0))


@pytest.mark.parametrize("k", KINDS)
def test_a_loss_that_is_all_but_equal_is_not_above(k):
    pair, outcomes = ShuffledPair(ln(3), 4, k), law(Fraction(3), 4, k)
    for level in sorted({p / q for p, q in outcomes})[1:]:
        truth = sum(p for p, q in outcomes if p > level * q)
        for nudge in (arb((1, -110)), -arb((1, -110))):
            assert inside(truth, pair.above(ln(level).ball() + nudge)[0])


def test_a_wide_loss_and_losses_beyond_all():
    pair = ShuffledPair(ln(3), 50, 3)
    wide = arb(0.2, 0.05)
    p, q = pair.above(wide)
    for loss in (wide.lower(), wide.mid(), wide.upper()):
        inner = pair.above(loss)
        assert p.contains(inner[0])
        assert q.contains(inner[1])
    assert [float(x) for x in pair.above(arb("inf"))] == [0, 0]
    assert [float(x) for x in pair.above(arb("-inf"))] == [1, 1]
    around = pair.above(arb(0, 100))
    assert all(ball.contains(0) and ball.contains(1) for ball in around)


def test_extreme_parameters(monkeypatch):
    for k in KINDS:
        for epsilon in (Number("1e-20"), Number(200), ln(2**130)):
            for n in (1, 3, 10**6):
                pair = ShuffledPair(epsilon, n, k)
                p, q = pair.above(epsilon.ball() / 3)
                assert p.is_finite()
                assert q.is_finite()
                assert -p < arb("1e-20")
                assert p < 1 + arb("1e-20")
    for k in KINDS:
        epsilon = ln(2**400)
        assert ShuffledPair(epsilon, 3, k).above(epsilon.ball())[0] < arb("1e-50")
        assert inside(1 - Fraction(1, 10**50), ShuffledPair(epsilon, 3, k).above(epsilon.ball() - arb((1, -60)))[0])
    with pytest.raises(PrecisionError):
        ShuffledPair(Number(10**9), 5, 2).above(arb(1))
    monkeypatch.setattr(shuffled, "MOST_PEOPLE", 50)
    capped = ShuffledPair(Number("0.9"), 10**6, 2).above(arb("0.1"))
    shuffled.levels_of.cache_clear()
    assert capped[0].overlaps(ShuffledPair(Number("0.9"), 50, 2).above(arb("0.1"))[0])


# -- records and words ----------------------------------------------------------------------------------------------


def test_records_and_words():
    for pair in (ShuffledPair(ln(3), 1000, 2), ShuffledPair(Number("0.1"), 1, 7), ShuffledPair(Number(2), 10**6, None)):
        assert ShuffledPair.from_json(json.loads(json.dumps(pair.to_json()))) == pair
        low, high = pair.span(Fraction(1, 10**6))
        assert low == -high
        assert 0 < Number(high) <= pair.epsilon + Fraction(1, 10**15)
        with precision(96):
            assert pair.above(to_ball(high))[0] <= to_ball(Fraction(1, 10**6))
        assert pair.largest_loss() == pair.epsilon
    assert ShuffledPair(Number(1), 1000, 2).describe() == "1000 shuffled binary answers of ε = 1"
    assert ShuffledPair(Number("0.5"), 1, 5).describe() == "1 shuffled 5-ary answer of ε = 0.5"
    assert ShuffledPair(Number("0.5"), 20, None).describe() == "20 shuffled reports of ε = 0.5"


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "0"},
        {"epsilon": "-1"},
        {"epsilon": 1},
        {"epsilon": "1e5"},
        {"people": 0},
        {"people": "10"},
        {"people": True},
        {"people": 10.0},
        {"people": 10**30},
        {"answers": 1},
        {"answers": 0},
        {"answers": "2"},
        {"answers": False},
        {"answers": -3},
    ],
)
def test_tampered_records_are_refused(change):
    record = ShuffledPair(Number(1), 10, 3).to_json()
    with pytest.raises((ValueError, InputError)):
        ShuffledPair.from_json(record | change)
    for name in record:
        with pytest.raises(KeyError):
            ShuffledPair.from_json({key: value for key, value in record.items() if key != name})
