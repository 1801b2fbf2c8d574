"""docs/exercises.md: every answer for more cases than the page has, exactly; and wrong answers that must not pass."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

from dither import (
    Channel,
    Exponential,
    Flat,
    Geometric,
    Laplace,
    Number,
    RandomizedResponse,
    Unit,
    ln,
    optimal,
    sensitivity,
)
from dither.channels import graph, oblivious, universal
from dither.local import CoinFlip, bridge
from dither.local.collect import reconstruct

PAGE = Path(__file__).parents[2] / "docs" / "exercises.md"
UNITS = (Unit.ADD_REMOVE, Unit.REPLACE_ONE)


def average(values):
    return Fraction(sum(values), len(values))


def on_a_tree(tree, a):
    """k(v) a^distance: the geometric mechanism of a tree; and its k."""
    far = [tree.distances(at) for at in range(len(tree))]
    k = [(1 - (len(near) - 1) * a) / (1 + a) for near in tree.neighbours]
    return far, k


TREES = {
    "path": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 1), (0, 2), (0, 3)],
    "fork": [(0, 1), (1, 2), (2, 3), (2, 4)],
    "two forks": [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)],
}


def tree_of(name):
    pairs = TREES[name]
    return graph.of(range(1 + len(pairs)), pairs)


def test_every_exercise_has_its_row_its_section_and_its_test():
    page, here = PAGE.read_text(), Path(__file__).read_text()
    rows = re.findall(r"^\| \[(\d+)\]\(#([^)]+)\) \|.*\| `(\w+)` \|$", page, re.MULTILINE)
    headings = re.findall(r"^## (\d+ .+)$", page, re.MULTILINE)
    slugs = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
    assert [int(number) for number, _, _ in rows] == list(range(1, 24))
    assert [slug for _, slug, _ in rows] == slugs
    for number, _, test in rows:
        assert test.startswith(f"test_{number}_")
        assert f"def {test}(" in here


def test_1_a_percentage_moves_by_a_tenth():
    assert sensitivity.mean(0, 100, rows=1000).l1 == Fraction(1, 10)
    # every n, by hand: k of n to k of n again, and to n + 1
    for n in (1000, 1001, 5000):
        more = max(abs(Fraction(100 * (k + x), n + 1) - Fraction(100 * k, n)) for k in range(n + 1) for x in (0, 1))
        assert more == Fraction(100, n + 1) <= Fraction(100, 1001)
        assert sensitivity.mean(0, 100, rows=n, unit=Unit.ADD_REMOVE).l1 == more
    assert 1 / (2 * Fraction(1, 10)) == 5
    law = Laplace(epsilon=1, sensitivity="0.1").law
    assert float(law.tail(-1).lower) > 0.5  # a half, and what stands at zero


def test_2_truncated_geometric_for_every_pair():
    a = Fraction(1, 3)
    for n in (1, 2, 7, 30):
        channel = Geometric(epsilon=ln(3), sensitivity=1, bounds=(0, n)).channel()
        for y, z in product(range(n + 1), repeat=2):
            assert channel.rows[y][z] == a ** abs(z - y) * (1 if z in (0, n) else 1 - a) / (1 + a)
        assert channel.epsilon(graph.path(range(n + 1))).exact == ln(3)


def test_3_hamming_needs_the_databases_on_the_way():
    rng = random.Random(3)
    nodes = graph.databases([0, 1], 3)
    for _ in range(20):  # any mechanism on all databases: both definitions give one epsilon
        weights = [[rng.randrange(1, 9) for _ in range(3)] for _ in nodes.nodes]
        channel = Channel([[Fraction(w, sum(row)) for w in row] for row in weights], nodes.nodes, range(3))
        assert channel.epsilon(nodes).exact == channel.epsilon(graph.metric(nodes.nodes, graph.hamming)).exact
    few = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 1, 0)]
    rows = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)).channel().rows
    channel = Channel(rows, few, range(5))
    assert channel.epsilon(graph.path(few)).exact == ln(2)
    assert channel.epsilon(graph.metric(few, graph.hamming)).exact == ln(4)


def test_4_utility_for_every_n():
    for e in (2, 3, Fraction(11, 10)):
        a = 1 / Fraction(e)
        for n in range(1, 9):
            channel = Geometric(epsilon=ln(e), sensitivity=1, bounds=(0, n)).channel()
            right = (n + 1 - (n - 1) * a) / ((n + 1) * (1 + a))
            assert channel.utility("uniform", "identity").value == right
            if n > 1:
                assert right != (1 - a) / (1 + a)  # planted: the answer without a remap
            # not truncated: outputs from -m to n + m, the rest far out, remapped as well as can be
            m = 40
            inner = sum(max((1 - a) / (1 + a) * a ** abs(z - y) for y in range(n + 1)) for z in range(-m, n + m + 1))
            assert 0 < right - inner / (n + 1) <= 2 * a**m / (n + 1)


def test_5_post_processing():
    rng = random.Random(5)
    before = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)).channel()
    worth = before.utility("uniform", "absolute").value
    for _ in range(30):
        weights = [[rng.randrange(5) for _ in range(3)] for _ in range(5)]
        rows = [[Fraction(w, sum(row)) for w in row] if sum(row) else [1, 0, 0] for row in weights]
        after = before.then(Channel(rows, range(5)))
        assert after.utility("uniform", "absolute").value <= worth
        leak = after.epsilon(graph.path(range(5)))
        assert leak.exact is not None
        assert leak.exact <= ln(2)
    turned = Channel([[int(z == 4 - w) for w in range(5)] for z in range(5)], range(5), range(5))
    assert before.then(turned).utility("uniform", "absolute").value == worth


def test_6_flat_is_as_private_and_less_useful():
    for e, n in product((2, 3, Fraction(11, 10)), range(2, 7)):
        a = 1 / Fraction(e)
        geometric = (n + 1 - (n - 1) * a) / ((n + 1) * (1 + a))
        flat = Flat(list(range(n + 1)), epsilon=ln(e)).channel()
        assert flat.epsilon(graph.path(range(n + 1))).exact == ln(e)
        gained = flat.utility("uniform", "identity").value
        assert gained == e / (e + Fraction(n)) < geometric
        assert geometric - gained == n * (n - 1) * a * (1 - a) / ((n + 1) * (1 + a) * (1 + n * a))


def test_7_every_average_has_a_triangle():
    for ages, n in (([1, 2, 3], 1), ([1, 2, 4], 3), ([0, 10, 11, 50], 2)):
        found = graph.induced(average, ages, n)
        rest = (ages[0],) * (n - 1)
        triangle = [found.place[average((age, *rest))] for age in ages[:3]]
        edges = {frozenset(edge) for edge in found.edges}
        assert all(frozenset((x, y)) in edges for x in triangle for y in triangle if x != y)
    for n in (1, 2, 5):
        assert graph.induced(average, [20, 60], n).is_path


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("e", [2, 3])
def test_8_triangles_and_trees(name, e):
    tree, a, rng = tree_of(name), 1 / Fraction(e), random.Random(8)
    far, k = on_a_tree(tree, a)
    size = len(tree)
    assert all(k[v] >= 0 for v in range(size))
    channel = Channel([[k[v] * a ** row[v] for v in range(size)] for row in far], tree.nodes, tree.nodes)  # rows add up
    assert channel.epsilon(tree).exact == ln(e)
    degree = [len(near) for near in tree.neighbours]
    edges = set(tree.edges) | {(y, x) for x, y in tree.edges}
    inverse = [
        [((1 + (degree[i] - 1) * a**2) if i == j else -a if (i, j) in edges else 0) / (1 - a**2) for j in range(size)]
        for i in range(size)
    ]
    columns = []  # all extreme private columns: every edge goes up or down by a factor of e
    for turns in product((a, 1 / a), repeat=len(tree.edges)):
        column: dict[int, Fraction] = {0: Fraction(1)}
        while len(column) < size:
            for (x, y), turn in zip(tree.edges, turns, strict=True):
                if x in column and y not in column:
                    column[y] = column[x] * turn
                elif y in column and x not in column:
                    column[x] = column[y] / turn
        columns.append([column[v] for v in range(size)])
    for _ in range(10):
        weights = [rng.randrange(6) for _ in range(size)]
        weights[rng.randrange(size)] += 1
        p = [Fraction(w, sum(weights)) for w in weights]
        u = [max(p[r] * a ** far[r][v] for r in range(size)) for v in range(size)]
        w = [sum(inverse[i][j] * u[j] for j in range(size)) for i in range(size)]
        assert sum(w) == channel.utility(p, "identity").value  # what it gains is the bound
        for column, r in product(columns, range(size)):
            total = sum(w[v] * column[v] for v in range(size))
            assert total >= p[r] * column[r]
            parent = {q: next(v for v in tree.neighbours[q] if far[r][v] < far[r][q]) for q in range(size) if q != r}
            steps = sum((u[q] - a * u[z]) * (column[q] - a * column[z]) for q, z in parent.items())
            assert (1 - a**2) * (total - u[r] * column[r]) == steps


@pytest.mark.parametrize("epsilon", ["0.05", "1", "4"])
def test_8_any_triangle_excludes_one_for_all(epsilon):
    e = math.exp(float(Number(epsilon)))
    for nodes in (graph.complete(range(3)), graph.induced(average, [0, 1, 2], 2)):
        three = [{0: "1/3", nodes.nodes[1]: "1/3", nodes.nodes[2]: "1/3"}, {0: "1/2", nodes.nodes[1]: "1/2"}]
        found = universal.joint(nodes.nodes, epsilon=epsilon, priors=three, graph=nodes)
        assert found.impossible
        assert found.separate[0].upper == pytest.approx(e / (e + 2))
        assert found.separate[1].upper == pytest.approx(e / (e + 1))


@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "0.69"])
def test_8_three_users_of_a_star_exclude_one_for_all_below_ln_2(epsilon):
    star = tree_of("star")
    halves = [[0, "1/2", "1/2", 0], [0, "1/2", 0, "1/2"], [0, 0, "1/2", "1/2"]]
    found = universal.joint(star.nodes, epsilon=epsilon, priors=halves, graph=star)
    assert found.impossible
    assert found.lost.lower > 1e-3
    for one in found.separate:
        assert one.upper == pytest.approx(1 - math.exp(-float(Number(epsilon))) / 2)
    for pair in ((0, 1), (1, 2)):  # any two of them can be served
        assert not universal.joint(star.nodes, epsilon=epsilon, priors=[halves[at] for at in pair], graph=star).impossible
    for enough in (ln(2), 1):
        assert not universal.joint(star.nodes, epsilon=enough, priors=halves, graph=star).impossible


def test_8_the_bound_of_a_star_is_where_its_mechanism_ends():
    for k, e in product(range(3, 8), (Fraction(i, 4) for i in range(5, 40))):
        a = 1 / e
        assert (k <= (k - 1) * a + 1 / a) == (e >= k - 1) == ((1 - (k - 1) * a) / (1 + a) >= 0)


def test_8_where_k_would_be_negative_there_is_no_such_mechanism():
    """Planted: four neighbours at E = 2 are one too many."""
    star = graph.of(range(5), [(0, leaf) for leaf in range(1, 5)])
    assert min(on_a_tree(star, Fraction(1, 2))[1]) < 0
    assert min(on_a_tree(star, Fraction(1, 3))[1]) == 0


def test_9_a_count_moves_by_one():
    for unit, n in product(UNITS, (1, 3, 6)):
        assert sensitivity.of(sum, universe=[0, 1], rows=n, unit=unit).l1 == 1 == sensitivity.count(unit=unit).l1


def test_10_the_level_of_a_collection():
    coins = [CoinFlip(), CoinFlip(heads="1/3"), CoinFlip(heads="1/3")]
    tables = [coin.channel() for coin in coins]
    inputs = list(product((True, False), repeat=3))
    rows = [[math.prod(t.row(x)[y] for t, x, y in zip(tables, xs, ys, strict=True)) for ys in inputs] for xs in inputs]
    joint = Channel(rows, inputs, inputs)
    assert joint.epsilon(graph.databases([True, False], 3)).exact == ln(3)  # the largest, and not ln 12
    assert bridge.for_any_query(coins).epsilon(0) == pytest.approx(math.log(3))
    assert bridge.for_any_query([coins]).epsilon(0) == pytest.approx(math.log(12))


def test_11_the_constant_of_the_flat_mechanism():
    for e, k in product((2, 3, Fraction(11, 10)), (2, 3, 8)):
        channel = Flat(list(range(k)), epsilon=ln(e)).channel()
        c = 1 / (Fraction(e) + k - 1)
        assert all(channel.rows[x][y] == (c * e if x == y else c) for x, y in product(range(k), repeat=2))
        assert c != 1 / (Fraction(e) + k)  # planted


def test_12_the_estimate_and_its_variance():
    """All answers of N people, added up exactly: the mean and the variance of the estimate."""
    n, half = 5, Fraction(1, 2)
    for p, share in product((Fraction(3, 4), Fraction(3, 5)), (Fraction(1, 3), Fraction(0))):
        yes = share * p + (1 - share) * (1 - p)
        law = {y: math.comb(n, y) * yes**y * (1 - yes) ** (n - y) for y in range(n + 1)}
        estimate = {y: (Fraction(y, n) - (1 - p)) / (2 * p - 1) for y in law}
        mean = sum(law[y] * estimate[y] for y in law)
        variance = sum(law[y] * (estimate[y] - mean) ** 2 for y in law)
        assert mean == share
        assert variance == share * (1 - share) / n + (1 / (16 * (p - half) ** 2) - Fraction(1, 4)) / n
        assert variance != share * (1 - share) / n + 1 / (n * (16 * (p - half) ** 2 - Fraction(1, 4)))  # as noted
        channel = RandomizedResponse(p=p).channel()
        for y in range(1, n):
            assert reconstruct.invert(channel.rows, [y, n - y])[0] == pytest.approx(float(estimate[y]))


def test_13_cells_of_a_grid():
    for k in (2, 3, 10):
        cells = [(i, j) for i in range(k) for j in range(k)]
        row = Flat(cells, epsilon=ln(3)).channel().row((0, 0))
        assert row[(0, 0)] == Fraction(3, 3 + k * k - 1)
        assert row[(0, 1)] == Fraction(1, 3 + k * k - 1)
    assert row[(0, 0)] == Fraction(3, 102)


def test_14_the_law_of_the_choice():
    for counts in ([10, 8, 1, 0], [3, 3, 3], [0, 50]):
        choice = Exponential(epsilon=1, sensitivity=1, candidates=len(counts), integers=True)
        weights = [math.exp(c / 2) for c in counts]
        assert choice.channel([counts]).matrix[0] == pytest.approx([w / sum(weights) for w in weights])


def test_15_the_least_error():
    for n, prior in ((4, "uniform"), (4, ["1/2", 0, "1/4", 0, "1/4"])):
        best = optimal(range(n + 1), epsilon=ln(2), prior=prior, gain="absolute")
        channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, n)).channel()
        reached = channel.utility(prior, "absolute").value
        assert best.utility <= reached <= Fraction(best.utility) + Fraction(best.gap)


def test_16_perfect_privacy():
    rng = random.Random(16)
    path = graph.path(range(3))
    for _ in range(50):
        rows = [[Fraction(x, 4), 1 - Fraction(x, 4)] for x in (rng.randrange(1, 4) for _ in range(3))]
        channel = Channel(rows)
        same = rows[0] == rows[1] == rows[2]
        assert (channel.epsilon(path).exact == 0) == same
        assert (channel.delta(path, 0) == 0) == same


def test_17_a_spike():
    for e in (2, 3):
        best = optimal([0, 1000], epsilon=ln(e), gain=("threshold", 499))
        assert best.utility == pytest.approx(e / (e + 1), abs=1e-12)
        assert best.gap < 1e-12


def test_18_a_histogram():
    for unit, moved in zip(UNITS, (1, 2), strict=True):
        found = sensitivity.of(lambda rows: [rows.count(v) for v in range(3)], universe=range(3), rows=3, unit=unit)
        assert found.l1 == moved == sensitivity.histogram(unit=unit).l1


def test_19_three_facts():
    coins = [RandomizedResponse(epsilon=ln(e)).channel() for e in (2, 3)]
    nodes = graph.complete(list(coins[0].inputs))
    assert coins[0].product(coins[1]).epsilon(nodes).exact == ln(6)
    assert coins[0].then(coins[1]).epsilon(nodes).exact == ln(Fraction(7, 5))
    chance = [Fraction(1, 14), Fraction(3, 14), Fraction(7, 14)]
    steps = Channel([[c, 1 - c] for c in chance])
    assert steps.delta(graph.path(range(3)), ln(2)) == pytest.approx(1 / 14)
    ends = Channel([[c, 1 - c] for c in (chance[0], chance[2])])
    lost = ends.delta(graph.path(range(2)), ln(4))
    assert lost == pytest.approx(3 / 14)  # delta (1 + E)
    assert lost > 2 / 14 + 0.01  # planted: and not twice delta


def test_20_a_mean():
    for n in (1, 2, 3, 5):
        found = sensitivity.of(average, universe=[0, Fraction(1, 3), 1], rows=n, unit=Unit.REPLACE_ONE)
        assert found.l1 == Fraction(1, n) == sensitivity.mean(0, 1, rows=n).l1


def test_21_the_squared_distance():
    for n in range(2, 7):
        means = [average(x) for x in combinations_with_replacement([0, 1], n)]
        near = [(m, o) for m in means for o in means if abs(m - o) <= Fraction(1, n)]
        moved = max(abs((m - x) ** 2 - (o - x) ** 2) for m, o in near for x in (Fraction(i, 10) for i in range(11)))
        assert moved == (2 - Fraction(1, n)) / n > Fraction(1, n)  # as noted: 1/n


def test_22_kolmogorov_smirnov():
    points = [Fraction(i, 3) for i in range(3)]
    targets = [(1, 1, 1), (Fraction(1, 2), Fraction(1, 2), 1), (0, 0, 1), (Fraction(1, 5), Fraction(3, 5), 1)]

    def ks(values, target):
        return max(abs(average([int(v <= x) for v in values]) - h) for x, h in zip(points, target, strict=True))

    for n in (1, 2, 3):
        moved = [sensitivity.of(lambda x, h=h: ks(x, h), universe=points, rows=n, unit=Unit.REPLACE_ONE).l1 for h in targets]
        assert max(moved) == Fraction(1, n)


def test_23_the_exponential_mechanism():
    choice = Exponential(epsilon=2, sensitivity=1, candidates=3, integers=True)
    scores = list(product((-1, 0, 1), repeat=3))
    near = [(s, t) for s in scores for t in scores if s < t and max(abs(x - y) for x, y in zip(s, t, strict=True)) == 1]
    worst = max(choice.channel([list(s), list(t)]).epsilon(graph.path([s, t])).epsilon for s, t in near)
    assert 1.6 < worst < 2
    # planted: without the 2 in the exponent it is not 2-private
    loud = Exponential(epsilon=4, sensitivity=1, candidates=3, integers=True)
    assert max(loud.channel([list(s), list(t)]).epsilon(graph.path([s, t])).epsilon for s, t in near) > 2


def test_oblivious_mechanisms_are_lifted_for_exercise_3():
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 3)).channel()
    assert oblivious.is_oblivious(oblivious.lift(channel, sum, [0, 1], 3), sum)
