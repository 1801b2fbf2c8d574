"""The notes on mechanisms: each claim computed, exactly where possible; and what they get wrong, shown to be wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path

import pytest

from dither import Exponential, Geometric, Laplace, PermuteAndFlip, Unit, accuracy, ln, pure, sensitivity
from dither.channels import graph
from dither.errors import BrokenPromise, SizeError
from dither.noise import DiscreteLaplace
from dither.testing import check_mechanism
from tests.docs.integrals import ball, laplace
from tests.docs.note_page import ROOT, check_page

PAGE = ROOT / "docs" / "notes" / "mechanisms.md"
HALF = Fraction(1, 2)
LN_4 = 2 * ln(2)


# -- the page itself -----------------------------------------------------------------------------------------------------


def test_the_page_agrees_with_itself():
    assert check_page(PAGE.read_text(), Path(__file__).read_text()) == 33


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("22 hold, 7 hold under a condition and 4 are", "23 hold, 7 hold under a condition and 3 are"),
        ("**9. Corrected.**", "**9. Holds.**"),
        ("`test_both_vanish`", "`test_both_banish`"),
        ("**30. Corrected.**", "30."),
    ],
)
def test_what_is_planted_in_the_page_is_found(right, planted):
    text = PAGE.read_text()
    assert right in text
    with pytest.raises(AssertionError):
        check_page(text.replace(right, planted), Path(__file__).read_text())


# -- Laplace noise -------------------------------------------------------------------------------------------------------


def test_the_laplace_distribution():
    """In fractions on the lattice, and in closed form on the line: one in all, mean 0, highest at 0, falling."""
    for base in (Fraction(2), Fraction(3, 2), Fraction(5)):
        q, law = 1 / base, DiscreteLaplace(rate=ln(base))
        chances = [(1 - q) / (1 + q) * q ** abs(k) for k in range(-30, 31)]
        assert sum(chances) + 2 * q**31 / (1 + q) == 1
        assert sum(k * p for k, p in zip(range(-30, 31), chances, strict=True)) == 0
        assert max(chances) == chances[30]
        assert all(later == earlier * q for earlier, later in pairwise(chances[30:]))
        assert all(law.pmf(k).lower <= float(p) * (1 + 1e-15) for k, p in zip(range(-30, 31), chances, strict=True))
        assert all(law.pmf(k).upper >= float(p) * (1 - 1e-15) for k, p in zip(range(-30, 31), chances, strict=True))
    assert all(laplace(b).contains(1) for b in (HALF, 1, 2))
    falls = [math.exp(-3 / b) for b in (0.5, 1, 2, 100)]  # what is left of the height at a distance of 3
    assert falls == sorted(falls)
    assert falls[0] < 0.003
    assert falls[-1] > 0.97


def scale_of(noise):
    return noise.step / noise.law.rate.fraction()


def test_the_mechanism_and_its_scale():
    """b = Δf/ε, up to what the lattice costs (at most 1/2000 here); less Δf or more ε is less noise."""
    found = {}
    for moved, epsilon in product((1, 2, 3), (HALF, 1, 2)):
        found[moved, epsilon] = scale_of(Laplace(epsilon=epsilon, sensitivity=moved))
        assert 0 <= found[moved, epsilon] - moved / Fraction(epsilon) <= moved / Fraction(epsilon) / 2000
    assert found[1, 1] < found[2, 1] < found[3, 1]
    assert found[1, HALF] > found[1, 1] > found[1, 2]


def test_the_mechanism_is_private():
    assert check_mechanism(Geometric(epsilon=1, sensitivity=2), pairs=[(5, 7), (5, 6)]).epsilon == pytest.approx(1)
    with pytest.raises(BrokenPromise):
        check_mechanism(Geometric(epsilon=1, sensitivity=1), pairs=[(5, 7)])


def test_how_far_an_output_lies():
    """Mean distance b, deviation sqrt(2) b; beyond the deviation lie 24% of all draws, beyond b 37%."""
    for b in (HALF, 3):
        assert laplace(b, power=1).contains(ball(b))  # E|v|
        assert laplace(b, power=2).contains(ball(2 * b**2))  # E v^2
        assert laplace(b, power=2) > ball(b**2)  # so the deviation exceeds b
        assert laplace(b, start=b * Fraction("1.41421")) > 0.2431
    noise = Laplace(epsilon=1, sensitivity=1)
    beyond = {times: 2 * noise.law.tail(math.floor(times * noise.reach)).lower for times in (1, math.sqrt(2))}
    assert beyond[1] == pytest.approx(math.exp(-1), rel=1e-3)
    assert beyond[math.sqrt(2)] == pytest.approx(math.exp(-math.sqrt(2)), rel=1e-3)
    assert beyond[math.sqrt(2)] > 0.24  # as written it would never happen
    assert accuracy.deviation_of_count(1) > 1.41


def test_both_vanish():
    for n in (10**2, 10**4, 10**6):
        root = math.isqrt(n)
        assert Fraction(1, n) / Fraction(1, root) == Fraction(1, root)
        assert accuracy.both_vanish(n) == pytest.approx((1 / root, 1 / root))
        assert accuracy.both_vanish(n, exponent="1/2") == pytest.approx((n**-0.25, n**-0.25))
        noise = Laplace(epsilon=Fraction(1, root), sensitivity=sensitivity.mean(0, 1, rows=n))
        assert float(scale_of(noise)) == pytest.approx(1 / root, rel=1e-3)
        assert noise.guarantee.unit is Unit.REPLACE_ONE
    errors = [Laplace(epsilon=Fraction(1, r), sensitivity=Fraction(1, r * r)).error("0.999999") for r in (10, 100, 1000)]
    assert errors[0] > 9 * errors[1] > 80 * errors[2]


def test_perfect_for_one_person_and_one_question():
    small = pure("0.01")
    assert small.group(100).epsilon() == pytest.approx(1)
    assert (100 * small).epsilon() == pytest.approx(1)
    assert small.epsilon() > 0  # for no n is it perfect


POINTS = [Fraction(k, 3) for k in range(-12, 13)]


def test_the_ratio_of_densities():
    """ln of the ratio, times b; at most the distance, so at most Δf, and with b = Δf/ε at most ε."""
    for here, there, y in product(POINTS[::3], POINTS[::3], POINTS):
        loss = abs(there - y) - abs(here - y)
        density = [math.exp(-abs(at - float(y)) / 2) / 4 for at in (float(here), float(there))]
        assert math.log(density[0] / density[1]) == pytest.approx(float(loss) / 2, abs=1e-12)
        assert loss <= abs(here - there)
    for moved, epsilon in product((1, 5), (HALF, 2)):
        assert moved / (moved / Fraction(epsilon)) == epsilon


def test_the_three_cases():
    seen = set()
    for here, there, y in product(POINTS[::2], POINTS[::2], POINTS):
        if here == there:
            continue
        loss, distance = abs(there - y) - abs(here - y), abs(there - here)
        low, high = sorted((here, there))
        if low < y < high:
            case = "between"
            assert -distance < loss < distance
        else:
            nearer_here = abs(y - here) < abs(y - there)
            case = "on the side of f(x)" if nearer_here else "on the side of f(x')"
            assert loss == (distance if nearer_here else -distance)
        seen.add(case)
    assert len(seen) == 3


def test_sums_over_sets_of_outputs():
    """On the lattice: for all 255 sets of eight outputs. On the line a single output has probability 0."""
    q, outputs = HALF, range(-3, 5)
    laws = [{y: (1 - q) / (1 + q) * q ** abs(y - value) for y in outputs} for value in (0, 1)]
    for size in range(1, 9):
        for chosen in combinations(outputs, size):
            first, second = (sum(law[y] for y in chosen) for law in laws)
            assert HALF <= first / second <= 2

    def between(low, high, at, b=1.0):
        """P(low < at + v < high), for low >= at or high <= at or around it, by the integral."""

        def below(v):
            return math.exp(v / b) / 2 if v < 0 else 1 - math.exp(-v / b) / 2

        return below(high - at) - below(low - at)

    for low, high in ((0.2, 0.7), (-3, 0.5), (1, 9), (2.5, 2.5)):
        first, second = between(low, high, 0), between(low, high, 1)
        assert first <= math.e * second + 1e-15
        assert (first == 0) == (low == high)


# -- beyond numbers ------------------------------------------------------------------------------------------------------


def test_where_laplace_noise_is_good():
    for top in (10, 10**6):
        assert sensitivity.of(lambda rows: max(rows, default=0), universe=[0, top], rows=3).l1 == top
        assert sensitivity.mean(0, top, rows=1000).l1 == Fraction(top, 1000)
    for epsilon in (1, 2):
        q = math.exp(-epsilon)
        assert 2 * q / (1 - q) ** 2 < 2 / epsilon**2


def test_outputs_that_are_no_numbers():
    """Any labels: sets of places, groupings, functions."""
    places = [frozenset(s) for s in combinations("abcd", 2)]
    rows = ["a"] * 9 + ["b"] * 5 + ["c"]
    choose = Exponential(
        epsilon=LN_4, sensitivity=1, candidates=places, score=lambda d, s: sum(x in s for x in d), integers=True
    )
    row = choose.channel([tuple(rows)]).row(tuple(rows))
    weights = {s: Fraction(2) ** sum(x in s for x in rows) for s in places}
    assert row == {s: w / sum(weights.values()) for s, w in weights.items()}
    assert choose.release(rows) in places


def test_the_sign_of_the_error():
    errors = (1, 4, 9)
    pick = Exponential(epsilon=LN_4, sensitivity=1, candidates=3, integers=True)
    right, as_written = (pick.channel([scores]).rows[0] for scores in (tuple(-e for e in errors), errors))
    assert max(range(3), key=right.__getitem__) == 0
    assert max(range(3), key=as_written.__getitem__) == 2  # it prefers the network that errs most
    for better, worse in ((0, 1), (1, 2)):
        assert as_written[better] < as_written[worse]


def test_a_person_has_many_friendships():
    """All 64 networks of four users and all groupings into two: 1 for a friendship, 3 for a person."""
    users = range(4)
    pairs = list(combinations(users, 2))
    groupings = [(0, *rest) for rest in product((0, 1), repeat=3)]
    networks = [frozenset(s) for size in range(7) for s in combinations(pairs, size)]

    def right(friends, group):
        return sum((pair in friends) == (group[pair[0]] == group[pair[1]]) for pair in pairs)

    friendship = [abs(right(x, y) - right(x - {pair}, y)) for x in networks for pair in x for y in groupings]
    person = [
        abs(right(x, y) - right(frozenset(p for p in x if who not in p), y))
        for x in networks for who in users for y in groupings
    ]  # fmt: skip
    assert (max(friendship), max(person)) == (1, len(users) - 1)
    narrow = Exponential(epsilon=LN_4, sensitivity=1, candidates=len(groupings), integers=True)
    full = frozenset(pairs)
    alone = frozenset(p for p in pairs if 0 not in p)
    scores = [tuple(right(x, y) for y in groupings) for x in (full, alone)]
    found = narrow.channel(scores)
    assert found.epsilon(graph.complete(found.inputs)).exact > LN_4  # Δu = 1 does not protect a person
    assert pure(2, unit=Unit.ADD_REMOVE_ROW).per_person(rows=7) == pure(14)


def test_a_density_is_no_score():
    def density(rows):
        return Fraction(rows.count("infected"), len(rows)) if rows else Fraction(0)

    universe = ["infected", "well"]
    assert sensitivity.of(lambda rows: rows.count("infected"), universe=universe, rows=5).l1 == 1
    assert sensitivity.of(density, universe=universe, rows=5).l1 == 1  # all of its range, 0 to 1
    blind = Exponential(epsilon=1, sensitivity=1, candidates=2, step="1/4").channel([(1, 0)])
    assert blind.matrix[0][0] < 0.63  # a place where all are infected against one where nobody is


# -- the exponential mechanism -------------------------------------------------------------------------------------------


def votes(universe, most):
    return [data for size in range(most + 1) for data in product(universe, repeat=size)]


def test_generalised_sensitivity():
    """One output on two neighbours. Compared across outputs it would be as large as the data."""
    universe, data = "ab", votes("ab", 4)
    neighbours = [(x, x[:at] + x[at + 1 :]) for x in data for at in range(len(x))]
    assert max(abs(x.count(y) - other.count(y)) for x, other in neighbours for y in universe) == 1
    across = max(abs(x.count(y) - other.count(z)) for x, other in neighbours for y in universe for z in universe)
    assert across == 4


def test_removed_or_replaced():
    for unit, moved in ((Unit.ADD_REMOVE, 1), (Unit.REPLACE_ONE, 2)):
        assert sensitivity.of(sum, universe=[-1, 1], rows=4, unit=unit).l1 == moved
        assert sensitivity.sum(-1, 1, unit=unit).l1 == moved


def test_the_exponential_mechanism():
    """The law in fractions; and any two neighbours among all votes of up to four people within e^ε."""
    data = votes("abc", 3)
    choose = Exponential(
        epsilon=LN_4, sensitivity=1, candidates=["a", "b", "c"], score=lambda x, y: x.count(y), integers=True
    )
    found = choose.channel(data)
    for x in data:
        weights = {y: Fraction(2) ** x.count(y) for y in "abc"}
        assert found.row(x) == {y: w / sum(weights.values()) for y, w in weights.items()}
    edges = {(x[:at] + x[at + 1 :], x) for x in data for at in range(len(x))}
    assert found.epsilon(graph.of(data, edges)).exact <= LN_4
    assert choose.rate == ln(2)  # ε / 2Δu


def test_the_sum_of_the_weights_moves_too():
    """Without the 2 the promise would be ln 2; neighbours whose scores move against each other come close to ln 4."""
    leaks = []
    for top in (1, 5, 20):
        two = Exponential(epsilon=LN_4, sensitivity=1, candidates=2, integers=True).channel([(top, 0), (top - 1, 1)])
        leaks.append(two.epsilon(graph.complete(two.inputs)).exact)
    assert all(leak > ln(2) for leak in leaks[1:])
    assert all(leak < LN_4 for leak in leaks)
    assert leaks[-1] > LN_4 - Fraction(1, 10**5)


def test_the_best_output():
    """The likeliest outputs are the best ones, all equally likely, for all votes of up to three people."""
    choose = Exponential(epsilon=LN_4, sensitivity=1, candidates=["a", "b", "c"], score=tuple.count, integers=True)
    for x in votes("abc", 3):
        row = choose.channel([x]).row(x)
        best = {y for y in "abc" if x.count(y) == max(x.count(z) for z in "abc")}
        assert {y for y in "abc" if row[y] == max(row.values())} == best


def test_the_logarithm_cannot_be_left_out():
    """Exactly: (n - 1) q^k / (1 + (n - 1) q^k) falls short by k. And no private choice beats 1 - e^(εk)/n."""
    for n in (10, 1000):
        mechanism = Exponential(epsilon=LN_4, sensitivity=1, candidates=n, integers=True)
        for k in (1, 5, 10):
            weight = (n - 1) * HALF**k
            tail = mechanism.tail([k] + [0] * (n - 1), k)
            assert tail.lower <= weight / (1 + weight) * (1 + Fraction(1, 10**12))
            assert tail.upper >= weight / (1 + weight) * (1 - Fraction(1, 10**12))
            assert tail.upper >= 1 - 4.0**k / n  # ε = ln 4
    ends = [Exponential(epsilon=1, sensitivity=1, candidates=n, integers=True).error("0.95") for n in (10, 10**3, 10**6)]
    assert ends == [math.floor(2 * math.log(19 * (n - 1))) for n in (10, 10**3, 10**6)]
    assert ends[2] > 3 * ends[0]  # no constant times Δu/ε is enough for all n
    for n, k in ((4, 1), (6, 1), (6, 2)):  # the best pure mechanism that is known, against the lower bound
        flip = PermuteAndFlip(epsilon=ln(2), sensitivity=1, candidates=n, integers=True)
        scores = (k,) + (0,) * (n - 1)
        assert flip.channel([scores]).row(scores)[0] <= Fraction(2**k, n)


def test_utility_with_many_outputs():
    short = [accuracy.exponential_shortfall(Fraction(math.sqrt(math.log(n) / n)), n, 3, sensitivity=Fraction(1, n))
             for n in (10**2, 10**4, 10**6)]  # fmt: skip
    assert short[0] > 5 * short[1] > 25 * short[2]
    for n in (10, 100, 1000):  # 2^n outputs and Δu = 1/n: what half of all cases fall short by stays
        assert (n * math.log(2) - math.log(2)) / n >= 0.62
        assert 2 / n * (n * math.log(2)) == pytest.approx(2 * math.log(2))  # and so does the theorem's bound


def test_sampling_may_be_impossible():
    """All outputs alike: each of n has probability 1/n, and for n without end none is left."""
    with pytest.raises(SizeError):
        Exponential(epsilon=1, sensitivity=1, candidates=2**64)
    for n in (2, 10, 100):
        row = Exponential(epsilon=1, sensitivity=1, candidates=n, integers=True).channel([(0,) * n]).rows[0]
        assert all(chance == Fraction(1, n) for chance in row)


def test_mechanisms_made_for_their_task():
    same = {"epsilon": 1, "sensitivity": 1, "candidates": 1000, "integers": True}
    general, flip, one_way = Exponential(**same), PermuteAndFlip(**same), PermuteAndFlip(**same, monotone=True)
    assert general.error("0.95") > flip.error("0.95") > 1.5 * one_way.error("0.95")
    for scores in ((3, 2, 0), (1, 1, 0), (5, 0, 0)):  # permute-and-flip never falls short by more, on average
        short = [
            sum(p * (max(scores) - s) for p, s in zip(made(epsilon=LN_4, sensitivity=1, candidates=3, integers=True)
                .channel([scores]).rows[0], scores, strict=True))
            for made in (PermuteAndFlip, Exponential)
        ]  # fmt: skip
        assert short[0] <= short[1]
    number = Exponential(epsilon=LN_4, sensitivity=1, candidates=range(9), score=lambda n, o: -abs(n - o), integers=True)
    noise = Geometric(epsilon=LN_4, sensitivity=1, bounds=(0, 8)).channel()
    assert all(number.channel([n]).row(n)[n] < noise.row(n)[n] for n in range(9))
