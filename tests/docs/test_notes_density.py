"""The notes on choosing, means, densities and testing: every claim of docs/notes/density.md, exactly if possible."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, pairwise, product
from pathlib import Path

import numpy as np
import pytest

import dither
from dither import Channel, Exponential, Geometric, Laplace, Unit, gdp, ln, pure, sensitivity
from dither.channels import graph
from dither.density import Bins, Grid, KolmogorovSmirnov, cdf, histogram
from dither.errors import BrokenPromise, InputError
from dither.testing import check_mechanism
from tests.docs.note_page import VERDICTS, counts

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "notes" / "density.md").read_text()
REPLACE = Unit.REPLACE_ONE
ROW = re.compile(r"^\| (\d+) \| (.+?) \| ([a-z ]+) \| \[(.+?)\]\(#(.+?)\) \| `(\w+)` \|$", re.MULTILINE)
PARAGRAPH = re.compile(r"^\*\*Claim (\d+): (holds under a condition|holds|corrected)\.?\*\*", re.MULTILINE)


# -- the page ------------------------------------------------------------------------------------------------------


def check_page(page):
    """Verdicts are counted right, every claim has one row, and one paragraph with the same verdict where its row says."""
    rows = ROW.findall(page)
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    counted = Counter(row[2] for row in rows)
    assert counts(page) == {**{verdict: counted[verdict] for verdict in VERDICTS}, "all": len(rows)}
    assert PARAGRAPH.findall(page) == [(row[0], row[2]) for row in rows]
    sections = re.split(r"^##+ ", page, flags=re.MULTILINE)
    inside = {n: part.splitlines()[0] for part in sections for n, _ in PARAGRAPH.findall(part)}
    for number, _, _, title, anchor, _ in rows:
        assert inside[number] == title
        assert anchor == re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_verdicts_are_counted_and_every_claim_is_treated():
    check_page(PAGE)
    assert len(ROW.findall(PAGE)) == 52


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("and 16 are corrected", "and 15 are corrected"),
        ("**Claim 20: corrected", "**Claim 20: holds"),
        ("**Claim 7: ", "Claim 7: "),
    ],
)
def test_a_planted_slip_in_the_page_is_seen(right, planted):
    assert PAGE.count(right) == 1
    with pytest.raises(AssertionError):
        check_page(PAGE.replace(right, planted))


def test_every_test_that_the_page_names_exists():
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for row in ROW.findall(PAGE):
        assert f"def {row[5]}(" in tests, row


def test_the_page_quotes_our_measurements():
    measured = (ROOT / "docs" / "samples.md").read_text()
    quoted = re.findall(r"^\| ([\d,]+, [\d.]+, 256) \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(quoted) == 4
    for case, numbers in quoted:
        [line] = re.findall(rf"^\| {re.escape(case)} \| (.+) \|$", measured, re.MULTILINE)
        assert re.sub(r" \(k = \d+\)", "", line) == numbers.replace("*", "")
    # few rows: a sample is closer; many: noise is
    values = [[float(x) for x in numbers.replace("*", "").split(" | ")] for _, numbers in quoted]
    assert [min(row) == row[0] for row in values] == [False, False, True, True]


# -- the exponential mechanism -------------------------------------------------------------------------------------


def mean(rows):
    return sum(rows, start=Fraction(0)) / len(rows)


def utility(report, q, rows):
    return -(abs(mean(rows) - report) ** q)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_utilities_of_a_mean(n):
    reports = [Fraction(report, 6) for report in range(7)]
    for q, most in ((1, Fraction(1, n)), (2, Fraction(2, n) - Fraction(1, n**2))):
        moved = [sensitivity.of(partial(utility, report, q), universe=[0, 1], rows=n, unit=REPLACE).l1 for report in reports]
        assert max(moved) == most == moved[0]


def test_no_bound_on_the_line():
    """Squared errors with reports on the whole line: the change grows with the report."""
    for far in (10, 1000):
        assert sensitivity.of(partial(utility, -far, 2), universe=[0, 1], rows=2, unit=REPLACE).l1 > far


def test_the_shortfall_is_small():
    for size in (2, 10, 100):
        choice = Exponential(epsilon=1, sensitivity=1, candidates=size, integers=True)
        worst = [100] + [100 - int(choice.error("0.95")) - 1] * (size - 1)
        assert choice.tail(worst, 1).upper <= 0.05
        assert choice.error("0.95") <= dither.accuracy.exponential_shortfall(1, size, dither.ln(20))


def test_likelier_where_the_utility_is_higher():
    choice = Exponential(epsilon=ln(4), sensitivity=1, candidates=3, integers=True)
    for scores in product(range(4), repeat=3):
        chances = list(choice.channel([scores]).row(scores).values())
        for i, j in product(range(3), repeat=2):
            assert chances[i] / chances[j] == Fraction(2) ** (scores[i] - scores[j])


def test_laplace_noise_is_an_exponential_mechanism():
    """Same shape; the noise falls twice as fast, at the same exact epsilon or less."""
    noise = Geometric(epsilon=ln(4), sensitivity=1)
    assert check_mechanism(noise).epsilon == pytest.approx(math.log(4))
    row = Geometric(epsilon=ln(4), sensitivity=1, bounds=(0, 10)).channel().row(5)
    assert all(row[report] / row[report + 1] == 4 for report in range(5, 9))  # the ends hold what lies beyond them
    chosen = Exponential(epsilon=ln(4), sensitivity=1, candidates=11, score=lambda x, y: -abs(x - y), integers=True)
    assert all(chosen.channel([5]).row(5)[report] / chosen.channel([5]).row(5)[report + 1] == 2 for report in range(5, 10))


def test_weights_need_a_finite_sum():
    choice = Exponential(epsilon=ln(4), sensitivity=1, candidates=3, integers=True)
    weights = [Fraction(2) ** s for s in (4, 3, 1)]
    assert sum(weights) == 26
    assert list(choice.channel([(4, 3, 1)]).row((4, 3, 1)).values()) == [w / 26 for w in weights]
    for endless in (0, math.inf, 2**40):
        with pytest.raises(InputError, match="is refused"):
            Exponential(epsilon=1, sensitivity=1, candidates=endless)
    for moved in (0, math.inf):
        with pytest.raises(InputError, match="is refused"):
            Exponential(epsilon=1, sensitivity=moved, candidates=3)


def test_both_halves_of_the_price():
    largest = Fraction(0)
    for scores in product(range(4), repeat=3):
        for move in product((-1, 0, 1), repeat=3):
            x = [Fraction(2) ** s for s in scores]
            y = [w * Fraction(2) ** d for w, d in zip(x, move, strict=True)]
            assert all(Fraction(1, 2) <= a / b <= 2 for a, b in zip(x, y, strict=True))
            assert Fraction(1, 2) <= sum(y) / sum(x) <= 2
            largest = max(largest, *((a / sum(x)) / (b / sum(y)) for a, b in zip(x, y, strict=True)))
    assert 3 < largest < 4
    one, other = (40, 0), (39, 1)
    found = Exponential(epsilon=ln(4), sensitivity=1, candidates=2, integers=True).channel([one, other])
    assert found.row(other)[1] / found.row(one)[1] > 4 - Fraction(1, 10**10)


def test_a_halved_price_is_caught():
    class NoTwo(Exponential):
        rate = property(lambda self: self.epsilon / self.reach)  # exp(epsilon u / Delta), without the 2

    with pytest.raises(BrokenPromise):
        check_mechanism(NoTwo(epsilon=2, sensitivity=1, candidates=3, integers=True))


# -- a mean --------------------------------------------------------------------------------------------------------


def test_a_finite_support_is_not_enough():
    for far in (10, 10**6):
        assert sensitivity.of(mean, universe=[0, far], rows=3, unit=REPLACE).l1 == Fraction(far, 3)


def test_a_mean_moves_by_one_nth():
    for n in (1, 2, 3, 5):
        assert sensitivity.of(mean, universe=[0, Fraction(1, 3), 1], rows=n, unit=REPLACE).l1 == Fraction(1, n)
        assert sensitivity.mean(0, 1, rows=n).l1 == Fraction(1, n)
    whole = sensitivity.of(lambda rows: mean(rows) if rows else 0, universe=[0, 1], rows=4)
    assert whole.l1 == 1  # people come and go, perhaps all of them


def test_noise_that_depends_on_the_size_of_the_data():
    """Geometric noise of rate n ln 2 on a line, all rows 0: n against n + 1 rows has no largest ratio."""
    for n in (1, 5):
        ratios = []
        for report in range(1, 8):
            rates = [Fraction(1, 2**size) for size in (n, n + 1)]  # e^-rate
            weights = [rate**report * (1 - rate) / (1 + rate) for rate in rates]
            ratios.append(weights[0] / weights[1])
        assert all(after == 2 * before for before, after in pairwise(ratios))
        assert ratios[-1] > 2**5  # epsilon was to be ln 2


@pytest.mark.parametrize("rows", [2, 5, 10, 20])
def test_absolute_errors_on_an_interval(rows):
    choice = Exponential(epsilon=ln(4), sensitivity=1, candidates=rows + 1, score=lambda x, report: -abs(x - report),
                         integers=True, unit=REPLACE)  # fmt: skip
    channel = choice.channel(range(rows + 1))
    worst = max(channel.row(a)[report] / channel.row(b)[report] for a in range(rows + 1) for b in (a - 1, a + 1)
                if 0 <= b <= rows for report in range(rows + 1))  # fmt: skip
    assert worst == 2 * (1 + Fraction(2 ** (rows - 1) - 1, 2 ** (rows + 1) - 1))
    assert 2 < worst < 4


def test_squared_errors_lose_to_laplace_noise():
    """Variances of the three laws on the line, epsilon = 1: 2/n^2, four times that, and 1/n."""
    for n in (1, 2, 10, 100):
        line = np.linspace(-60 / n, 60 / n, 400_001)
        laplace, absolute, squared = (
            float(np.average(line**2, weights=np.exp(-n * shape))) for shape in (abs(line), abs(line) / 2, line**2 / 2)
        )
        assert laplace == pytest.approx(2 / n**2, rel=1e-4)
        assert absolute == pytest.approx(4 * laplace, rel=1e-4)
        assert squared == pytest.approx(1 / n, rel=1e-4)
        assert squared / (0.25 / n) == pytest.approx(4, rel=1e-4)  # beside a mean of fair coins, for every n
        assert (squared > laplace * 1.001) is (n > 2)


def test_squared_errors_move_by_nearly_two_nths():
    for n in (1, 2, 10, 1000):
        assert dither.IntervalMean(epsilon=1, rows=n, squared=True).sensitivity == Fraction(2, n) - Fraction(1, n**2)
    assert dither.IntervalMean(epsilon=1, rows=10, squared=True).sensitivity > Fraction(1, 10)  # what the notes have


@pytest.mark.parametrize("rows", [2, 4, 10])
def test_the_law_of_squared_errors_is_private_on_the_interval(rows):
    """Rate n e / 2 for squares in units of 1/n^2, so e / 2n a unit: e = 2n ln 2 makes every weight a power of two."""
    laws = []
    for count in range(rows + 1):
        weights = [Fraction(1, 2 ** ((count - report) ** 2)) for report in range(rows + 1)]
        laws.append([w / sum(weights) for w in weights])
    worst = max(max(a / b, b / a) for x, y in pairwise(laws) for a, b in zip(x, y, strict=True))
    assert 2**rows < worst <= 2 ** (2 * rows)  # more than half of the price is used


def test_a_full_normal_law_has_no_epsilon():
    for n in (1, 4, 100):
        promise = gdp(mu2=Fraction(1, n))  # epsilon = 1
        assert promise.epsilon(0) == math.inf
        assert promise.epsilon("1e-6") < 6
    # the log ratio of N(0, 1/n) and N(1/n, 1/n) at report is 1/(2n) - report, without bound
    assert [Fraction(n * ((report - Fraction(1, n)) ** 2 - report**2), 2) for n in (1, 5) for report in (-9, 9)] == [
        Fraction(19, 2), Fraction(-17, 2), Fraction(91, 10), Fraction(-89, 10)]  # fmt: skip


def test_the_unconditional_law():
    """Fair coins: the variance is right exactly, the fourth moment is that of a normal law only in the limit."""
    for n, epsilon in ((1, 1), (4, 2), (50, 1)):
        added, law = (
            Fraction(1, n * epsilon),
            [(Fraction(math.comb(n, k), 2**n), Fraction(k, n) - Fraction(1, 2)) for k in range(n + 1)],
        )
        second = sum(p * d**2 for p, d in law) + added
        fourth = sum(p * (d**4 + 6 * d**2 * added + 3 * added**2) for p, d in law)
        assert second == Fraction(1, n) * (Fraction(1, epsilon) + Fraction(1, 4))
        assert fourth < 3 * second**2
        assert 3 * second**2 - fourth == Fraction(1, 8 * n**3)  # the fourth cumulant of a mean of coins
    # every row is 0: cut in half, and biased
    n = 2500
    shape = np.exp(-n / 2 * np.linspace(0, 1, 20001) ** 2)
    assert np.average(np.linspace(0, 1, 20001), weights=shape) == pytest.approx(math.sqrt(2 / math.pi / n), rel=0.01)


# -- densities -----------------------------------------------------------------------------------------------------


def test_counts_become_a_density():
    side = Bins.even(0, 1, 3)
    plan = histogram(Grid(side, side), epsilon=1, unit=REPLACE, rows=90)
    assert plan.axis.size == 3**2
    counts = plan.release([10] * 9).counts
    assert sum(counts / 90 * 9) * Fraction(1, 9) == pytest.approx(1)  # density times volume of a cell


@pytest.mark.parametrize("cells", [1, 2, 3, 6])
def test_a_histogram_moves_one_cell(cells):
    def counts(rows):
        return [rows.count(cell) for cell in range(cells)]

    universe = [*range(cells), "in no cell"]
    assert sensitivity.of(counts, universe=universe, rows=2).l1 == 1
    assert sensitivity.of(counts, universe=universe, rows=2, unit=REPLACE).l1 == min(2, cells)
    assert histogram(Bins.even(0, 1, 10**4), epsilon=1).error(0.95) < 2.5 * histogram(Bins.even(0, 1, 100), epsilon=1).error(
        0.95
    )


SAMPLES = [tuple(z.count(cell) for cell in range(3)) for z in combinations_with_replacement(range(3), 2)]


def ks(rows, sample, cells=3):
    points, n = sum(sample), len(rows)
    gaps = [abs(Fraction(sum(c <= j for c in rows), n) - Fraction(sum(sample[: j + 1]), points)) for j in range(cells - 1)]
    return max(gaps)


def test_the_wrong_sign_prefers_the_farthest():
    rows = (0, 0, 0, 0)
    for sign, favourite in ((-1, min), (1, max)):
        choice = Exponential(
            epsilon=ln(4),
            sensitivity=1,
            candidates=SAMPLES,
            score=lambda x, z, s=sign: int(s * 4 * ks(x, z)),
            integers=True,
            unit=REPLACE,
        )
        law = choice.channel([rows]).row(rows)
        likeliest = max(law, key=law.get)
        assert ks(rows, likeliest) == favourite(ks(rows, z) for z in SAMPLES)
        databases = graph.databases(range(3), 4)
        assert float(choice.channel(databases.nodes).epsilon(databases).epsilon) <= math.log(4)  # private all the same


def corner_gap(rows, sample, side=2):
    """KS on a square: the largest gap over corners."""
    return max(abs(Fraction(sum(a <= i and b <= j for a, b in rows), len(rows))
                   - Fraction(sum(a <= i and b <= j for a, b in sample), len(sample)))
               for i in range(side) for j in range(side))  # fmt: skip


def test_the_distance_moves_by_one_nth():
    for n in (1, 2, 4):
        moved = max(
            abs(ks(x, z) - ks((*x[:-1], c), z)) for x in product(range(3), repeat=n) for c in range(3) for z in SAMPLES
        )
        assert moved == Fraction(1, n)
    places = list(product(range(2), repeat=2))
    data, samples = list(product(places, repeat=2)), list(combinations_with_replacement(places, 2))
    assert max(abs(corner_gap(x, z) - corner_gap((x[0], c), z)) for x in data for c in places for z in samples) == Fraction(
        1, 2
    )
    # people come and go, each data set measured by its own size: 1/n for the larger n
    for n in (2, 3, 4):
        assert max(abs(ks(x, z) - ks(x[:-1], z)) for x in product(range(3), repeat=n) for z in SAMPLES) <= Fraction(1, n)


def mean_distance(n, k, share, epsilon=1.0):
    """Two cells, sequences: the exact law in floats."""
    s = np.arange(k + 1)
    steps = np.concatenate([[0], np.cumsum(np.log(np.arange(k, 0, -1)) - np.log(np.arange(1, k + 1)))])
    logs = steps - epsilon * n * np.abs(s / k - share) / 2
    return float(np.average(np.abs(s / k - share), weights=np.exp(logs - logs.max())))


def test_too_many_points():
    for n in (1000, 10_000, 100_000):
        limit = 0.9 - 1 / (1 + math.exp(-0.5))  # ln(q / (1 - q)) = 1/2
        assert mean_distance(n, n, 0.9) == pytest.approx(limit, abs=0.001)
        assert mean_distance(n, round(n ** (2 / 3)), 0.9) < 0.1 * n ** (-1 / 3)
        below, above = (mean_distance(n, int(c * n / (2 * math.log(9))), 0.9) for c in (0.8, 1.5))
        assert below < 0.01 < 0.08 < above  # the slope of the entropy at 0.9 is ln 9
    drawn = KolmogorovSmirnov(bins=Bins.even(0, 1, 2), rows=1000, points=1000, epsilon=1, base="sequences")
    assert all(0.5 < drawn.release([900, 100])[0] / 1000 < 0.75 for _ in range(3))  # 8 deviations on both sides


def test_noise_on_a_histogram_is_faster():
    exponents = {r: Fraction(2, r + 2) for r in range(1, 7)}  # of n, from V^-1 = V^(r/2) / n
    for r, exponent in exponents.items():
        assert exponent == 1 - exponent * Fraction(r, 2)
    assert [r for r, e in exponents.items() if e > Fraction(1, 3)] == [1, 2, 3]
    for n in (10**4, 10**6):
        noise = cdf(Bins.even(0, 1, math.isqrt(n)), epsilon=1, unit=REPLACE, rows=n).error(0.95) / n
        flat = math.sqrt(8 * math.isqrt(n)) / n  # deviation of the last of the running sums, noise of scale 2 in every cell
        assert max(noise, flat) < n**-0.5 < n ** (-1 / 3) / 4


def test_sampling_error_of_a_share():
    """P(|share - p| > t) <= 2 exp(-2 n t^2), and at t = c / sqrt n it does not vanish: exact binomials."""
    for n in (10, 100, 400):
        law = [(Fraction(math.comb(n, k), 2**n), abs(Fraction(k, n) - Fraction(1, 2))) for k in range(n + 1)]
        for c in (Fraction(1, 2), Fraction(1), Fraction(2)):
            beyond = sum(p for p, d in law if d**2 * n > c**2)
            assert beyond <= 2 * math.exp(-2 * c**2)
        assert sum(p for p, d in law if d**2 * n > Fraction(1, 4)) > Fraction(1, 5)


# -- tests, composition --------------------------------------------------------------------------------------------


def best_power(null, other, level):
    """Neyman and Pearson: outcomes in the order of their likelihood ratio, the last one in part."""
    power, room = Fraction(0), Fraction(level)
    for q, p in sorted(zip(other, null, strict=True), key=lambda pair: -pair[0] / pair[1]):
        part = min(Fraction(1), room / p)
        power, room = power + part * q, room - part * p
    return power


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 5)])
def test_no_test_beats_the_bound(share):
    """Two others drawn from F, she is 0 or 1; a count with noise, and a choice: every level, exactly."""
    noise = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 3), unit=REPLACE).channel()
    choice = Exponential(epsilon=ln(4), sensitivity=1, candidates=2, score=lambda x, report: x if report else 3 - x,
                         integers=True, unit=REPLACE).channel(range(4))  # fmt: skip
    for channel, factor in ((noise, 2), (choice, 4)):
        others = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
        laws = [
            [sum(w * channel.row(heads + own)[out] for heads, w in enumerate(others)) for out in channel.outputs]
            for own in (0, 1)
        ]
        for level in (Fraction(k, 40) for k in range(1, 40)):
            power = max(best_power(laws[0], laws[1], level), best_power(laws[1], laws[0], level))
            assert power <= min(factor * level, 1 - (1 - level) / factor)
    # people who come and go: replacing one costs twice
    cell = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 1)).channel()
    laws = [[cell.row(a)[x] * cell.row(b)[y] for x in (0, 1) for y in (0, 1)] for a, b in ((0, 1), (1, 0))]
    assert best_power(*laws, Fraction(1, 9)) == Fraction(4, 9) > 2 * Fraction(1, 9)


def test_power_at_large_epsilon():
    assert pure("0.1").tradeoff("0.05") < 0.056
    assert 0.95 < pure(3).tradeoff("0.05") < 0.96
    odds = Channel([["20/21", "1/21"], ["1/21", "20/21"]])  # attained: epsilon = ln 20
    assert best_power(odds.row(0).values(), odds.row(1).values(), Fraction(1, 21)) == Fraction(20, 21)


def test_two_steps_in_a_row():
    for a, b in product((Fraction(11, 10), Fraction(2), Fraction(5), Fraction(50)), repeat=2):  # e^epsilon of two coins
        first, second = (Channel([[c / (1 + c), 1 / (1 + c)], [1 / (1 + c), c / (1 + c)]]) for c in (a, b))
        chain = first.then(second)
        ratio = chain.row(0)[0] / chain.row(1)[0]
        assert ratio == (1 + a * b) / (a + b)
        assert math.log(ratio) <= math.log(a) * math.log(b) / 2
        assert ratio < min(a, b)
    # the counter-example: 0 or 100, then noise that hides steps of 1
    noise = Geometric(epsilon=ln("11/10"), sensitivity=1, bounds=(0, 100)).channel()
    first = Channel([["3/4", "1/4"], ["1/4", "3/4"]], ["no", "yes"], [0, 100])
    chain = first.then(Channel([list(noise.row(x).values()) for x in (0, 100)], [0, 100], noise.outputs))
    true = math.log(max(chain.row("no")[out] / chain.row("yes")[out] for out in chain.outputs))
    assert 10 * math.log(3) * math.log(1.1) < true <= math.log(3)
    assert (pure(1) + pure("0.5")).epsilon() == pytest.approx(1.5)
    assert (100 * pure("0.1")).epsilon("1e-6") < 5


# -- the summary ---------------------------------------------------------------------------------------------------


def test_members_of_a_study_are_found():
    rng = np.random.default_rng(8)
    population = rng.uniform(0.1, 0.9, 1500)
    study, strangers = (rng.random((size, 1500)) < population for size in (60, 1000))
    weights = study.mean(axis=0) - population
    limit = np.quantile((strangers - population) @ weights, 0.95)
    assert np.mean((study - population) @ weights > limit) > 0.95
    assert pure(1, unit=REPLACE).tradeoff("0.05") < 0.14


def test_every_set_follows_from_every_outcome():
    law = Exponential(epsilon=ln(4), sensitivity=1, candidates=4, integers=True)
    for move in product((-1, 0, 1), repeat=4):
        one, other = (2, 1, 0, 3), tuple(s + d for s, d in zip((2, 1, 0, 3), move, strict=True))
        p, q = (list(law.channel([x]).row(x).values()) for x in (one, other))
        subsets = [[place for place in range(4) if s[place]] for s in product((0, 1), repeat=4) if any(s)]
        ratios = [sum(p[place] for place in s) / sum(q[place] for place in s) for s in subsets]
        assert max(ratios) == max(a / b for a, b in zip(p, q, strict=True))


def test_all_frequencies_or_the_best_few():
    size, alleles = 10_000, 4000
    every = Laplace(epsilon=1, sensitivity=2 * size, dimension=size, unit=REPLACE)
    few = dither.TopK(k=5, epsilon=1, sensitivity=2, candidates=size, integers=True, unit=REPLACE)
    assert every.error(0.95) > 10 * alleles
    assert few.error(0.95) < alleles / 10


def test_low_dimension_is_cheap():
    assert Laplace(epsilon=1, sensitivity=sensitivity.mean(0, 1, rows=1000)).error(0.95) < 0.0031
    assert dither.NoisyMax(epsilon=1, sensitivity=1, candidates=100, monotone=True, integers=True).error(0.95) < 15


@pytest.mark.parametrize("ratio", [Fraction(121, 100), Fraction(4)])
def test_a_private_choice_does_not_overfit(ratio):
    coins, rows = 3, 4
    choice = Exponential(epsilon=ln(ratio), sensitivity=1, candidates=coins, integers=True, unit=REPLACE)
    private = best = Fraction(0)
    for heads in product(range(rows + 1), repeat=coins):
        chance = Fraction(math.prod(math.comb(rows, h) for h in heads), 2 ** (rows * coins))
        chosen = choice.channel([heads]).row(heads)
        private += chance * sum(p * Fraction(heads[j], rows) for j, p in chosen.items())
        best += chance * Fraction(max(heads), rows)
    assert 0 < private - Fraction(1, 2) <= (ratio - 1) / 2  # (e^epsilon - 1) times the mean over the population
    assert best - Fraction(1, 2) > Fraction(1, 5) > private - Fraction(1, 2)


def test_a_private_choice_may_not_be_left_out():
    """The planted wrong number: without privacy the bound of epsilon = ln 1.21 is broken."""
    heads = product(range(5), repeat=4)
    best = sum(Fraction(math.prod(math.comb(4, h) for h in row), 2**16) * Fraction(max(row), 4) for row in heads)
    assert best - Fraction(1, 2) > Fraction(21, 100)
