"""Means and variances from counters: the exact change that one person makes, the exact law, and what is refused."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.density import Moments, Summary
from dither.density.moments.moments import FARTHEST
from dither.density.moments.steps import MOST_STEPS, Quantisation, exact_sum
from dither.errors import DataError, GuaranteeError, InputError, NumberError, SizeError, UnitError
from dither.mechanisms import sensitivity
from dither.testing import check_mechanism, seeded
from dither.testing.enumerate import as_key, outcomes
from tests.density.exact import check_all_but_the_promise

COME, REPLACE = "add/remove one person", "replace one person"
WAYS = [(COME, None), (REPLACE, None), (REPLACE, 2)]


def tiny(degree, unit, rows, *, epsilon, steps=4):
    return Moments(epsilon=epsilon, low=0, high=1, degree=degree, steps=steps, unit=unit, rows=rows)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(("unit", "rows"), WAYS)
@pytest.mark.parametrize("steps", [2, 4, 8])
def test_the_sensitivity_is_the_exact_change_over_all_data_sets(degree, unit, rows, steps):
    mechanism = tiny(degree, unit, rows, epsilon=1, steps=steps)
    universe = [None, *(Fraction(q, steps) for q in range(steps + 1))]
    found = sensitivity.of(lambda data: mechanism.truth(mechanism.count(list(data))), universe=universe, rows=2, unit=unit)
    assert found.l1 == mechanism.noise.sensitivity == steps**degree * (2 if unit == REPLACE else 1)
    assert mechanism.noise.law.rate == dither.Number(1) / found.l1
    assert mechanism.guarantee.without_own_rho() == dither.pure(1, unit=unit)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(("unit", "rows"), WAYS)
@pytest.mark.parametrize("steps", [4, 8, 32])
def test_neighbours_that_are_tried_have_one_record_each(degree, unit, rows, steps):
    mechanism = tiny(degree, unit, rows, epsilon=1, steps=steps)
    known = [mechanism.record(place) for place in range(steps + 1)]
    for pair in mechanism.neighbours():
        few = [[x - (10**12 if pair[0][0] >= 10**12 - steps**2 else 0) for x in one] for one in pair]
        assert few[0] in known
        assert few[1] in known or (rows is None and few[1] == [0] * (degree + 1))


@pytest.mark.parametrize(("unit", "rows"), WAYS)
def test_the_law_of_a_mean_keeps_the_promise_on_all_small_data_sets(unit, rows):
    """What is left out, times e^epsilon, stays far below the masses that are compared: otherwise nothing would be seen."""
    size = 1 if unit == REPLACE and rows is None else 2
    mechanism = tiny(1, unit, rows, epsilon=6, steps=2)
    counted = lambda data: mechanism.count(list(data))  # noqa: E731 - a query
    report = check_mechanism(mechanism, query=counted, universe=[None, 0, 0.5, 1], rows=size, cutoff="1e-7")
    assert report.missing * math.exp(6) < 0.02
    assert report.errors > 0


@pytest.mark.parametrize(("unit", "rows"), WAYS)
def test_variances_conform(unit, rows):
    """Error, refusals, saturation. The promise at so large an epsilon is proved by the tests around this one."""
    mechanism = tiny(2, unit, rows, epsilon=16, steps=2)
    check_all_but_the_promise(mechanism, cutoff="1e-5")


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(("unit", "rows"), WAYS)
def test_the_law_is_independent_noise_on_the_exact_numbers(degree, unit, rows):
    """Each output has the product of the masses: with the exact change above, that is `Geometric`'s theorem."""
    mechanism = tiny(degree, unit, rows, epsilon=4, steps=2)
    truth = mechanism.truth(mechanism.count([1, 0.5]))
    found = outcomes(mechanism.release, mechanism.count([1, 0.5]), cutoff="1e-3")
    assert len(found.masses) > 4
    for key, mass in found.masses.items():
        moved = [x - y for x, y in zip(found.outputs[key].released, truth, strict=True)]
        assert float(mass) == pytest.approx(math.prod(float(mechanism.noise.law.mass(k)) for k in moved), rel=1e-9)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(("unit", "rows"), WAYS)
def test_the_promise_is_attained(degree, unit, rows):
    """One record more, or a lowest in place of a highest one: what is likeliest with it is e^epsilon times less likely."""
    mechanism = tiny(degree, unit, rows, epsilon=4, steps=2)
    one, other = mechanism.record(2), mechanism.record(0) if unit == REPLACE else [0] * (degree + 1)
    likeliest = Summary(mechanism, tuple(mechanism.truth(one)))
    with_it, without = (outcomes(mechanism.release, x, cutoff="1e-4").masses[as_key(likeliest)] for x in (one, other))
    assert math.log(float(with_it) / float(without)) == pytest.approx(4)


def test_less_noise_would_be_seen():
    """The same conformance check fails when noise is drawn for half the change."""

    class Wrong(Moments):
        def release(self, counters):
            law = dither.Geometric(epsilon=self.epsilon, sensitivity=self.one // 2, dimension=2).law
            return [x + y for x, y in zip(self.truth(counters), law.sample(2).tolist(), strict=True)]

    with pytest.raises(dither.errors.BrokenPromise):
        check_mechanism(Wrong(epsilon=2, low=0, high=1, steps=2), cutoff="1e-9")


# -- counters ----------------------------------------------------------------------------------------------------------


def test_counters_add_up_to_what_records_add():
    values = [0, 0.26, 0.74, 1, None, math.nan, 7, -3, math.inf, -math.inf, Decimal("0.5"), Fraction(1, 2), 10**400]
    places = [0, 1, 3, 4, 4, 0, 4, 0, 2, 2, 4]
    for degree in (1, 2):
        mechanism = tiny(degree, COME, None, epsilon=1)
        records = [mechanism.record(place) for place in places]
        assert mechanism.count(values) == [sum(column) for column in zip(*records, strict=True)]
        assert all(sum(record) == 4**degree for record in records)
        sums = len(places), sum(places), sum(place * place for place in places)
        assert mechanism.from_sums(*sums) == mechanism.count(values)
        assert mechanism.count([]) == [0] * (degree + 1)
        assert mechanism.count(np.array([0.26], dtype=np.float32)) == mechanism.record(1)


def test_missing_values_count_as_the_middle_where_the_number_of_rows_is_public():
    for degree in (1, 2):
        mechanism = tiny(degree, REPLACE, 3, epsilon=1)
        assert mechanism.count([None, 0, math.nan]) == mechanism.count([0.5, 0, 0.5])
        assert mechanism.from_sums(1, 0, 0) == mechanism.count([None, 0, None])
    with pytest.raises(SizeError, match="3 rows"):
        mechanism.count([1, 2])


def test_what_is_released_where_one_is_replaced():
    assert tiny(1, REPLACE, None, epsilon=1).truth([3, 5]) == [8, 2]
    assert tiny(1, REPLACE, 2, epsilon=1).truth([3, 5]) == [2]
    assert tiny(2, REPLACE, None, epsilon=1).truth([3, 4, 9]) == [16, 6, 4]
    assert tiny(2, REPLACE, 1, epsilon=1).truth([3, 4, 9]) == [6, 4]
    assert tiny(2, COME, None, epsilon=1).truth([3, 4, 9]) == [3, 4, 9]
    assert tiny(1, COME, None, epsilon=1).truth([10**400, -(10**400)]) == [FARTHEST, -FARTHEST]


def test_places_are_the_nearest_steps():
    rng = np.random.default_rng(5)
    for low, high, steps in ((0, 1, 4), (-7, 13, 2**20), ("0.1", "0.7", 2**16), (10**6, 10**6 + 1, 2**20), (-1e-9, 3e-9, 8)):
        quantisation = Quantisation.read(low, high, steps)
        values = rng.uniform(
            float(quantisation.low) - float(quantisation.width) / 9,
            float(quantisation.high) + float(quantisation.width) / 9,
            400,
        )
        places, there = quantisation.place(values)
        assert there.all()
        for value, place in zip(values.tolist(), places.tolist(), strict=True):
            inside = max(quantisation.low, min(quantisation.high, Fraction(value)))
            assert abs((inside - quantisation.low) / quantisation.width - Fraction(place, steps)) <= quantisation.rounding
    assert Quantisation.read(0, 1, 2).rounding == Fraction(129, 512)


def test_sums_are_exact_beyond_64_bits():
    assert exact_sum(np.full(2**10, 2**60 + 1)) == 2**10 * (2**60 + 1)
    mechanism = Moments(epsilon=1, low=0, high=1, degree=2, steps=MOST_STEPS)
    assert mechanism.count(np.ones(2**17)) == [0, 0, 2 ** (48 + 17)]


# -- what follows from a release -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unit", "rows"), [(COME, None), (REPLACE, None), (REPLACE, 4)])
def test_without_noise_a_summary_is_the_plain_one(unit, rows):
    values = [1.5, 2, 3, 9.5]  # all of them are steps of 1/2
    mechanism = Moments(epsilon=1, low=-6, high=10, degree=2, steps=32, unit=unit, rows=rows)
    summary = Summary(mechanism, tuple(mechanism.truth(mechanism.count(values))))
    assert (summary.count, summary.mean, summary.variance) == (4, np.mean(values), np.var(values))
    assert summary.deviation == pytest.approx(np.std(values))
    flat = Moments(epsilon=1, low=-6, high=10, steps=32, unit=unit, rows=rows)
    assert Summary(flat, tuple(flat.truth(flat.count(values)))).mean == np.mean(values)


def test_estimates_are_possible_whatever_the_noise():
    mechanism = Moments(epsilon=1, low=10, high=20, degree=2, steps=4)
    rng = np.random.default_rng(3)
    cases = [tuple(row) for row in rng.integers(-100, 100, (60, 3)).tolist()] + [(0, 0, 0), (2**220, 0, 1), (-(2**220),) * 3]
    for released in cases:
        summary = Summary(mechanism, released)
        assert summary.count >= 0
        assert 10 <= summary.mean <= 20
        assert 0 <= summary.variance <= 25
        assert 0 <= summary.deviation <= 5
        low, high = summary.mean_interval("0.9")
        assert 10 <= low <= high <= 20
        low, high = summary.variance_interval("0.9")
        assert 0 <= low <= high <= 25
        assert 0 <= summary.count_interval("0.9")[0] <= summary.count_interval("0.9")[1]


def test_nobody_and_all_alike():
    mechanism = Moments(epsilon=1, low=0, high=100, degree=2)
    for values in ([], [None] * 5, [math.nan]):
        assert mechanism.count(values) == [0, 0, 0]
    empty = Summary(mechanism, (0, 0, 0))
    assert empty.mean_interval("0.95") == (0, 100)
    assert empty.deviation_interval("0.95") == (0, 50)
    with pytest.warns(dither.errors.NotPrivateWarning), seeded(4):
        alike = mechanism.release(mechanism.count(np.full(10**5, 30.0)))
    assert alike.mean == pytest.approx(30, abs=0.01)
    assert alike.deviation_interval("0.95")[0] == 0


def test_the_error_of_a_mean_is_at_most_three_quarters_of_a_split_budget():
    """At equal epsilon, from many releases of one data set beside a centred sum and a count with half each."""
    rng = np.random.default_rng(11)
    for values, epsilon in ((rng.random(1000), "0.1"), (rng.beta(2, 20, 1000), 1)):
        ours = Moments(epsilon=epsilon, low=0, high=1, steps=2**16)
        half = dither.Geometric(epsilon=dither.Number(epsilon) / 2, sensitivity=2**15).law  # |2q - G| <= G: half steps
        whole = dither.Geometric(epsilon=dither.Number(epsilon) / 2, sensitivity=1).law
        counters = ours.count(values)
        centred = (counters[1] - counters[0]) / 2
        with pytest.warns(dither.errors.NotPrivateWarning), seeded(12):  # noqa: PT031 - one seed for both
            found = np.array([ours.release(counters).mean for _ in range(1500)])
            sums, counts = centred + half.sample(1500), 1000 + whole.sample(1500)
        split = np.clip(0.5 + sums / 2**16 / np.maximum(counts, 1), 0, 1)
        errors = [math.sqrt(np.mean((estimate - values.mean()) ** 2)) for estimate in (found, split)]
        assert errors[0] < 0.75 * errors[1]


# -- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"low": 1, "high": 0}, NumberError),
        ({"low": 1, "high": 1}, NumberError),
        ({"low": math.nan}, NumberError),
        ({"high": math.inf}, NumberError),
        ({"low": -1e308, "high": 1.7e308}, NumberError),
        ({"low": 2**60, "high": 2**60 + 1}, NumberError),
        ({"low": 0, "high": Fraction(1, 10**322)}, NumberError),
        ({"epsilon": 0}, NumberError),
        ({"epsilon": "1e-30"}, NumberError),
        ({"steps": 3}, NumberError),
        ({"steps": 1}, NumberError),
        ({"steps": 2 * MOST_STEPS}, NumberError),
        ({"degree": 0}, NumberError),
        ({"degree": 3}, NumberError),
        ({"degree": 1.0}, NumberError),
        ({"rows": 10}, UnitError),
        ({"rows": 0, "unit": REPLACE}, NumberError),
        ({"unit": "someone"}, UnitError),
    ],
    ids=str,
)
def test_bad_parameters(changed, kind):
    with pytest.raises(kind):
        Moments(**({"epsilon": 1, "low": 0, "high": 1} | changed))


def test_bad_values_are_refused_by_kind_and_never_by_size():
    mechanism = Moments(epsilon=1, low=0, high=1)
    for bad in (np.array(["a"]), np.array([[1]]), 5, np.array([1j]), "12", {"a": 1}):
        with pytest.raises(InputError):
            mechanism.count(bad)
    assert mechanism.count(["a", [1], 1j, None]) == mechanism.count([])
    for bad in ([1.5, 2], [1], [1, 2, 3], [None, 1], ["1", "2"], [True, 1], 3, [[1, 2]]):
        with pytest.raises((DataError, SizeError)):
            mechanism.release(bad)
    with pytest.raises(DataError):
        mechanism.from_sums(1.0, 2, 3)
    assert mechanism.release(np.array([1, 2], dtype=np.uint64)).moments == mechanism
    assert mechanism.release([10**400, -5]).mean < 1e-40


def test_a_variance_needs_squares():
    summary = Summary(Moments(epsilon=1, low=0, high=1), (1, 2))
    for ask in (lambda: summary.variance, lambda: summary.deviation, lambda: summary.variance_interval("0.9")):
        with pytest.raises(GuaranteeError, match="degree=2"):
            ask()
    with pytest.raises(NumberError, match="confidence"):
        summary.mean_interval(1)


def test_as_many_noises_as_numbers():
    sizes = [[tiny(degree, unit, rows, epsilon=1).noise.dimension for unit, rows in WAYS] for degree in (1, 2)]
    assert sizes == [[2, 2, None], [3, 3, 2]]
    assert tiny(1, REPLACE, 2, epsilon=1).error("0.95") == dither.Geometric(epsilon=1, sensitivity=8).error("0.95")


def test_plain_things():
    mechanism = Moments(epsilon="0.5", low=0, high=5000, degree=2)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    summary = Summary(mechanism, (2**42, 2**41, 2**40))
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert summary.tolist() == [2**42, 2**41, 2**40]
    assert "mean" in str(summary)
    assert "deviation" in str(summary)
    assert "deviation" not in str(Summary(Moments(epsilon=1, low=0, high=1), (1, 2)))
    assert mechanism.error("0.95") == mechanism.noise.error("0.95")
    assert Moments(epsilon=1, low=0, high=1, rows=5, unit=REPLACE).loss().epsilon(0) == pytest.approx(1)
