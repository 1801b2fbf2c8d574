"""The best mechanism: it keeps its promise exactly, gains what it says, and nothing gains more."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dither import Number, Optimal, ln, optimal, pure
from dither.channels import graph
from dither.channels.optimal import geometric_remap as remapped
from dither.channels.optimal import linear_program as program
from dither.channels.optimal import path_certificate as certificate
from dither.channels.optimal.geometric_remap import GeometricRemap, best_on_path
from dither.channels.optimal.integer_rows import IntegerRows, factor, repair
from dither.channels.utility import read_gain
from dither.errors import GuaranteeError, InputError
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import check_mechanism


def parity(guess, truth):
    return int((guess - truth) % 2 == 0)


def solved(weights, nodes, epsilon):
    """The optimum of the linear program over all pairs of nodes at their distances, by another road."""
    count, guesses = len(nodes), len(weights)
    far = [nodes.distances(x) for x in range(count)]
    rows = []
    for x in range(count):
        for y in range(count):
            for r in range(guesses if x != y else 0):
                row = np.zeros(count * guesses)
                row[x * guesses + r], row[y * guesses + r] = 1, -math.exp(float(epsilon) * far[x][y])
                rows.append(row)
    sums = np.zeros((count, count * guesses))
    for x in range(count):
        sums[x, x * guesses : (x + 1) * guesses] = 1
    cost = -np.array([[float(h) for h in row] for row in weights]).T.ravel()
    found = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(count))
    return -found.fun


# -- the certificate on a path -----------------------------------------------------------------------------------------

PRIORS = {
    "uniform": [Fraction(1, 9)] * 9,
    "one end": [Fraction(2**k, 511) for k in range(9)],
    "both ends": [Fraction(1, 2), 0, 0, 0, 0, 0, 0, 0, Fraction(1, 2)],
    "middle": [Fraction(math.comb(8, k), 256) for k in range(9)],
    "rough": [Fraction(x, 40) for x in (1, 9, 0, 4, 4, 13, 0, 7, 2)],
    "certain": [0, 0, 1, 0, 0, 0, 0, 0, 0],
}
FALLING = {
    "identity": "identity",
    "absolute": "absolute",
    "squared": "squared",
    "within 3": ("threshold", 3),
    "steps": lambda w, x: [7, 7, 4, 1, 1, 0, 0, 0, -9][abs(w - x)],
}


def exact_dual(weights, remap, a):
    """lambda = K^-1 (u / k), in fractions."""
    count = len(weights[0])
    scales = [1 / (1 + a) if o in (0, count - 1) else (1 - a) / (1 + a) for o in range(count)]
    z = [sum(weights[r][i] * a ** abs(i - o) for i in range(count)) for o, r in enumerate(remap)]  # u / k
    inverse = lambda i, j: (  # noqa: E731
        (1 if i in (0, count - 1) else 1 + a * a) if i == j else (-a if abs(i - j) == 1 else Fraction(0))
    )
    dual = [sum(inverse(i, j) * z[j] for j in range(count)) / (1 - a * a) for i in range(count)]
    return dual, sum(u * k for u, k in zip(z, scales, strict=True))


def largest_ray(weights, dual, a):
    worst = None
    for row in weights:
        value = Fraction(0)
        for h, price in zip(reversed(row), reversed(dual), strict=True):
            value = h - price + (value / a if value > 0 else value * a)
        worst = value if worst is None or value > worst else worst
    return worst


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("gain", FALLING.values(), ids=FALLING)
def test_the_geometric_mechanism_is_optimal_exactly(prior, gain):
    """In fractions, for epsilon = ln 2 and ln(5/4): the dual passes, and its sum is the gain. No rounding anywhere."""
    for epsilon in (ln(2), ln("5/4")):
        a = 1 / epsilon.exp_fraction()
        table = read_gain(gain, tuple(range(9)))
        weights = [[p * g for p, g in zip(prior, row, strict=True)] for row in table.rows]
        remap = [max(range(9), key=lambda r, o=o: sum(weights[r][i] * a ** abs(i - o) for i in range(9))) for o in range(9)]
        dual, gained = exact_dual(weights, remap, a)
        assert sum(dual) == gained
        assert largest_ray(weights, dual, a) <= 0
        found = optimal(range(9), epsilon=epsilon, prior=prior, gain=gain)
        assert isinstance(found.draws, GeometricRemap)
        assert Fraction(found.utility) <= gained <= Fraction(found.utility) + Fraction(found.gap)
        assert found.gap < 1e-12 * max(1, -found.utility)


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "10", "150", "250"])
@pytest.mark.parametrize("gain", FALLING.values(), ids=FALLING)
def test_universal_optimality_over_many_epsilons(epsilon, gain):
    for prior in PRIORS.values():
        found = optimal(range(9), epsilon=epsilon, prior=prior, gain=gain)
        assert isinstance(found.draws, GeometricRemap)
        assert found.gap < (1e-8 if epsilon == "0.001" else 1e-11)


def test_long_paths_do_not_overflow():
    for epsilon in ("0.01", "1", "30"):
        found = optimal(range(400), epsilon=epsilon, gain="absolute")
        assert found.gap < 1e-8
        assert isinstance(found.draws, GeometricRemap)


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=4, max_size=4), min_size=3, max_size=3),
    st.lists(st.floats(-2, 2), min_size=4, max_size=4),
    st.sampled_from([Number("0.2"), ln(2), Number(3)]),
)
@settings(max_examples=60)
def test_a_bound_from_any_start_is_a_bound(gains, start, epsilon):
    """Whatever gains and whatever dual it begins with, no mechanism gains more than the bound says."""
    weights = [[Fraction(g, 4) for g in row] for row in gains]
    upper = np.array([[float(h) for h in row] for row in weights])
    found = certificate.bound(upper, np.array(start), epsilon)
    truth = solved(weights, graph.path(range(4)), epsilon)
    assert found is not None
    assert found >= truth - 1e-7
    assert found <= sum(start) + 4 * max(0, *(float(max(column)) - s for column, s in zip(zip(*weights), start))) + 1e-6  # noqa: B905


def test_bounds_are_tight_where_the_start_is():
    for gain in (parity, "identity"):
        for epsilon in (Number("0.1"), ln(2), Number(1)):
            table = read_gain(gain, tuple(range(6)))
            weights = [[Fraction(1, 6) * g for g in row] for row in table.rows]
            _, gained, most = best_on_path(table, [Fraction(1, 6)] * 6, epsilon)
            truth = solved(weights, graph.path(range(6)), epsilon)
            assert gained <= truth + 1e-9
            assert most >= truth - 1e-9


def random_cases(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size, guesses = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        weights = rng.integers(0, 8, size) * (rng.random(size) < 0.8)
        weights[int(rng.integers(size))] += 1
        prior = [Fraction(int(w), int(weights.sum())) for w in weights]
        scale = Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 50))) * Fraction(2) ** int(rng.integers(-60, 60))
        gains = [[scale * Fraction(int(g), 21) for g in rng.integers(-60, 60, size)] for _ in range(guesses)]
        yield prior, gains, ln(2) * Fraction(int(rng.integers(1, 40)))


def test_every_dual_that_passes_is_feasible_and_every_gain_is_attained(monkeypatch):
    """What floats proved is checked again in fractions, for hundreds of gains, priors and epsilons."""
    accepted = []
    exact_sum = certificate.sum_up

    def keep(values):
        accepted.append([Fraction(x) for x in values.tolist()])
        return exact_sum(values)

    monkeypatch.setattr(certificate, "sum_up", keep)
    for prior, gains, epsilon in random_cases(300, seed=5):
        accepted.clear()
        a = 1 / epsilon.exp_fraction()
        count = len(prior)
        table = read_gain(gains, tuple(range(count)), range(len(gains)))
        made, gained, most = best_on_path(table, prior, epsilon)
        weights = [[p * g for p, g in zip(prior, row, strict=True)] for row in gains]
        channel = Optimal(
            graph.path(range(count)), tuple(range(len(gains))), epsilon, gained, 1.0, pure(1).unit, made
        ).channel()
        truly = sum(weights[guess][x] * chance for x in range(count) for guess, chance in channel.row(x).items())
        assert Fraction(gained) <= truly
        assert truly - Fraction(gained) <= abs(truly) / 2**40 + sum(abs(h) for row in weights for h in row) / 2**45
        assert most is not None
        assert Fraction(most) >= truly
        assert largest_ray(weights, accepted[-1], a) <= 0
        assert Fraction(most) >= sum(accepted[-1])


@given(
    st.lists(st.lists(st.floats(-3, 3), min_size=5, max_size=5), min_size=1, max_size=3),
    st.floats(0.05, 0.99),
)
def test_a_sweep_is_rounded_up_at_every_step(weights, a):
    inverse = math.nextafter(1 / a, math.inf)
    value, _ = certificate.sweep(np.array(weights), a, inverse)
    for row, found in zip(weights, value.tolist(), strict=True):
        exact = Fraction(row[-1])
        for w in reversed(row[:-1]):
            exact = Fraction(w) + exact * Fraction(inverse if exact > 0 else a)
        assert Fraction(found) >= exact
        size = abs(exact) + 6 * sum(abs(Fraction(w)) for w in row)
        assert Fraction(found) - exact <= size * Fraction(inverse) ** 5 / 2**45 + Fraction(1, 2**900)


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.sampled_from([Number("0.3"), Number(1), ln(3) / 2]))
def test_what_a_sweep_is_given_is_rounded_up_too(dual, epsilon):
    upper = np.array([[0.1, 0.7, -0.3], [1 / 3, 1e-9, 2.5]])
    seen = []
    real = certificate.sweep

    def look(lacking, low, high):
        seen.append((lacking, low, high))
        return real(lacking, low, high)

    certificate.sweep = look
    try:
        certificate.bound(upper, np.array(dual), epsilon)
    finally:
        certificate.sweep = real
    lacking, low, high = seen[0]
    for h, price, lack in zip(upper.ravel(), dual * 2, lacking.ravel(), strict=True):
        assert Fraction(lack) > Fraction(h) - Fraction(price) - Fraction(1, 2**1000)
        assert Fraction(lack) >= Fraction(h) - Fraction(price)
    with precision(200):
        assert to_ball(Fraction(low)) < (-epsilon.ball()).exp()
        assert to_ball(Fraction(high)) > epsilon.ball().exp()


@given(st.lists(st.fractions(-9, 9, max_denominator=49), min_size=3, max_size=3), st.fractions(0, 1, max_denominator=21))
def test_weighted_gains_and_their_products_are_rounded_outwards(gains, chance):
    table = read_gain([gains], (0, 1, 2), ["only"])
    prior = [chance, 1 - chance, Fraction(0)]
    lower, upper = remapped.weighted_gains(table, prior)
    for p, g, low, high in zip(prior, gains, lower[0].tolist(), upper[0].tolist(), strict=True):
        assert Fraction(low) <= p * g <= Fraction(high)
        assert high - low <= 1e-14
    least, most = np.array([[0.1, 0.25, 0.7]]), np.array([[0.1 + 1e-17, 0.25, np.nextafter(0.7, 1)]])
    terms = remapped.lower_products(lower, least, most)
    for g, a, b, term in zip(*(x[0].tolist() for x in (lower, least, most, terms)), strict=True):
        assert Fraction(term) <= min(Fraction(g) * Fraction(a), Fraction(g) * Fraction(b))
    assert Fraction(remapped.lower_sum([0.1, 0.2, 0.3])) < Fraction(0.1) + Fraction(0.2) + Fraction(0.3)


def test_a_bound_of_the_program_is_rounded_up():
    line = graph.path(range(2))
    weights = [[Fraction(0), Fraction(0)], [Fraction(-5), Fraction(-5)]]
    duals = np.array([[[1.0, 0.0]], [[0.0, 0.0]]])  # one unit of C[0, 0] <= e C[1, 0]: lambda is -1 and e
    with precision(200):
        assert to_ball(program.dual_bound(weights, line, Number(1), duals)) > Number(1).ball().exp() - 1


def test_weights_of_very_different_sizes():
    """Where a scaled weight is too small for a float it still counts: here 2^39 are gained, and zero was "proved"."""
    rows = np.array([[0.0, 2.0**990, -(2.0**991), 0, 0, 0, 0, 0, 2.0**-150], [-1e-300] * 9])
    found = certificate.bound(rows, np.zeros(9), ln(2) * 190)
    assert found is None or found >= 2.0**39


def test_gains_that_cannot_happen_do_not_count():
    gain = [[10**9 if (w == 0 and x == 4) else parity(w, x) for x in range(5)] for w in range(5)]
    found = optimal(range(5), epsilon=ln(2), prior=["1/4"] * 4 + [0], gain=gain)
    assert found.utility == pytest.approx(2 / 3)
    assert found.gap < 1e-9
    assert isinstance(optimal(range(60), epsilon=1, gain=lambda w, x: 1).draws, GeometricRemap)
    assert optimal(range(3), epsilon=10**7, graph="complete").gap < 1e-6
    nothing = optimal(range(5), epsilon=1, gain=lambda w, x: 0)
    assert (nothing.utility, nothing.gap) == (0, 0)


# -- the linear program, repaired --------------------------------------------------------------------------------------

GRAPHS = {
    "path": graph.path(range(5)),
    "complete": graph.complete(range(4)),
    "grid": graph.grid(2, 3),
    "ring": graph.of(range(5), [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]),
    "star": graph.of(range(4), [(0, 1), (0, 2), (0, 3)]),
    "metric": graph.metric([0, 1, 3], lambda a, b: Fraction(abs(a - b), 2)),
}


@given(st.data())
@settings(max_examples=120)
def test_whatever_comes_in_what_comes_out_is_private(data):
    """Any matrix of floats, on any graph: rows add up, and the exact epsilon of the repaired channel is kept."""
    nodes = data.draw(st.sampled_from(list(GRAPHS.values())))
    epsilon = data.draw(st.sampled_from([Number("0.01"), ln(2), Number(1), Number(9)]))
    entry = st.floats(-0.1, 1) | st.sampled_from([0.0, 1e-12, -1e-9, 5e-324])
    matrix = np.array([data.draw(st.lists(entry, min_size=3, max_size=3)) for _ in range(len(nodes))])
    assume((matrix > 1e-15).any())
    found = repair(matrix, nodes, epsilon, data.draw(st.integers(0, 2)))
    assert found.keeps(nodes, epsilon)
    made = Optimal(nodes, (0, 1, 2), epsilon, 0.0, 1.0, pure(1).unit, found)
    leak = made.channel().epsilon(nodes)  # another piece of code, in fractions
    assert leak.exact is not None
    assert leak.exact <= epsilon


def test_what_is_private_already_is_left_alone():
    nodes = graph.path(range(3))
    matrix = np.array([[0.5, 0.5], [0.375, 0.625], [0.5, 0.5]])
    found = repair(matrix, nodes, ln(2), 0)
    assert [[entry / sum(row) for entry in row] for row in found.rows] == matrix.tolist()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("epsilon", [Number("0.1"), ln(2), Number(2)], ids=str)
def test_on_any_graph_the_gap_is_small_and_true(name, epsilon):
    nodes = GRAPHS[name]
    count = len(nodes)
    rng = np.random.default_rng(7)
    prior = [Fraction(int(x), 100) for x in rng.multinomial(100, [1 / count] * count)]
    gains = rng.integers(-3, 6, (count, count)).tolist()
    found = optimal(nodes.nodes, epsilon=epsilon, prior=prior, gain=gains, graph=nodes)
    assert 0 <= found.gap < 1e-8
    leak = found.channel().epsilon(nodes) if isinstance(found.draws, IntegerRows) else None
    assert leak is None or leak.epsilon <= epsilon.bounds().upper
    gained = found.channel().utility(prior, gains, found.inputs)
    assert float(gained) >= found.utility - 1e-15
    if name != "metric":
        weights = [[p * g for p, g in zip(prior, row, strict=True)] for row in gains]
        assert found.utility == pytest.approx(solved(weights, nodes, epsilon), abs=1e-7)


def test_gains_on_graphs_are_attained_and_bounds_hold():
    """In fractions: utility <= the exact gain of the exact rows <= utility + gap, and the optimum of scipy between."""
    for (prior, gains, _), name in zip(random_cases(24, seed=9), list(GRAPHS) * 4, strict=False):
        nodes = GRAPHS[name]
        count = len(nodes)
        chances = [Fraction(1, count)] * count
        table = [[gains[r % len(gains)][x % len(prior)] for x in range(count)] for r in range(3)]
        for epsilon in (Number("0.3"), Number(5), Number(60)):
            found = optimal(nodes.nodes, epsilon=epsilon, prior=chances, gain=table, guesses=range(3), graph=nodes)
            rows = found.channel()
            truly = sum(
                chances[x] * table[guess][x] * chance
                for x, node in enumerate(nodes.nodes)
                for guess, chance in rows.row(node).items()
            )
            best = sum(chances[x] * max(row[x] for row in table) for x in range(count))
            if isinstance(truly, Fraction):
                assert Fraction(found.utility) <= truly
            assert Fraction(found.utility) + Fraction(found.gap) >= truly
            assert found.gap <= 1e-6 * (1 + max(abs(float(g)) for row in table for g in row))
            assert found.utility <= best


def test_distances_beyond_what_a_solver_can_take():
    far = graph.metric([0, 40, 80], lambda a, b: abs(a - b))
    found = optimal(far.nodes, epsilon=1, graph=far, gain="absolute")
    assert found.utility == pytest.approx(0, abs=1e-6)
    assert found.gap < 1e-6
    found = optimal(range(3), epsilon=1000, graph="complete")
    assert found.utility + found.gap >= 1
    assert found.gap < 1e-6


def test_a_solver_that_fails_leaves_a_mechanism_and_an_honest_gap(monkeypatch):
    monkeypatch.setattr(program, "solve", lambda *_: None)
    found = optimal(range(3), epsilon=1, graph="complete", prior=["1/2", "1/4", "1/4"])
    assert (found.utility, found.gap) == (0.5, 0.5)
    assert found.release(2) == 0


def test_what_keeps_a_promise_and_what_does_not():
    line = graph.path(range(2))
    assert IntegerRows(((2, 4), (3, 3))).keeps(line, ln("3/2"))
    for rows in (
        ((200, 401), (301, 300)),  # one unit too much, on one side
        ((301, 300), (200, 401)),  # and on the other
        ((2, 4), (3, 4)),  # unequal sums
        ((0, 0), (0, 0)),
        ((2.0, 4.0), (3.0, 3.0)),
        ((2, 4), (6,)),
        ((-1, 7), (-1, 7)),
        ((2, 4), (3, 3), (3, 3)),
    ):
        assert not IntegerRows(rows).keeps(line, ln("3/2"))
    for exponent in (Number(1), Number("0.001"), ln(2) / 3):
        top, bottom = factor(exponent)
        with precision(400):
            assert to_ball(Fraction(top, bottom)) < exponent.ball().exp()
            assert to_ball(Fraction(top, bottom)) > exponent.ball().exp() * (1 - to_ball(Fraction(1, 2**75)))
    near = graph.metric([0, 1], lambda a, b: Fraction(1, 2))
    assert not near.is_line
    assert optimal([0, 1], epsilon=ln(4), graph=near).channel().epsilon(near).exact <= ln(4)
    with pytest.raises(GuaranteeError, match="differ by more"):
        Optimal(
            graph.complete(range(3)), (0, 1, 2), Number(1), 0.0, 1.0, pure(1).unit, GeometricRemap(3, Number(1), (0, 1, 2))
        )
    with pytest.raises(InputError, match="is refused"):
        Optimal(line, (0,), ln(2), 0.0, 1.0, pure(1).unit, IntegerRows(((2, 4), (3, 3))))


def test_a_gain_for_which_the_geometric_mechanism_is_not_optimal():
    expected = {"0.1": (0.524979, 0.523810), "ln(2)": (0.666667, 0.569665), "1": (0.731059, 0.620465)}
    for epsilon, (best, geometric) in expected.items():
        found = optimal(range(21), epsilon=epsilon, gain=parity)
        assert found.utility == pytest.approx(best, abs=1e-6)
        assert found.gap < 1e-9
        table = read_gain(parity, tuple(range(21)))
        _, gained, most = best_on_path(table, [Fraction(1, 21)] * 21, Number(epsilon))
        assert gained == pytest.approx(geometric, abs=1e-6)
        assert most > gained + 1e-4  # and its own certificate does not say that it were
    assert optimal(range(21), epsilon=1, gain=parity).channel().epsilon(graph.path(range(21))).exact <= 1


# -- as a mechanism ----------------------------------------------------------------------------------------------------

MECHANISMS = [
    optimal(range(5), epsilon=1, gain="absolute"),
    optimal(range(6), epsilon=ln(3), gain="squared", guesses=[1, Fraction(5, 2), 4]),
    optimal(range(4), epsilon=ln(2), gain=parity),
    optimal([0, 3, 7], epsilon=1, gain="absolute", graph="complete"),
    optimal(range(4), epsilon="0.5", gain="squared", graph=graph.of(range(4), [(0, 1), (1, 2), (2, 3), (3, 0)])),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_conforms(mechanism):
    check_mechanism(mechanism)


def test_releases():
    counts = optimal(range(11), epsilon=1, gain="absolute")
    assert {counts.release(x) for x in (-5, 4, 99) for _ in range(20)} <= set(range(11))
    assert counts.truth(99) == 10
    colours = optimal(["red", "green", "blue"], epsilon=1, graph="complete")
    assert colours.release("red") in colours.guesses
    with pytest.raises(GuaranteeError, match="not numbers"):
        colours.error(0.95)
    assert colours.guarantee == pure(1)
    assert colours.loss().epsilon(0) == pytest.approx(1)
    steps = optimal([0, 10, 30], epsilon=1)
    assert [steps.truth(x) for x in (np.int64(9), np.float32(3.5), Decimal("6.5"), Fraction(61, 3))] == [10, 0, 10, 30]
    assert optimal(np.arange(5, dtype=np.uint8), epsilon=1, gain="absolute").utility == pytest.approx(-0.583506, abs=1e-6)
    strange = [
        Decimal("1e-99999999"),
        Decimal("sNaN"),
        np.longdouble(2),
        np.longdouble("inf"),
        Decimal("-1e999999"),
        math.inf,
    ]
    assert [counts.truth(x) for x in strange] == [0, 0, 2, 10, 0, 10]
    with pytest.raises(InputError, match="is refused"):
        counts.release(True)
    assert [steps.truth(x) for x in (-9, 4, 6, 5, 10**400, math.nan, math.inf, -math.inf)] == [0, 0, 10, 0, 30, 0, 30, 0]
    for bad in ("x", True, [1], None):
        with pytest.raises(InputError, match="is refused"):
            steps.release(bad)
        with pytest.raises(InputError, match="is refused"):
            colours.release(bad)


def test_a_mechanism_checks_its_own_promise():
    found = optimal(["a", "b", "c"], epsilon=1, graph="complete")
    with pytest.raises(GuaranteeError, match="differ by more"):
        Optimal(found.graph, found.guesses, Number("0.999"), 1.0, 0.0, found.unit, found.draws)
    line = optimal(range(3), epsilon=1)
    with pytest.raises(GuaranteeError, match="differ by more"):
        Optimal(line.graph, line.guesses, Number("0.999"), 1.0, 0.0, line.unit, line.draws)
    with pytest.raises(GuaranteeError, match="differ by more"):
        Optimal(found.graph, found.guesses, Number(1), 1.0, 0.0, found.unit, IntegerRows(((1, 1, 0), (1, 1, 1), (1, 1, 0))))


def test_the_coarser_promise_gains_more():
    gained = [optimal(range(8), epsilon=e, gain="squared").utility for e in ("0.1", "0.5", "1", "3", "20")]
    assert gained == sorted(gained)
    assert gained[-1] == pytest.approx(0, abs=1e-7)


def test_bad_input_is_refused_with_words():
    cut = graph.of(range(4), [(0, 1), (2, 3)])
    for bad in (
        lambda: optimal(range(5), epsilon=0),
        lambda: optimal(range(5), epsilon=-1),
        lambda: optimal(range(5), epsilon=float("nan")),
        lambda: optimal(range(5), epsilon=float("inf")),
        lambda: optimal([], epsilon=1),
        lambda: optimal([3], epsilon=1),
        lambda: optimal([1, 1], epsilon=1),
        lambda: optimal(5, epsilon=1),
        lambda: optimal(range(5), epsilon=1, prior=[1]),
        lambda: optimal(range(5), epsilon=1, prior={7: 1}),
        lambda: optimal(range(5), epsilon=1, gain="best"),
        lambda: optimal(["a", "b"], epsilon=1, gain="absolute"),
        lambda: optimal(range(5), epsilon=1, graph="circle"),
        lambda: optimal(range(5), epsilon=1, graph=graph.path(range(4))),
        lambda: optimal(range(4), epsilon=1, graph=cut),
        lambda: optimal(range(5), epsilon=1, guesses=[]),
        lambda: optimal(range(5), epsilon=1, unit="nobody"),
        lambda: optimal(range(500), epsilon=1, graph="complete"),
        lambda: optimal(range(5), epsilon=1).error(1),
        lambda: optimal([[1], [2]], epsilon=1),
        lambda: optimal(5, epsilon=1, graph=graph.path(range(5))),
        lambda: optimal(range(3), epsilon=1, graph=np.eye(3)),
        lambda: optimal([1, math.nan], epsilon=1),
        lambda: optimal(range(3), epsilon=1, guesses=5),
        lambda: optimal(range(3), epsilon=1, gain=lambda w, x: 10**400 * int(w == x)),
        lambda: optimal(range(9000), epsilon=1),
        lambda: optimal(range(3), epsilon=1, prior={"1/2", "1/4"}),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
