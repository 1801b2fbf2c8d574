"""Poisson samples, their noise and their price: exact laws on small data, every pair of neighbours. No torch is needed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dither
from dither import Loss
from dither.errors import GuaranteeError, MissingExtraError, NumberError
from dither.learn import PrivateSGD
from dither.learn.base.people import kept_rows, person_numbers
from dither.learn.base.rows import Rows
from dither.learn.networks import lattice_gradients
from dither.learn.networks.modules import HIDDEN
from dither.learn.networks.sampled_price import SamplePlan, read_sampled_price
from dither.learn.networks.sampled_release import SampledRelease, poisson_sample
from dither.noise import Bernoulli, uniform
from dither.privacy.loss.pairs.normal import NormalPair
from dither.testing import outcomes

RATE, UNIT = Fraction(1, 3), "add/remove one person"
PRICE = read_sampled_price(1, "0.01", None, UNIT, rate=Fraction(1), steps=2)[0]


def rows(values, persons=None):
    whose = None if persons is None else np.array(persons, dtype=np.int64)
    numbers = np.array(values, dtype=np.float64).reshape(-1, 1)
    return Rows(numbers, np.zeros((len(numbers), 0), dtype=np.int64), person=whose)


# -- who is in a sample ------------------------------------------------------------------------------------------------


def subsets(sample, of):
    """The exact law of the places that are in a sample."""
    law = outcomes(lambda these: tuple(int(one) for one in sample(these).numbers.ravel()), of)
    assert float(law.missing.upper()) < 1e-50
    return {law.outputs[key]: float(mass) for key, mass in law.masses.items()}


def is_poisson(sample, count=3):
    """Each row with its own coin of that rate: the law of all subsets, pairs among them, and sizes that vary."""
    found = subsets(sample, rows(range(count)))
    expected = {
        tuple(np.flatnonzero(taken).tolist()): float(RATE ** sum(taken) * (1 - RATE) ** (count - sum(taken)))
        for taken in product([False, True], repeat=count)
    }
    return found.keys() == expected.keys() and all(found[one] == pytest.approx(expected[one], rel=1e-12) for one in found)


def own(these):
    return poisson_sample(these, Bernoulli(RATE))


def test_a23_every_subset_has_the_probability_of_independent_coins():
    assert is_poisson(own)
    assert is_poisson(own, 1)
    assert own(rows([])).count == 0


def test_a23_samples_that_are_not_poisson_are_told_apart():
    def shuffled(these):  # one batch of a shuffled epoch: each row with the same rate, and a size that is fixed
        return these.take(np.array([uniform(these.count)]))

    def shared(these):  # one coin for all
        return these.take(np.full(these.count, Bernoulli(RATE).sample()))

    def nonempty(these):  # drawn again where nobody is in it
        found = own(these)
        return found if found.count else these.take(np.array([0]))

    for wrong in (shuffled, shared, nonempty):
        assert not is_poisson(wrong)


def test_rows_of_one_person_come_together():
    found = subsets(own, rows([0, 1, 2, 3], [0, 1, 0, 1]))
    assert found.keys() == {(), (0, 2), (1, 3), (0, 1, 2, 3)}
    assert found[0, 2] == pytest.approx(2 / 9)
    assert own(rows([], [])).count == 0


def test_persons_are_numbered_as_their_rows_are_counted():
    ids = np.array(["a", None, "b", "a", np.nan, 1, 1.0, ["a"]], dtype=object)
    numbers, kept = person_numbers(ids, 8), kept_rows(ids, 8, 2)
    assert numbers.tolist() == [0, -1, 1, 0, -1, 2, 2, -1]
    assert (kept == (numbers >= 0)).all()


# -- the exact law of steps --------------------------------------------------------------------------------------------


def sums(sample, sign=1):
    return (sign * sample.numbers.sum(axis=0)).astype(np.int64)


def law(these, plan, release=SampledRelease, most=1, sign=1):
    """The exact law of one step."""

    def step(given):
        return int(release(PRICE, given, most, plan, 1).step(lambda sample: sums(sample, sign), 1)[0])

    found = outcomes(step, these, cutoff="1e-15")
    return {found.outputs[key]: float(mass) for key, mass in found.masses.items()}


def two_steps(these, plan, most=1):
    """The second step depends on what the first released: the law of both."""
    first, after = law(these, plan, most=most), {sign: law(these, plan, most=most, sign=sign) for sign in (1, -1)}
    return {(y, z): p * q for y, p in first.items() for z, q in after[1 if y > 0 else -1].items()}


def delta(one, other, epsilon):
    return sum(max(0.0, mass - np.exp(epsilon) * other.get(key, 0.0)) for key, mass in one.items())


VALUES = (-1, 0, 1)
DATA = [(), *((a,) for a in VALUES), (1, -1), (1, 1)]


def neighbours(replaced):
    for one in DATA:
        for place in range(len(one)):
            rest = one[:place] + one[place + 1 :]
            if not replaced:
                yield one, rest
                yield rest, one
                continue
            for value in VALUES:
                yield one, (*rest, value)


def breaks(plan, *points, replaced=False, of=two_steps, **how):
    """Whether some pair of neighbours loses more than some (epsilon, delta)."""
    laws = {}

    def found(one):
        key = tuple(sorted(one))
        if key not in laws:
            laws[key] = of(rows(key), plan, **how)
        return laws[key]

    pairs = {(tuple(sorted(one)), tuple(sorted(other))) for one, other in neighbours(replaced)}
    return any(delta(found(a), found(b), epsilon) > lost + 1e-9 for a, b in pairs for epsilon, lost in points)


PLAN = SamplePlan(RATE, 2, Fraction(9, 4))
LOSS = Loss.gaussian("3/2").poisson_subsampled(RATE)


def test_every_pair_of_neighbours_keeps_the_price_exactly():
    curve = [(float(epsilon), (2 * LOSS).delta(epsilon)) for epsilon in ("0.3", "1")]
    assert not breaks(PLAN, *curve)
    assert breaks(PLAN, *((epsilon, lost * 0.8) for epsilon, lost in curve)), "it is nearly as large as that"


def test_somebody_who_is_replaced_keeps_the_price_exactly():
    for epsilon in ("0.3", "1"):
        half = Fraction(epsilon) / 2
        lost = (2 * LOSS).delta(half) * (1 + math.exp(half))
        assert not breaks(PLAN, (float(epsilon), lost), replaced=True)


def test_two_rows_of_a_person_keep_the_price():
    both, nobody = two_steps(rows([1, 1], [0, 0]), PLAN, most=2), two_steps(rows([], []), PLAN, most=2)
    lost = (2 * LOSS).delta(1)
    assert lost / 2 < max(delta(both, nobody, 1.0), delta(nobody, both, 1.0)) <= lost
    # noise for one row, where two come together
    less = SamplePlan(RATE, 2, PLAN.multiplier2 / 4)
    assert delta(two_steps(rows([1, 1], [0, 0]), less, most=2), two_steps(rows([], []), less, most=2), 1.0) > lost


class Skips(SampledRelease):
    def step(self, statistic, size):
        sample = poisson_sample(self._rows, self._coin)
        if not sample.count:
            self._noise.sample(size)
            return np.zeros(size, dtype=np.int64)  # nobody is there, so nothing is released
        return statistic(sample) + self._noise.sample(size)


class Twice(SampledRelease):
    def step(self, statistic, size):
        return super().step(lambda sample: 2 * statistic(sample), size)


class Again(SampledRelease):
    """An epoch in which a row that was missed comes in after all: twice the chance."""

    def step(self, statistic, size):
        return super().step(lambda sample: statistic(sample if sample.count else self._rows), size)


class ByItsSize(SampledRelease):
    def step(self, statistic, size):
        sample = poisson_sample(self._rows, self._coin)
        return np.rint(8 * (statistic(sample) + self._noise.sample(size)) / max(1, sample.count)).astype(np.int64)


@pytest.mark.parametrize("bug", [Skips, Twice, Again, ByItsSize])
def test_planted_bugs_break_the_price(bug):
    point = (1.0, LOSS.delta(1))
    assert not breaks(PLAN, point, of=law)
    assert breaks(PLAN, point, of=law, release=bug)


def test_less_noise_breaks_the_price():
    assert breaks(SamplePlan(RATE, 1, PLAN.multiplier2 / 2), (1.0, LOSS.delta(1)), of=law)


def test_a_step_more_than_the_plan_is_refused():
    release = SampledRelease(PRICE, rows([1]), 1, SamplePlan(RATE, 1, Fraction(4)), 1)
    release.step(sums, 1)
    with pytest.raises(AssertionError, match="so many steps"):
        release.step(sums, 1)


# -- the price ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["add/remove one person", "replace one person"])
def test_the_noise_is_what_the_price_buys_and_no_more(unit):
    price, plan = read_sampled_price("0.8", "1e-5", None, unit, rate=Fraction(1, 4), steps=20)
    replaced = "replace" in unit
    target, lost = Fraction("0.4" if replaced else "0.8"), Fraction("1e-5")
    if replaced:
        lost /= 1 + Fraction("1.4918246976412704")  # above e^0.4
    count = price.mu2 / 100 / price.replacement**2
    for slower, holds in ((Fraction(1), True), (Fraction(999, 1000), False)):
        z = Fraction(float(plan.multiplier2) ** 0.5) * slower * (1 + Fraction(1, 2**40))
        loss = 20 * Loss.gaussian(z).poisson_subsampled("1/4")
        loss += Loss(((NormalPair(count), 1),))
        assert (Fraction(loss.delta(target)) <= lost) == holds


def test_all_rows_at_each_step_are_gaussian_privacy():
    price, plan = read_sampled_price(None, None, dither.gdp("0.5"), UNIT, rate=Fraction(1), steps=9)
    assert plan.multiplier2 == 9 / (Fraction(99, 100) * Fraction(1, 4))
    assert price.guarantee == dither.gdp("0.5")
    price, plan = read_sampled_price(1, "1e-6", None, "replace one person", rate=Fraction(1), steps=9)
    assert plan.multiplier2 == 4 * 9 / (Fraction(99, 100) * price.mu2)


def test_prices_that_are_not_known_are_refused():
    for guarantee in (dither.zcdp("0.1"), dither.gdp(1)):
        with pytest.raises(GuaranteeError, match="steps on samples"):
            read_sampled_price(None, None, guarantee, UNIT, rate=RATE, steps=20)
    with pytest.raises(GuaranteeError, match="delta"):
        read_sampled_price(1, None, None, UNIT, rate=RATE, steps=20)
    given = read_sampled_price(None, None, dither.approx(1, "1e-6"), UNIT, rate=RATE, steps=20)
    assert given[1] == read_sampled_price(1, "1e-6", None, UNIT, rate=RATE, steps=20)[1]


# -- without torch -----------------------------------------------------------------------------------------------------


def model(**how):
    return PrivateSGD(**{"epsilon": 1, "delta": "1e-6", "bounds": (-1, 1), "classes": [0, 1], "steps": 20} | how)


def test_torch_is_asked_for_by_name_before_a_charge(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with dither.Ledger.temporary(dither.approx(1, "1e-6"), domain="net") as ledger:
        with pytest.raises(MissingExtraError, match=r"pip install 'dither\[torch\]'"):
            model(ledger=ledger).fit(np.zeros((3, 2)), [0, 1, 0])
        assert [entry.kind for entry in ledger.history()] == ["created", "bound"]
    assert "PrivateSGD" in str(model().quote(100, 2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rate", 0), ("rate", "1.1"), ("rate", -1), ("steps", 0), ("steps", 10**6)),
        *(("clip", 0.0), ("clip", math.nan), ("clip", math.inf), ("clip", True), ("chunk", 0), ("chunk", 513)),
        *(("learning_rate", -1), ("learning_rate", "fast"), ("slack", -1), ("slack", 2**30)),
    ],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(NumberError, match=name):
        model(**{name: value}).quote(100, 2)


def test_numbers_of_numpy_are_taken_as_their_value():
    assert str(model(clip=np.float32(0.5), steps=np.int64(20)).quote(100, 2))


def test_what_to_expect_follows_from_public_numbers():
    """No more than is known before the data: how long the noise is; it shrinks as 1 / n."""
    lengths = []
    for n in (500, 5000):
        said = model(steps=60).quote(n, 64).words[0]
        assert said.startswith("60 steps, whose mean has noise of length ")
        lengths.append(float(said.split("length ")[1].split(",")[0]))
    assert lengths[0] == pytest.approx(10 * lengths[1], rel=0.05)


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_the_weights_of_the_network_that_is_taken_where_none_is_given():
    """Two layers with biases: what a quote says of the noise hangs on how many there are."""
    facts: Any = SimpleNamespace(width=3, classes=("a", "b"))
    count = model()._weight_count(facts)
    assert count == (facts.width + 1) * HIDDEN + (HIDDEN + 1) * 2


def test_rounding_alone_makes_no_row_too_long():
    """Of up to 2^15 weights: a square of a norm in floats may be below the true one by a part of 2^-9."""
    assert lattice_gradients.SPARE**2 * (1 + 2**-9) * lattice_gradients.GROWTH <= 1
