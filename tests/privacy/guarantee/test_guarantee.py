"""Every conversion against exact enumeration, against the published figures, and from above."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither import Guarantee, Number, Unit, approx, compose, gdp, ln, pure, renyi, zcdp
from dither.errors import GuaranteeError, NumberError, UnitError
from dither.privacy.formulas import randomized_response as pure_file
from tests.privacy import pairs

# -- oracle values: from above, and within 1e-12 ---------------------------------------------------------------------


def close_from_above(found: float, truth: str) -> bool:
    exact = Fraction(truth)
    return exact <= Fraction(found) <= exact * (1 + Fraction(1, 10**12))


def test_oracle_jobs():
    assert close_from_above((1000 * gdp(mu="1/20")).epsilon("1e-6"), "8.30622504995472819117712553977")
    assert close_from_above((10**6 * gdp(mu="1/1000")).epsilon("1e-6"), "4.88655411746221199637049944247")
    low, high = (1000 * gdp(mu="1/20")).bracket("1e-6")
    assert Fraction(low) <= Fraction("8.30622504995472819117712553977") <= Fraction(high)


CONCENTRATED = [
    (".01", "1e-6", ".6216926546", ".5750551857799973"),
    (".1", "1e-6", "2.1419389284", "1.994526900696338"),
    (".5", "1e-6", "5.2215344445", "4.886554117462212"),
    ("1.25", "1e-6", "8.8458893485", "8.306225049954728"),
    ("5", "1e-6", "20.5519488140", "19.42365647403105"),
    (".1", "1e-9", "2.7154818867", "2.582872834784193"),
    (".5", "1e-5", "4.7283869849", "4.377178095681225"),
    ("1.25", "1e-10", "11.3750154715", "10.90790195655248"),
]
SIMPLE = [".7533844378", "2.4507880005", "5.7565217698", "9.5612906813", "21.6225813627", "2.9791155473", "5.2985259122",
          "11.9798301314"]  # fmt: skip
BUN_STEINKE = [".6515230729", "2.2295737474", "5.4035046219", "9.1172301227", "21.0309354784", "2.7861829554",
               "4.9273102074", "11.5892734594"]  # fmt: skip


@pytest.mark.parametrize(("row", "simple", "tail"), list(zip(CONCENTRATED, SIMPLE, BUN_STEINKE, strict=True)))
def test_zcdp_is_at_or_below_every_published_formula(row, simple, tail):
    rho, delta, best, gaussian = row
    found = zcdp(rho).epsilon(delta)
    assert found <= float(best) + 1e-9
    assert found < float(tail) < float(simple)
    assert gdp(mu2=2 * Fraction(Number(rho).fraction())).epsilon(delta) == pytest.approx(float(gaussian), rel=1e-14)
    low, high = zcdp(rho).bracket(delta)
    assert low == pytest.approx(float(gaussian), rel=1e-14)
    assert high == found


PURE = [
    (10, ".1", "1e-6", ".9993709057217588"),
    (100, ".1", "1e-6", "4.774567588107986"),
    (100, ".01", "1e-6", ".3922639430934724"),
    (1000, ".05", "1e-6", "8.283573346016258"),
    (1000, ".01", "1e-9", "1.782932299894833"),
    (50, ".5", "1e-6", "20.30100066484061"),
    (20, "1", "1e-6", "19.99947389711616"),
]


@pytest.mark.parametrize(("k", "epsilon", "delta", "truth"), PURE)
def test_equal_pure_guarantees_compose_optimally(k, epsilon, delta, truth):
    total = k * pure(epsilon)
    assert total.epsilon(delta) == pytest.approx(float(truth), rel=1e-13)
    low, high = total.bracket(delta)
    assert low <= high <= low * (1 + 1e-13)
    assert total.epsilon() == pytest.approx(k * float(epsilon))
    assert total.delta(total.epsilon(delta)) <= float(delta)


# -- against finite pairs ----------------------------------------------------------------------------------------------

weights = st.lists(st.integers(1, 30), min_size=2, max_size=5)
odds = st.fractions(min_value=1, max_value=20, max_denominator=12)


@st.composite
def finite(draw) -> pairs.Pair:
    p = draw(weights)
    q = draw(st.lists(st.integers(1, 30), min_size=len(p), max_size=len(p)))
    return pairs.from_weights(p), pairs.from_weights(q)


@settings(max_examples=60)
@given(finite(), odds)
def test_a_pure_mechanism_keeps_every_promise_that_is_derived(pair, factor):
    promise = pure(ln(pairs.ratio(pair)))
    assert pairs.delta(pair, factor) <= Fraction(promise.delta(ln(factor)))
    for alpha in (Fraction(3, 2), Fraction(2), Fraction(9)):
        assert pairs.divergence_up(pair, alpha) <= Fraction(promise.renyi(alpha)) + Fraction(1, 10**40)
        assert pairs.divergence_up(pair, alpha) <= alpha * Fraction(promise.rho()) + Fraction(1, 10**40)
    for level in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)):
        assert pairs.power(pair, level) <= Fraction(promise.tradeoff(level))
        assert pairs.power(pair, level) <= level * pairs.ratio(pair)


@settings(max_examples=40)
@given(finite(), odds)
def test_renyi_orders_convert_safely(pair, factor):
    orders = [Fraction(3, 2), Fraction(2), Fraction(4), Fraction(16), Fraction(64)]
    promise = renyi({order: pairs.divergence_up(pair, order) for order in orders})
    assert pairs.delta(pair, factor) <= Fraction(promise.delta(ln(factor)))
    for between in (Fraction(5, 4), Fraction(3), Fraction(10), Fraction(40)):
        assert pairs.divergence_up(pair, between) <= Fraction(promise.renyi(between)) + Fraction(1, 10**40)
    assert promise.renyi(65) == math.inf
    for level in (Fraction(1, 20), Fraction(1, 3)):
        assert pairs.power(pair, level) <= Fraction(promise.tradeoff(level))


@settings(max_examples=25)
@given(st.lists(st.fractions(min_value=Fraction(10, 9), max_value=6, max_denominator=9), min_size=1, max_size=4), odds)
def test_composition_of_pure_guarantees_is_exact(factors, factor):
    truth = pairs.fold(*(pairs.response(f) for f in factors))
    total = compose(pure(ln(f)) for f in factors)
    found, exact = Fraction(total.delta(ln(factor))), pairs.delta(truth, factor)
    assert exact <= found <= exact + Fraction(1, 10**14)
    level = exact / 2
    if level > 0:
        epsilon = total.epsilon(level)
        assert pairs.delta(truth, _odds_above(epsilon)) <= level  # it holds,
        if epsilon > 1e-6:
            assert pairs.delta(truth, _odds_below(epsilon * (1 - 1e-9))) > level  # and nothing smaller does


def _odds_above(epsilon: float) -> Fraction:
    from dither.numeric import enclosure

    return Fraction(enclosure.exp(Fraction(epsilon)).upper)


def _odds_below(epsilon: float) -> Fraction:
    from dither.numeric import enclosure

    return Fraction(enclosure.exp(Fraction(epsilon)).lower)


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.fractions(min_value=1, max_value=4, max_denominator=5), st.sampled_from(["0", "1/100", "1/7"])),
        min_size=1,
        max_size=3,
    ),
    odds,
)
def test_composition_of_approximate_guarantees_is_exact(entries, factor):
    """The hardest (epsilon, delta) mechanism: shows everything with probability delta, else randomized response."""
    hardest = []
    for f, lost in entries:
        d = Fraction(lost)
        p, q = pairs.response(f)
        hardest.append(((d, Fraction(0), *((1 - d) * x for x in p)), (Fraction(0), d, *((1 - d) * x for x in q))))
    total = compose(approx(ln(f), d) for f, d in entries)
    exact = pairs.delta(pairs.fold(*hardest), factor)
    assert exact <= Fraction(total.delta(ln(factor))) <= exact + Fraction(1, 10**13)


def test_mixed_guarantees_against_finite_pairs():
    """A concentrated and a pure part: the pair of each is finite, the sum is compared with their product."""
    left, right = pairs.response(Fraction(5, 4)), pairs.response(3)
    for order in (2, 5):
        curve = {a: pairs.divergence_up(left, Fraction(a)) for a in (Fraction(3, 2), 2, 3, 5, 10, 40)}
        mixed = renyi(curve) + pure(ln(3))
        truth = pairs.fold(left, right)
        assert pairs.divergence_up(truth, Fraction(order)) <= Fraction(mixed.renyi(order)) + Fraction(1, 10**40)
        for factor in (1, 2, 3, Fraction(18, 5), 4):
            assert pairs.delta(truth, Fraction(factor)) <= Fraction(mixed.delta(ln(factor)))


def test_planted_bugs_would_show(monkeypatch):
    """Halving the Rényi curve of a pure epsilon, or half the composition, contradicts enumeration."""
    pair = pairs.response(3)
    right = pure(ln(3)).renyi(2)
    assert pairs.divergence_up(pair, Fraction(2)) <= Fraction(right)
    monkeypatch.setattr(pure_file, "renyi", lambda epsilon, alpha, original=pure_file.renyi: original(epsilon, alpha) / 2)
    assert pairs.divergence_up(pair, Fraction(2)) > Fraction(pure(ln(3)).renyi(2))


def test_gaussian_profile_by_numerical_integration():
    from scipy import integrate, stats

    for mu, epsilon in ((0.5, 0.3), (1.0, 1.0), (3.0, 2.0)):
        truth = integrate.quad(
            lambda x, mu=mu, e=epsilon: max(0.0, stats.norm.pdf(x, mu) - math.exp(e) * stats.norm.pdf(x)), -10, 15, limit=400
        )[0]
        assert gdp(mu).delta(epsilon) == pytest.approx(truth, rel=1e-6)
        assert gdp(mu).tradeoff(0) == 0.0
        assert gdp(mu).tradeoff("0.05") == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.05) + mu), rel=1e-12)


def test_tiny_and_huge():
    assert gdp(1).epsilon("1e-300") < 40
    assert 0 < gdp(1).delta(30) < 1e-150
    assert gdp("1e-6").epsilon("1e-3") == 0.0
    assert gdp(0).epsilon() == gdp(0).delta(0) == 0.0
    assert gdp(100).epsilon("1e-6") > 5000
    assert zcdp(0).epsilon() == 0.0
    assert zcdp("1e-12").epsilon("1e-6") < 1e-5
    assert zcdp(1000).epsilon("1e-6") < 1300
    assert pure(0).delta(0) == 0.0
    assert pure(400).delta(1) == 1.0
    assert (10**9 * pure("1e-9")).epsilon("1e-6") < 0.01
    assert (10**15 * pure(ln(3))).epsilon() == pytest.approx(1.0986122886681098e15)
    assert "1.099e+15" in str(10**15 * pure(ln(3)))
    assert "δ" in str(10**9 * approx(1, "1e-20"))
    with pytest.raises(NumberError, match="copies"):
        _ = 10**19 * pure(1)


def test_extreme_answers_are_upper_bounds():
    """Where precision runs out the answer may be loose or infinite; it is never too small."""
    assert pure("1e-60").epsilon("4.9e-61") > 0
    assert pure(ln(3)).epsilon(Fraction(1, 2) - Fraction(1, 10**70)) > 0
    assert (3 * pure("1e100")).epsilon("1e-6") == pytest.approx(3e100)
    assert gdp("1e100").epsilon("1e-6") >= 4.9e199
    assert zcdp("1e100").bracket("1e-6").upper >= 1e100
    assert renyi({2: "1e-60"}).renyi(2) >= 1e-60
    assert pure("1e-60").charged_renyi(Fraction(2)) is not None
    for delta in (0, "0.1", "0.5"):
        assert math.copysign(1, pure(0).epsilon(delta)) == 1  # no minus zero


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
def test_a_delta_exactly_on_a_sum_of_probabilities(k):
    """With epsilon = ln 3 all probabilities are rational, so delta can hit the edges that balls cannot decide."""
    truth = pairs.fold(*([pairs.response(3)] * k))
    levels = sorted(
        {
            sum(p for p, q in zip(*truth, strict=True) if q and p / q >= r)
            for r in (Fraction(3) ** j for j in range(1, k + 1))
        }
    )
    for level in levels:
        found = (k * pure(ln(3))).epsilon(level)
        assert pairs.delta(truth, _odds_above(found)) <= level
        near = (k * pure(ln(3))).epsilon(level - Fraction(1, 10**15))
        assert found <= near <= found + 1e-12


# -- units, groups, order ----------------------------------------------------------------------------------------------


def test_change_of_unit():
    replace = Unit.REPLACE_ONE
    assert pure("0.5").to(replace) == pure(1, unit=replace)
    assert zcdp("0.1").to("replace one person") == zcdp("0.4", unit=replace)
    assert gdp("0.5").to(replace) == gdp(1, unit=replace)
    both = approx(ln(2), "1/100").to(replace)
    assert both.epsilon("0.03000001") <= ln(4).bounds().upper
    assert both.epsilon("0.0299") == math.inf  # delta (1 + e^epsilon) = 0.03
    for guarantee in (pure(1, unit=replace), pure(1, unit=Unit.REPLACE_ONE_ROW)):
        with pytest.raises(UnitError, match="does not follow"):
            guarantee.to(Unit.ADD_REMOVE)
    with pytest.raises(UnitError, match="add up"):
        _ = pure(1) + pure(1, unit=replace)
    with pytest.raises(UnitError, match="more or fewer"):
        pure(0, unit=Unit.REPLACE_ONE_ROW).per_person(5)
    rows = pure("0.1", unit=Unit.ADD_REMOVE_ROW)
    assert rows.per_person(5) == pure("0.5")
    with pytest.raises(UnitError):
        pure(1).per_person(3)
    with pytest.raises(UnitError, match="neighbouring"):
        pure(1, unit="household")


def test_groups_by_enumeration():
    """A chain of neighbours 0, 1, 2, 3, each step (epsilon, delta): the ends are within the group's promise."""
    step = [Fraction(8, 15), Fraction(4, 15), Fraction(2, 15), Fraction(1, 15)]  # odds 2 from one to the next
    chain = [tuple(step[(i + shift) % 4] for i in range(4)) for shift in range(3)]
    for people in (1, 2):
        pair = (chain[0], chain[people])
        worst = max(pairs.ratio((chain[i], chain[i + 1])) for i in range(people))
        assert pairs.ratio(pair) <= worst**people
        lost = max(pairs.delta((chain[i], chain[i + 1]), Fraction(2)) for i in range(people))
        promise = approx(ln(2), lost).group(people)
        assert pairs.delta(pair, Fraction(2) ** people) <= Fraction(promise.delta(ln(2) * people))
    assert pure(ln(3)).group(3) == pure(3 * ln(3))
    assert zcdp("0.1").group(3) == zcdp("0.9")
    assert gdp(1).group(2) == gdp(2)
    for refused in (renyi({2: 1}), zcdp(1, delta="0.1")):
        with pytest.raises(GuaranteeError):
            refused.group(2)
    for bad in (0, -1, 1.5, True):
        with pytest.raises(NumberError):
            pure(1).group(bad)


def test_every_guarantee_is_within_itself():
    """Part by part, where several currencies stand beside each other."""
    parts = [pure(1), approx(1, "1e-9"), zcdp("0.4"), gdp("0.5"), renyi({2: 1})]
    for one, other in itertools.product(parts, repeat=2):
        assert (one + other).within(one + other)
    assert not (zcdp("0.4") + gdp(1)).within(zcdp("0.3999") + gdp(1))


def test_within_is_true_only_when_proved():
    assert pure(1).within(pure(1))
    assert not pure("1.0000001").within(pure(1))
    assert pure(1).within(approx(1, "1e-9"))
    assert pure(1).within(zcdp("0.46212"))
    assert not pure(1).within(zcdp("0.46211"))
    assert pure(1, rho="0.4").within(zcdp("0.4"))
    assert pure(1, rho="0.4").within(pure(1))
    assert not pure(1).within(pure(1, rho="0.4"))
    assert pure("0.8").within(pure(1, rho="0.4"))
    assert not zcdp("0.3").within(pure(1, rho="0.4"))
    assert (2 * pure("0.1")).within(pure("0.3", rho="0.01"))
    assert not (2 * pure("0.1")).within(pure("0.3", rho="0.009"))
    assert pure(1, rho="0.47") == pure(1)
    assert gdp(1).within(zcdp("0.5"))
    assert gdp(1).within(approx(5, "1e-6"))
    assert not gdp(1).within(approx("4.88", "1e-6"))
    assert not zcdp("0.5").within(gdp(1))
    assert gdp(1).within(renyi({2: 1, 8: 4}))
    assert not gdp(1).within(renyi({2: "0.999"}))
    assert not pure(1).within(pure(1, unit=Unit.REPLACE_ONE))
    assert (pure(1) + gdp(1)).within(pure(1) + gdp("1.5"))
    assert not (pure(1) + gdp(1)).within(pure("0.9") + gdp("1.5"))
    assert (2 * pure("0.1")).within(2 * pure("0.2"))
    assert (2 * pure("0.1")).within(pure("0.2"))
    assert not (3 * pure("0.1")).within(2 * pure("0.1"))
    assert approx(1, "1e-6").within(zcdp("0.5", delta="1e-6"))
    assert not approx(1, "1e-6").within(zcdp("0.5"))
    assert not approx(1, "1e-6").within(pure(10))
    assert not zcdp("0.1", delta="1e-3").within(zcdp("0.1"))
    assert zcdp("0.1", delta="1e-3").within(zcdp("0.2", delta="1e-3"))
    assert not approx("0.1", "1e-3").within(renyi({2: 5}))
    assert not zcdp("0.1", delta="1e-3").within(renyi({2: 5}))
    for other in (3, None, "pure"):
        with pytest.raises(GuaranteeError):
            pure(1).within(other)


def test_what_is_lost_adds_up_over_parts():
    both = approx(1, "1/10") + zcdp("0.1", delta="1/5")
    assert both.epsilon("0.27") == math.inf  # 1 - 0.9 * 0.8 = 0.28
    assert both.epsilon("0.29") < math.inf
    assert both.delta(10**6) >= 0.28
    assert both.delta(10**6) == pytest.approx(0.28)
    assert both.rho() == both.renyi(2) == math.inf
    three = 3 * zcdp("0.1", delta="1/10")
    assert three == zcdp("0.3", delta="3/10")
    assert three.epsilon("0.2") == math.inf


def test_a_sum_of_renyi_curves_ends_where_the_shorter_one_does():
    total = renyi({2: 1, 8: 2}) + renyi({2: 1})
    assert total.renyi(2) == 2.0
    assert total.renyi(8) == math.inf
    assert (renyi({2: 1, 8: 2}) + renyi({4: 1})).renyi(2) == 2.0


@pytest.mark.parametrize("mu", ["0.3", "1"])
def test_pure_and_gaussian_together_against_the_truth(mu):
    """Randomized response with odds 3 beside a Gaussian: delta = 3/4 delta_G(eps - ln 3) + 1/4 delta_G(eps + ln 3)."""
    from dither.numeric.balls import ends, precision
    from dither.privacy.formulas.normal import profile

    both = pure(ln(3)) + gdp(mu)
    for epsilon in ("0.5", "1.2", "2", "4"):
        with precision(200):
            e, m = Number(epsilon).ball(), Number(mu).ball()
            truth = ends((3 * profile(m, e - ln(3).ball()) + profile(m, e + ln(3).ball())) / 4)[0]
        assert truth <= Fraction(both.delta(epsilon))
        assert both.epsilon(truth) >= float(epsilon) * (1 - 1e-12)


# -- writing ---------------------------------------------------------------------------------------------------------

EVERY = [
    pure(ln(3) / 7),
    approx("1/3", "1e-9", unit=Unit.REPLACE_ONE),
    zcdp("0.1", delta="1e-8"),
    renyi({"1.5": ln(2), 8: 3}),
    gdp(mu2="1/3"),
    3 * pure("0.1") + zcdp("1/7") + gdp(1) + renyi({2: 1}),
]


@pytest.mark.parametrize("guarantee", EVERY, ids=str)
def test_records_are_exact(guarantee):
    assert Guarantee.from_json(guarantee.to_json()) == guarantee


def test_a_stored_record_never_changes_its_meaning():
    stored = (
        '{"guarantee": 1, "parts": [{"entries": [[["0", [["3", "1/7"]]], "0", 1], ["1/3", "1/1000000000", 5]], "kind": '
        '"approx"}, {"kind": "gdp", "mu2": "1/3"}, {"curve": [["3/2", "1/2"]], "kind": "renyi"}, {"delta": "1/100000000", '
        '"kind": "zcdp", "rho": "1/10"}], "unit": "add/remove one person"}'
    )
    meaning = (
        pure(ln(3) / 7) + 5 * approx("1/3", "1e-9") + gdp(mu2="1/3") + renyi({"1.5": "0.5"}) + zcdp("0.1", delta="1e-8")
    )
    assert Guarantee.from_json(stored) == meaning
    assert Guarantee.from_json(meaning.to_json()) == meaning
    part = '{"kind": "approx", "entries": [["1", "0", 1]]}'
    record = '{"guarantee": 1, "unit": "add/remove one person", "parts": [%s]}'
    assert Guarantee.from_json(record % part) == pure(1)
    hostile = [
        *(part.replace('"1", "0", 1', row) for row in ('"-1", "0", 1', '"1", "2", 1', '"1", "-1/2", 1', '"1", "0", -3')),
        *(
            part.replace('"1", "0", 1', row)
            for row in ('"1", "0", 2.9', '"1", "0", true', '"1", "0", 0', '"1e30000000", "0", 1')
        ),
        *(part.replace('"1", "0", 1', row) for row in ('[], "0", 1', '["0", [["0", "1"]]], "0", 1', '"1", "0"', "")),
        *("", part + ", " + part, '{"kind": "approx", "entries": []}', '{"kind": "zcdp", "rho": "-1", "delta": "0"}'),
        *('{"kind": "gdp", "mu2": "1e9999999"}', '{"kind": "gdp", "mu2": 1}', '{"kind": "renyi", "curve": []}'),
        *('{"kind": "renyi", "curve": [["8", "9"], ["2", "0"]]}', '{"kind": "renyi", "curve": [["1", "9"]]}', "1", "null"),
    ]
    for row in hostile:
        with pytest.raises(GuaranteeError):
            Guarantee.from_json(record % row)
    for text in (record.replace("1,", "true,", 1) % part, record.replace("1,", "0,", 1) % part, "[" * 200_000, "1", "null"):
        with pytest.raises(GuaranteeError):
            Guarantee.from_json(text)
    for bad in ("", "{}", "[]", stored.replace('"guarantee": 1', '"guarantee": 3'), stored.replace("gdp", "xyz"),
                stored.replace("1/3", "1/0"), stored.replace("add/remove one person", "a dog")):  # fmt: skip
        with pytest.raises((GuaranteeError, UnitError)):
            Guarantee.from_json(bad)


def test_text_is_short_and_rounded_up():
    assert str(pure("0.5")) == "ε = 0.5 (add/remove one person)"
    assert str(pure(ln(3))) == "ε = 1.099 (add/remove one person)"
    assert str(approx(1, "1e-6", unit="replace one person")) == "(ε = 1, δ = 1e-06) (replace one person)"
    assert str(zcdp("0.12341")) == "ρ = 0.1235 zCDP (add/remove one person)"
    assert str(gdp(mu2=2)) == "μ = 1.415 Gaussian DP (add/remove one person)"
    assert str(gdp("0.1")) == "μ = 0.1 Gaussian DP (add/remove one person)"
    assert "D_2 = 1" in str(renyi({2: 1}))


# -- bad input -------------------------------------------------------------------------------------------------------


def test_no_epsilon_without_delta_for_gaussians():
    assert gdp(1).epsilon(0) == math.inf
    assert zcdp(1).epsilon(0) == math.inf
    assert renyi({2: 1}).epsilon(0) == math.inf
    assert approx(1, "1e-6").epsilon("1e-7") == math.inf
    assert approx(1, "1e-6").rho() == math.inf
    assert renyi({2: 1}).rho() == math.inf
    assert approx(1, "1e-6").renyi(2) == math.inf


BAD = ["nan", float("nan"), float("inf"), True, None, "x", -1, "1e999999999", [], "-0.1"]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_parameters_are_refused_with_words(bad):
    doors = [
        *(pure, zcdp, gdp, lambda x: approx(x, 0), lambda x: approx(1, x), lambda x: zcdp(1, delta=x)),
        *(lambda x: renyi({2: x}), lambda x: renyi({str(x): 1})),
        *([] if bad is None else [pure(1).epsilon]),  # None: without a delta
        *(pure(1).delta, pure(1).renyi, pure(1).tradeoff, gdp(1).bracket),
    ]
    for door in doors:
        with pytest.raises(NumberError, match="What would work"):
            door(bad)


def test_other_refusals():
    for delta in (1, 2, "1.0"):
        with pytest.raises(NumberError, match="nothing is promised"):
            approx(1, delta)
        with pytest.raises(NumberError, match="nothing is promised"):
            pure(1).epsilon(delta)
    for order in (1, 0, "0.5"):
        with pytest.raises(NumberError, match="above 1"):
            pure(1).renyi(order)
    with pytest.raises(GuaranteeError):
        renyi({})
    with pytest.raises(GuaranteeError, match="empty"):
        compose([])
    with pytest.raises(NumberError):
        gdp()
    with pytest.raises(NumberError):
        gdp(1, mu2=1)
    with pytest.raises(NumberError):
        _ = -1 * pure(1)
    with pytest.raises(TypeError):
        _ = 1.5 * pure(1)
    with pytest.raises(TypeError):
        _ = pure(1) + 1
    with pytest.raises(NumberError):
        zcdp(ln(3))
    assert sum([pure(1), pure(2)]) == pure(1) + pure(2)
    assert (0 * gdp(5)).epsilon() == 0.0
    assert (pure(1) + pure(0)).epsilon() == 1.0
    assert pure(1).post_process() == pure(1)
    with pytest.raises(AttributeError):
        pure(1).unit = Unit.REPLACE_ONE  # type: ignore[misc]


def test_sums_do_not_depend_on_the_order_of_their_terms():
    terms = [pure(ln(3)), approx(1, "1e-6"), pure("0.5"), gdp(1), pure(ln(3)), approx(1, 0)]
    total = compose(terms)
    assert total == compose(terms[::-1]) == sum(terms[1:], start=terms[0])
    assert total.to_json() == compose(terms[::-1]).to_json()
    assert hash(total) == hash(compose(terms[::-1]))
    with pytest.raises(GuaranteeError, match="twice"):
        renyi({2: 1, "2.0": 3})


def test_sums_do_not_drift():
    assert 10 * pure(0.1) == sum([pure(0.1)] * 10)
    assert (10 * pure(0.1)).epsilon() == 1.0
    assert (10 * pure(0.1)).within(pure(1))
    assert not (11 * pure(0.1)).within(pure(1))


def test_bounds_are_monotone():
    before = math.inf
    for delta in ("1e-15", "1e-12", "1e-9", "1e-6", "1e-3", "0.1"):
        for guarantee in (gdp(1), zcdp("0.5"), 50 * pure("0.2"), pure(1) + gdp(1)):
            assert guarantee.epsilon(delta) < math.inf
        now = (pure(1) + gdp(1)).epsilon(delta)
        assert now <= before
        before = now
    assert (pure(1) + gdp(1)).epsilon("1e-6") <= 1 + gdp(1).epsilon("1e-6") + 1e-12
    assert gdp(1).epsilon("1e-6") <= (gdp(1) + pure("0.001")).epsilon("1e-6")
