"""MODE: exact laws for all neighbours, what is counted, what comes out, what is said, what is refused."""

from __future__ import annotations

import datetime
import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.balls import precision
from dither.privacy.guarantee.definitions import bounded_range, pure
from dither.privacy.unit import Unit
from dither.query.answers.answer import Answer
from dither.query.statistics import choose_bounding, modes
from dither.testing import seeded
from dither.testing.claim import Claim
from dither.testing.enumerate import BITS, outcomes
from tests.density.laws import one_draw  # noqa: F401 - a fixture
from tests.query.clinics import clinic, ledger, private_counts
from tests.seeds import rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
ASKED = "SELECT MODE(ward) AS m FROM visits"
GROUPED = "SELECT sex, MODE(ward) AS m FROM visits GROUP BY sex"
BUDGETS = {"epsilon": dither.pure(10**6), "rho": dither.zcdp(10**6)}
UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]
TINY = Fraction(1, 10**40)  # balls of 192 bits are narrower


def table(rows):
    names = ("person", "ward", "sex", "cost", "age")
    kinds = (pyarrow.int64(), pyarrow.string(), pyarrow.string(), pyarrow.float64(), pyarrow.int64())
    columns = [pyarrow.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    return pyarrow.table(dict(zip(names, columns, strict=True)))


def made(folder, price, unit, *, person="person", limits=(2, 1), **facts):
    """The statistic of a question, at epsilon = 3 or at a rho for which the range is 3; not a step more is promised."""
    limits = limits if person == "person" else (None, None)
    budget = dither.pure(10, unit=unit) if price == "epsilon" else dither.zcdp(10, unit=unit)
    facts |= {"person": person, "max_groups": limits[0], "max_rows_per_group": limits[1], "budget": budget}
    (found,) = clinic(folder, **facts).quote(GROUPED, **{price: {"epsilon": 3, "rho": "9/8"}[price]}).offer.others
    assert found.guarantee == (pure(3, unit=unit) if price == "epsilon" else bounded_range(3, unit=unit))
    return found


# -- what one person moves, and what that tells ------------------------------------------------------------------------


def weighed(rows, keys, *, person="person", limits=(2, 1), units=None):
    """What is counted: whole units of rows in their group and key; those of others count for nobody, and hide nobody."""
    inside = [row for row in rows if row[1] in [*keys] and row[2] in "fm" and (row[0] is not None or person == "each row")]
    total, units = limits[0] * limits[1], choose_bounding.UNITS if units is None else units
    own = Counter(row[0] for row in inside)
    found = Counter()
    for row in inside:
        found[row[2], row[1]] += 1 if person == "each row" else min(units, total * units // own[row[0]])
    return [[found[sex, key] for key in keys] for sex in "fm"]


@pytest.mark.parametrize("person", ["person", "each row"])
def test_rows_are_counted_in_their_group_and_key_and_no_person_has_more_than_her_units(tmp_path, person):
    worst = 0
    for rng in rounds(1, 1, "modes", person):
        rows = [
            (rng.choice([1, 1, 1, 2, 3, None]), rng.choice(["A", "B", "C", "D", None]), rng.choice("fmm"), 1.0, 1)
            for _ in range(40)
        ]
        statistic = made(tmp_path, "epsilon", Unit.ADD_REMOVE, person=person)
        most = int(statistic.mechanism.sensitivity)
        assert most == (1 if person == "each row" else 2 * choose_bounding.UNITS)
        limits = dict.fromkeys(("max_groups", "max_rows_per_group"))
        limits = limits if person == "each row" else {"max_groups": 2, "max_rows_per_group": 1}

        def counts(kept, limits=limits):
            found = private_counts(clinic(tmp_path, table(kept), person=person, **limits).quote(GROUPED, epsilon=1))
            assert [found[:3], found[3:]] == weighed(kept, "ABC", person=person)
            return found

        whole = counts(rows)
        for one in (1, 2):
            kept = [row for at, row in enumerate(rows) if (row[0] if person == "person" else at) != one]
            change = [a - b for a, b in zip(whole, counts(kept), strict=True)]
            assert min(change) >= 0
            assert sum(change) <= most
            worst = max(worst, sum(change))
    assert worst > 0.95 * most  # no more noise than is needed, but for the rounding of weights


def holdings(cells, person):
    """All that one person can have in some cells, where `None` is a row that counts for nobody: few rows and many."""
    sizes = range(4) if person == "person" else range(2)
    return [held for size in sizes for held in itertools.combinations_with_replacement([*cells, None], size)]


def pairs(unit, person, keys, units):
    """Counts of all neighbours: what others have, with all that two people can have, or one of them and nobody."""
    cells = [(sex, key) for sex in "fm" for key in keys]
    others = [[], [("f", "A")] * 3 + [("m", "B")] * 5, [("f", "B")] * 9 + [("m", "A")] * 9]

    def counts(rest, held):
        rows = [(10 + at, key, sex) for at, (sex, key) in enumerate(rest)]
        rows += [(1, *(("Z", "f") if cell is None else cell[::-1])) for cell in held]
        return weighed(rows, keys, person=person, units=units)

    for rest in others:
        found = sorted({tuple(map(tuple, counts(rest, held))) for held in holdings(cells, person)})
        nobody = tuple(map(tuple, counts(rest, ())))
        firsts = found if unit is Unit.REPLACE_ONE else [nobody]
        yield from ((one, two) for one in firsts for two in found if one != two)


def losses(statistic, neighbours):
    """The exact joint laws of all that `noisy` stores: the largest loss of any pair, and the largest range."""
    laws = {}

    def law(counts):
        if counts not in laws:
            found = outcomes(statistic.noisy, [list(row) for row in counts], cutoff="1e-60")
            with precision(BITS):
                assert found.missing < 1e-50
                laws[counts] = {key: exact(mass.log()) for key, mass in found.masses.items()}
        return laws[counts]

    largest = widest = Fraction(0)
    for one, two in neighbours:
        p, q = law(one), law(two)
        assert p.keys() == q.keys()
        assert len(p) == statistic.mechanism.size ** len(one)
        found = [p[key] - q[key] for key in p]
        largest, widest = max(largest, max(found), -min(found)), max(widest, max(found) - min(found))
    return largest, widest


def exact(ball):
    """The middle of a narrow ball."""
    assert ball.rad() < 1e-45
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@pytest.mark.usefixtures("one_draw")
@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", ["epsilon", "rho"])
def test_the_law_of_the_release_of_every_pair_of_neighbours_keeps_the_promise(tmp_path, monkeypatch, price, unit, person):
    """In two groups at once, with rows that are missing or of no key, and people with more rows than they may have."""
    monkeypatch.setattr(choose_bounding, "UNITS", 2)  # few units, so that all that a person can have are few
    keys = "AB" if person == "person" else "ABC"
    statistic = made(tmp_path, price, unit, person=person, keys={"ward": list(keys), "sex": ["f", "m"]})
    assert statistic.bounding.resolution == (2 if person == "person" else 1)
    neighbours = list(pairs(unit, person, keys, 2))
    largest, widest = losses(statistic, neighbours)
    assert largest <= 3 + TINY
    assert largest > Fraction(29, 10), "the noise could be less"
    if price == "rho":
        assert 3 - TINY <= widest <= 3 + TINY  # the promise is the range
    # Twice the rate, as if scores of somebody replaced moved in one direction, or each group had a budget of its own: seen.
    facts = {
        name: getattr(statistic.mechanism, name) for name in ("sensitivity", "candidates", "monotone", "integers", "unit")
    }
    loud = replace(statistic, mechanism=type(statistic.mechanism)(epsilon=6, **facts))
    assert losses(loud, neighbours[-len(neighbours) // 3 :])[0] > 3 + TINY


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", ["epsilon", "rho"])
def test_the_claim_of_the_guarantee_holds_of_the_laws_with_coins_of_their_own(tmp_path, monkeypatch, price, unit):
    """All that a guarantee says (curve, orders, range), for some of the neighbours."""
    monkeypatch.setattr(choose_bounding, "UNITS", 2)
    statistic = made(tmp_path, price, unit, keys={"ward": ["A", "B"], "sex": ["f", "m"]})
    claim = Claim(statistic.guarantee)
    for one, two in [((0, 0), (0, 4)), ((0, 0), (2, 2)), ((0, 2), (3, 1)), ((4, 0), (0, 4))][: 2 + 2 * (unit is UNITS[1])]:
        tables = [[list(first), [9, 0]] for first in (one, two)]
        laws = [outcomes(statistic.noisy, counts) for counts in tables]
        claim.check(*tables, *laws)
        claim.check(*tables[::-1], *laws[::-1])


# -- what comes out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", ["epsilon", "rho"])
@pytest.mark.parametrize("person", ["person", "each row"])
def test_with_hardly_any_noise_it_is_the_mode_of_sql(tmp_path, person, price):
    limits = {"max_groups": None, "max_rows_per_group": None} if person == "each row" else {}
    for rng in rounds(2, 2, "accurate modes", person, price):
        wards = [*"ABC", "D", None]
        rows = [(at // 2, rng.choice(wards), rng.choice("fm"), 1.0, 1) for at in range(rng.choice([1, 30, 200]))]
        data = table(rows)
        answer = clinic(tmp_path, data, person=person, budget=BUDGETS[price], **limits).quote(GROUPED, **{price: 10**5})
        shown = dict(zip("fm", answer.release()["m"], strict=True))
        truth = duckdb.sql("SELECT sex, mode(ward) FROM data WHERE ward IN ('A', 'B', 'C') GROUP BY sex").fetchall()
        counts = Counter((row[2], row[1]) for row in rows)
        for sex, ward in truth:
            assert counts[sex, shown[sex]] == counts[sex, ward]
            if [counts[sex, key] for key in "ABC"].count(counts[sex, ward]) == 1:
                assert shown[sex] == ward
        assert set(shown.values()) <= set("ABC")


@pytest.mark.parametrize("price", ["epsilon", "rho"])
def test_ties_and_empty_groups_are_decided_by_the_mechanism(tmp_path, price):
    statistic = made(tmp_path, price, Unit.ADD_REMOVE)
    for counts in ([0, 0, 0], [10**9] * 3, [2**61, 2**62, 2**99]):  # what is beyond the most is the most
        law = outcomes(statistic.noisy, [counts])
        assert [law.probability([key]) for key in range(3)] == [pytest.approx((1 / 3, 1 / 3))] * 3
    assert statistic.noisy([[0, 10**12, 0], [2**70, 0, 0]]) == [1, 0]
    assert statistic.noisy([]) == []


@pytest.mark.parametrize("price", ["epsilon", "rho"])
@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.usefixtures("one_draw")
def test_the_error_is_what_a_choice_may_fall_short_by(tmp_path, monkeypatch, price, person):
    """By the exact law, for counts of all kinds, in rows; and a unit less would not be true."""
    monkeypatch.setattr(choose_bounding, "UNITS", 4)
    statistic = made(tmp_path, price, Unit.ADD_REMOVE, person=person)
    units = statistic.bounding.resolution
    for level in (Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)):
        short = statistic.error(0, level) * units
        assert short == int(short)
        missed = []
        for far in (0, 1, 2, int(short), int(short) + 1, 10**6):
            for counts in ([far, 0, 0], [far, far, 0], [far + 5, 5, 5]):
                law = outcomes(statistic.noisy, [counts])
                missed.append(sum(law.probability([k])[0] for k in range(3) if max(counts) - counts[k] > short))
        assert max(missed) <= 1 - level + Fraction(1, 10**12)
        if short:
            law = outcomes(statistic.noisy, [[int(short), 0, 0]])
            assert 1 - law.probability([0])[1] > 1 - level


def test_keys_keep_their_type_and_the_answer_goes_through_json(tmp_path):
    days = [datetime.date(2025, 1, day) for day in (1, 2, 3)]
    data = pyarrow.table({"day": days * 30 + days[1:2] * 40, "floor": [7, 9, 9, 8, 9] * 26, "new": [True] * 129 + [False]})
    keys = {"day": days, "floor": [9, 8, 7], "new": [True, False]}
    visits = dither.protect(data, name="visits", person="each row", keys=keys, ledger=ledger(tmp_path))
    asked = "MODE(day) AS d, MODE(floor) AS f, MODE(new) AS t, COUNT(*) AS n, MODE(day) AS again"
    quote = visits.quote(f"SELECT new, {asked} FROM visits GROUP BY new", epsilon=10**4)
    answer = quote.release()
    assert (answer["d"][1], answer["f"][1], answer["t"]) == (days[1], 9, [False, True])
    assert answer["again"] == answer["d"]
    assert list(answer.columns) == ["new", "d", "f", "t", "n", "n_low", "n_high", "again"]
    kinds = answer.to_arrow().schema
    assert [kinds.field(name).type for name in "dft"] == [pyarrow.date32(), pyarrow.int64(), pyarrow.bool_()]
    back = Answer.from_json(answer.to_json())
    assert back.columns == answer.columns
    assert str(back) == str(answer)
    assert "2025-01-02" in str(answer)
    stored = json.loads(answer.released.to_json())["parts"]
    assert all(isinstance(place, int) for part in stored for place in part)
    assert [part["is"] for part in quote.question["statistics"]] == ["modes"] * 3
    assert "<svg" in answer.to_html()
    answer.plot("n")
    again = visits.quote("SELECT MODE(new) AS x, COUNT(*), MODE(day), MODE(floor) FROM visits GROUP BY new", epsilon=10**4)
    assert not again.release().is_replay  # statistics in another order


def test_it_is_sorted_shown_and_asked_again(tmp_path):
    rows = [(at, "CAB"[at % 3] if at % 2 else "B", "fm"[at % 2], 1.0, 1) for at in range(600)]
    data = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1)
    first = data.quote(GROUPED, epsilon=20).release()
    again = data.quote("SELECT MODE(ward), sex FROM visits GROUP BY sex ORDER BY MODE(ward) DESC LIMIT 1", epsilon=20)
    answer = again.release()
    assert answer.is_replay
    assert list(answer.columns) == ["mode", "sex"]
    assert answer["mode"] == [max(first["m"])]
    assert data.quote(ASKED, epsilon=20).release().scalar() == "B"
    with pytest.raises(dither.errors.DataError, match="no column of it has error bars"):
        answer.plot()


def test_groups_that_nobody_declared_and_others(tmp_path):
    rows = [(at, "AB"[at % 2], ["oslo", "rome"][at % 2] if at < 4000 else f"town {at}", 1.0, 1) for at in range(4100)]
    facts = {"max_groups": 1, "max_rows_per_group": 1, "keys": {"ward": ["A", "B", "C"]}, "complete": ["person"]}
    data = clinic(tmp_path, table(rows), budget=dither.approx(50, "1e-6"), **facts)
    answer = data.quote("SELECT sex, MODE(ward) AS m, COUNT(*) AS n FROM visits GROUP BY sex", epsilon=20).release()
    assert answer["sex"] == ["oslo", "rome"]
    assert answer["m"] == ["A", "B"]
    more = data.quote("SELECT sex, MODE(ward) AS m FROM visits GROUP BY sex", epsilon=20, other="others")
    assert more.release()["sex"] == ["oslo", "rome", "others"]
    few = clinic(tmp_path, table(rows[:9]), budget=dither.approx(50, "1e-6"), **facts)
    nobody = few.quote(GROUPED, epsilon="0.5").release()
    assert nobody["m"] == []
    assert Answer.from_json(nobody.to_json()).columns == nobody.columns


@pytest.mark.parametrize("budget", ["pure", "approx", "zcdp"])
@pytest.mark.parametrize("unit", UNITS)
def test_it_stands_beside_other_aggregates_and_in_batches(tmp_path, budget, unit):
    amounts = {"pure": (100,), "approx": (100, "1e-6"), "zcdp": (100,)}[budget]
    data = clinic(tmp_path, budget=getattr(dither, budget)(*amounts, unit=unit))
    price = {"rho": 1} if budget == "zcdp" else {"epsilon": 2}
    mixed = "SELECT sex, AVG(cost) AS a, MODE(ward) AS m, COUNT(DISTINCT person) AS p FROM visits GROUP BY sex"
    quote = data.quote(mixed, **price)
    parts = [one.guarantee for one in quote.offer.statistics]
    together = sum(parts[1:], start=parts[0])
    assert (quote.guarantee.charge().epsilon, quote.guarantee.charge().delta) == (together.charge().epsilon, 0)
    assert quote.guarantee.within(together) or together.within(quote.guarantee)
    assert quote.release().columns.keys() >= {"a", "a_low", "m", "p"}
    batch = data.quote([mixed, GROUPED, "SELECT COUNT(*) AS n FROM visits"], **price)
    answers = batch.release()
    assert [list(one.columns) for one in answers][1:] == [["sex", "m"], ["n", "n_low", "n_high"]]
    assert {*answers[0]["m"], *answers[1]["m"]} <= set("ABC")


# -- what is said ------------------------------------------------------------------------------------------------------


def test_what_is_said(tmp_path):
    quote = clinic(tmp_path).quote(GROUPED, epsilon=1)
    told = quote.explain()
    short = quote.errors["m"]
    assert f"m: {short:,.4g} rows' worth, by which the key that is shown may fall short of the most frequent one" in told
    assert "; a person's rows weigh at most 15 together" in told
    assert "up to 15 rows of a person count in full" in told
    assert "permute-and-flip for m (ε = 1 (add/remove one person))" in told
    assert "m: the most frequent key of ward" in quote.describe()
    rho = clinic(tmp_path, budget=dither.zcdp(3)).quote(GROUPED, rho="1/8")
    assert "exponential mechanism for m (ε = 1 of bounded range (add/remove one person))" in rho.explain()
    assert rho.guarantee.rho() == 0.125
    assert rho.loss().epsilon(0) <= 1.0001
    with seeded(1):
        text = str(quote.release())
    assert "\nsex       m\n" in text
    assert text.startswith("m: chosen (")
    assert "m_low" not in text


def test_a_wished_error_is_met_in_rows(tmp_path):
    quote = clinic(tmp_path).quote(GROUPED, error={"m": 20})
    assert 19.9 < quote.errors["m"] <= 20
    dear = clinic(tmp_path).quote(GROUPED, error={"m": 2})
    assert dear.guarantee.epsilon() > 9 * quote.guarantee.epsilon()
    two = "SELECT MODE(ward) AS m, COUNT(*) AS n FROM visits"
    both = clinic(tmp_path, budget=dither.zcdp(10**4)).quote(two, error={"m": 9, "n": 5})
    assert both.errors["m"] <= 9
    assert both.errors["n"] <= 5
    with pytest.raises(QuestionError, match="says nothing about m"):
        clinic(tmp_path).quote(two, error={"n": 5})
    alone = clinic(tmp_path, keys={"ward": ["A"], "sex": ["f", "m"]}).quote(GROUPED, epsilon=1)
    assert alone.errors == {"m": 0}  # the only key
    assert alone.release()["m"] == ["A", "A"]


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "why", "instead"),
    [
        ("MODE(cost)", "declares no keys for it", "GROUP BY with COUNT(*)"),
        ("MODE(person)", "says whose a row is", "the number of people"),
        ("MODE(UPPER(ward))", "of a column as it is", "declared keys"),
        ("MODE('A')", "of a column as it is", "declared keys"),
        ("MODE(DISTINCT ward)", "each is there once", "without DISTINCT"),
        ("MODE(*)", "one argument, a column", "declared keys"),
        ("MODE()", "one argument, a column", "declared keys"),
        ("MODE(ward, TRUE)", "one argument, a column", "declared keys"),
        ("MODE(ward, sex)", "one argument, a column", "declared keys"),
        ("MODE() WITHIN GROUP (ORDER BY ward DESC, sex)", "of one column", "MODE, with one column"),
        ("MODE(ward) FILTER (WHERE age > 3)", "FILTER is not answered beside MODE(ward)", "in WHERE"),
        ("MODE(ward) OVER ()", "only the running sum", "SUM"),
        ("MODE(ward ORDER BY sex)", "ORDER is not answered", "does not need it"),
        ("UPPER(MODE(ward))", "stands by itself", "MODE(ward)"),
        ("MODE(nothing)", "no such column", "ward"),
    ],
)
def test_what_it_cannot_be_of_is_refused_and_nothing_is_charged(tmp_path, asked, why, instead):
    data = clinic(tmp_path, budget=dither.pure(1))
    with pytest.raises(QuestionError) as refused:
        data.quote(f"SELECT {asked} AS m FROM visits", epsilon="0.1")
    assert why in refused.value.why
    assert instead in refused.value.instead
    assert "ε = 1 left" in str(data.ledger.remaining())


@pytest.mark.parametrize("having", ["m > 3", "MODE(ward) > 3", "MODE(ward) = 'A'", "m = 'A'"])
def test_having_compares_numbers(tmp_path, having):
    with pytest.raises(QuestionError, match=r"no number|with a number"):
        clinic(tmp_path).quote(f"{GROUPED} HAVING {having}", epsilon=1)


def test_too_many_groups_and_other_ways_to_bound_people_are_refused(tmp_path):
    keys = {"ward": [f"{number:04d}" for number in range(1000)], "sex": [f"{number:04d}" for number in range(1100)]}
    with pytest.raises(QuestionError, match="among 1,000 keys is answered for at most 1,048 groups at once, and there are"):
        clinic(tmp_path, keys=keys).quote(GROUPED, epsilon=1)
    keys = {"ward": ["A", "B"], "sex": [f"{number:05d}" for number in range(modes.MOST_GROUPS + 1)]}
    with pytest.raises(QuestionError, match="at most 16,384 groups at once, and there are 16,385"):
        clinic(tmp_path, keys=keys).quote(GROUPED, epsilon=1)
    with pytest.raises(QuestionError, match="in one way: 'weights'"):
        clinic(tmp_path).quote(GROUPED, epsilon=1, bounding="groups")


def test_a_person_with_high_limits_has_coarser_units(tmp_path):
    keys = {"ward": ["A", "B"], "sex": [f"{number:02d}" for number in range(32)]}
    statistic = made(tmp_path, "epsilon", Unit.ADD_REMOVE, limits=(2, 10**6))
    assert statistic.bounding.resolution == 2**16
    statistic = made(tmp_path, "epsilon", Unit.ADD_REMOVE, limits=(32, 10**6), keys=keys)
    assert statistic.bounding.resolution == 2**15
    assert choose_bounding.MOST_UNITS / 2 < statistic.mechanism.sensitivity <= choose_bounding.MOST_UNITS
    assert isinstance(statistic.mechanism, PermuteAndFlip)
    assert isinstance(made(tmp_path, "rho", Unit.REPLACE_ONE, limits=(2, 10**6)).mechanism, Exponential)


def test_four_source_files_know_of_it():
    """An aggregate is a class, its reader, its statistic and a line of the registry (CONTRIBUTING.md)."""
    source = Path(dither.__file__).parent
    known = re.compile(r"\bMode\b|\bMODE\b|\bModeStatistic\b|\bstatistics[./]modes\b|\"modes?\"")
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if known.search(path.read_text())}
    rooms = ("plan/aggregates", "sql/aggregates", "statistics/modes", "statistics/registry")
    found.remove("query/conformance/node_examples.py")  # a question for every engine: no code
    found -= {"query/sql/rewrites/equivalents.py", "query/sql/refusals.py"}  # other spellings of it, and its name in words
    assert found == {f"query/{room}.py" for room in rooms}
