"""The page on the notes on basics: its table is complete, and what it says is true, exactly where that is possible."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import chain, combinations, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from flint import acb, arb

import dither
from dither import Unit, approx, calibrate, gdp, ln, pure, sensitivity, theorems, zcdp
from dither.channels import graph, oblivious
from dither.errors import BrokenPromise, GuaranteeError, NumberError, UnitError
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import check_mechanism
from tests.docs.note_page import VERDICTS, counts

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "notes" / "basics.md").read_text()
ROW = re.compile(
    r"^\| (\d+) \| (.+?) \| (holds|holds under a condition|corrected) \| \[(.+?)\]\(#(.+?)\) \| (.+?) \|$", re.MULTILINE
)
CLAIMS = ROW.findall(PAGE)
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

# -- the page --------------------------------------------------------------------------------------------------------


def counted(page: str) -> dict[str, int]:
    """How many claims have which verdict, by the table of all claims."""
    verdicts = [row[2] for row in ROW.findall(page)]
    found = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    return {**found, "all": len(verdicts)}


def test_the_page_counts_its_verdicts():
    assert counts(PAGE) == counted(PAGE)
    assert [int(row[0]) for row in CLAIMS] == list(range(1, 52))
    planted = re.sub(r"^\| 36 \| .+? \| corrected \|", "| 36 | x | holds |", PAGE, flags=re.MULTILINE)
    assert counts(PAGE) != counted(planted)


def test_every_claim_has_its_verdict_in_the_section_that_the_table_names():
    sections: dict[str, str] = {}
    for part in re.split(r"^##+ ", PAGE, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        sections[title] = text
    for number, _, verdict, title, anchor, _ in CLAIMS:
        assert anchor == re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        words = "is corrected" if verdict == "corrected" else verdict + "(?! under)"
        text = " ".join(sections[title].split())
        assert re.search(rf"\b[Cc]laim {number} {words}", text), (number, verdict, title)


def test_every_named_test_exists():
    here = Path(__file__).read_text()
    for number, *_, test in CLAIMS:
        if test != "none: history":
            assert f"def {test.strip('`')}(" in here, (number, test)


# -- small things ----------------------------------------------------------------------------------------------------

Law = tuple[Fraction, ...]
COIN: tuple[Law, Law] = ((3 * QUARTER, QUARTER), (QUARTER, 3 * QUARTER))
MILD: tuple[Law, Law] = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))


def events(size: int) -> chain[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(size), r) for r in range(size + 1))


def is_private(p: Law, q: Law, factor: Fraction, delta: Fraction = Fraction(0)) -> bool:
    """The definition, for every event and in both orders; `factor` is e^epsilon."""
    chances = [(sum(p[i] for i in event), sum(q[i] for i in event)) for event in events(len(p))]
    return all(a <= factor * b + delta and b <= factor * a + delta for a, b in chances)


def noisy_count(people: int) -> dither.Channel:
    count = dither.Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, people)).channel()
    return oblivious.lift(count, sum, [0, 1], people)


def law(channel: dither.Channel, data: object) -> Law:
    return tuple(channel.row(data).values())  # type: ignore[arg-type]


def ball(x: object) -> arb:
    return to_ball(Fraction(str(x)))


def renyi(p: Law, q: Law, order: int) -> arb:
    """Of a whole order above 1."""
    total = sum((x**order / y ** (order - 1) for x, y in zip(p, q, strict=True)), start=Fraction(0))
    return to_ball(total).log() / (order - 1)


# -- the definition --------------------------------------------------------------------------------------------------


def test_neighbours_are_one_row_apart():
    three = graph.databases([0, 1, 2], 3)
    found = {frozenset((three.nodes[a], three.nodes[b])) for a, b in three.edges}
    pairs = combinations(product([0, 1, 2], repeat=3), 2)
    wanted = {frozenset(pair) for pair in pairs if sum(x != y for x, y in zip(*pair, strict=True)) == 1}
    assert found == wanted


def test_the_definition_on_every_event():
    """A noisy count of three people with e^epsilon = 2: every event, every pair, both orders; and 1.99 is refused."""
    noisy, three = noisy_count(3), graph.databases([0, 1], 3)
    pairs = [(law(noisy, three.nodes[a]), law(noisy, three.nodes[b])) for a, b in three.edges]
    assert all(is_private(p, q, Fraction(2)) for p, q in pairs)
    assert not all(is_private(p, q, Fraction(199, 100)) for p, q in pairs)  # planted


def test_single_outputs_are_not_enough_with_delta():
    cent = Fraction(1, 100)
    p, q = (cent,) * 10 + (Fraction(0), Fraction(9, 10)), (Fraction(0),) * 10 + (Fraction(1, 10), Fraction(9, 10))
    assert all(x <= y + cent for x, y in zip(p, q, strict=True))
    assert not is_private(p, q, Fraction(1), Fraction(99, 1000))
    assert is_private(p, q, Fraction(1), Fraction(1, 10))


def test_other_neighbours():
    assert pure("0.5").to(Unit.REPLACE_ONE) == pure(1, unit=Unit.REPLACE_ONE)
    with pytest.raises(UnitError):
        pure(1, unit=Unit.REPLACE_ONE).to(Unit.ADD_REMOVE)


def test_without_loss_the_data_are_not_seen():
    """Any two data sets are joined by neighbours, so equal laws along edges are equal laws everywhere."""
    three = graph.databases([0, 1], 3)
    reached, border = {0}, [0]
    while border:
        here = border.pop()
        near = {b if a == here else a for a, b in three.edges if here in (a, b)} - reached
        reached |= near
        border += near
    assert len(reached) == 8
    for level in ("0.01", "0.5"):
        assert pure(0).tradeoff(level) == pytest.approx(float(level), abs=1e-15)


def test_a_larger_epsilon_is_a_weaker_promise():
    powers = [pure(epsilon).tradeoff("0.05") for epsilon in ("0", "0.1", "1", "2", "3")]
    assert powers == sorted(powers)
    assert pure("0.1").within(pure("0.2"))
    assert not pure("0.2").within(pure("0.1"))


def test_events_must_be_many_times_delta():
    """P(S) = C delta gives P/Q <= e^epsilon C/(C-1), attained; and nothing at C = 1."""
    delta, factor = Fraction(1, 100), Fraction(101, 100)
    for times in (1, 2, 10, 50):
        there = (times - 1) * delta / factor
        p, q = (times * delta, 1 - times * delta), (there, 1 - there)
        assert is_private(p, q, factor, delta)
        assert not is_private(p, (there - Fraction(1, 10**6), 1 - there + Fraction(1, 10**6)), factor, delta)
        if times > 1:
            assert p[0] / q[0] == factor * times / (times - 1)
        else:
            assert q[0] == 0


def test_robust_and_private_are_two_things():
    rows = list(product([0, 1, 9], repeat=5))
    middle = {data: sorted(data)[2] for data in rows}
    for data in rows:  # two changed rows: still between the least and the largest of the three others
        assert min(data[:3]) <= middle[data] <= max(data[:3])
    assert any(middle[data] != middle[(*data[:4], 9)] for data in rows)  # no noise, and neighbours differ: no epsilon
    # accurate and private is robust: e^(k epsilon) beta, for the noisy count of five and "off by 3 or more"
    noisy, truth = noisy_count(5), (0,) * 5
    far = [sum(law(noisy, (1,) * k + (0,) * (5 - k))[3:], start=Fraction(0)) for k in range(6)]
    assert all(far[k] <= 2**k * far[0] for k in range(6))
    assert sum(law(noisy, truth)[:3], start=far[0]) == 1


def test_every_post_processing_keeps_the_promise():
    """All maps from four outputs to three, and random ones."""
    noisy, three = noisy_count(3), graph.databases([0, 1], 3)
    p, q = law(noisy, (0, 0, 0)), law(noisy, (0, 0, 1))
    for images in product(range(3), repeat=4):
        made = [
            tuple(sum((x[i] for i in range(4) if images[i] == at), start=Fraction(0)) for at in range(3)) for x in (p, q)
        ]
        assert is_private(made[0], made[1], Fraction(2))
    mixed = dither.Channel([["1/2", "1/2"], ["1/3", "2/3"], [1, 0], ["1/5", "4/5"]], noisy.outputs, ["a", "b"])
    assert noisy.then(mixed).epsilon(three).epsilon <= noisy.epsilon(three).epsilon


def test_composition_needs_coins_of_its_own():
    own = [tuple(x * y for x in COIN[who] for y in MILD[who]) for who in (0, 1)]
    assert is_private(own[0], own[1], Fraction(6))
    assert not is_private(own[0], own[1], Fraction(599, 100))  # planted
    shared = ((HALF, Fraction(0), Fraction(0), HALF), (Fraction(0), HALF, HALF, Fraction(0)))
    for first in (0, 1):  # each of the two bits is fair, whoever was asked
        for value in (0, 1):
            sums = [sum(who[2 * a + b] for a, b in product((0, 1), repeat=2) if (a, b)[first] == value) for who in shared]
            assert sums == [HALF, HALF]
    assert not is_private(shared[0], shared[1], Fraction(10**9), Fraction(999, 1000))


def test_in_the_end_the_loss_grows_linearly():
    """The exact epsilon of T randomized responses lies above T epsilon tanh(epsilon/2) for small delta, and near it."""
    for epsilon, times in (("1", 10_000), ("0.5", 19_000)):
        rate = theorems.optimal(epsilon, times, "1e-6") / times
        expected = float(epsilon) * math.tanh(float(epsilon) / 2)
        assert expected < rate < 1.25 * expected
    hundred, thousand = (theorems.optimal("0.01", times, "1e-6") for times in (100, 1000))
    assert thousand / hundred < 4  # the square root of ten is 3.16


def test_groups():
    noisy = noisy_count(3)
    for one, other in product(product((0, 1), repeat=3), repeat=2):
        apart = sum(x != y for x, y in zip(one, other, strict=True))
        assert is_private(law(noisy, one), law(noisy, other), Fraction(2**apart))
    assert not is_private(law(noisy, (0, 0, 0)), law(noisy, (1, 1, 1)), Fraction(799, 100))  # planted
    assert pure("0.01").group(100) == pure(1)


def test_groups_and_composition_have_different_deltas():
    """delta (1 + e^epsilon + e^2epsilon), attained by a chain of four laws with e^epsilon = 2."""
    delta, factor = Fraction(1, 100), 2
    chain_of = [Fraction(0)]
    for _ in range(3):
        chain_of.append(factor * chain_of[-1] + delta)
    laws = [(x, 1 - x) for x in chain_of]
    assert all(is_private(a, b, Fraction(factor), delta) for a, b in pairwise(laws))
    assert chain_of[3] == delta * (1 + factor + factor**2) > 3 * delta
    group = approx(ln(2), "0.01").group(3)
    assert 0.07 <= group.delta(ln(8)) < 0.0700001
    assert (3 * approx(ln(2), "0.01")).delta(ln(8)) <= 0.0300001


# -- sensitivity and Laplace noise -----------------------------------------------------------------------------------


def test_a_spike_cannot_be_hidden_and_shown():
    best = dither.optimal([0, 10**6], epsilon=1)
    assert 1 - best.utility >= 1 / (1 + math.e) - 1e-15
    assert 1 - best.utility - best.gap <= 1 / (1 + math.e) + 1e-12


def test_sensitivities():
    """All data of three rows, by hand."""
    for size in (2, 3):
        rows = list(product(range(size), repeat=3))
        cells = {data: [data.count(cell) for cell in range(size)] for data in rows}
        pairs = [(a, b) for a, b in product(rows, repeat=2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
        moved = [[abs(x - y) for x, y in zip(cells[a], cells[b], strict=True)] for a, b in pairs]
        found = sensitivity.histogram(unit=Unit.REPLACE_ONE)
        assert max(map(sum, moved)) == found.l1 == 2
        assert max(sum(x * x for x in change) for change in moved) == found.l2_squared == 2
    assert sensitivity.histogram().l1 == 1
    spike = sensitivity.of(lambda rows: 100 * (rows == (1, 1, 1)), universe=[0, 1], rows=3, unit=Unit.REPLACE_ONE)
    assert spike.l1 == 100


def test_a_large_sensitivity_may_be_no_obstacle():
    ranks = dither.density.Quantile(bins=dither.density.Bins.even(0, 100, 100), q="1/2", epsilon=1, unit=Unit.REPLACE_ONE)
    wider = dither.density.Quantile(bins=dither.density.Bins.even(0, 10**6, 100), q="1/2", epsilon=1, unit=Unit.REPLACE_ONE)
    assert ranks.error(0.95) == wider.error(0.95) < 20  # in ranks: the range does not matter


def test_the_laplace_density():
    """Mass one, variance 2 b^2 and the tail e^-t, by rigorous integration; scale 3/2."""
    with precision(128):
        b = arb(3) / 2

        def integral(weight: object, start: int, end: int) -> arb:
            def inside(x: acb, _: bool) -> acb:
                return (-x / b).exp() / (2 * b) * weight(x)  # type: ignore[operator]

            return acb.integral(inside, start, end).real

        tail = (-arb(150) / b).exp()  # beyond 150
        assert abs(2 * integral(lambda _: 1, 0, 150) + tail - 1) < 1e-20
        assert abs(2 * integral(lambda x: x * x, 0, 150) - 2 * b**2) < 1e-20
        for t in (1, 3, 8):
            beyond = 2 * integral(lambda _: 1, 3 * t, 150) + tail  # 3 t is 2 t scales
            assert abs(beyond - (-arb(2 * t)).exp()) < 1e-20
            assert not abs(beyond - (-arb(2 * t)).exp() / 2) < 1e-20  # planted: one side only
    assert dither.accuracy.laplace_tail(3) == pytest.approx(math.exp(-3), rel=1e-15)


def test_no_noise_for_nothing_to_hide():
    for moved in (0, "inf"):
        with pytest.raises(NumberError):
            dither.Laplace(epsilon=1, sensitivity=moved)


def geometric(x: int, rate: Fraction) -> Fraction:
    """Two-sided geometric noise, up to its constant."""
    return rate ** abs(x)


def test_laplace_on_every_histogram():
    """Scale 2/epsilon in each of three cells, replace one of three: the ratio is at most e^epsilon = 4 at every output."""
    rate = HALF  # e^(-epsilon/2)
    rows = list(product(range(3), repeat=3))
    cells = {data: [data.count(cell) for cell in range(3)] for data in rows}
    pairs = {
        (tuple(cells[a]), tuple(cells[b]))
        for a, b in product(rows, repeat=2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    }
    worst = Fraction(0)
    for one, other in pairs:
        for output in product(range(-1, 5), repeat=3):
            top = math.prod(geometric(y - x, rate) for x, y in zip(one, output, strict=True))
            bottom = math.prod(geometric(y - x, rate) for x, y in zip(other, output, strict=True))
            worst = max(worst, Fraction(top) / bottom)
    assert worst == 4
    mechanism = dither.Geometric(epsilon=ln(4), sensitivity=sensitivity.histogram(unit=Unit.REPLACE_ONE), dimension=3)
    assert mechanism.law == dither.noise.DiscreteLaplace(rate=ln(2))


def test_the_last_step_of_the_proof():
    """|f(X') - z| - |f(X) - z| <= |f(X') - f(X)| <= D, and the second is often strict."""
    mechanism = dither.Geometric(epsilon=ln(4), sensitivity=2, bounds=(0, 4))  # a sum of two rows of 0, 1 or 2
    added = oblivious.lift(mechanism.channel(), sum, [0, 1, 2], 2)
    for one, other in product(product((0, 1, 2), repeat=2), repeat=2):
        if sum(x != y for x, y in zip(one, other, strict=True)) == 1:
            ratio = max(p / q for p, q in zip(law(added, one), law(added, other), strict=True))
            assert ratio == 2 ** abs(sum(one) - sum(other)) <= 4  # and it is 2, not e^epsilon, where a row moves by 1


def test_the_union_bound():
    with precision(100):
        for d in (1, 2, 10, 1000):
            for eta in ("0.001", "0.05", "0.5", "1"):
                t = (ball(d) / ball(eta)).log()
                fails = 1 - (1 - (-t).exp()) ** d  # exactly, by independence
                assert fails < ball(eta) or abs(fails - ball(eta)) < 1e-25
                if d > 1:
                    assert fails < ball(eta)


def test_cells_of_a_histogram():
    for k in (1, 10, 1000):
        noise = dither.Geometric(epsilon=1, sensitivity=sensitivity.histogram(unit=Unit.REPLACE_ONE), dimension=k)
        error = noise.error(0.95)
        assert error <= 2 * math.log(k / 0.05) + 1  # whole numbers
        assert error > 2 * math.log(k) + 4  # so log k alone is not enough


def test_small_counts_are_lost():
    """A million people, ten cells, epsilon = 1, alpha = 0.1: n is 40,000 times what the notes ask; a cell of one is lost."""
    noise = dither.Geometric(epsilon=1, sensitivity=sensitivity.histogram(unit=Unit.REPLACE_ONE), dimension=10)
    assert 40_000 * math.log(10) / 0.1 / 1 < 10**6
    right = noise.law.pmf(0)
    assert math.tanh(0.25) == pytest.approx(right.upper, rel=1e-12)
    assert 1 - right.upper > 0.75  # wrong by 100% or more
    enough = noise.error(0.95) / 0.1
    assert enough == pytest.approx(100)


# -- Gaussian noise --------------------------------------------------------------------------------------------------


def test_gaussian_noise_sees_one_direction():
    """The exponent of the ratio of two densities is (|z|^2 - |z - v|^2)/2 = v.z - |v|^2/2: only the part of z along v."""
    v = (Fraction(3), Fraction(4))
    for z in product((Fraction(-1), HALF, Fraction(2)), repeat=2):
        turned = (z[0] - 4, z[1] + 3)  # moved across v
        exponents = [
            (sum(x * x for x in at) - sum((x - y) ** 2 for x, y in zip(at, v, strict=True))) / 2 for at in (z, turned)
        ]
        assert exponents[0] == exponents[1] == sum(x * y for x, y in zip(v, z, strict=True)) - Fraction(25, 2)


def test_norms():
    for vector in product(range(-3, 4), repeat=4):
        l1, l2_squared = sum(map(abs, vector)), sum(x * x for x in vector)
        assert l2_squared <= l1**2 <= 4 * l2_squared
    everywhere = sensitivity.of(lambda rows: [sum(rows)] * 9, universe=[0, 1], rows=2, unit=Unit.REPLACE_ONE)
    assert (everywhere.l1, everywhere.l2_squared) == (9, 9)


def test_no_pure_epsilon_for_gaussian_noise():
    assert gdp("0.001").epsilon(0) == math.inf
    assert math.isfinite(gdp("0.001").epsilon("1e-300"))


def true_delta(epsilon: Fraction, c2: Fraction) -> float:
    return gdp(mu2=epsilon**2 / c2).delta(epsilon)


def test_how_much_gaussian_noise():
    """c^2 = 2 ln(1/delta) + epsilon is enough everywhere; C ln(1/delta) is not, whatever C; 2 ln(1.25/delta) below 1."""
    deltas = ("1e-30", "1e-6", "0.01", "0.5", "0.99")
    for epsilon, delta in product(("0.001", "0.1", "1", "5", "30", "1000"), deltas):
        log = -math.log(float(delta))
        c2 = Fraction((2 * log + float(epsilon)) * (1 + 1e-12))
        assert true_delta(Fraction(epsilon), c2) <= float(delta)
        if float(epsilon) <= 2 * log:
            assert true_delta(Fraction(epsilon), Fraction(4 * log)) <= float(delta)
        if float(epsilon) < 1:
            assert true_delta(Fraction(epsilon), Fraction(2 * math.log(1.25 / float(delta)))) <= float(delta)
    for constant in (1, 2, 10, 100, 1000):
        log = math.log(1e5)
        assert true_delta(Fraction(round(4 * constant * log)), Fraction(constant * log)) > 1e-5
    assert true_delta(Fraction(1), Fraction(2 * -math.log(0.99))) > 0.99  # and near delta = 1
    with pytest.raises(GuaranteeError):
        calibrate.gaussian_classical(1, "1e-5")


def test_the_gaussian_profile():
    """The closed form against the integral of (p - e^epsilon q)+, for mu = 1 and epsilon = 1."""
    with precision(128):

        def inside(x: acb, _: bool) -> acb:
            def density(y: acb) -> acb:
                return (-y * y / 2).exp() / (2 * acb.pi()).sqrt()

            return density(x - 1) - acb(1).exp() * density(x)

        found = acb.integral(inside, acb(1.5), acb(40)).real  # the loss x - 1/2 exceeds 1 from there on
        assert abs(found - arb(gdp(1).delta(1))) < 1e-15


def test_the_gaussian_tail():
    """P(|Z| >= z) <= e^(-z^2/2): d numbers stay within sigma sqrt(2 ln(d/eta)); and sqrt(ln 1/delta) cannot be left out."""
    for step in range(400):
        z = step / 20
        assert math.erfc(z / math.sqrt(2)) <= math.exp(-z * z / 2) * (1 + 1e-12)
    ratios = []
    for delta in ("1e-3", "1e-6", "1e-24", "1e-96"):
        sigma = float(calibrate.gaussian(1, delta))
        error = dither.Gaussian(l2_sensitivity=1, epsilon=1, delta=delta).error(0.95)
        assert error <= 1.01 * sigma * math.sqrt(2 * math.log(1 / 0.05))
        ratios.append(error / math.sqrt(math.log(1 / 0.05)))
    assert ratios[-1] > 7 * ratios[0]  # no constant bounds it
    roots = [
        ratio / math.sqrt(-math.log(float(d))) for ratio, d in zip(ratios, ("1e-3", "1e-6", "1e-24", "1e-96"), strict=True)
    ]
    assert max(roots) < 1.6


# -- concentrated privacy --------------------------------------------------------------------------------------------


def printed(p: Law, q: Law, order: int) -> Fraction:
    """E_P[(dQ/dP)^(order - 1)]: what the notes take the logarithm of."""
    return sum((x * (y / x) ** (order - 1) for x, y in zip(p, q, strict=True) if x), start=Fraction(0))


def test_the_divergence_as_printed():
    for p, q in (COIN, MILD, (COIN[0], MILD[1])):
        assert printed(p, q, 2) == 1  # so the divergence of order 2 is 0, whatever the laws
        for order in (3, 4, 7):  # (a - 2)/(a - 1) D_(a-1)(Q || P)
            with precision(100):
                left = to_ball(printed(p, q, order)).log() / (order - 1)
                right = renyi(q, p, order - 1) * (order - 2) / (order - 1)
                assert abs(left - right) < 1e-25
    shown = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))  # the data are printed
    assert all(printed(p, q, order) == 0 for p, q in (shown, shown[::-1]) for order in (2, 3, 50))
    flip = dither.Loss.from_pair({"y": "3/4", "n": "1/4"}, {"y": "1/4", "n": "3/4"})
    loss = dither.Guarantee.from_loss(flip, unit=Unit.REPLACE_ONE)
    for order in (2, 3, 5):
        assert loss.renyi(order) == pytest.approx(float(renyi(*COIN, order)), rel=1e-12)
    assert loss.renyi(2) != pytest.approx(float(to_ball(printed(*COIN, 2)).log()))  # planted


def test_pure_is_concentrated():
    """Randomized response is the hardest: D_a <= epsilon^2 a / 2, in balls; and epsilon^2/5 would be false."""
    with precision(128):
        for epsilon in ("0.001", "0.1", "1", "3", "10"):
            e = ball(epsilon)
            p = 1 / (1 + (-e).exp())
            q = 1 - p
            for order in ("1.001", "1.5", "2", "8", "100"):
                a = ball(order)
                divergence = (p**a * q ** (1 - a) + q**a * p ** (1 - a)).log() / (a - 1)
                assert divergence <= e**2 * a / 2
                if order == "1.001" and epsilon in ("0.1", "1"):
                    assert divergence > e**2 * a / 5  # planted


def test_concentrated_is_approximate():
    """A Gaussian with that rho is within the bound at every delta; half of the root would be false."""
    for epsilon, delta in product(("1/10", "1", "4"), ("1e-2", "1e-6", "1e-30", "0.9")):
        e, log = Fraction(epsilon), -math.log(float(delta))
        bound = float(e) ** 2 / 2 + float(e) * math.sqrt(2 * log)
        assert theorems.zcdp_to_approx(e**2 / 2, delta) == pytest.approx(bound, rel=1e-12)
        assert gdp(e).epsilon(delta) <= zcdp(e**2 / 2).epsilon(delta) <= bound * (1 + 1e-12)
    assert gdp(1).epsilon("1e-30") > 0.5 + math.sqrt(2 * math.log(1e30)) / 2  # planted


def test_gaussian_noise_is_concentrated():
    """D_a = a D^2/(2 sigma^2), by rigorous integration, at a = 3 with D = 1 and sigma^2 = 4: rho = 1/8."""
    with precision(128):

        def inside(x: acb, _: bool) -> acb:
            p, q = -((x - 1) ** 2) / 8, -(x**2) / 8
            return (3 * p - 2 * q).exp() / (8 * acb.pi()).sqrt()

        divergence = acb.integral(inside, acb(-100), acb(100)).real.log() / 2
        assert abs(divergence - arb(3) / 8) < 1e-20
    assert calibrate.gaussian_for_rho("1/8") == 4
    assert gdp(mu2="1/4").rho() == 0.125
    assert [gdp(mu2="1/4").renyi(a) for a in (2, 3, 64)] == [0.25, 0.375, 8.0]


def test_between_pure_and_approximate():
    assert pure(1).within(zcdp("0.5"))
    assert math.isfinite(zcdp("0.5").epsilon("1e-300"))
    assert zcdp("0.5").epsilon(0) == math.inf
    assert approx(1, "1e-6").rho() == math.inf


# -- composition -----------------------------------------------------------------------------------------------------


def test_exact_composition_is_never_above_the_sum():
    for epsilon, times in product(("0.01", "0.3", "2"), (1, 7, 100)):
        assert theorems.optimal(epsilon, times, "1e-6") <= theorems.basic([epsilon] * times)[0]
    assert theorems.optimal("0.1", 100, "1e-6") < 4.8 < theorems.basic(["0.1"] * 100)[0]


def test_adaptive_composition():
    """Every strategy over a menu, the next question chosen by all answers so far, each with e^epsilon <= 3: 27 for three.

    The index runs over all three: two of them would give 9. Then with delta, for two questions: it adds up.
    """
    menu = (COIN, MILD, ((HALF, HALF), (HALF, HALF)))
    worst = Fraction(0)
    for second in product(menu, repeat=2):
        for third in product(menu, repeat=4):
            for at in range(8):
                a, b, c = at >> 2 & 1, at >> 1 & 1, at & 1
                chances = [COIN[who][a] * second[a][who][b] * third[2 * a + b][who][c] for who in (0, 1)]
                worst = max(worst, chances[0] / chances[1], chances[1] / chances[0])
    assert worst == 27
    cent = Fraction(1, 100)
    leaky = [tuple((1 - cent) * x for x in law_of) for law_of in COIN]
    first = [(*leaky[0], cent, Fraction(0)), (*leaky[1], Fraction(0), cent)]  # with probability 1/100 the row is printed
    plain = [(*law_of, Fraction(0), Fraction(0)) for law_of in MILD]
    for choice in product((first, plain), repeat=4):
        p, q = (tuple(first[who][a] * choice[a][who][b] for a, b in product(range(4), repeat=2)) for who in (0, 1))
        assert sum(max(x - 9 * y, Fraction(0)) for x, y in zip(p, q, strict=True)) <= 2 * cent
    together = [tuple(x * y for x in first[who] for y in first[who]) for who in (0, 1)]
    assert (
        sum(max(x - 9 * y, Fraction(0)) for x, y in zip(*together, strict=True)) > cent
    )  # planted: one delta is not enough


def test_concentrated_losses_add_up():
    """Order by order the divergence of independent releases is the sum, in balls; and so is rho."""
    with precision(100):
        both = [tuple(x * y for x in COIN[who] for y in MILD[who]) for who in (0, 1)]
        for order in (2, 3, 10):
            assert abs(renyi(both[0], both[1], order) - renyi(*COIN, order) - renyi(*MILD, order)) < 1e-25
    assert zcdp("0.1") + zcdp("0.02") == zcdp("0.12")


def test_the_root_of_six():
    """False from T = 134 on at epsilon = 1, delta = 1e-6; true where T (e^epsilon - 1)^2 <= (8 - 4 sqrt 3) ln(1/delta)."""

    def said(epsilon: str, times: int, delta: str) -> float:
        return float(epsilon) * math.sqrt(-6 * times * math.log(float(delta)))

    assert theorems.optimal(1, 133, "1e-6") < said("1", 133, "1e-6")
    assert theorems.optimal(1, 134, "1e-6") > said("1", 134, "1e-6")
    held = 0
    for epsilon, times, delta in product(("0.01", "0.1", "0.5", "1", "3"), (1, 10, 100, 1000), ("1e-2", "1e-6", "1e-12")):
        if times * math.expm1(float(epsilon)) ** 2 <= 1.07 * -math.log(float(delta)):
            held += 1
            assert theorems.optimal(epsilon, times, delta) <= said(epsilon, times, delta)
            assert theorems.advanced(epsilon, times, delta)[0] <= said(epsilon, times, delta)
            assert theorems.advanced_simple(epsilon, times, delta)[0] == pytest.approx(said(epsilon, times, delta))
    assert held >= 20
    with pytest.raises(GuaranteeError):
        theorems.advanced_simple(1, 134, "1e-6")


# -- learning --------------------------------------------------------------------------------------------------------


def test_noise_for_usual_rows_fails_the_unusual():
    fitted = dither.Geometric(epsilon=1, sensitivity=2)
    with pytest.raises(BrokenPromise):
        check_mechanism(fitted, query=sum, universe=[0, 1, 9], rows=2)
    assert check_mechanism(fitted, query=lambda rows: sum(min(row, 2) for row in rows), universe=[0, 9], rows=2).pairs


def test_counts_need_no_assumption():
    """The error of a count is that of its noise alone: the same for every data set. That of clipping is not."""
    count = dither.Geometric(epsilon=1, sensitivity=1)
    reach = count.error(0.95)
    outside = count.law.tail(reach).upper * 2
    assert outside <= 0.05
    heavy = np.random.default_rng(1).lognormal(3, 1.5, 10_000)
    assert heavy.mean() - np.clip(heavy, 0, 100).mean() > 20
