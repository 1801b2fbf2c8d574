"""docs/notes/optimal.md: its claims for more cases than the page has, exactly; and the wrong versions, which must fail."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dither import Channel, Flat, Geometric, Laplace, Unit, errors, ln, optimal, sensitivity, testing
from dither.channels import graph, oblivious, universal
from dither.local import CoinFlip, Longitudinal, bayes, bridge
from dither.local.collect import reconstruct
from tests.docs.note_page import VERDICTS, counts

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "notes" / "optimal.md"
THREE = graph.databases([0, 1], 3)
APART = {(1, 0, 0): "1/2", (0, 1, 1): "1/2"}


def right(guess, data):
    return int(guess == sum(data))


def some_rows(rng, height, width):
    weights = [[rng.randrange(1, 9) for _ in range(width)] for _ in range(height)]
    return [[Fraction(w, sum(row)) for w in row] for row in weights]


def some_prior(rng, labels):
    weights = [rng.randrange(5) for _ in labels]
    weights[0] += 1
    return {label: Fraction(w, sum(weights)) for label, w in zip(labels, weights, strict=True)}


# -- the page itself ---------------------------------------------------------------------------------------------------


def read_page(text):
    """Rows of the table, and (heading, verdict) of the sections."""
    rows = re.findall(r"^\| \[(\d+)\]\(#([^)]+)\) \| .* \| ([a-z ]+) \| `(\w+)` \|$", text, re.MULTILINE)
    sections = re.findall(r"^### (.+?)\n(?:(?!^### ).*\n)*?^\*\*Verdict: ([a-z ]+)\.\*\*$", text, re.MULTILINE)
    return rows, sections


def check_page(text):
    rows, sections = read_page(text)
    found = Counter(verdict for _, _, verdict, _ in rows)
    assert counts(text) == {**{verdict: found[verdict] for verdict in VERDICTS}, "all": len(rows)}
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1))
    slugs = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading, _ in sections]
    assert [(slug, verdict) for _, slug, verdict, _ in rows] == list(
        zip(slugs, (verdict for _, verdict in sections), strict=True)
    )


def test_verdicts_are_counted():
    check_page(PAGE.read_text())


def test_a_wrong_count_or_verdict_is_noticed():
    text = PAGE.read_text()
    for old, new in (("7 are corrected", "6 are corrected"), ("**Verdict: corrected.**", "**Verdict: holds.**")):
        assert old in text
        with pytest.raises(AssertionError):
            check_page(text.replace(old, new, 1))


def test_every_claim_names_a_test_that_exists():
    tests = "".join((HERE / name).read_text() for name in ("test_notes_optimal.py", "test_exercises.py"))
    for _, _, _, test in read_page(PAGE.read_text())[0]:
        assert f"def {test}(" in tests


# -- mechanisms and noise ----------------------------------------------------------------------------------------------


def test_rows_are_laws():
    for channel in (Geometric(epsilon=1, sensitivity=1, bounds=(0, 6)).channel(), Flat(range(4), epsilon=2).channel()):
        assert all(sum(row) == 1 for row in channel.rows)
    with pytest.raises(errors.InputError):
        Channel([["1/2", "1/3"]])


def test_points_do_not_suffice_on_a_continuum():
    """Points get as rare as you like; the set [0, 1) tells 0 and 1 apart. And for finite rows points and sets agree."""
    rng = random.Random(2)
    for _ in range(20):
        one, other = some_rows(rng, 2, 4)
        sets = [[z for z in range(4) if chosen >> z & 1] for chosen in range(1, 16)]
        points = max(max(a / b, b / a) for a, b in zip(one, other, strict=True))
        ratios = [sum(one[z] for z in s) / sum(other[z] for z in s) for s in sets]
        assert max(max(r, 1 / r) for r in ratios) == points


def test_what_a_neighbour_is():
    assert sensitivity.sum(2, 5, unit=Unit.REPLACE_ONE).l1 == 3
    assert sensitivity.sum(2, 5, unit=Unit.ADD_REMOVE).l1 == 5
    assert all(graph.hamming(THREE.nodes[x], THREE.nodes[y]) == 1 for x, y in THREE.edges)
    assert len(THREE.edges) == 12


def test_oblivious_epsilon_is_that_of_the_graph():
    rng = random.Random(4)
    for query in (sum, max, lambda x: x[0], lambda x: Fraction(sum(x), 3)):
        answers = graph.induced(query, [0, 1, 2], 2)
        for _ in range(5):
            channel = Channel(some_rows(rng, len(answers), 3), answers.nodes)
            lifted = oblivious.lift(channel, query, [0, 1, 2], 2)
            assert lifted.epsilon(graph.databases([0, 1, 2], 2)).exact == channel.epsilon(answers).exact
            assert oblivious.lower(lifted, query) == channel


def test_laplace_is_private_for_every_shift():
    checked = testing.check_mechanism(Laplace(epsilon=1, sensitivity=1, step="1/2"), cutoff="1e-9")
    assert checked.epsilon == pytest.approx(2 / 3)  # two steps, and one for the rounding: a third of epsilon
    for y, z in product(np.linspace(-3, 3, 13), repeat=2):  # the density: ratio of neighbours at distance 1
        assert abs(abs(z - y - 1) - abs(z - y)) <= 1


def test_sensitivity_needs_a_bound():
    assert [sensitivity.of(sum, universe=[0, top], rows=2).l1 for top in (1, 7, 900)] == [1, 7, 900]
    for bad in (0, "inf", -1):
        with pytest.raises(errors.InputError):
            Laplace(epsilon=1, sensitivity=bad)


def test_the_laplace_factor():
    """c = epsilon / (2 D): within two parts of a thousand on the lattice, for several; epsilon / D would not pass."""
    for epsilon, moved in ((1, 4), (2, 1), ("0.5", 3)):
        noise = Laplace(epsilon=epsilon, sensitivity=moved)
        found = (noise.law.tail(-1).lower - noise.law.tail(0).upper) / float(noise.lattice.step)
        assert found == pytest.approx(float(epsilon) / (2 * moved), rel=2e-3)
        assert found != pytest.approx(float(epsilon) / moved, rel=0.1)


def test_laplace_lies_on_a_lattice():
    noise = Laplace(epsilon=1, sensitivity=1)
    assert noise.lattice.step == Fraction(1, 4096)
    assert all((Fraction(noise.release(value)) / noise.lattice.step).denominator == 1 for value in (0.1, 1 / 3, 5))


def test_rounded_laplace_is_another_law():
    law = Geometric(epsilon=1, sensitivity=1).law
    still = law.tail(-1).lower - law.tail(0).upper
    assert still == pytest.approx((math.e - 1) / (math.e + 1))
    assert still - (1 - math.exp(-1 / 2)) > 0.06


def test_the_geometric_factor():
    for a in (Fraction(1, 2), Fraction(9, 10)):
        c = (1 - a) / (1 + a)
        reach = 60
        assert sum(c * a ** abs(z) for z in range(-reach, reach + 1)) == 1 - 2 * a ** (reach + 1) / (1 + a)
    for moved in (1, 2):
        law = Geometric(epsilon=moved * ln(2), sensitivity=moved).law
        for z in range(5):
            assert law.tail(z - 1).lower - law.tail(z).upper == pytest.approx(1 / 3 / 2**z)
        assert testing.check_mechanism(Geometric(epsilon=1, sensitivity=moved), cutoff="1e-9").epsilon == 1


# -- utility and optimality --------------------------------------------------------------------------------------------


def test_utility_is_an_average_over_databases():
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)).channel()
    assert channel.utility("uniform", "identity").value == Fraction(sum(channel.row(y)[y] for y in range(5)), 5)
    assert channel.utility("uniform", "identity").value != max(channel.row(y)[y] for y in range(5))


def test_random_remaps_are_no_better():
    rng = random.Random(12)
    for _ in range(20):
        channel, prior = Channel(some_rows(rng, 3, 4)), some_prior(rng, range(3))
        remap = some_rows(rng, 4, 3)
        value = sum(
            prior[x] * channel.rows[x][z] * remap[z][w] * -abs(w - x) for x, z, w in product(range(3), range(4), range(3))
        )
        assert value <= channel.utility(prior, "absolute").value


def test_only_the_prior_of_the_answers_counts():
    rng = random.Random(13)
    noise = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 3)).channel()
    lifted = oblivious.lift(noise, sum, [0, 1], 3)
    for _ in range(5):
        prior = some_prior(rng, THREE.nodes)
        pushed = {y: sum(p for x, p in prior.items() if sum(x) == y) for y in range(4)}
        whole = lifted.utility(prior, right, guesses=range(4)).value
        assert whole == noise.utility(pushed, "identity").value


def test_both_formulas_for_utility():
    rng = random.Random(14)
    channel = Channel(some_rows(rng, 8, 3), THREE.nodes)  # not oblivious
    assert not oblivious.is_oblivious(channel, sum)
    for _ in range(3):
        prior = some_prior(rng, THREE.nodes)
        every = (
            sum(prior[x] * channel.row(x)[z] * right(r[z], x) for x in THREE.nodes for z in range(3))
            for r in product(range(4), repeat=3)
        )
        assert max(every) == channel.utility(prior, right, guesses=range(4)).value


def test_optimal_is_certified():
    """Nothing private that is tried gains more than utility + gap."""
    rng = random.Random(16)
    best = optimal(range(4), epsilon=ln(2), gain="identity")
    path = graph.path(range(4))
    for _ in range(200):
        channel = Channel(some_rows(rng, 4, 2))
        leak = channel.epsilon(path)
        if leak.exact is not None and leak.exact <= ln(2):
            assert channel.utility("uniform", "identity").value <= Fraction(best.utility) + Fraction(best.gap)
    assert best.channel().epsilon(path).exact == ln(2)


def test_privacy_has_no_prior():
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)).channel()
    worth = {channel.utility(p, "identity").value for p in ("uniform", ["1/2", 0, 0, 0, "1/2"], [1, 0, 0, 0, 0])}
    assert len(worth) == 3


def test_who_sees_more_than_the_answer_can_do_better():
    """A mechanism on databases with utility 5/6 at ln 2, in fractions, where oblivious ones have at most 2/3."""
    chances = [Fraction(5, 6), Fraction(2, 3), Fraction(1, 3), Fraction(1, 6)]  # of saying 1, by the distance to 100
    rows = [[chances[graph.hamming(x, (1, 0, 0))], 1 - chances[graph.hamming(x, (1, 0, 0))]] for x in THREE.nodes]
    sees = Channel(rows, THREE.nodes, [1, 2])
    assert sees.epsilon(THREE).exact == ln(2)
    assert sees.utility(APART, right, guesses=range(4)).value == Fraction(5, 6)
    best = optimal(THREE.nodes, epsilon=ln(2), prior=APART, gain=right, graph=THREE, guesses=range(4))
    assert best.utility <= Fraction(5, 6) <= Fraction(best.utility) + Fraction(best.gap) + Fraction(1, 10**12)
    bound = optimal(range(4), epsilon=ln(2), prior=[0, "1/2", "1/2", 0])
    assert bound.utility + bound.gap < 0.667
    # databases with the same count equally likely: averaging keeps the promise, and nothing is lost
    rng = random.Random(18)
    for _ in range(20):
        channel = Channel(some_rows(rng, 8, 2), THREE.nodes)
        levels = [[row for x, row in zip(THREE.nodes, channel.rows, strict=True) if sum(x) == y] for y in range(4)]
        mean = Channel([[sum(row[z] for row in level) / len(level) for z in (0, 1)] for level in levels])
        assert mean.epsilon(graph.path(range(4))).epsilon <= channel.epsilon(THREE).epsilon
    whole = optimal(THREE.nodes, epsilon=ln(2), gain=right, graph=THREE, guesses=range(4))
    binomial = optimal(range(4), epsilon=ln(2), prior=["1/8", "3/8", "3/8", "1/8"])
    assert whole.utility == pytest.approx(binomial.utility, abs=1e-9)


def test_the_geometric_mechanism_is_universal_on_answers():
    rng = random.Random(23)
    channel, path = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)).channel(), graph.path(range(5))
    gains = ["identity", "absolute", "squared", ("threshold", 1), lambda w, x: -(x + 1) * abs(w - x)]
    cases = [(some_prior(rng, range(5)), gain) for gain in gains for _ in range(3)]
    assert all(case.behind < 1e-9 for case in universal.shortfall(channel, path, ln(2), cases))
    planted = universal.shortfall(channel, path, ln(2), [("uniform", lambda w, x: int((w - x) % 2 == 0))])
    assert planted[0].behind > 0.04
    # outputs below 0 have columns proportional to that of 0
    a = Fraction(1, 2)
    for z in (-1, -5):
        assert [a ** abs(z - y) for y in range(5)] == [a**-z * a ** abs(0 - y) for y in range(5)]


def test_counts_induce_paths():
    people = list(product([0, 1], repeat=2))
    for n in (1, 2, 3):
        assert graph.induced(sum, [0, 1], n).is_path
        assert graph.induced(lambda x: sum(d * o for d, o in x), people, n).is_path
    assert not graph.induced(lambda x: Fraction(sum(d * o for d, o in x), max(1, sum(d for d, _ in x))), people, 3).is_path


# -- local privacy -----------------------------------------------------------------------------------------------------


def test_trust_is_what_differs():
    one, more = bridge.compare(100, 1), bridge.compare(10_000, 1)
    assert one.central == more.central
    assert more.local / one.local == pytest.approx(10)
    assert Channel.identity([0, 1]).epsilon(graph.complete([0, 1])).epsilon == math.inf


def test_reports_add_up():
    assert bridge.for_any_query([["0.5"] * 10]).epsilon(0) == 5
    assert bridge.for_any_query(["0.5"] * 10).epsilon(0) == 0.5
    weekly = Longitudinal(["a", "b"], first="0.5", forever=2)
    assert (weekly.first_guarantee.epsilon(0), weekly.guarantee.epsilon(0)) == (0.5, 2)


def test_the_coin_protocol():
    for heads, yes in product((Fraction(1, 4), Fraction(1, 2), Fraction(4, 5)), repeat=2):
        coin = CoinFlip(heads=heads, yes=yes)
        p, q = heads + (1 - heads) * yes, (1 - heads) * yes
        assert coin.channel().rows == ((p, 1 - p), (q, 1 - q))
        assert coin.channel().epsilon(graph.complete([True, False])).exact == coin.epsilon
        assert coin.epsilon == ln(max(p / q, (1 - q) / (1 - p)))
    assert CoinFlip().epsilon == ln(3)
    assert CoinFlip().chances == (Fraction(3, 4), Fraction(1, 4))


def test_uniform_on_average_is_not_enough():
    levels = [CoinFlip(heads=Fraction(h, 10)).epsilon for h in range(1, 10)]
    assert levels == sorted(levels)
    nearly = Channel([["1/2", "1/2", 0], ["1/2", "49/100", "1/100"]])
    assert nearly.delta(graph.path(range(2)), 0) < CoinFlip().channel().delta(graph.path([True, False]), 0)
    assert nearly.epsilon(graph.path(range(2))).epsilon == math.inf


def test_local_privacy_is_a_complete_graph():
    for n in (1, 2, 4):
        channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, n)).channel()
        assert channel.epsilon(graph.complete(range(n + 1))).exact == ln(2**n)


# -- from reports to frequencies ---------------------------------------------------------------------------------------


def test_inversion_is_transposed():
    rng = random.Random(51)
    for _ in range(20):
        channel = Channel([[r + (5 if i == j else 0) for j, r in enumerate(row)] for i, row in enumerate(ones(rng))])
        p = np.array([float(x) for x in some_prior(rng, range(3)).values()])
        q = p @ channel.matrix
        found = reconstruct.invert(channel, q)
        assert found == pytest.approx(p, abs=1e-12)
        assert found.sum() == pytest.approx(1)
    lop = CoinFlip(yes="1/4").channel().matrix
    wrong = np.linalg.inv(lop) @ (np.array([0.3, 0.7]) @ lop)  # as noted
    assert abs(wrong.sum() - 1) > 0.2
    assert reconstruct.invert(CoinFlip().channel(), [1, 9])[0] == pytest.approx(-0.3)
    with pytest.raises(errors.InputError):
        reconstruct.invert([["1/2", "1/2"], ["1/2", "1/2"]], [1, 1])


def ones(rng):
    """Rows that add up to -4, so that with 5 on the diagonal they add up to one; none below zero after that."""
    rows = []
    for i in range(3):
        away = [Fraction(rng.randrange(1, 20), 100) for _ in range(2)]
        row = [*away[:i], -4 - sum(away), *away[i:]]
        rows.append(row)
    return rows


def test_two_projections():
    rng = np.random.default_rng(53)
    for _ in range(50):
        raw = rng.normal(size=5)
        raw += (1 - raw.sum()) / 5
        clipped, nearest = reconstruct.clip(raw), reconstruct.simplex(raw)
        for found in (clipped, nearest):
            assert found.min() >= 0
            assert found.sum() == pytest.approx(1)
        assert ((nearest - raw) ** 2).sum() <= ((clipped - raw) ** 2).sum() + 1e-12
        for other in rng.dirichlet(np.ones(5), size=20):
            assert ((nearest - raw) ** 2).sum() <= ((other - raw) ** 2).sum() + 1e-12


def test_a_start_with_zeros_stays_there():
    blur = Channel([["8/10", "1/10", "1/10"], ["48/100", "4/100", "48/100"], ["1/10", "1/10", "8/10"]])
    counts = [50, 0, 50]
    stuck = bayes(blur, counts, start=counts, until="convergence", most=5000)
    free = bayes(blur, counts, until="convergence", most=5000)
    assert stuck.frequency[1] == 0
    assert free.frequency[1] > 0.99
    assert free.log_likelihood > stuck.log_likelihood + 6
    # the flat mechanism: what was never reported has share zero anyway
    assert reconstruct.water_filling([5, 0, 3], 1)[1] == 0


def test_the_update_never_lowers_the_likelihood():
    """In fractions: the product of m(y)^count(y) never falls, and each step is what `bayes` does."""
    rng = random.Random(56)
    for _ in range(10):
        rows, counts = some_rows(rng, 3, 3), [rng.randrange(1, 9) for _ in range(3)]
        p, people = [Fraction(1, 3)] * 3, sum(counts)
        for step in range(3):
            m = [sum(p[x] * rows[x][y] for x in range(3)) for y in range(3)]
            moved = [sum(Fraction(counts[y], people) * p[x] * rows[x][y] / m[y] for y in range(3)) for x in range(3)]
            assert sum(moved) == 1
            after = [sum(moved[x] * rows[x][y] for x in range(3)) for y in range(3)]
            before = math.prod(v**c for v, c in zip(m, counts, strict=True))
            assert math.prod(v**c for v, c in zip(after, counts, strict=True)) >= before
            machine = bayes(Channel(rows), counts, until="convergence", most=step + 1)
            if machine.iterations == step + 1:
                assert machine.frequency == pytest.approx([float(v) for v in moved])
            p = moved


def test_small_steps_far_from_the_end():
    channel, reports = Flat(range(4), epsilon="0.2").channel(), [330, 250, 220, 200]
    one = bayes(channel, reports, until="convergence", most=1).frequency
    assert np.abs(one - 0.25).sum() < 0.01
    assert np.abs(reconstruct.water_filling(reports, "0.2") - one).sum() > 1.4


def test_the_limit_depends_on_the_start_where_the_channel_hides():
    blind = Channel([["1/2", "1/2"], ["1/2", "1/2"]])
    for start in ([1, 1], [1, 3]):
        found = bayes(blind, [7, 3], start=start, until="convergence").frequency
        assert found == pytest.approx(np.array(start) / sum(start))


def test_water_filling_is_the_limit_of_the_update():
    for shares in ([60, 30, 8, 2], [25, 25, 26, 24], [90, 5, 4, 1]):
        exact = reconstruct.water_filling(shares, 2)
        steps = bayes(Flat(range(4), epsilon=2).channel(), [1000 * s for s in shares], until="convergence", most=50_000)
        assert steps.frequency == pytest.approx(exact, abs=1e-3)
