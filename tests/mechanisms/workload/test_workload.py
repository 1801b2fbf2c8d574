"""Many linear queries together: the promise from whole numbers, the way back, the error, and what is refused."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from dither import Geometric, Workload, pure, zcdp
from dither.errors import InputError
from dither.mechanisms.workload.chernoff import gaussian_width, geometric_width
from dither.mechanisms.workload.reconstruction import LARGEST_COUNT
from dither.mechanisms.workload.strategy import gaussian
from dither.testing import check_mechanism

REPLACE = "replace one person"
PREFIXES = [[1, 0], [1, 1]]
LEANING = [[3, 1], [1, 3]]
SMALL = gaussian(LEANING, bits=3)  # an optimum whose noise is narrow enough to be gone through
CASES = [
    Workload(queries=[[1, 1, 1]], epsilon=1),
    Workload(queries=[[1, 1, 0]], epsilon="1/2", unit=REPLACE),
    Workload(queries=[[2, 1]], epsilon=1, strategy=[[2, 1]], unit=REPLACE),
    Workload(queries=[[3, 1, 0]], rho="1/2"),
    Workload(queries=[[3, 1, 1]], rho="1/2", unit=REPLACE),
]
VECTORS = [
    Workload(queries=PREFIXES, epsilon=4, strategy=[[1, 0], [1, 1]]),
    Workload(queries=PREFIXES, epsilon=2, strategy=[[1, 0], [1, 1]], unit=REPLACE),
    Workload(queries=[[1, 1, 0], [0, 1, 1]], epsilon=4, strategy=[[1, 1, 0], [0, 1, 1]], unit=REPLACE),
    Workload(queries=LEANING, rho=20, strategy=SMALL),
    Workload(queries=[[0.5, 0, 0.25], [0, 1, 0]], rho=3, strategy=[[2, 0, 1], [0, 1, 0]], unit=REPLACE),
]


def attains(mechanism, report):
    """The worst pair reaches a pure promise: no smaller epsilon is true."""
    epsilon = mechanism.guarantee.epsilon(0)
    return math.isinf(epsilon) or report.epsilon == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    assert attains(mechanism, check_mechanism(mechanism, cutoff="1e-12"))


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_conform(mechanism):
    cutoff = "1e-9" if mechanism.rho is None else "1e-14"  # a large rho leaves less room
    assert attains(mechanism, check_mechanism(mechanism, cutoff=cutoff))


def test_an_optimum_is_among_the_cases():
    assert SMALL.name == "optimum"
    assert SMALL.matrix.shape == (2, 2)
    assert SMALL.norm == 74


# -- the promise -------------------------------------------------------------------------------------------------------


def norms(matrix, *, power, swap):
    """The largest norm over all columns or pairs, in Python integers."""
    columns = [[int(entry) for entry in column] for column in matrix.T]
    others = columns if swap else [[0] * len(matrix)]
    return max(sum(abs(x - y) ** power for x, y in zip(a, b, strict=True)) for a in columns for b in others)


@pytest.mark.parametrize("unit", ["add/remove one person", REPLACE, "add/remove one row", "replace one row"])
@pytest.mark.parametrize("seed", range(4))
def test_noise_follows_from_the_whole_matrix_exactly(unit, seed):
    random = np.random.default_rng(seed)
    queries = random.integers(-3, 4, (5, 6)) if seed < 2 else random.standard_normal((9, 6))
    swap = unit.startswith("replace")
    laplace = Workload(queries=queries, epsilon="0.7", unit=unit)
    scale = norms(laplace.strategy.matrix, power=1, swap=swap)
    assert laplace.noise.law.rate == Fraction(7, 10) / scale
    assert laplace.guarantee.charge().epsilon == Fraction(7, 10)
    assert laplace.guarantee.within(pure("0.7", unit=unit))
    normal = Workload(queries=queries, rho="0.3", unit=unit)
    assert normal.noise.law.sigma2 == norms(normal.strategy.matrix, power=2, swap=swap) / Fraction(6, 10)
    assert normal.guarantee == zcdp("0.3", unit=unit)
    assert normal.noise.dimension == len(normal.strategy.matrix)


def test_a_strategy_made_for_something_else_gets_the_noise_of_this():
    lied = replace(SMALL, norm=1)
    matrix = lied.matrix
    assert Workload(queries=PREFIXES, rho=1, strategy=lied).noise.sigma2 == norms(matrix, power=2, swap=False) / Fraction(2)
    swapped = Workload(queries=PREFIXES, epsilon=1, strategy=lied, unit=REPLACE)
    assert swapped.noise.sensitivity == norms(matrix, power=1, swap=True)


def test_a_matrix_that_is_changed_later_changes_nothing():
    own = np.array(PREFIXES)
    queries = np.array(PREFIXES, dtype=float)
    mechanism = Workload(queries=queries, epsilon=50, strategy=own)
    own[:], queries[:] = 10**6, 7.0
    assert np.abs(mechanism.release([3, 4]) - [3, 7]).max() < 5
    with pytest.raises(ValueError, match="read-only"):
        mechanism.queries[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        mechanism.strategy.matrix[0, 0] = 2


def test_counts_are_never_bounded_before_the_noise():
    """If they were, replacing one person could move the answer by a whole column, and not by a difference."""
    far = 2**70
    pairs = [([far, 3 - 2 * far], [far + 1, 2 - 2 * far]), ([2 * far, 3 - 4 * far], [2 * far - 1, 4 - 4 * far])]
    mechanism = Workload(queries=[[2, 1]], epsilon=1, strategy=[[2, 1]], unit=REPLACE)
    assert mechanism.noise.sensitivity == 1
    assert check_mechanism(mechanism, pairs=pairs, cutoff="1e-12").epsilon == pytest.approx(1)
    assert np.isfinite(mechanism.release([10**400, -(10**500)])).all()
    assert mechanism.release(np.array([2**64 - 1, 0], dtype=np.uint64))[0] == pytest.approx(2.0**65)


# -- the way back ------------------------------------------------------------------------------------------------------

SHAPES = {
    "prefix": np.tril(np.ones((17, 17))),
    "few": np.random.default_rng(5).integers(0, 2, (3, 11)).astype(float),
    "reals": np.random.default_rng(6).standard_normal((12, 7)),
    "tiny": np.random.default_rng(7).standard_normal((4, 5)) * 2.0**-50,
    "idle cells": np.array([[0.1, 0, 0.7, 0], [0, 0, 1e6, 0]]),
    "powers": np.vander(np.linspace(0, 1, 12), 9),
}


@pytest.mark.parametrize("paid", [{"epsilon": 1}, {"rho": 1}], ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_answers_lead_back_to_the_queries_exactly(name, paid):
    queries = SHAPES[name]
    mechanism = Workload(queries=queries, **paid)
    back, matrix = mechanism.reconstruction, mechanism.strategy.matrix.tolist()
    whole = [[Fraction(int(entry), 2**back.places) for entry in row] for row in back.whole.tolist()]
    worst = Fraction(0)
    for row, wanted in zip(whole, queries.tolist(), strict=True):
        off = [
            sum(r * line[cell] for r, line in zip(row, matrix, strict=True)) - Fraction(w) for cell, w in enumerate(wanted)
        ]
        worst = max(worst, sum(map(abs, off)))
    assert worst * LARGEST_COUNT == back.slack
    assert back.slack <= Fraction(float(np.abs(queries).max())) / 2**24
    deviation = math.sqrt(np.square(back.floats).sum() / len(queries)) * math.sqrt(mechanism.strategy.norm)
    if "rho" in paid:
        assert deviation == pytest.approx(mechanism.strategy.rmse, rel=1e-6), "the answers have the stated error"
    least = np.linalg.pinv(mechanism.strategy.matrix.astype(float))
    assert np.allclose(back.floats, queries @ least, atol=1e-7 * np.abs(back.floats).max()), "and the least possible"


def test_answers_without_noise_are_the_truth():
    counts = [5, 0, 10**6, 3, 2, 2, 9, 1, 0, 4, 8]
    mechanism = Workload(queries=SHAPES["few"], rho=10**9)
    assert np.abs(mechanism.release(counts) - SHAPES["few"] @ counts).max() < 0.01
    assert mechanism.truth(counts) == [Fraction(x) for x in SHAPES["few"] @ counts]


# -- the error ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paid", "most"), [({"epsilon": 1}, 8), ({"rho": "1/2"}, 5)])
def test_half_widths_hold_and_are_not_idle(paid, most):
    """Of 300 releases each is outside with probability at most 1/20: more than 40 outside has probability below 1e-6."""
    assert sum(math.comb(300, k) * 0.05**k * 0.95 ** (300 - k) for k in range(41, 301)) < 1e-6
    mechanism = Workload(queries=SHAPES["prefix"], **paid)
    counts = np.arange(17)
    width = mechanism.error("0.95")
    off = [np.abs(mechanism.release(counts) - SHAPES["prefix"] @ counts).max() > width for _ in range(300)]
    assert sum(off) <= 40
    assert width < most * mechanism.strategy.rmse * (math.sqrt(2) if "epsilon" in paid else 1)


def test_the_error_of_one_count_is_the_exact_one():
    mechanism = Workload(queries=[[1, 1]], epsilon="0.1")
    exactly = Geometric(epsilon="0.1", sensitivity=1)
    for level in ("0.5", "0.95", "0.999999", 1 - Fraction(1, 10**400)):
        assert exactly.error(level) <= mechanism.error(level) < exactly.error(level) * (1 + 1e-5)


BLOCKS = np.kron(np.eye(16), np.ones(8))  # 16 queries, each with the noise of 8 cells, independent of each other


@pytest.mark.parametrize(("paid", "reach"), [({"epsilon": 1}, 60), ({"rho": "1/2"}, 12)])
@pytest.mark.parametrize("level", ["0.5", "0.95", "0.9999"])
def test_half_widths_against_exact_tails_and_moments(paid, reach, level):
    mechanism = Workload(queries=BLOCKS, strategy=np.eye(128, dtype=int), **paid)
    if "epsilon" in paid:
        width = geometric_width(BLOCKS, mechanism.noise.law.rate.bounds().lower, Fraction(level))
    else:
        width = gaussian_width(BLOCKS, mechanism.noise.sigma2, Fraction(level))
    points, missed = np.arange(-reach, reach + 1), (1 - float(level)) / 32
    masses = np.array([mechanism.noise.law.pmf(int(k)).upper for k in points])
    eight = masses
    for _ in range(7):
        eight = np.convolve(eight, masses)
    inside = eight[np.abs(np.arange(-8 * reach, 8 * reach + 1)) <= width].sum()
    assert inside**16 >= float(level), "all 16 stay within, with this probability"
    tilts = np.linspace(0.001, 0.999, 999) * (1 if "epsilon" in paid else 8)
    chernoff = min((8 * math.log((masses * np.exp(s * points)).sum()) - math.log(missed)) / s for s in tilts)
    assert width == pytest.approx(chernoff, rel=0.01)
    assert width >= chernoff * (1 - 1e-4), "it is the bound that is proved, and no less"
    if "rho" in paid:
        assert width == pytest.approx(math.sqrt(16 * math.log(1 / missed)), rel=1e-9)


def test_more_confidence_is_wider():
    for mechanism in [*CASES, *VECTORS]:
        widths = [mechanism.error(level) for level in ("0.1", "0.5", "0.9", "0.999", 1 - Fraction(1, 10**400))]
        assert widths == sorted(widths)
        assert math.isfinite(widths[-1])


def test_the_same_query_twice_costs_no_error():
    once, twice = Workload(queries=PREFIXES, epsilon=1), Workload(queries=PREFIXES * 3, epsilon=1)
    assert once.strategy.name == twice.strategy.name
    assert once.error("0.95") == pytest.approx(twice.error("0.95"))


# -- plain things ------------------------------------------------------------------------------------------------------


def test_equal_by_what_they_do():
    one, other = Workload(queries=PREFIXES, epsilon=1), Workload(queries=np.array(PREFIXES), epsilon="1")
    assert one == other
    assert hash(one) == hash(other)
    assert one != Workload(queries=PREFIXES, epsilon=2)
    assert one != Workload(queries=PREFIXES, epsilon=1, strategy=[[1, 1], [1, 2]])
    assert repr(one) == "Workload(queries=<2 x 2>, epsilon='1', strategy=<identity>, unit='add/remove one person')"
    assert evolve(one, epsilon=2).strategy.name == "identity"


def test_the_loss_is_that_of_the_promise():
    assert CASES[0].loss().epsilon(0) == pytest.approx(1)
    with pytest.raises(InputError, match="is refused"):
        Workload(queries=PREFIXES, rho=1).loss()


@pytest.mark.parametrize(
    "bad",
    [
        {}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": -1}, {"rho": 0}, {"epsilon": math.nan}, {"rho": "ln(2)"},
        {"epsilon": 1, "unit": "somebody"}, {"epsilon": "1e-30"}, {"rho": "1e-60"},
        {"epsilon": 1, "queries": [[0, 0]]}, {"epsilon": 1, "queries": [[1, math.nan]]}, {"epsilon": 1, "queries": []},
        {"epsilon": 1, "queries": np.ones((2049, 1024))},
        {"epsilon": 1, "queries": [[1, 1]], "unit": REPLACE}, {"rho": 1, "queries": [[1, 1]], "unit": REPLACE},
        {"epsilon": 1, "strategy": [[1, 1]]}, {"epsilon": 1, "strategy": [[1, 1], [2, 2]]}, {"rho": 1, "strategy": [[0, 0]]},
        {"epsilon": 1, "strategy": [[1, 0, 0], [0, 1, 0]]}, {"epsilon": 1, "strategy": [[1.0, 0.0], [0.0, 1.0]]},
        {"epsilon": 1, "strategy": [[True, False], [False, True]]}, {"epsilon": 1, "strategy": [[2**33, 0], [0, 1]]},
        {"epsilon": 1, "strategy": []}, {"epsilon": 1, "strategy": [1, 2]}, {"epsilon": 1, "strategy": "identity"},
        {"epsilon": 1, "strategy": [[1, 0]] * 5000},
    ],
    ids=lambda bad: repr(bad)[:50],
)  # fmt: skip
def test_bad_input_is_refused_with_words(bad):
    with pytest.raises(InputError, match="is refused"):
        Workload(**{"queries": PREFIXES, **bad})


@pytest.mark.parametrize(
    "bad", [None, 3, [1], [1, 2, 3], [[1, 2]], [1.0, 2.0], [True, 1], ["a", 1], np.ones(2), {1, 2}], ids=repr
)
def test_bad_histograms_are_refused_with_words(bad):
    with pytest.raises(InputError, match="is refused"):
        Workload(queries=PREFIXES, epsilon=1).release(bad)


def test_it_can_be_kept_and_sent():
    copy = pickle.loads(pickle.dumps(CASES[3]))
    assert copy == CASES[3]
    assert copy.error("0.9") == CASES[3].error("0.9")
