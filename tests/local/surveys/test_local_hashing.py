"""Local hashing, with balanced seeds and with mixed ones."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from dither import ln
from dither.channels import graph
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.surveys import hash_families as hashes
from dither.local.surveys import local_hashing as hashing
from dither.local.surveys.hash_families import BalancedHashFamily, MixedHashFamily, field, prime_powers
from dither.local.surveys.local_hashing import LocalHashing
from dither.mechanisms.response.k_ary_response import Flat
from tests.local import simulated, suite

BALANCED = [
    LocalHashing(["a", "b", "c"], epsilon=1),
    LocalHashing(range(5), epsilon=ln(3)),
    LocalHashing(range(9), epsilon="0.7"),
    LocalHashing([(0, 0), (0, 1)], epsilon="0.1"),
]
MIXED = [LocalHashing(["a", "b", "c"], epsilon=1, seeds=6), LocalHashing(range(5), epsilon=ln(3), seeds=3)]


def pair(survey):
    return lambda data: divmod(int.from_bytes(data, "little"), survey.cells)


def supported(survey):
    def listed(output):
        seed, cell = output
        cells = survey.hash_family.of(np.full(len(survey.domain), seed), np.arange(len(survey.domain)))
        return [value for value, own in zip(survey.domain, cells, strict=True) if own == cell]

    return listed


@pytest.mark.parametrize("survey", BALANCED + MIXED, ids=repr)
def test_local_hashing_passes_the_suite(survey):
    suite.check_law(survey, pair(survey))
    suite.check_promise(survey)
    suite.check_wire(survey)
    suite.check_refusals(survey)


@pytest.mark.parametrize("survey", BALANCED, ids=repr)
def test_balanced_seeds_have_exactly_the_support_that_is_said(survey):
    suite.check_support(survey, supported(survey))


def test_mixed_seeds_do_not_and_that_is_in_the_error():
    with pytest.raises(AssertionError):
        suite.check_support(MIXED[0], supported(MIXED[0]))
    many, few = LocalHashing(range(50), epsilon=1), LocalHashing(range(50), epsilon=1, seeds=100)
    assert few.error(10**6) > 10 * many.error(10**6)
    assert few.error(10**6) == pytest.approx(1.96 / math.sqrt(3 * 100), rel=0.01)


def test_given_a_seed_it_is_the_flat_mechanism():
    for survey in BALANCED + MIXED:
        leak = survey.cell().epsilon(graph.complete(range(survey.cells)))
        assert leak.exact == survey.epsilon


def test_estimates():
    suite.check_estimates(LocalHashing(range(20), epsilon=2), np.arange(1, 21) / 210)
    suite.check_estimates(LocalHashing(range(20), epsilon=2, seeds=3000), np.arange(1, 21) / 210)
    suite.check_error_before(None, lambda **given: LocalHashing.for_error(range(30), **given))
    suite.check_error_before(None, lambda **given: LocalHashing.for_error(range(30), seeds=100_000, **given))


def test_the_number_of_cells():
    wanted = {"0.1": 2, "0.5": 3, "1": 4, "1.5": 5, "2": 8, "5": 149, "50": 256}
    assert {e: LocalHashing(range(1024), epsilon=e).cells for e in wanted} == wanted
    for epsilon in ("0.5", "1", "2", "3"):
        p, q = LocalHashing(range(1024), epsilon=epsilon).support
        grown = math.exp(float(epsilon))
        least = 4 * grown / (grown - 1) ** 2
        assert q * (1 - q) / (p - q) ** 2 == pytest.approx(least, rel=0.02)
    large = LocalHashing(range(2**20), epsilon=4)
    assert large.seeds * large.cells <= hashing.MOST_COUNTS


# -- the hash functions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [g for g in prime_powers() if g <= 32] + [49, 64, 81, 121, 128, 251, 256])
def test_fields_are_fields(size):
    add, multiply = field(size)
    every = np.arange(size)
    assert (add == add.T).all()
    assert (multiply == multiply.T).all()
    assert (add[0] == every).all()
    assert (multiply[1] == every).all()
    assert (multiply[0] == 0).all()
    assert (np.sort(add, axis=1) == every).all()
    assert (np.sort(multiply[1:], axis=1) == every).all()  # so every element but zero has an inverse
    some = every if size <= 32 else np.random.default_rng(1).integers(0, size, 20)
    a, b, c = some[:, None, None], some[None, :, None], some[None, None, :]
    assert (add[add[a, b], c] == add[a, add[b, c]]).all()
    assert (multiply[multiply[a, b], c] == multiply[a, multiply[b, c]]).all()
    assert (multiply[a, add[b, c]] == add[multiply[a, b], multiply[a, c]]).all()


def test_prime_powers():
    assert prime_powers()[:16] == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29]
    assert prime_powers()[-3:] == [243, 251, 256]


@pytest.mark.parametrize(("values", "cells"), [(2, 2), (9, 2), (10, 3), (30, 4), (20, 8), (40, 9), (7, 25)])
def test_two_values_meet_in_exactly_one_seed_of_g(values, cells):
    found = BalancedHashFamily(values, cells)
    table = found.of(np.arange(found.seeds)[:, None], np.arange(values))
    assert table.max() < cells
    for x, y in combinations(range(values), 2):
        assert np.count_nonzero(table[:, x] == table[:, y]) * cells == found.seeds


def by_look_up(found, counts):
    table = found.of(np.arange(found.seeds)[:, None], np.arange(found.values))
    return counts.reshape(-1, found.cells)[np.arange(found.seeds)[:, None], table].sum(axis=0)


@pytest.mark.parametrize(
    "found",
    [
        BalancedHashFamily(*shape)
        for shape in [(2, 2), (3, 4), (100, 2), (100, 3), (64, 4), (65, 4), (50, 7), (90, 9), (5, 16)]
    ]
    + [MixedHashFamily(*shape) for shape in [(2, 2, 1), (3, 4, 5), (100, 7, 4001), (70_000, 3, 9)]],
    ids=lambda h: f"{h.name} {h.values} {h.cells} {h.seeds}",
)
def test_supports_are_those_of_plain_look_ups(found):
    counts = np.random.default_rng(4).integers(0, 10**9, found.seeds * found.cells)
    assert (found.supports(counts) == by_look_up(found, counts)).all()


def test_cells_are_the_same_without_the_table_at_hand(monkeypatch):
    found, rng = BalancedHashFamily(1000, 5), np.random.default_rng(5)
    seeds, places = rng.integers(0, found.seeds, 999), rng.integers(0, 1000, 999)
    at_hand = found.of(seeds, places)
    monkeypatch.setattr(hashes, "LARGEST_TABLE", 0)
    assert (found.of(seeds, places) == at_hand).all()


def test_the_mix_is_that_of_splitmix64_and_stays_so():
    """Reports carry the number of a seed, so what it means must never change. Every bit of a pair moves every bit."""
    assert hex(int(hashes.mix(np.array([0]), np.array([0]))[0])) == "0xe220a8397b1dcdaf"  # its first number from seed 0
    found = MixedHashFamily(10**6, 251, 10**6).of(np.array([0, 1, 2, 3, 999_999]), np.array([0, 0, 7, 123_456, 999_999]))
    assert found.tolist() == [201, 120, 18, 221, 53]
    rng = np.random.default_rng(6)
    seeds, places = rng.integers(0, 2**22, 4000), rng.integers(0, 2**20, 4000)
    for changed in [(seeds ^ (1 << bit), places) for bit in range(22)] + [(seeds, places ^ (1 << bit)) for bit in range(20)]:
        moved = (hashes.mix(seeds, places) ^ hashes.mix(*changed)).astype("<u8").view(np.uint8).reshape(-1, 8)
        shares = np.unpackbits(moved, axis=1).mean(axis=0)
        assert np.abs(shares - 0.5).max() < 7 * 0.5 / math.sqrt(4000)


def test_the_collision_term_is_what_is_left_with_any_number_of_people():
    """Without noise of reports: shares at their mean, given the public seeds. Zipf's law, 1,024 values."""
    values, cells, seeds = 1024, 4, 800
    found = MixedHashFamily(values, cells, seeds)
    f = 1 / np.arange(1, values + 1) ** 1.1
    f /= f.sum()
    p, q = LocalHashing(range(values), epsilon=1, seeds=seeds).support
    table = found.of(np.arange(seeds)[:, None], np.arange(values))
    share = np.zeros(values)
    for row in table:
        weight = np.bincount(row, weights=f, minlength=cells)
        share += (p * weight + (1 - p) / (cells - 1) * (1 - weight))[row] / seeds
    seen = (((share - q) / (p - q) - f) ** 2).mean()
    assert seen == pytest.approx(found.collisions() * (f**2).sum(), rel=0.2)
    for x, y in combinations(range(40), 2):  # meetings are binomial: six deviations
        assert abs((table[:, x] == table[:, y]).mean() - 1 / cells) < 6 * math.sqrt(3 / 16 / seeds)


# -- planted bugs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("planted", ["cells", "epsilon", "seed tells"])
def test_wrong_clients_are_caught(planted):
    class Wrong(LocalHashing):
        def _encode(self, places):
            if planted == "seed tells":  # the seed is drawn with the value in view
                return (super()._encode(places) + places % 2 * self.cells) % (self.seeds * self.cells)
            return super()._encode(places).astype(self.dtype)

    wrong = Wrong(range(3), epsilon=1)
    if planted == "cells":  # the flat step takes the cells for one fewer: two of them merge
        narrow = Flat(range(wrong.cells - 1), epsilon=1)
        wrong._flat = type(
            "Narrow", (), {"randomize_places": lambda _, cells: narrow.randomize_places(np.minimum(cells, wrong.cells - 2))}
        )()
        wrong.cell = lambda: Flat(range(wrong.cells), epsilon=1).channel()
    if planted == "epsilon":  # the probability for one cell more
        wide = Flat(range(wrong.cells + 1), epsilon=1)
        wrong._flat.__dict__["truthful"] = wide.truthful
    if planted == "seed tells":
        suite.check_law(LocalHashing(range(3), epsilon=1), pair(wrong))
        moved = wrong.channel()
        assert moved.epsilon(graph.complete(wrong.domain)).exact == wrong.epsilon
        with pytest.raises(AssertionError):
            suite.check_law(wrong, pair(wrong))
        return
    with pytest.raises(AssertionError):
        suite.check_law(wrong, pair(wrong))


def test_numbers_beyond_the_last_cell_are_rejected():
    survey = LocalHashing(range(5), epsilon="0.5")
    assert survey.seeds * survey.cells == 27
    found = survey.tally(Reports(survey.record, np.array([0, 26, 27, 255], dtype=np.uint8)))
    assert (found.people, found.rejected) == (2, 2)


# -- coverage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [None, 150])
def test_intervals_cover(seeds):
    """Balanced ones as always; mixed ones over 400 sets of seeds, since for given ones the error stays the same."""
    survey = LocalHashing(range(simulated.VALUES), epsilon=1, seeds=seeds)
    p, _ = survey.support
    g = survey.cells

    def tally(rng, sizes):
        if seeds is not None:  # other seeds
            first = int(rng.integers(0, 2**40))
            survey.hash_family.of = lambda s, x: MixedHashFamily.of(survey.hash_family, s + 4 * first, x)
            survey.hash_family.supports = lambda counts: by_look_up(survey.hash_family, counts)
        table = survey.hash_family.of(np.arange(survey.seeds)[:, None], np.arange(simulated.VALUES))
        truth = np.zeros((survey.seeds, g), dtype=np.int64)
        split = rng.multinomial(sizes, np.full(survey.seeds, 1 / survey.seeds))  # values x seeds
        np.add.at(truth, (np.arange(survey.seeds)[:, None], table), split.T)
        said = np.zeros_like(truth)
        for own in range(g):
            row = np.where(np.arange(g) == own, p, (1 - p) / (g - 1))
            said += rng.multinomial(truth[:, own], row)
        return Tally(survey.record, said.reshape(-1), simulated.PEOPLE)

    simulated.check_coverage(survey, tally)


def test_bad_surveys_are_refused_with_words():
    for bad in (
        lambda: LocalHashing(["a"], epsilon=1),
        lambda: LocalHashing(range(3), epsilon=0),
        lambda: LocalHashing(range(3), epsilon=1, seeds=0),
        lambda: LocalHashing(range(3), epsilon=1, seeds="many"),
        lambda: LocalHashing(range(3), epsilon=1, seeds=2**24),
        lambda: LocalHashing(range(200), epsilon=1).channel(),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    with pytest.raises(InputError, match="another survey"):
        BALANCED[0].tally(MIXED[0].randomize(["a"]))
