"""Unary encoding, symmetric and optimised."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dither import ln
from dither.channels import graph
from dither.channels.channel import Channel
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.surveys.packed_bits import as_reports, column_sums
from dither.local.surveys.unary_encoding import UnaryEncoding
from dither.noise.bernoulli import Bernoulli
from dither.testing import outcomes
from tests.local import simulated, suite

SURVEYS = [
    UnaryEncoding(["a", "b", "c"], epsilon=1),
    UnaryEncoding(["a", "b", "c"], epsilon=1, optimised=False),
    UnaryEncoding(range(4), epsilon=ln(3)),
    UnaryEncoding(range(4), epsilon=ln(3), optimised=False),
    UnaryEncoding([True, False], epsilon=ln(4), optimised=False),
    UnaryEncoding([(0, 0), (0, 1)], epsilon="0.1"),
]


def bits_of(survey):
    size = len(survey.domain)
    return lambda data: tuple(int.from_bytes(data, "little") >> at & 1 for at in range(size))


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda s: f"{s!r} {s.optimised}")
def test_unary_encoding_passes_the_suite(survey):
    suite.check_law(survey, bits_of(survey))
    suite.check_promise(survey)
    suite.check_support(survey, lambda output: [v for v, bit in zip(survey.domain, output, strict=True) if bit])
    suite.check_wire(survey)
    suite.check_refusals(survey)


@pytest.mark.parametrize("optimised", [True, False])
def test_reports_of_more_than_a_byte(optimised):
    suite.check_wire(UnaryEncoding(range(13), epsilon=1, optimised=optimised))
    suite.check_wire(UnaryEncoding(range(16), epsilon=1, optimised=optimised))
    suite.check_estimates(UnaryEncoding(range(20), epsilon=2, optimised=optimised), np.arange(1, 21) / 210)
    suite.check_error_before(None, lambda **given: UnaryEncoding.for_error(range(30), optimised=optimised, **given))


@pytest.mark.parametrize("optimised", [True, False])
def test_the_law_of_reports_of_two_bytes(optimised):
    """The first and the last of nine values: all 512 reports."""
    survey = UnaryEncoding(range(9), epsilon=ln(9), optimised=optimised)
    whole = survey.channel()
    for value in (0, 8):
        law = outcomes(lambda v: bits_of(survey)(suite.one_report(survey, v)), value)
        for output, chance in whole.row(value).items():
            low, high = law.probability(output)
            assert low <= chance <= high
            assert high - low < 1e-15


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda s: f"{s!r} {s.optimised}")
def test_the_promise_follows_from_one_coordinate(survey):
    (p, not_p), (q, not_q) = survey.coordinate().rows
    ratio = (p * not_q) / (q * not_p)
    both = Channel([[ratio / (ratio + 1), 1 / (ratio + 1)], [1 / (ratio + 1), ratio / (ratio + 1)]])
    assert both.epsilon(graph.complete([0, 1])).exact == survey.epsilon
    assert survey.support == pytest.approx((float(p), float(q)), rel=1e-14)


def test_the_symmetric_one_with_a_rational_root():
    rows = UnaryEncoding(range(2), epsilon=ln(9), optimised=False).coordinate().rows
    assert rows == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))


def test_the_variance_of_a_rare_value():
    p, q = UnaryEncoding(range(1000), epsilon=1).support
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(4 * math.e / (math.e - 1) ** 2)


def test_a_client_that_never_clears_a_bit_is_caught():
    """The own bit stays 1: then P(0 there) = 0, and epsilon is infinite."""

    class NeverClears(UnaryEncoding):
        def _encode(self, places):
            rows = self._others.sample(places.size, len(self.domain))
            rows[np.arange(places.size), places >> 3] |= np.left_shift(1, places & 7).astype(np.uint8)
            return as_reports(rows)

    for optimised in (True, False):
        with pytest.raises(AssertionError):
            suite.check_law(NeverClears(range(3), epsilon=1, optimised=optimised), bits_of(SURVEYS[0]))


def test_a_wrong_coin_for_the_other_bits_is_caught():
    wrong = UnaryEncoding(range(3), epsilon=1)
    wrong._others = UnaryEncoding(range(3), epsilon="1.000001")._others
    with pytest.raises(AssertionError):
        suite.check_law(wrong, bits_of(wrong))
    wrong = UnaryEncoding(range(3), epsilon=1)
    wrong._own = Bernoulli("0.500001")
    with pytest.raises(AssertionError):
        suite.check_law(wrong, bits_of(wrong))


def test_spare_bits_are_zero_and_a_report_that_has_one_is_rejected():
    survey = UnaryEncoding(range(11), epsilon=1)
    reports = survey.randomize([3] * 500)
    rows = reports.payload.view(np.uint8).reshape(-1, 2)
    assert (rows[:, 1] < 8).all()
    honest = survey.tally(reports)
    broken = rows.copy()
    broken[7, 1] |= 8
    broken[11, 1] |= 128
    found = survey.tally(Reports(reports.record, as_reports(broken)))
    assert (found.people, found.rejected) == (498, 2)
    kept = np.delete(rows, [7, 11], axis=0)
    assert (found.counts == survey.tally(Reports(reports.record, as_reports(kept))).counts).all()
    assert honest.rejected == 0


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 128, 1000])
def test_column_sums_are_those_of_the_unpacked_rows(width):
    rng = np.random.default_rng(width)
    for count in (0, 1, 7, 500, 5000 if width > 8 else 150_000, 4 * 65536 // width + 3, 29 * 65536 // width // 8 * 8):
        rows = rng.integers(0, 256, (count, width), dtype=np.uint8)
        wanted = sum(
            (
                np.unpackbits(part, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
                for part in np.array_split(rows, 20)
            ),
            start=np.zeros(8 * width, dtype=np.int64),
        )
        assert (column_sums(rows) == wanted).all()
    assert (column_sums(np.full((70_000, 2), 255, dtype=np.uint8)) == 70_000).all()


def test_rows_that_start_anywhere_are_counted():
    data = np.random.default_rng(1).integers(0, 256, 8 * 100_001 + 1, dtype=np.uint8)
    rows = data[1:].reshape(-1, 8)
    assert (column_sums(rows) == column_sums(rows.copy())).all()


@pytest.mark.parametrize("optimised", [True, False])
def test_intervals_cover(optimised):
    survey = UnaryEncoding(range(simulated.VALUES), epsilon=1, optimised=optimised)
    simulated.check_coverage(
        survey, lambda rng, sizes: Tally(survey.record, simulated.supporters(survey, sizes, rng), simulated.PEOPLE)
    )


def test_bad_surveys_are_refused_with_words():
    for bad in (
        lambda: UnaryEncoding(["a"], epsilon=1),
        lambda: UnaryEncoding(range(3), epsilon=0),
        lambda: UnaryEncoding(range(3), epsilon=1, optimised="yes"),
        lambda: UnaryEncoding(range(11), epsilon=1).channel(),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    symmetric, optimised = SURVEYS[1], SURVEYS[0]
    with pytest.raises(InputError, match="another survey"):
        symmetric.tally(optimised.randomize(["a"]))
