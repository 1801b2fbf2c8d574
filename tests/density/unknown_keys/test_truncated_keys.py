"""Keys with noise of bounded support, and keys of few people: exact joint laws of all neighbours, both units."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement, product

import pytest
from flint import arb

import dither
from dither.density import (
    GaussianKeys,
    GeometricKeys,
    MagicKeys,
    RhoKeys,
    TruncatedGaussianKeys,
    TruncatedGeometricKeys,
    TruncatedRhoKeys,
    WeightedKeys,
    keys,
)
from dither.errors import BrokenPromise, NotPrivateWarning, NumberError, UnitError
from dither.noise.gaussian import RoundedGaussian
from dither.noise.truncation import Truncated
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.privacy.formulas.normal import profile
from dither.testing import seeded
from dither.testing.claim import Claim
from dither.testing.enumerate import BITS, outcomes
from tests.density.unknown_keys.test_key_rule import UNITS, key_law, moves, stick

TRUNCATED = [TruncatedGeometricKeys, TruncatedGaussianKeys]
Q = Fraction(1, 3)  # e^-rate: with a rate of ln 3 all probabilities are rational


# -- geometric noise, in fractions -------------------------------------------------------------------------------------


def noise(rule: TruncatedGeometricKeys) -> dict[int, Fraction]:
    """The law of the noise, by its formula."""
    weights = {z: Q ** abs(z) for z in range(-rule.bound, rule.bound + 1)}
    return {z: weight / sum(weights.values()) for z, weight in weights.items()}


def exact_law(rule: TruncatedGeometricKeys, n: int, *, whole: bool = False) -> dict[int | None, Fraction]:
    """What is seen of a key of n people: its noisy count, or nothing (the `whole` count, hidden or not, if wished)."""
    seen: dict[int | None, Fraction] = {None: Fraction(0)}
    for z, mass in noise(rule).items():
        shown = n + z if whole or n + z >= rule.threshold else None
        seen[shown] = seen.get(shown, Fraction(0)) + mass
    return {output: mass for output, mass in seen.items() if mass}


def edge(rule: TruncatedGeometricKeys) -> Fraction:
    return noise(rule)[rule.bound]


Ratios = dict[tuple[Fraction, bool], tuple[Fraction, Fraction]]


def ratios(one: dict[int | None, Fraction], other: dict[int | None, Fraction]) -> Ratios:
    """Outputs with one ratio are as good as one output."""
    found: Ratios = {}
    for output in {*one, *other}:
        a, b = one.get(output, Fraction(0)), other.get(output, Fraction(0))
        ratio = (a / b, False) if b else (Fraction(0), True)
        before = found.get(ratio, (Fraction(0), Fraction(0)))
        found[ratio] = before[0] + a, before[1] + b
    return found


def exact_stick(pairs: list[Ratios], factor: int) -> tuple[Fraction, Fraction]:
    """The largest P(A) - factor Q(A) of independent keys; and how much of it lies where Q is not zero."""
    joint: Ratios = {(Fraction(1), False): (Fraction(1), Fraction(1))}
    for pair in pairs:
        merged: Ratios = {}
        for (r, gone), (a, b) in joint.items():
            for (s, lost), (c, d) in pair.items():
                key = (Fraction(0), True) if gone or lost else (r * s, False)
                before = merged.get(key, (Fraction(0), Fraction(0)))
                merged[key] = before[0] + a * c, before[1] + b * d
        joint = merged
    over = {key: max(Fraction(0), a - factor * b) for key, (a, b) in joint.items()}
    return sum(over.values(), start=Fraction(0)), sum((x for (_, gone), x in over.items() if not gone), start=Fraction(0))


class OneLower(TruncatedGeometricKeys):
    """A bug: a key of min_people - 1 is shown by the last step."""

    @cached_property
    def threshold(self) -> int:
        return self.bound + self.min_people - 1


class HalfOfTheKeys(TruncatedGeometricKeys):
    """A bug: where a person is replaced, only her keys are looked at, and not those of who comes."""

    @property
    def changed(self) -> int:
        return self.max_keys


def worst_exact(
    rule: TruncatedGeometricKeys, keys_changed: int, levels: list[int], *, whole: bool
) -> tuple[Fraction, Fraction]:
    """Over all neighbouring counts at these levels, in both directions, where so many keys change."""
    laws = {n: exact_law(rule, n, whole=whole) for level in levels for n in (level, level + 1)}
    steps = [(n, n + 1) for n in levels] + [(n + 1, n) for n in levels]
    pairs = {step: ratios(laws[step[0]], laws[step[1]]) for step in steps}
    most, inside = Fraction(0), Fraction(0)
    for changed in combinations_with_replacement(steps, keys_changed):
        up = sum(1 for before, after in changed if after > before)
        if max(up, keys_changed - up) > rule.max_keys or (not rule.replaces and up not in (0, keys_changed)):
            continue
        found, within = exact_stick([pairs[step] for step in changed], 3 ** (rule.max_keys * (2 if rule.replaces else 1)))
        most, inside = max(most, found), max(inside, within)
    return most, inside


@pytest.mark.parametrize("min_people", [1, 2, 4])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("max_keys", "delta"), [(1, "0.1"), (1, "1e-3"), (2, "0.05")])
def test_every_neighbouring_count_keeps_the_promise_exactly(max_keys, delta, unit, min_people):
    """Fractions: delta is 1 - (1 - p)^k and not a bit more, and off the edge the ratio is e^epsilon at most."""
    changed = max_keys * (2 if unit == UNITS[1] else 1)
    rule = TruncatedGeometricKeys(
        epsilon=changed * dither.ln(3), delta=delta, max_keys=max_keys, unit=unit, min_people=min_people
    )
    last = rule.threshold + rule.bound + 1
    near = {0, min_people - 1, min_people, rule.threshold - 1, rule.threshold, last}
    levels = list(range(last + 1)) if changed <= 2 else sorted(near)
    promised = 1 - (1 - edge(rule)) ** changed
    with precision(256):
        assert all(rule.law.mass(z).contains(to_ball(mass)) for z, mass in noise(rule).items())
    assert promised <= rule.delta
    found = [worst_exact(rule, many, levels, whole=False)[0] for many in range(1, changed + 1)]
    assert max(found) == promised  # attained: delta is no larger than it has to be
    most, inside = worst_exact(rule, changed, [rule.threshold, last], whole=True)  # nothing hidden: where all of it is seen
    assert (most, inside) == (promised, 0)
    for n in range(min_people):
        assert exact_law(rule, n) == {None: 1}  # for certain
    assert rule.chance(min_people - 1) == 0 < rule.chance(min_people)


@pytest.mark.parametrize("unit", UNITS)
def test_a_threshold_one_lower_shows_keys_of_one_person_less(unit):
    rule = OneLower(epsilon=2 * dither.ln(3), delta="0.05", max_keys=1, unit=unit, min_people=2)
    assert None in exact_law(rule, 1)
    assert exact_law(rule, 1)[None] < 1


def test_noise_for_half_of_the_keys_breaks_the_promise_where_a_person_is_replaced():
    rule = HalfOfTheKeys(epsilon=dither.ln(3), delta="0.05", max_keys=1, unit=UNITS[1], min_people=2)
    last = rule.threshold + rule.bound + 1
    laws = {n: exact_law(rule, n) for n in range(last + 2)}
    found, _ = exact_stick([ratios(laws[last], laws[last + 1]), ratios(laws[last + 1], laws[last])], 3)
    assert found > rule.delta
    # truncated at places that differ between neighbours: the edges are wider than one step
    whole = TruncatedGeometricKeys(epsilon=dither.ln(3), delta="0.05", max_keys=1, min_people=2)
    one, other = exact_law(whole, last), exact_law(whole, last + 3)
    assert exact_stick([ratios(one, other)], 27)[0] > 3 * edge(whole)


# -- the release itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("min_people", [1, 3])
@pytest.mark.parametrize("kind", [*TRUNCATED, MagicKeys, GeometricKeys, GaussianKeys])
def test_the_release_keeps_the_promise_whatever_the_event(kind, min_people, unit):
    """By going through every draw: the joint law of keys and counts, of one key or two, around min_people."""
    rule = kind(epsilon=8, delta="0.05", max_keys=1, unit=unit, min_people=min_people)
    claim, m = Claim(rule.guarantee), min_people
    values = [
        {"a": m},
        {"a": m + 1},
        {"b": m, "a": m},
        {"b": m + 1},
        {"b": m},
        {"b": m - 1, "a": m},
        {"b": m - 1, "a": m + 1},
    ]
    laws = [outcomes(rule.release, value, cutoff="1e-12") for value in values]
    pairs = [(0, 1), (0, 2), (4, 2), (4, 3), (5, 2), (5, 6)] if unit == UNITS[0] else [(0, 4), (1, 2), (6, 2)]
    for i, j in pairs:
        claim.check(values[i], values[j], laws[i], laws[j])
        claim.check(values[j], values[i], laws[j], laws[i])
    assert all("b" not in shown for law in laws[5:] for shown in law.outputs.values())  # one person short: by no draw at all
    empty = () if kind is MagicKeys else {}
    assert rule.release({f"k{at}": at for at in range(m)}) == empty
    if kind is not MagicKeys:
        with precision(BITS):
            for output, mass in key_law(rule, m + 1).items():
                if output != "beyond" and mass > 1e-6:
                    low, high = laws[1].probability(empty if output is None else {"a": output})
                    assert low - 1e-9 <= float(mass) <= high + 1e-9


def test_a_count_that_is_dropped_in_the_release_alone_is_no_promise():
    """A bug: keys of fewer than min_people left out of a rule that was made for keys of one person."""

    class Dropped(GeometricKeys):
        def release(self, value):
            return super().release({key: n for key, n in value.items() if n >= 3})

    rule = Dropped(epsilon=8, delta="0.05", max_keys=1)
    laws = [outcomes(rule.release, {"a": n, "b": 9}, cutoff="1e-12") for n in (3, 2)]
    with pytest.raises(BrokenPromise):
        Claim(rule.guarantee).check(3, 2, *laws)


# -- Gaussian noise ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma2", "bound"), [(1, 2), (4, 3), (9, 20), ("0.3", 1), (100, 12)])
def test_the_lemma_two_normal_laws_truncated_to_one_interval_are_gaussian_dp(sigma2, bound):
    """Given the common part of both supports, the whole profile stays below that of mu = 1 / sigma."""
    variance, mu = Fraction(sigma2), 1 / to_ball(Fraction(sigma2)).sqrt()
    whole = RoundedGaussian(sigma2=variance)
    with precision(200):
        common = range(1 - bound, bound + 1)  # of counts around 1 and around 0
        one, other = ([whole.mass(y - n) for y in common] for n in (1, 0))
        one, other = ([mass / sum(law, start=arb(0)) for mass in law] for law in (one, other))
        for p, q in ((one, other), (other, one)):
            for epsilon in (-2, -1, Fraction(-1, 4), 0, Fraction(1, 10), Fraction(1, 2), 1, 2, 3):
                factor = to_ball(Fraction(epsilon)).exp()
                found = sum(((a - factor * b).max(arb(0)) for a, b in zip(p, q, strict=True)), start=arb(0))
                assert found <= profile(mu, to_ball(Fraction(epsilon))) + arb("1e-30")


def gaussian_rules(unit):
    yield TruncatedRhoKeys(rho="0.5", delta="0.05", max_keys=1, unit=unit, min_people=2)
    yield TruncatedRhoKeys(rho="2", delta="0.01", max_keys=2, unit=unit, min_people=1)
    yield TruncatedRhoKeys(rho="0.05", delta="0.05", max_keys=1, unit=unit, min_people=3)
    yield RhoKeys(rho="0.5", delta="0.05", max_keys=1, unit=unit, min_people=3)
    yield TruncatedGaussianKeys(epsilon=1, delta="0.1", max_keys=1, unit=unit, min_people=2)
    yield TruncatedGaussianKeys(epsilon=3, delta="0.02", max_keys=2, unit=unit, min_people=2)
    yield GaussianKeys(epsilon=3, delta="0.02", max_keys=2, unit=unit, min_people=2)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("place", range(7))
def test_every_neighbouring_count_keeps_the_promise_of_gaussian_noise(place, unit):
    rule = list(gaussian_rules(unit))[place]
    priced_in_rho = isinstance(rule, (RhoKeys, TruncatedRhoKeys))

    @cache
    def floats(total: int) -> dict:
        with precision(BITS):
            return {output: float(mass) for output, mass in key_law(rule, total).items() if mass > 0}

    m, far = rule.min_people, rule.threshold + (rule.bound if isinstance(rule.law, Truncated) else 9)
    levels, seen, closest = sorted({0, m - 1, m, rule.threshold, far}), set(), 0.0
    for change in moves(rule.max_keys, unit):
        moved = tuple(sorted(step for step in change if step))
        for counts in product(levels, repeat=len(moved)):
            after = [count + step for count, step in zip(counts, moved, strict=True)]
            pair = tuple(sorted(zip(counts, after, strict=True)))
            if min(after) < 0 or pair in seen:
                continue
            seen.add(pair)
            for epsilon in (0, 0.3, 1, 3) if priced_in_rho else (float(rule.epsilon),):
                found = stick([floats(c) for c in counts], [floats(c) for c in after], epsilon)
                promised = rule.guarantee.delta(Fraction(epsilon))
                assert found <= promised * (1 + 1e-9)
                closest = max(closest, found / promised)
    assert closest > (0.5 if priced_in_rho else 0.2)  # of an epsilon the edge has a part, and more keys change than here
    for n in range(m):
        assert floats(n).get(None) == 1


@pytest.mark.parametrize("unit", UNITS)
def test_the_edge_has_its_part_and_not_a_step_more(unit):
    for max_keys in (1, 3, 16, 10**6):
        for rule in (
            TruncatedRhoKeys(rho="0.028", delta="1e-6", max_keys=max_keys, unit=unit),
            TruncatedGeometricKeys(epsilon=1, delta="1e-6", max_keys=max_keys, unit=unit),
        ):
            with precision(256):
                for bound, enough in ((rule.bound, True), (rule.bound - 1, False)):
                    kept = 1 - 2 * rule.whole.above(bound)
                    shown = 1 - (1 - rule.whole.mass(bound) / kept) ** rule.changed
                    assert bool(shown <= to_ball(rule.delta)) is enough


# -- thresholds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MagicKeys, GeometricKeys, GaussianKeys, *TRUNCATED])
def test_so_many_people_more_are_needed_as_are_asked_for(kind):
    plain = kind(epsilon=1, delta="1e-6", max_keys=3)
    for m in (1, 2, 20):
        rule = kind(epsilon=1, delta="1e-6", max_keys=3, min_people=m)
        for level in ("1e-9", "0.5", "0.99"):
            assert rule.holders(level) == plain.holders(level) + m - 1
        assert rule.chance(40 + m - 1) == plain.chance(40)
        assert rule.chance(m - 1) == 0
        if kind in TRUNCATED:
            assert rule.threshold == rule.bound + m


def test_which_rule_needs_the_fewest_people():
    """Noise of bounded support wins where it is wide."""
    needs = {
        (epsilon, k): keys(epsilon=epsilon, delta="1e-6", max_keys=k, min_people=2, counts=True).name
        for epsilon, k in product(("0.1", "1"), (1, 16, 100))
    }
    assert [needs[("1", k)] for k in (1, 16, 100)] == ["geometric", "gaussian", "truncated gaussian"]
    assert [needs[("0.1", k)] for k in (1, 16, 100)] == ["truncated geometric", "truncated gaussian", "truncated gaussian"]
    for rho, k, most in (("0.001", 1, 0.94), ("0.001", 100, 0.89), ("0.028", 16, 0.97)):
        both = [kind(rho=rho, delta="1e-6", max_keys=k, min_people=2).holders("0.5") for kind in (TruncatedRhoKeys, RhoKeys)]
        assert both[0] <= most * both[1]
    assert "never shown" in keys(epsilon=1, delta="1e-6", max_keys=1, min_people=20).explain()


@pytest.mark.parametrize("kind", [*TRUNCATED, TruncatedRhoKeys])
def test_counts_that_are_shown_lie_within_the_bound(kind):
    price = {"rho": "0.5"} if kind is TruncatedRhoKeys else {"epsilon": 1}
    rule = kind(**price, delta="1e-2", max_keys=2, min_people=5)
    held = {f"k{at}": at % 40 for at in range(20_000)}
    with pytest.warns(NotPrivateWarning), seeded(3):
        shown = rule.release(held)
    assert shown
    assert all(abs(count - held[key]) <= rule.bound for key, count in shown.items())
    assert min(held[key] for key in shown) >= 5
    assert rule.error("0.999999") <= rule.bound
    alike = sum(1 for key in shown if held[key] == 39)
    chance = rule.chance(39)
    assert abs(alike - 500 * chance) <= 6 * math.sqrt(500 * chance * (1 - chance)) + 1


def test_refusals():
    good = {"epsilon": 1, "delta": "1e-6", "max_keys": 2}
    for kind in TRUNCATED:
        for bad in (0, -1, "2", 1.5, True, None, 10**12):
            with pytest.raises(NumberError, match="min_people"):
                kind(**good, min_people=bad)
        with pytest.raises(NumberError, match="delta"):
            kind(**(good | {"delta": 0}))
        with pytest.raises(NumberError, match="narrow"):
            kind(**(good | {"epsilon": 10**400}))
        with pytest.raises(UnitError, match="unit"):
            kind(**good, unit="add/remove one row")
    with pytest.raises(NumberError, match="weights"):
        WeightedKeys(**good, min_people=2)
    with pytest.raises(NumberError, match="rho"):
        TruncatedRhoKeys(rho=0, delta="1e-6", max_keys=1)
    wide = TruncatedGeometricKeys(epsilon=1, delta="0.9", max_keys=1)  # however large delta is: half of the draws are kept
    assert wide.release({"a": 10**6}) != {}
