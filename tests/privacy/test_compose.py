"""The named theorems: their figures, their conditions, and what they promise against enumeration."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither import Unit, approx, compose, gdp, ln, parallel, pure, renyi, theorems, zcdp
from dither.errors import GuaranteeError, NumberError, UnitError
from tests.privacy import pairs

TABLE = [  # k, epsilon, delta, basic, DRV, KOV closed
    (10, ".1", "1e-6", 1, 1.76742905, 1),
    (100, ".1", "1e-6", 10, 6.30823095, 5.75610552),
    (100, ".01", "1e-6", 1, 0.53570234, 0.48485312),
    (1000, ".05", "1e-6", 50, 10.87484550, 9.56103033),
    (1000, ".01", "1e-9", 10, 2.13634380, 2.02848250),
    (50, ".5", "1e-6", 25, 34.80264271, 24.70757750),
    (20, "1", "1e-6", 20, 57.87351657, 20),
]


@pytest.mark.parametrize(("k", "epsilon", "delta", "sum_", "drv", "closed"), TABLE)
def test_published_figures(k, epsilon, delta, sum_, drv, closed):
    assert theorems.basic([epsilon] * k)[0] == pytest.approx(sum_)
    assert theorems.advanced(epsilon, k, delta)[0] == pytest.approx(drv, abs=6e-9)
    assert theorems.optimal_closed(epsilon, k, delta) == pytest.approx(closed, abs=6e-9)
    best = theorems.optimal(epsilon, k, delta)
    assert best <= min(theorems.basic([epsilon] * k)[0], theorems.optimal_closed(epsilon, k, delta))
    assert best <= theorems.advanced(epsilon, k, delta)[0]


@settings(max_examples=50)
@given(st.fractions(min_value=Fraction(1, 100), max_value=4, max_denominator=100), st.integers(1, 2000))
def test_the_lecture_form_is_never_below_the_full_one_where_it_is_given(epsilon, count):
    for delta in ("0.5", "1e-3", "1e-9"):
        try:
            simple = theorems.advanced_simple(epsilon, count, delta)[0]
        except GuaranteeError:
            continue
        assert theorems.optimal(epsilon, count, delta) <= theorems.advanced(epsilon, count, delta)[0] <= simple * (1 + 1e-12)


def test_the_lecture_form_is_false_outside_its_range():
    """There it is not only unproved: it is far below what is true."""
    with pytest.raises(GuaranteeError, match=r"1\.07"):
        theorems.advanced_simple(30, 400, "0.99")
    claimed = 30 * (6 * 400 * 0.01005033585350145) ** 0.5  # 147.3
    assert theorems.optimal(30, 400, "0.99") > 11_000 > claimed


def test_deltas_add_up():
    assert theorems.basic(["0.1", ln(3)], ["1e-6", "1e-7"])[1] == pytest.approx(1.1e-6)
    assert theorems.advanced("0.1", 100, "1e-6", each_delta="1e-8")[1] == pytest.approx(2e-6)
    assert theorems.optimal("0.1", 100, "2e-6", each_delta="1e-8") == pytest.approx(
        theorems.optimal("0.1", 100, "1e-6"), rel=1e-4
    )


@settings(max_examples=25)
@given(st.lists(st.fractions(min_value=Fraction(10, 9), max_value=5, max_denominator=9), min_size=1, max_size=4))
def test_heterogeneous_is_exact_for_few(factors):
    truth = pairs.fold(*(pairs.response(f) for f in factors))
    delta = pairs.delta(truth, Fraction(2)) / 2
    if delta:
        found = theorems.heterogeneous([ln(f) for f in factors], delta)
        from dither.numeric import enclosure

        assert pairs.delta(truth, Fraction(enclosure.exp(Fraction(found)).upper)) <= delta


def test_heterogeneous_for_many_lies_between():
    epsilons = [ln(2) / (5 + i) for i in range(30)]
    found = theorems.heterogeneous(epsilons, "1e-6")
    largest, smallest = max(epsilons), min(epsilons)
    assert theorems.optimal(smallest, 30, "1e-6") <= found <= theorems.optimal(largest, 30, "1e-6")
    lattice = theorems.heterogeneous([Fraction(i, 100) for i in range(1, 41)], "1e-6")
    assert lattice <= compose(pure(Fraction(i, 100)) for i in range(1, 41)).epsilon("1e-6")
    assert lattice == pytest.approx(theorems.heterogeneous(["0.2"] * 40, "1e-6"), rel=0.3)


def test_zcdp_in_its_simple_forms():
    assert theorems.pure_to_zcdp(1) == 0.5
    assert theorems.zcdp_to_approx("0.1", "1e-6") == pytest.approx(2.4507880005)
    assert theorems.gaussian_for_zcdp(2, "0.5") == 2.0
    assert theorems.power_of_pure(ln(3), "0.05") == pytest.approx(0.15)
    assert theorems.zcdp_to_approx(0, "1e-6") == 0.0


def test_theorems_refuse_what_they_do_not_cover():
    for call in (theorems.advanced, theorems.advanced_simple, theorems.optimal, theorems.optimal_closed):
        for bad in (
            ("0.1", 0, "1e-6"),
            ("0.1", 10, 0),
            ("0.1", 10, 1),
            (-1, 10, "1e-6"),
            ("nan", 10, "1e-6"),
            ("0.1", 2.5, "1e-6"),
        ):
            with pytest.raises(NumberError, match="What would work"):
                call(*bad)
    with pytest.raises(GuaranteeError):
        theorems.heterogeneous([], "1e-6")
    with pytest.raises(GuaranteeError):
        theorems.heterogeneous(["0.1"], "1e-6", deltas=["1e-9", "1e-9"])
    with pytest.raises(NumberError):
        theorems.zcdp_to_approx("0.1", 0)


# -- parallel --------------------------------------------------------------------------------------------------------

REPLACE = Unit.REPLACE_ONE


def test_parallel_for_adding_or_removing_is_the_worst_cell():
    assert parallel([pure(1), pure(2), pure("0.5")]) == pure(2)
    assert parallel([gdp(1), gdp(2)]) == gdp(2)
    assert parallel([approx(1, "1e-6"), approx(2, "1e-9")]).within(approx(2, "1e-6"))
    mixed = parallel([pure(1), zcdp("0.1")])
    assert pure(1).within(mixed)
    assert zcdp("0.1").within(mixed)
    assert parallel([renyi({2: 1}), renyi({2: 2})]) == renyi({2: 2})


def test_parallel_for_replacing_is_two_cells_or_one_twice():
    cells = [pure(ln(2)), pure(ln(3)), pure(ln(5))]
    counts = parallel(cells, unit=REPLACE, inside=pure(0, unit=REPLACE))
    assert counts.epsilon() == pytest.approx(2.70805, abs=1e-5)  # ln 15: the two worst
    assert parallel(cells, unit=REPLACE).epsilon() == pytest.approx(3.21888, abs=1e-5)  # ln 25: inside the worst
    # By enumeration: a person moves from the cell with odds 3 to the one with odds 5.
    moved = pairs.fold(pairs.response(3), pairs.flip(pairs.response(5)))
    assert pairs.ratio(moved) == 15
    # And inside one cell: answers for persons of kind a and kind b, each within odds 2 of "nobody".
    nobody, a, b = (pairs.from_weights(w) for w in ([2, 2, 4], [4, 1, 3], [1, 4, 3]))
    assert max(pairs.ratio((nobody, a)), pairs.ratio((nobody, b))) == 2
    assert pairs.ratio((a, b)) == 4  # twice ln 2, however little the other cells spend
    assert parallel([pure(ln(2))], unit=REPLACE) == pure(2 * ln(2), unit=REPLACE)


def test_parallel_refuses():
    with pytest.raises(GuaranteeError, match="cell"):
        parallel([])
    with pytest.raises(UnitError):
        parallel([pure(1), pure(1, unit=REPLACE)])
    with pytest.raises(UnitError):
        parallel([pure(1, unit=REPLACE)])
    with pytest.raises(UnitError):
        parallel([pure(1)], unit=Unit.REPLACE_ONE_ROW)
    with pytest.raises(UnitError):
        parallel([pure(1)], unit=REPLACE, inside=pure(1))
    for unit in (Unit.ADD_REMOVE, REPLACE):
        with pytest.raises(GuaranteeError, match="inside"):
            parallel([pure(1)], unit=unit, inside=1)
    with pytest.raises(GuaranteeError, match="common"):
        parallel([renyi({2: 1}), pure(10)])


def test_compose_and_parallel_take_guarantees_only():
    for bad in ([1, 2], [pure(1), None], 5, None):
        with pytest.raises(GuaranteeError):
            compose(bad)
        with pytest.raises(GuaranteeError):
            parallel(bad)
    with pytest.raises(GuaranteeError, match="exactly"):
        theorems.optimal("0.001", 20_001, "1e-6")


def test_many_different_guarantees_are_composed_in_reasonable_time():
    many = compose(pure(Fraction(i, 100_003)) for i in range(1, 1500))
    assert many.epsilon() == pytest.approx(1499 * 1500 / 2 / 100_003)
    assert many.epsilon("1e-6") < many.epsilon()
    primes = compose(pure(ln(p)) for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43))
    assert primes.epsilon("1e-6") <= primes.epsilon()


def test_compose_adds_up():
    assert compose([pure(1), zcdp("0.1"), pure(2)]) == pure(1) + pure(2) + zcdp("0.1")
