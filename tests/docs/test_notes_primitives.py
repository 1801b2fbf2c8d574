"""The notes on primitives: each claim computed, exactly where possible; and what they get wrong, shown to be wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product
from pathlib import Path

import pytest

from dither import (
    Channel,
    Exponential,
    Flat,
    Geometric,
    Laplace,
    LocationResponse,
    Processed,
    RandomizedResponse,
    Together,
    Unit,
    accuracy,
    ln,
    local,
    optimal,
    parallel,
    pure,
    sensitivity,
)
from dither.channels import graph
from dither.errors import BrokenPromise, SizeError, UnitError
from dither.mechanisms.additive import laplace as laplace_file
from dither.mechanisms.response import randomized_response as response
from dither.mechanisms.selection import exponential
from dither.noise import DiscreteLaplace
from dither.testing import check_mechanism
from tests.docs.integrals import ball, laplace
from tests.docs.note_page import ROOT, check_page

PAGE = ROOT / "docs" / "notes" / "primitives.md"
NATIONS = ("Chinese", "Indian", "American", "Greek")
BITS = graph.complete([True, False])
HALF = Fraction(1, 2)
SHARES = [Fraction(k, 10) for k in range(11)]
TRUTHS = [Fraction(k, 20) for k in range(1, 20) if k != 10]


def counts_of(rows, nation):
    return rows.count(nation)


def databases(universe, rows):
    """All data sets of up to so many rows, in no order."""
    return [data for size in range(rows + 1) for data in combinations_with_replacement(universe, size)]


def add_remove(universe, rows):
    """Pairs of data sets, one of which has one row more."""
    for data in databases(universe, rows - 1):
        yield from ((data, tuple(sorted((*data, other), key=universe.index))) for other in universe)


def replace_one(universe, rows):
    for rest in combinations_with_replacement(universe, rows - 1):
        yield from (((*rest, one), (*rest, other)) for one, other in combinations(universe, 2))


# -- the page itself -----------------------------------------------------------------------------------------------------


def test_the_page_agrees_with_itself():
    assert check_page(PAGE.read_text(), Path(__file__).read_text()) == 63


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("43 hold, 13 hold under", "44 hold, 12 hold under"),
        ("## What is promised", "| a | table |\n\n## What is promised"),
        ("## All claims\n", "## All claims\n\n## More\n"),
        ("**45. Corrected.**", "**45. Holds.**"),
        ("`test_one_bit`", "`test_one_byte`"),
        ("| 8 | its variance is", "| 9 | its variance is"),
        ("(#composition) | `test_seq", "(#noise-on-an-answer) | `test_seq"),
    ],
)
def test_what_is_planted_in_the_page_is_found(right, planted):
    text = PAGE.read_text()
    assert right in text
    with pytest.raises(AssertionError):
        check_page(text.replace(right, planted), Path(__file__).read_text())


# -- the definition ------------------------------------------------------------------------------------------------------


def test_the_definition_on_all_sets_of_outputs():
    for mechanism in (
        Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)),
        Geometric(epsilon=ln(3), sensitivity=1, bounds=(0, 3)),
    ):
        rows = mechanism.channel().rows
        sets = list(chain.from_iterable(combinations(range(len(rows)), size) for size in range(1, len(rows) + 1)))
        largest = max(
            sum(rows[d][o] for o in s) / sum(rows[e][o] for o in s)
            for s in sets for d in range(len(rows)) for e in (d - 1, d + 1) if 0 <= e < len(rows)
        )  # fmt: skip
        assert largest == mechanism.epsilon.exp_fraction()


def test_power_of_an_adversary():
    """The best test, over all sets of outputs, never beats the bound of the promise; for a coin it attains it."""
    rows, factor = RandomizedResponse(p="3/4").channel().rows, 3
    for size in range(3):
        for accused in combinations(range(2), size):
            level, power = (sum(row[o] for o in accused) for row in rows)
            assert power <= min(factor * level, 1 - (1 - level) / Fraction(factor))
            assert float(power) <= pure(ln(3)).tradeoff(level)
    assert rows[1][1] == min(factor * rows[0][1], 1 - (1 - rows[0][1]) / Fraction(factor))
    assert pure(5).tradeoff("0.05") > 0.99


# -- randomized response -------------------------------------------------------------------------------------------------


def test_randomized_response_is_its_table():
    for p in TRUTHS:
        assert RandomizedResponse(p=p).channel().rows == ((p, 1 - p), (1 - p, p))
    assert check_mechanism(RandomizedResponse(p="3/4")).epsilon == pytest.approx(math.log(3))


def test_a_database_of_answers_is_as_private_as_one_answer():
    table = RandomizedResponse(p="2/3").channel()
    people = list(product([True, False], repeat=4))
    whole = Channel(
        [[math.prod(table.row(x)[o] for x, o in zip(t, s, strict=True)) for s in people] for t in people], people
    )
    pairs = [(x, y) for x, y in combinations(people, 2) if sum(a != b for a, b in zip(x, y, strict=True)) == 1]
    assert whole.epsilon(graph.of(people, pairs)).exact == ln(2)


def test_the_ends_of_p_belong_to_it():
    """The ratio is at most e^epsilon for p from 1/(1+e^epsilon) to e^epsilon/(1+e^epsilon), ends included."""
    for factor in (2, 3, 10):
        low, high = Fraction(1, 1 + factor), Fraction(factor, 1 + factor)
        for p in (*TRUTHS, low, high):
            assert (RandomizedResponse(p=p).epsilon <= ln(factor)) == (low <= p <= high)
        strictly = [p for p in (low, high) if low < p < high]
        assert RandomizedResponse(p=high).epsilon == RandomizedResponse(p=low).epsilon == ln(factor)
        assert strictly == []  # as written, both ends would be forbidden


def moments(share, p, people):
    """The mean and the variance of the estimate, over people drawn at random and their coins."""
    yes = share * p + (1 - share) * (1 - p)
    chances = [math.comb(people, y) * yes**y * (1 - yes) ** (people - y) for y in range(people + 1)]
    values = [(Fraction(y, people) - (1 - p)) / (2 * p - 1) for y in range(people + 1)]
    mean = sum(c * v for c, v in zip(chances, values, strict=True))
    return mean, sum(c * (v - mean) ** 2 for c, v in zip(chances, values, strict=True))


def test_the_estimate_of_the_share():
    """Unbiased for all p but 1/2; cut to [0, 1] it is the likeliest share."""
    for share, p in product(SHARES, TRUTHS):
        assert moments(share, p, 4)[0] == share
    p, people = Fraction(3, 4), 10
    fine = [Fraction(k, 200) for k in range(201)]
    for y in range(people + 1):
        estimate = (Fraction(y, people) - (1 - p)) / (2 * p - 1)

        def likelihood(share, y=y):
            yes = share * p + (1 - share) * (1 - p)
            return yes**y * (1 - yes) ** (people - y)

        assert max(fine, key=likelihood) == min(max(estimate, 0), 1)
    raw = local.reconstruct.invert(RandomizedResponse(p=p).channel(), [0.1, 0.9])
    assert raw.tolist() == pytest.approx([-0.3, 1.3])


def test_the_variance_of_the_estimate():
    """The formula with its bracket put right is exact; as written it is wrong everywhere, and negative near 1/2."""
    for share, p in product(SHARES, TRUTHS):
        people, square = 3, (p - HALF) ** 2
        flips = (1 / (16 * square) - Fraction(1, 4)) / people
        assert moments(share, p, people)[1] == share * (1 - share) / people + flips
        assert flips == p * (1 - p) / (2 * p - 1) ** 2 / people  # what remains for given people
        if 16 * square != Fraction(1, 4):
            as_written = 1 / (people * (16 * square - Fraction(1, 4)))
            assert as_written != flips
            assert (as_written < 0) == (Fraction(3, 8) < p < Fraction(5, 8))
    assert Fraction(1, 4) ** 2 - 4 < 0  # a^2 - a/4 + 1 has no root: they never agree
    # given people: two of five mean yes
    p, people, ill = Fraction(3, 4), 5, 2
    laws = [(x + y, math.comb(ill, x) * p**x * (1 - p) ** (ill - x) * math.comb(3, y) * (1 - p) ** y * p ** (3 - y))
            for x in range(ill + 1) for y in range(4)]  # fmt: skip
    estimates = [((Fraction(y, people) - (1 - p)) / (2 * p - 1), chance) for y, chance in laws]
    mean = sum(v * c for v, c in estimates)
    assert mean == Fraction(ill, people)
    assert sum((v - mean) ** 2 * c for v, c in estimates) == p * (1 - p) / (2 * p - 1) ** 2 / people


def test_the_grid_and_its_constraints():
    for k, factor in product((2, 3, 4), (2, 3)):
        cells = list(product(range(k), repeat=2))
        channel = Flat(cells, epsilon=ln(factor)).channel()
        p, q = channel.row((0, 0))[0, 0], channel.row((0, 0))[0, 1]
        assert p + q * (k**2 - 1) == 1
        assert p == factor * q
        assert q == Fraction(1, factor + k**2 - 1)
        assert channel.epsilon(graph.complete(cells)).exact == ln(factor)
        lower = (p + Fraction(1, k**2)) / 2  # any p between 1/k^2 and the largest is private as well
        other = (1 - lower) / (k**2 - 1)
        assert other > q
        assert lower <= factor * other
        higher = p + Fraction(1, 1000)
        assert higher > factor * (1 - higher) / (k**2 - 1)
    row = Flat(list(product(range(10), repeat=2)), epsilon=ln(3)).channel().row((0, 0))
    assert row[0, 0] == Fraction(3, 102)
    assert row[9, 9] == Fraction(1, 102)
    assert 1 - row[0, 0] == Fraction(33, 34)


# -- Laplace noise -------------------------------------------------------------------------------------------------------


def exact_moments(factor, reach=400):
    """Mean and variance of whole noise with q = 1/factor, up to what lies beyond the reach (below 1e-100)."""
    q = Fraction(1, factor)
    weight = (1 - q) / (1 + q)
    chances = {x: weight * q ** abs(x) for x in range(-reach, reach + 1)}
    return sum(chance * x for x, chance in chances.items()), sum(chance * x * x for x, chance in chances.items())


def variance_of(noise):
    rate, step = float(noise.law.rate), float(noise.lattice.step if noise.lattice else 1)
    return 2 * math.exp(-rate) * (step / math.expm1(-rate)) ** 2


def test_noise_hides_and_stays_close():
    for epsilon in ("0.1", "0.5", 1, 2):
        noise = Laplace(epsilon=epsilon, sensitivity=1)
        assert noise.guarantee == pure(epsilon)
        assert noise.error("0.95") * float(noise.epsilon) == pytest.approx(math.log(20), rel=1e-3)


def test_the_laplace_density():
    """One in all and variance 2 lambda^2, by certified integrals (the mean is 0 by symmetry); and on the lattice."""
    for scale in (Fraction(1, 2), 1, 3):
        assert laplace(scale).contains(1)
        assert laplace(scale, power=2).contains(ball(2 * scale**2))
        assert not laplace(scale, power=2).overlaps(ball(scale**2))
        noise = Laplace(epsilon=1 / Fraction(scale), sensitivity=1)
        assert variance_of(noise) == pytest.approx(2 * float(scale) ** 2, rel=1e-3)
    for factor in (2, 3):
        mean, variance = exact_moments(factor)
        q = Fraction(1, factor)
        assert mean == 0
        assert float(variance) == pytest.approx(float(2 * q / (1 - q) ** 2))
        assert variance < 2 * q / (1 - q) ** 2 < 2 / Fraction(math.log(factor)) ** 2


def test_sensitivity_is_the_largest_change():
    universe = [0, 20, 90]
    pairs = list(add_remove(universe, 3))
    largest = max(abs(max(a, default=0) - max(b, default=0)) for a, b in pairs)
    assert sensitivity.of(lambda rows: max(rows, default=0), universe=universe, rows=3).l1 == largest == 90
    smaller = Fraction(899, 10)
    assert any(abs(max(a, default=0) - max(b, default=0)) > smaller for a, b in pairs)


def test_scale_sensitivity_over_epsilon():
    assert check_mechanism(Geometric(epsilon=1, sensitivity=2)).epsilon == pytest.approx(1)
    assert check_mechanism(Laplace(epsilon=1, sensitivity=1, step="1/2"), pairs=[(3, 4), (0.3, 1.3)]).epsilon <= 1

    class Hasty(Geometric):
        @property
        def law(self):
            return DiscreteLaplace(rate=self.epsilon * 2 / self.sensitivity)

    with pytest.raises(BrokenPromise):
        check_mechanism(Hasty(epsilon=1, sensitivity=1))


def test_sensitivity_of_counts_and_sums():
    for unit in (Unit.ADD_REMOVE, Unit.REPLACE_ONE):
        found = sensitivity.of(lambda rows: rows.count("Y"), universe=["Y", "N"], rows=4, unit=unit)
        assert found.l1 == sensitivity.count(unit=unit).l1 == 1
    wrong = 0
    for a, b in combinations(range(-4, 5), 2):
        for unit, claim in ((Unit.ADD_REMOVE, max(abs(a), abs(b))), (Unit.REPLACE_ONE, b - a)):
            found = sensitivity.of(sum, universe=[a, b], rows=2, unit=unit).l1
            assert found == claim == sensitivity.sum(a, b, unit=unit).l1
            as_written = found == b
            assert as_written == (a >= -b and b > 0 if unit is Unit.ADD_REMOVE else a == 0)
            wrong += not as_written
    assert wrong > 0
    with pytest.raises(BrokenPromise):
        check_mechanism(Geometric(epsilon=1, sensitivity=2), query=sum, universe=[-5, 0, 2], rows=2)


def test_the_table_of_six():
    assert ["Y", "Y", "N", "Y", "N", "N"].count("Y") == 3
    for epsilon in (Fraction(1, 2), 1, 2):
        noise = Laplace(epsilon=epsilon, sensitivity=1)
        assert variance_of(noise) == pytest.approx(2 / float(epsilon) ** 2, rel=1e-3)
        assert variance_of(Geometric(epsilon=epsilon, sensitivity=1)) < 2 / float(epsilon) ** 2


def test_the_proof_for_laplace_noise():
    """The log ratio of two densities, times lambda: never above the distance, and equal to it from either side on."""
    points = [Fraction(k, 4) for k in range(-20, 21)]
    for here, there in product(points[::4], repeat=2):
        losses = [abs(out - there) - abs(out - here) for out in points]
        assert all(abs(loss) <= abs(here - there) for loss in losses)
        assert abs(here - there) in losses


def test_a_function_without_sensitivity():
    for top in (10, 1000, 10**9):
        median = sensitivity.of(lambda rows: sorted(rows)[len(rows) // 2] if rows else 0, universe=[0, top], rows=3)
        assert median.l1 == top  # no number is enough for all bounds


def test_the_squared_error():
    for epsilon, moved in product((Fraction(1, 2), 1), (1, 3)):
        noise = Laplace(epsilon=epsilon, sensitivity=moved)
        assert variance_of(noise) == pytest.approx(2 * moved**2 / float(epsilon) ** 2, rel=1e-3)
        assert variance_of(Geometric(epsilon=epsilon, sensitivity=moved)) < 2 * moved**2 / float(epsilon) ** 2


def test_the_tail_of_laplace_noise():
    """The integral from t lambda on is e^-t; from t on, as written, it is that for lambda = 1 only."""
    for t, scale in product((HALF, 1, 3), (HALF, 1, 2)):
        claimed = (-ball(t)).exp()
        assert laplace(scale, start=t * scale).overlaps(claimed)
        assert laplace(scale, start=t).overlaps(claimed) == (scale == 1)
        assert accuracy.laplace_tail(t) == pytest.approx(float(claimed))
    noise = Laplace(epsilon=1, sensitivity=1)
    for t in (1, 2, 3):
        steps = math.floor(t * noise.reach)
        assert 2 * noise.law.tail(steps).upper == pytest.approx(math.exp(-t), rel=1e-3)
    for beta in ("0.5", "0.05", "1e-6"):
        width = accuracy.laplace_half_width(1, beta)
        assert math.exp(-width) == pytest.approx(float(beta))
        assert noise.error(1 - Fraction(beta)) == pytest.approx(width, rel=1e-2)


# -- with trust and without ----------------------------------------------------------------------------------------------


def test_same_guarantee_for_replacement_only():
    central = Laplace(epsilon=ln(3), sensitivity=sensitivity.count(unit=Unit.REPLACE_ONE))
    assert central.guarantee == RandomizedResponse(p="3/4").guarantee
    with pytest.raises(UnitError):
        RandomizedResponse(p="3/4", unit=Unit.ADD_REMOVE)
    reports = [*list(product([True, False], repeat=2)), (True,), (False,)]
    one, both = Channel([[0, 0, 0, 0, "3/4", "1/4"]], [(True,)], reports), RandomizedResponse(p="3/4").channel().product
    two = [*both(RandomizedResponse(p="3/4").channel()).rows[0], 0, 0]
    joined = Channel([one.rows[0], two], [1, 2], reports)
    assert joined.epsilon(graph.complete([1, 2])).epsilon == math.inf  # the number of reports tells


def test_who_must_be_trusted():
    assert Channel.identity([True, False]).epsilon(BITS).epsilon == math.inf
    assert RandomizedResponse(p="3/4").channel().epsilon(BITS).exact == ln(3)
    assert local.bridge.for_any_query([local.CoinFlip()]) == pure(ln(3), unit=Unit.REPLACE_ONE)


def test_deviations_with_and_without_trust():
    for epsilon in (Fraction(1, 100), Fraction(1, 2), 1, 5, 20):
        assert accuracy.deviation_of_count(epsilon) == pytest.approx(2**0.5 / float(epsilon))
        for people in (10, 1000):
            deviation = accuracy.deviation_of_survey(epsilon, people)
            assert deviation == pytest.approx(people**0.5 / (2 * math.sinh(float(epsilon) / 2)))
            assert deviation <= people**0.5 / float(epsilon)
    p = Fraction(3, 4)
    assert accuracy.deviation_of_survey(ln(3), 5) ** 2 == pytest.approx(float(5 * p * (1 - p) / (2 * p - 1) ** 2))


# -- the exponential mechanism -------------------------------------------------------------------------------------------


LN_4 = 2 * ln(2)


def chooser(epsilon=LN_4, score=counts_of, candidates=NATIONS, moved=1, **same):
    return Exponential(epsilon=epsilon, sensitivity=moved, candidates=candidates, score=score, integers=True, **same)


def behind(rows, nation):
    return rows.count(nation) - max(rows.count(each) for each in NATIONS)


def score_sensitivity(score, pairs):
    return max(abs(score(a, o) - score(b, o)) for a, b in pairs for o in NATIONS)


def test_the_nationality_score():
    """Behind the winner: 1 for add/remove and 2 for replacement. People: 1 for both, and monotone. Same probabilities."""
    for universe in (NATIONS[:3], NATIONS):
        added, replaced = list(add_remove(universe, 4)), list(replace_one(universe, 4))
        assert (score_sensitivity(behind, added), score_sensitivity(behind, replaced)) == (1, 2)
        assert (score_sensitivity(counts_of, added), score_sensitivity(counts_of, replaced)) == (1, 1)
        assert all(b.count(o) >= a.count(o) for a, b in added for o in NATIONS)
        assert not all(behind(b, o) >= behind(a, o) for a, b in added for o in NATIONS)
    rooms = databases(NATIONS, 3)
    assert chooser().channel(rooms) == chooser(score=behind).channel(rooms)


def test_outputs_stay_in_the_list():
    choice = chooser(score=lambda n, o: -abs(n - o), candidates=range(7))
    cut = Geometric(epsilon=2 * ln(2), sensitivity=1, bounds=(0, 6))
    assert {choice.release(n) for n in (0, 3, 6) for _ in range(50)} <= set(range(7))
    for n in range(7):
        assert choice.channel([n]).row(n)[n] < cut.channel().row(n)[n]
        assert sum(choice.channel([n]).rows[0]) == 1


def test_a_score_makes_any_function_private():
    """An indicator of f(D), for three functions: the ratio between neighbours stays within the promise."""
    functions = (lambda rows: max(NATIONS, key=rows.count), lambda rows: NATIONS[len(rows) % 4], lambda rows: NATIONS[0])
    for function in functions:
        mechanism = chooser(score=lambda rows, o, f=function: int(o == f(rows)))
        rooms = databases(NATIONS[:2], 3)
        found = mechanism.channel(rooms)
        leak = found.epsilon(graph.of(rooms, {tuple(sorted(p)) for p in add_remove(NATIONS[:2], 3)}))
        assert leak.exact <= 2 * ln(2)


def test_the_two_sensitivities_of_a_score():
    """Over one output it is 1; as written it is the spread of the scores, private as well and far larger."""
    pairs = list(add_remove(NATIONS[:2], 5))
    spread = max(abs(d.count(o) - d.count(other)) for d, _ in pairs for o, other in product(NATIONS, repeat=2))
    assert score_sensitivity(counts_of, pairs) == 1
    assert spread == 4  # of data sets with four rows
    rooms = sorted({room for pair in pairs for room in pair})
    edges = {tuple(sorted(pair)) for pair in pairs}
    wide = chooser(moved=5).channel(rooms)
    assert wide.epsilon(graph.of(rooms, edges)).epsilon <= float(2 * ln(2))
    room = (NATIONS[0],) * 5
    assert wide.row(room)[NATIONS[0]] < chooser().channel([room]).row(room)[NATIONS[0]]


def test_the_exponential_law_is_private():
    """Exact probabilities, and every ratio of neighbours within e^epsilon; with half the denominator it is not."""
    rooms = databases(NATIONS, 4)
    edges = {tuple(sorted(pair)) for pair in add_remove(NATIONS, 4)}
    found = chooser().channel(rooms)  # the rate is ln 2: one person more is twice as likely
    for room in rooms[:40]:
        weights = [Fraction(2) ** room.count(o) for o in NATIONS]
        assert list(found.row(room).values()) == [w / sum(weights) for w in weights]
    assert found.epsilon(graph.of(rooms, edges)).exact <= 2 * ln(2)
    # scores that move against each other need the 2 in the denominator: the promise is attained in the limit
    far = Exponential(epsilon=2 * ln(2), sensitivity=1, candidates=2, integers=True).channel([(30, 0), (29, 1)])
    assert far.epsilon(graph.complete(far.inputs)).exact > 2 * ln(2) - Fraction(1, 10**6)


def test_no_output_is_impossible():
    steep = Exponential(epsilon=2, sensitivity=1, candidates=["a", "b"], integers=True)
    assert math.exp(-800) == 0.0
    assert steep.channel([(800, 0)]).row((800, 0))["b"] > 0


def test_two_scores_for_one_function():
    room = ("Chinese",) * 12 + ("Indian",) * 9 + ("American",) * 7 + ("Greek",) * 2
    best = [chooser(score=score).channel([room]).row(room)["Chinese"]
            for score in (counts_of, lambda rows, o: int(o == max(NATIONS, key=rows.count)))]  # fmt: skip
    assert best == [Fraction(2**12, 2**12 + 2**9 + 2**7 + 2**2), Fraction(2, 5)]


def test_what_the_output_looks_like():
    room = ("Chinese",) * 12 + ("Indian",) * 9 + ("American",) * 7 + ("Greek",) * 2
    weights = [math.exp(n / 2) for n in (12, 9, 7, 2)]
    assert chooser(epsilon=1).channel([room]).matrix[0].tolist() == pytest.approx([w / sum(weights) for w in weights])


def test_opt_is_a_score():
    for room in databases(NATIONS, 4):
        opt = max(room.count(o) for o in NATIONS)
        best = [o for o in NATIONS if room.count(o) == opt]
        assert best
        assert opt not in NATIONS  # a number, not a nationality
        chances = chooser().channel([room]).row(room)
        assert len({chances[o] for o in best}) == 1


def test_the_utility_theorem():
    """The exact tail never exceeds the bound, for all scores of a small box; m best ones help as the theorem says."""
    mechanism = Exponential(epsilon=1, sensitivity=1, candidates=4, integers=True)
    for scores in combinations_with_replacement(range(0, 25, 4), 4):
        best = scores.count(max(scores))
        for t in (0, 1, 3):
            bound = 2 * (math.log(4 / best) + t)
            assert mechanism.tail(scores, Fraction(bound)).upper <= math.exp(-t) * (1 + 1e-12)
            assert accuracy.exponential_shortfall(1, 4, t, best=best) == pytest.approx(bound)


def test_the_numbers_of_the_example():
    assert round(1 - math.exp(-3), 2) == 0.95
    right = 2 * (math.log(4) + 3)
    assert accuracy.exponential_shortfall(1, 4, 3) == pytest.approx(right) == pytest.approx(8.7726, abs=1e-4)
    assert all(abs(2 * (log + 3) - 6.8) > 0.3 for log in (math.log(4), 2, math.log10(4)))  # in no base
    tenth = Exponential(epsilon="1/10", sensitivity=1, candidates=4, integers=True)
    assert tenth.tail([68, 0, 0, 0], 68).lower > 0.09  # as written: it fails in 9.1% of cases and not in 5%
    assert tenth.tail([88, 0, 0, 0], 88).upper < 0.05
    assert 3 * Fraction(1, 57) / (1 + 3 * Fraction(1, 57)) == Fraction(1, 20)
    assert tenth.error("0.95") == math.floor(20 * math.log(57))


def test_the_distance_score():
    """Its sensitivity is that of f. On a list that ends epsilon lies between half and all; where all sums agree, half."""
    for universe in ([0, 1], [0, 3], [-2, 5]):
        moved = sensitivity.sum(min(universe), max(universe)).l1
        pairs = list(add_remove(universe, 3))
        outputs = {sum(data) for data in databases(universe, 3)}
        assert max(abs(abs(sum(a) - o) - abs(sum(b) - o)) for a, b in pairs for o in outputs) == moved
    listed = chooser(score=lambda n, o: -abs(n - o), candidates=range(11)).channel(range(11))
    leak = listed.epsilon(graph.path(range(11)))
    assert ln(2) < leak.exact < 2 * ln(2)
    assert leak.exact == ln(Fraction(5116, 2047))
    whole = Geometric(epsilon=ln(2), sensitivity=1).law
    assert all(whole.pmf(k + 1).upper / whole.pmf(k).upper == pytest.approx(0.5) for k in range(5))
    middle = listed.row(5)
    assert middle[6] / middle[5] == Fraction(1, 2)  # the same fall, and another sum


def test_one_bit():
    for epsilon in (1, 2 * ln(3)):
        bit = chooser(epsilon, lambda x, o: int(x == o), [True, False], unit=Unit.REPLACE_ONE).channel([True, False])
        assert bit == RandomizedResponse(epsilon=epsilon * HALF).channel()
        assert bit.epsilon(BITS).exact == epsilon * HALF
    assert chooser(2 * ln(3), lambda x, o: int(x == o), [True, False]).channel([True]).row(True)[True] == Fraction(3, 4)


def test_scores_on_a_grid():
    """Uniform: the flat mechanism with half of epsilon. Distance: the grid with half; sensitivity is the diameter."""
    for k in (2, 3):
        cells = list(product(range(k), repeat=2))

        def distance(a, b):
            return -abs(a[0] - b[0]) - abs(a[1] - b[1])

        diameter = 2 * (k - 1)
        assert max(abs(distance(a, o) - distance(b, o)) for a, b, o in product(cells, repeat=3)) == diameter
        flat = chooser(1, lambda a, b: int(a == b), cells, unit=Unit.REPLACE_ONE).channel(cells)
        near = chooser(1, distance, cells, diameter, unit=Unit.REPLACE_ONE).channel(cells)
        assert flat == Flat(cells, epsilon=HALF).channel()
        assert near == LocationResponse(epsilon=HALF, width=k, height=k).channel()
        for found in (flat, near):
            assert found.epsilon(graph.complete(cells)).exact == HALF


def test_every_mechanism_is_exponential():
    """With ln P for the score, and epsilon twice the channel's own; scores are rounded to a fine step."""
    captured = Exponential.from_channel(
        {"x": {"a": "3/4", "b": "1/4"}, "y": {"a": "1/4", "b": "3/4"}}, neighbours=[("x", "y")]
    )
    assert captured.guarantee.epsilon() == pytest.approx(2 * math.log(3), rel=1e-3)
    assert captured.channel(["x"]).matrix[0].tolist() == pytest.approx([0.75, 0.25], rel=1e-3)


def test_what_utility_depends_on():
    mechanism = Exponential(epsilon=1, sensitivity=1, candidates=4, integers=True)
    short = [
        float(mechanism.channel([s]).matrix[0] @ [20 - x for x in s]) for s in ([20, 0, 0, 0], [20, 16, 16, 16], [20] * 4)
    ]
    assert short[2] == 0 < short[0] < 0.01 < 1 < short[1]
    errors = [Exponential(epsilon=1, sensitivity=1, candidates=2**k, integers=True).error("0.95") for k in (5, 10, 20)]
    assert errors == [math.floor(2 * math.log(19 * (2**k - 1))) for k in (5, 10, 20)]


def test_many_outputs():
    assert Exponential(epsilon=1, sensitivity=1, candidates=2**20, integers=True).error("0.95") == 33
    with pytest.raises(SizeError):
        Exponential(epsilon=1, sensitivity=1, candidates=2**40, integers=True)
    # a sum of scores is drawn part by part: strings of bits that agree with the truth
    strings, table = list(product([True, False], repeat=3)), RandomizedResponse(p="3/4").channel()
    agree = chooser(2 * ln(3), lambda x, o: sum(a == b for a, b in zip(x, o, strict=True)), strings).channel(strings)
    assert agree.rows == tuple(
        tuple(math.prod(table.row(a)[b] for a, b in zip(x, o, strict=True)) for o in strings) for x in strings
    )


# -- composition ---------------------------------------------------------------------------------------------------------


def test_sequential_composition():
    """Independent, and with a second coin that depends on what the first one said."""
    first, second = RandomizedResponse(p="3/4").channel(), RandomizedResponse(p="2/3").channel()
    assert first.product(second).epsilon(BITS).exact == ln(6)
    adaptive = Channel(
        [
            [a * b for a, again in zip(row, (first, second), strict=True) for b in again.rows[x]]
            for x, row in enumerate(first.rows)
        ],
        [True, False],
    )
    assert adaptive.epsilon(BITS).exact == ln(9)  # at most ln 3 + the larger of the two
    assert (pure("0.5") + pure("0.25") + pure("0.25")).epsilon() == 1


def test_the_least_error():
    best = optimal(range(7), epsilon=1, prior="uniform", gain="absolute")
    geometric = Geometric(epsilon=1, sensitivity=1, bounds=(0, 6)).channel().utility("uniform", "absolute")
    assert best.gap < 1e-12
    assert float(geometric.value) == pytest.approx(best.utility)
    flat = Flat(range(7), epsilon=1).channel().utility("uniform", "absolute")
    assert float(flat.value) < best.utility - 0.1


def test_parallel_composition():
    """One person in ward A or B: for replacement the two counts together have the sum. For add/remove the larger."""
    for a, b in ((2, 2), (2, 3)):
        one, two = (Geometric(epsilon=ln(x), sensitivity=1, bounds=(0, 1)).channel().rows for x in (a, b))
        both = {(m, n): [p * q for p in one[m] for q in two[n]] for m in (0, 1) for n in (0, 1)}
        wards = Channel([both[1, 0], both[0, 1]], ["A", "B"])
        assert wards.epsilon(graph.complete(["A", "B"])).exact == ln(a * b)
        coming = Channel([both[0, 0], both[1, 0], both[0, 1]], ["nobody", "A", "B"])
        assert coming.epsilon(graph.of(coming.inputs, [("nobody", "A"), ("nobody", "B")])).exact == ln(max(a, b))
    parts, nothing = [pure("0.5"), pure("0.3"), pure("0.2")], pure(0, unit=Unit.REPLACE_ONE)
    assert parallel(parts).epsilon() == 0.5
    assert parallel(parts, unit=Unit.REPLACE_ONE, inside=nothing).epsilon() == pytest.approx(0.8)


def test_post_processing():
    first = RandomizedResponse(p="3/4").channel()
    for p in TRUTHS:
        assert first.then(RandomizedResponse(p=p).channel()).epsilon(BITS).exact < ln(3)
    relabelled = first.then(Channel([[0, 1], [1, 0]], [True, False], ["no", "yes"]))
    assert relabelled.epsilon(BITS).exact == ln(3)
    count = Geometric(epsilon=1, sensitivity=1)
    assert Processed(mechanism=count, function=abs).guarantee == count.guarantee
    peeking = Channel([["3/4", "1/4", 0], [0, "1/4", "3/4"]], [True, False])  # a second step that looks at the data
    assert peeking.epsilon(BITS).epsilon == math.inf


def test_presence_or_absence_is_one_of_two_units():
    assert pure(1).to(Unit.REPLACE_ONE) == pure(2, unit=Unit.REPLACE_ONE)
    with pytest.raises(UnitError):
        pure(1, unit=Unit.REPLACE_ONE).to(Unit.ADD_REMOVE)


def test_blocks_put_together():
    report = Together(
        mechanisms=(chooser(1), Geometric(epsilon="0.5", sensitivity=1), Geometric(epsilon="0.5", sensitivity=1))
    )
    assert report.guarantee.epsilon() == 2
    choice, *numbers = report.release([("Greek",) * 3, 30, 2])
    assert choice in NATIONS
    assert all(isinstance(n, int) for n in numbers)


def test_the_sources():
    """The papers that the notes name are those that the files of the mechanisms name."""
    named = {
        response: "Warner 1965",
        laplace_file: "Dwork, McSherry, Nissim and Smith 2006",
        exponential: "McSherry and Talwar 2007",
    }
    for module, paper in named.items():
        assert paper in module.__doc__
