"""Clients of other languages: the law that a table gives is the survey's, and its promise never above it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from dither import Number, ln
from dither.local import client_law
from dither.local.registry import KINDS
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.grid_response import GridResponse
from dither.local.surveys.hadamard_response import HadamardResponse
from dither.local.surveys.hash_families import BalancedHashFamily, MixedHashFamily, field, prime_powers
from dither.local.surveys.heavy_hitters import HeavyHitters
from dither.local.surveys.hybrid import Hybrid
from dither.local.surveys.local_hashing import LocalHashing
from dither.local.surveys.longitudinal import Longitudinal
from dither.local.surveys.noisy_number import NoisyNumber
from dither.local.surveys.piecewise_and_duchi import Duchi, Piecewise
from dither.local.surveys.subset_selection import SubsetSelection
from dither.local.surveys.unary_encoding import UnaryEncoding
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from tests.local.wire import vectors
from tests.local.wire.reference_client import Bytes, Client, law, multiply

NEAR = Fraction(1, 2**86)


def bit_rows(size):
    return {bits: sum(bit << at for at, bit in enumerate(bits)) for bits in product((0, 1), repeat=size)}


def surveys(small, large):
    """One of each kind whose exact channel is written out; `small` and `large` are epsilons."""
    return [
        DirectEncoding(["a", "b", "c"], epsilon=small),
        DirectEncoding(2, epsilon=large),
        UnaryEncoding(3, epsilon=large),
        UnaryEncoding(3, epsilon=large, optimised=False),
        HadamardResponse(3, epsilon=small),
        HadamardResponse(5, epsilon=large),
        SubsetSelection(5, epsilon=small),
        SubsetSelection(4, epsilon=large),
        LocalHashing(4, epsilon=small),
        LocalHashing(5, epsilon=large),
        LocalHashing(5, epsilon=small, seeds=5),
        GridResponse(width=3, height=2, epsilon=3 * small),
        GridResponse(width=1, height=4, epsilon=3 * large),
        GridResponse(width=2, height=2, epsilon=small, scores="uniform"),
        Longitudinal(3, first=small, forever=large),
        Duchi(0, 1, epsilon=small),
        Piecewise(0, 5, epsilon=large, reports=7, window=2),
        Hybrid(-3, 0, epsilon=large, reports=5, window=2),
        NoisyNumber(0, 4, epsilon=4 * small, steps=4),
        NoisyNumber(0, 1, epsilon=small, steps=1),
    ]


def columns(survey):
    """The columns of the survey's channel, as numbers of a report."""
    outputs, size = survey.channel().outputs, len(getattr(survey, "domain", ()))
    if isinstance(survey, UnaryEncoding):
        return {output: bit_rows(size)[output] for output in outputs}
    if isinstance(survey, SubsetSelection):
        return {output: sum(1 << place for place in output) for output in outputs}
    if isinstance(survey, LocalHashing):
        return {(seed, cell): seed * survey.cells + cell for seed, cell in outputs}
    if isinstance(survey, CoinFlip):
        return {output: int(output) for output in outputs}
    return {output: place for place, output in enumerate(outputs)}


def client_law_of(survey, value):
    """The law of one client, whose value a JSON text may hold."""
    given = list(value) if isinstance(value, tuple) else value

    def draw(random):
        return int.from_bytes(Client(survey.client_table()).report(given, random), "little")

    return law(draw)


UNMIXED = Hybrid(0, 1, epsilon=ln("3/2"))
EXACT = [*surveys(ln(2), ln(4)), CoinFlip(), CoinFlip(heads="1/3", yes="1/7"), UNMIXED]
LONG_COINS = [
    CoinFlip(heads=Fraction(k * 10**39 + 7, 2 * 10**40 + 1), yes=yes) for k in (3, 8, 13) for yes in ("1/7", "6/7")
]
ROUNDED = [*surveys(Number(1), Number(2)), *LONG_COINS]


@pytest.mark.parametrize("survey", EXACT, ids=repr)
def test_where_probabilities_are_fractions_the_client_has_the_law_of_the_survey(survey):
    channel, number = survey.channel(), columns(survey)
    for value in channel.inputs:
        found = client_law_of(survey, value)
        assert sum(found.values()) == 1
        row = {number[output]: chance for output, chance in channel.row(value).items()}
        assert found == {output: chance for output, chance in row.items() if chance}, value


@pytest.mark.parametrize("survey", ROUNDED, ids=repr)
def test_where_they_are_not_the_promise_is_kept_and_the_law_is_near(survey):
    channel, number = survey.channel(), columns(survey)
    laws = {value: client_law_of(survey, value) for value in channel.inputs}
    with precision(400):
        for value, found in laws.items():
            row = {number[output]: chance for output, chance in channel.row(value).items()}
            assert set(found) == set(row)
            apart = sum(abs(to_ball(found[o]) - ball(chance)) for o, chance in row.items()) / 2
            assert apart < to_ball(NEAR)
        grown = to_ball(getattr(survey, "first", survey.epsilon)).exp()
        for one, other in combinations(laws.values(), 2):
            most = max(max(one[o] / other[o], other[o] / one[o]) for o in one)
            assert to_ball(most) <= grown


def ball(chance):
    return to_ball(chance) if isinstance(chance, Fraction) else chance.ball()


def test_a_longitudinal_client_keeps_its_permanent_answer_and_all_reports_keep_the_promise():
    for survey in (Longitudinal(3, first=ln(2), forever=ln(4)), Longitudinal(3, first=1, forever=2)):

        def three(value, survey=survey):
            def draw(random):
                client = Client(survey.client_table())
                return tuple(client.report(value, random) for _ in range(3))

            return law(draw)

        laws = [three(value) for value in range(3)]
        most = max(one[o] / other[o] for one in laws for other in laws for o in one)
        with precision(400):
            assert to_ball(most) <= to_ball(survey.forever).exp()
        assert most > 2


@pytest.mark.parametrize("items", [{"longest": 2}, {"bits": 9}])
def test_heavy_hitters_have_the_law_of_their_channel(items):
    survey = HeavyHitters(epsilon=ln(2), seeds=3, **items)
    values = ["", "a", "ab", "é", "\0b", "abc"] if "longest" in items else [0, 5, 511]
    channel = survey.channel(values)
    for value in values:
        row = channel.row(value)
        wanted = {(group * survey.seeds + seed) * survey.cells + cell: chance for (group, seed, cell), chance in row.items()}
        assert client_law_of(survey, value) == wanted


def test_numbers_between_places_are_rounded_as_the_survey_rounds_them():
    survey = Piecewise(-1, 1, epsilon=ln(4), reports=6, window=2)
    rows = [client_law_of(survey, Fraction(place, 2) - 1) for place in range(5)]
    for value in (-0.25, 0.125, -1.0, 0.7):
        place = (Fraction(value) + 1) * 2
        below, rest = math.floor(place), place - math.floor(place)
        assert abs(rest - math.floor(rest * 2**120) / Fraction(2**120)) < Fraction(1, 2**120)
        mixed = {o: (1 - rest) * rows[below][o] + (rest * rows[below + 1][o] if rest else 0) for o in rows[0]}
        assert client_law_of(survey, value) == mixed  # a double has no bits beyond 2^-120 here
    ends = [(math.nan, 2), (math.inf, 4), (-math.inf, 0), (1e300, 4), (-7, 0)]
    for value, place in ends:
        assert client_law_of(survey, value) == rows[place]
    assert client_law_of(Piecewise(2, 3, epsilon=1, reports=6, window=2), math.nan) == client_law_of(
        Piecewise(2, 3, epsilon=1, reports=6, window=2), 2
    )


EXTREMES = [Number("1e-9"), Number("0.01"), Number(40), Number(500)]


@pytest.mark.parametrize("epsilon", EXTREMES, ids=str)
@pytest.mark.parametrize("others", [Fraction(1), Fraction(2**20 - 1), Fraction(1, 2**14), Fraction(2**15 - 1)])
def test_a_coin_is_below_the_truth_and_above_chance(epsilon, others):
    """1/c <= p'/(1 - p') <= E/c, by c = (b - a)/a of the proof."""
    coin = client_law.response(epsilon, others)
    odds = coin / (1 - coin) * others
    assert odds >= 1
    with precision(2000):
        assert to_ball(odds) <= to_ball(epsilon).exp()
        assert abs(1 / (1 + to_ball(others) * (-to_ball(epsilon)).exp()) - to_ball(coin)) <= to_ball(Fraction(1, 2**120))
    assert 0 < coin < 1
    assert coin.denominator <= 2**120


@pytest.mark.parametrize("rate", [*(e / 1022 for e in EXTREMES), ln(2), ln("3/2"), ln(3) / 1022], ids=str)
def test_weights_fall_no_faster_than_the_promise(rate):
    for weights in (client_law.falling(rate, 512), client_law.geometric(rate, 1022)[:-1]):
        with precision(2000):
            least = (-to_ball(rate)).exp()
            exact = rate.exp_fraction()
            for one, two in pairwise(weights):
                assert 0 < two <= one
                assert two * exact >= one if exact is not None else to_ball(two) >= least * one
        assert sum(weights).bit_length() <= 121
    weights = client_law.geometric(rate, 1022)
    tails = np.cumsum(np.array(weights[::-1], dtype=object))[::-1]
    with precision(2000):
        limit = to_ball(rate).exp()
        pairs = [Fraction(one, two) for one, two in pairwise(tails)]
        exact = rate.exp_fraction()
        assert all(pair <= exact if exact is not None else to_ball(pair) <= limit for pair in pairs)
    assert (weights[0] + 2 * sum(weights[1:])).bit_length() <= 128


def test_noise_is_near_the_survey_at_its_worst():
    """2^-117 G (G + S), also where steps are many and epsilon small: the largest distance is that of a whole row."""
    for epsilon, steps in (("1e-9", 2000), ("0.001", 1024), (300, 7)):
        rate = Number(epsilon) / steps
        weights = client_law.geometric(rate, steps)
        whole = weights[0] + 2 * sum(weights[1:])
        with precision(400):
            r = (-to_ball(rate)).exp()
            law_ = [(1 - r) / (1 + r) * r**k for k in range(steps)] + [r**steps / (1 + r)]
            apart = sum((abs(to_ball(Fraction(w, whole)) - p) for w, p in zip(weights, law_, strict=True)), to_ball(0))
            assert apart <= to_ball(Fraction(steps, 2**117)) * (steps + 1 / (1 - r))


def test_hash_functions_are_those_of_the_survey():
    for cells in (2, 3, 4, 8, 9, 27, 49, 256):
        family = BalancedHashFamily(cells * 3, cells)
        survey = LocalHashing(3, epsilon=1)
        client = Client(survey.client_table())
        client.table.update(hash=family.arithmetic(), cells=cells)
        pairs = [(s, x) for s in (0, 1, cells - 1, cells + 1, cells**2 - 1) for x in (0, 1, cells - 1, cells, 3 * cells - 1)]
        found = family._by_digits(np.array([s for s, _ in pairs]), np.array([x for _, x in pairs]))
        assert [client.cell(*pair) for pair in pairs] == found.tolist(), cells
    mixed = MixedHashFamily(1000, 7, 50)
    client.table.update(hash=mixed.arithmetic(), cells=7)
    pairs = [(s, x) for s in range(50) for x in (0, 1, 77, 999)]
    found = mixed.of(np.array([s for s, _ in pairs]), np.array([x for _, x in pairs]))
    assert [client.cell(*pair) for pair in pairs] == found.tolist()


def test_every_field_multiplies_as_the_table_says():
    for cells in prime_powers():
        how = BalancedHashFamily(cells, cells).arithmetic()
        table = field(cells)[1]
        for a, b in ((cells - 1, cells - 1), (cells // 2, cells - 1), (1, cells - 1), (cells // 2, cells // 3), (0, 1)):
            assert multiply(a, b, how) == table[a, b], (cells, a, b)


def test_uniform_numbers_take_every_string_of_bits_once():
    for m in (1, 2, 3, 5, 128, 129, 200, 256):
        counts = [0] * m
        for byte in range(256):
            random = Bytes(bytes([byte, 0]))
            value = random.below(m)
            if random.taken <= 1:
                counts[value] += 1
        assert len(set(counts)) == 1
    assert Bytes(bytes([1, 44, 0, 0])).below(300) == 2  # 9 bits: the first nine of sixteen


def test_the_table_says_which_survey_it_is():
    survey = DirectEncoding(["a", "é"], epsilon=1)
    table = json.loads(survey.client_table())
    assert json.loads(table["record"]) == survey.record
    assert survey.randomize(["a"]).to_bytes()[12:].startswith(table["record"].encode())
    assert table["size"] == survey.dtype.itemsize


def test_the_page_lists_every_field_of_every_table():
    page = vectors.PATH.with_name("wire-format.md").read_text()
    common = {"dither_client_table", "kind", "size", "record", "domain"}
    assert all(f"| `{name}` |" in page for name in common)
    for survey, _ in vectors.surveys():
        table, rows = json.loads(survey.client_table()), page.partition("## Surveys")[2].splitlines()
        words = " ".join(row for row in rows if row.startswith(f"| `{table['kind']}`"))
        if table["kind"] == "hybrid":  # "as piecewise", or "as duchi"
            words += " ".join(row for row in rows if row.startswith(("| `piecewise`", "| `duchi`")))
        assert [name for name in set(table) - common if f"`{name}`" not in words] == [], table["kind"]
        for field_ in survey.record:
            assert f"`{field_}`" in page.partition("## The client table")[0], (table["kind"], field_)
    assert set(KINDS) == {json.loads(survey.client_table())["kind"] for survey, _ in vectors.surveys()}
