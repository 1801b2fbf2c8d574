"""The difference of two answers: its interval holds with the stated probability, exactly, however the noise depends."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import dither
from dither.errors import ArgumentError, DataError
from dither.query.answers import difference as module
from dither.query.answers.difference import SAME, difference
from dither.query.answers.interval_table import SELECTED
from dither.query.answers.released import Released
from tests.query.answers.interval_tables import Table, table
from tests.query.clinics import clinic
from tests.seeds import examples, of_the_day

OTHER = {"receipt": SimpleNamespace(ledger="books", number=4)}

# -- the theorem, exactly ----------------------------------------------------------------------------------------------

Law = dict[int, Fraction]


def law(weights: dict[int, Fraction | int]) -> Law:
    whole = sum(weights.values())
    return {noise: Fraction(weight) / whole for noise, weight in weights.items()}


LAWS: dict[str, Law] = {
    "geometric": law({noise: Fraction(1, 2 ** abs(noise)) for noise in range(-8, 9)}),
    "heavy tails": law({noise: Fraction(1, 1 + noise**2) for noise in range(-30, 31)}),
    "one side": law({noise: Fraction(1, 3**noise) for noise in range(7)}),
    "two points": law({-5: 1, 5: 1}),
    "hardly any": law({-9: 1, 0: 18, 9: 1}),
}
LEVELS = [Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(99, 100)]


def reach(noise: Law, level: Fraction) -> int:
    """The least half width that holds the noise with this probability."""
    sizes = sorted({abs(one) for one in noise})
    return next(size for size in sizes if sum(part for one, part in noise.items() if abs(one) <= size) >= level)


def independent(one: Law, other: Law) -> dict[tuple[int, int], Fraction]:
    return {(a, b): p * q for (a, p), (b, q) in itertools.product(one.items(), other.items())}


def coupled(one: Law, other: Law, order) -> dict[tuple[int, int], Fraction]:
    """The joint law that pairs both in an order each, largest parts of the same order first."""
    left, right = sorted(one.items()), sorted(other.items(), key=lambda part: order(part[0]))
    found: dict[tuple[int, int], Fraction] = {}
    while left and right:
        (a, p), (b, q) = left[0], right[0]
        found[a, b] = found.get((a, b), Fraction(0)) + min(p, q)
        left[:1] = [(a, p - q)] if p > q else []
        right[:1] = [(b, q - p)] if q > p else []
    return found


COUPLINGS = {
    "independent": independent,
    "the same way": lambda one, other: coupled(one, other, lambda noise: noise),
    "against each other": lambda one, other: coupled(one, other, lambda noise: -noise),
}
RARE = LAWS["hardly any"]
APART = {
    (9, 0): Fraction(1, 20),
    (-9, 0): Fraction(1, 20),
    (0, 9): Fraction(1, 20),
    (0, -9): Fraction(1, 20),
    (0, 0): Fraction(4, 5),
}
TIGHT = ("failures that never meet", RARE, RARE, APART)  # two intervals of 90%


def failure(a: Law, b: Law, levels: tuple[Fraction, Fraction], joint) -> tuple[Fraction, Fraction]:
    """With which probability the interval misses the true difference, and what is stated."""
    truths, pairs = (40, 17), list(joint)
    sides = []
    for at, (noise, level) in enumerate(((a, levels[0]), (b, levels[1]))):
        half, values = reach(noise, level), [truths[at] + pair[at] for pair in pairs]
        rows = [(value, value - half, value + half) for value in values]
        sides.append(table({"k": ("text", list(map(str, pairs)))}, {"n": ("whole", rows)}, confidence=level))
    found = difference(sides[0], replace(sides[1], **OTHER))
    missed = Fraction(0)
    for row, pair in zip(found.rows(), pairs, strict=True):
        assert row["difference"] == truths[0] - truths[1] + pair[0] - pair[1]
        missed += joint[pair] * (not row["low"] <= truths[0] - truths[1] <= row["high"])
    return missed, 1 - found.confidence


def cases():
    for (one, a), (other, b), (name, couple) in itertools.product(LAWS.items(), LAWS.items(), COUPLINGS.items()):
        yield f"{one}, {other}, {name}", a, b, couple(a, b)
    yield TIGHT


def worst(several=None) -> tuple[Fraction, str]:
    """How much more often an interval fails than is stated, at most, and where."""
    found = []
    for name, a, b, joint in several or cases():
        for levels in ((LEVELS[2], LEVELS[2]), (LEVELS[0], LEVELS[3]), (LEVELS[1], LEVELS[2])):
            missed, stated = failure(a, b, levels, joint)
            found.append((missed - stated, name))
    return max(found)


def test_the_interval_holds_with_the_stated_probability_whatever_the_coupling():
    more, name = worst()
    assert more <= 0, name
    assert worst([TIGHT])[0] == 0  # and what is stated cannot be more


@pytest.mark.parametrize(
    "plant",
    [
        lambda a, b, same: (a[0] - b[0], a[1] - b[1], a[2] - b[2]),  # ends of the same side
        lambda a, b, same: (a[0] - b[0], a[1] - b[0], a[2] - b[0]),  # b without its noise
        lambda a, b, same: (a[0] - b[0], a[1] - b[2] + 1, a[2] - b[1]),  # an end too short by one
        lambda a, b, same: (0, 0, 0),  # all for the same release
    ],
)
def test_wrong_ends_are_caught(monkeypatch, plant):
    monkeypatch.setattr(module, "_ends", lambda a, b, *, same: plant(a, b, same))
    with pytest.raises(AssertionError):
        assert worst([one for one in cases() if "geometric" in one[0] and "heavy" not in one[0]])[0] <= 0


def test_another_level_would_be_wrong():
    """The lesser of both levels, or their product, is what one would state by habit."""
    missed, stated = failure(RARE, RARE, (LEVELS[2], LEVELS[2]), APART)
    assert missed == stated == Fraction(1, 5)
    assert all(missed > 1 - level for level in (LEVELS[2], LEVELS[2] ** 2))


# -- ends in floats, and open ones -------------------------------------------------------------------------------------


def one(kind, value, low, high, **facts) -> Table:
    return table({}, {"n": (kind, [(value, low, high)])}, **facts)


def test_ends_are_rounded_outward():
    random = of_the_day("ends")
    for _ in range(examples(300, 20_000)):
        a, b = (sorted(random.uniform(-1, 1) * 10.0 ** random.randrange(-20, 20) for _ in range(3)) for _ in range(2))
        found = difference(one("number", a[1], a[0], a[2]), one("number", b[1], b[0], b[2], **OTHER))
        (row,) = found.rows()
        assert Fraction(row["low"]) <= Fraction(a[0]) - Fraction(b[2])
        assert Fraction(row["high"]) >= Fraction(a[2]) - Fraction(b[0])
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["high"] <= math.nextafter(a[2] - b[0], math.inf)  # and no further


def ends(a, b) -> tuple:
    kinds = ["whole" if all(type(cell) in (int, type(None)) for cell in cells) else "number" for cells in (a, b)]
    (row,) = difference(one(kinds[0], *a), one(kinds[1], *b, **OTHER)).rows()
    return row["difference"], row["low"], row["high"]


def test_open_ends_and_values_that_are_no_numbers():
    nan, inf, most = math.nan, math.inf, 1.7976931348623157e308
    assert ends((5, 3, 8), (2, 1, 4)) == (3, -1, 7)
    assert ends((5, None, 8), (2, 1, 4)) == (3, None, 7)
    assert ends((5, 3, None), (2, 1, 4)) == (3, -1, None)
    assert ends((5, 3, 8), (2, None, 4)) == (3, -1, None)
    assert ends((5, 3, 8), (2, 1, None)) == (3, None, 7)
    assert ends((None, 3, 8), (2, 1, 4)) == (None, -1, 7)
    assert ends((nan, -inf, inf), (2, 1, 4)) == (None, None, None)
    assert ends((most, -most, most), (-most, -most, most)) == (None, None, None)  # beyond all floats: open, not infinite
    assert ends((10**400, 10**400, 10**400), (1, 0, 2)) == (10**400 - 1, 10**400 - 2, 10**400)
    assert ends((10**400, 10**400, 10**400), (1.5, 0.5, 2.5)) == (None, None, None)
    assert ends((2**53, 2**53, 2**53), (0.5, 0.5, 0.5)) == (2.0**53, 2.0**53 - 1, 2.0**53)
    assert ends((5, 3, 8), (5, 8, 9)) == (0, -6, 0)  # intervals that touch
    assert ends((0, 0, 0), (0, 0, 0)) == (0, 0, 0)


# -- rows --------------------------------------------------------------------------------------------------------------


def by(keys, rows, kind="text", **facts) -> Table:
    return table({"k": (kind, keys)}, {"n": ("whole", rows)}, **facts)


ROWS = [(1, 0, 2), (5, 4, 6), (9, 8, 10)]


def test_rows_are_matched_by_their_keys():
    found = difference(by(["a", "b", None], ROWS), by(["b", None, "c"], ROWS, **OTHER))
    assert [(row["key"], row["difference"]) for row in found.rows()] == [({"k": "b"}, 4), ({"k": None}, 4)]
    assert (found.only_first, found.only_second) == (({"k": "a"},), ({"k": "c"},))
    assert "only in the first: 1 group" in found.words
    assert found.keys == ("k",)
    apart = difference(by(["a"], ROWS[:1]), by(["b"], ROWS[:1], **OTHER))
    assert apart.rows() == []
    assert "no groups in both" in apart.svg()
    assert str(apart)
    assert "<tbody></tbody>" in apart._repr_html_()
    swapped = table({"b": ("text", ["x"]), "a": ("text", ["y"])}, {"n": ("whole", ROWS[:1])})
    turned = table({"a": ("text", ["y"]), "b": ("text", ["x"])}, {"n": ("whole", ROWS[1:2])}, **OTHER)
    assert [row["difference"] for row in difference(swapped, turned).rows()] == [-4]  # keys by name, not by place
    changed = found.rows()
    changed[0]["key"]["k"] = "other"
    assert found.rows()[0]["key"] == {"k": "b"}


def test_what_cannot_be_compared_is_refused_with_what_would_work():
    a = by(["a", "b", "c"], ROWS)
    with pytest.raises(DataError, match=r"n and m.*same name in both.*COUNT\(\*\) AS n"):
        difference(a, table({"k": ("text", ["a"])}, {"m": ("whole", ROWS[:1])}))
    with pytest.raises(DataError, match="n and none"):
        difference(a, table({"k": ("text", ["a"])}, {}))
    with pytest.raises(DataError, match=r"k and no keys.*same GROUP BY"):
        difference(a, table({}, {"n": ("whole", ROWS[:1])}))
    with pytest.raises(DataError, match=r"boolean and whole.*same expression"):
        difference(by([True], ROWS[:1], "boolean"), by([1], ROWS[:1], "whole"))
    assert difference(by([1], ROWS[:1], "whole"), by([1.0], ROWS[:1], "number", **OTHER)).rows()
    for first, second in ((by(["a", "a", "b"], ROWS), a), (a, by(["a", "b", "b"], ROWS))):
        with pytest.raises(DataError, match="two rows have this key"):
            difference(first, second)
    with pytest.raises(DataError, match="no column of the difference"):
        difference(a, replace(a, **OTHER)).svg("m")


def test_words_say_what_the_intervals_hold():
    def words(first, second, level="0.95"):
        said = one("whole", 5, 3, 8, statements=first)
        return difference(said, one("whole", 2, 1, 4, statements=second, confidence=Fraction(level), **OTHER)).words

    truth, least = {"n": "truth"}, {"n": "at least"}
    told = "with 90% probability at least, since the interval of a holds with 95% and that of b with 95%"
    assert words(truth, truth) == f"each low to high holds the true difference {told}"
    assert words(truth, least) == (
        f"each low to high holds the difference of what was counted {told}\nn: a is 'truth', b is 'at least'"
    )
    assert words({}, truth).startswith("each low to high holds the difference without noise")
    assert "with 44.9999% probability" in words(truth, truth, "0.49999999")
    assert words(truth, truth, "0.05") == "low and high say nothing: the two intervals may fail together with probability 1"
    both = "rows without id are not counted\nb: all; intervals with both ends, taken alone, may miss the truth more often"
    told = difference(one("whole", 5, 3, 8, statements=truth, says=both), one("whole", 2, 1, 4, **OTHER)).words
    assert all(f"of a, {line}" in told for line in both.splitlines())
    chosen = one("whole", 5, 3, 8, statements=truth, says=f"HAVING {SELECTED}")
    assert f"of a, HAVING {SELECTED}" in difference(chosen, one("whole", 2, 1, 4, **OTHER)).words
    several = table(
        {}, {"n": ("whole", [(1, 0, 2)]), "m": ("whole", [(1, 0, 2)])}, statements={"n": "truth", "m": "at least"}
    )
    held = difference(several, replace(several, **OTHER)).words
    assert held.startswith("each low to high holds the true difference (n) or the difference of what was counted (m) with")


def test_the_same_release_twice_differs_by_nothing():
    a = by(["a", "b", "c"], [*ROWS[:2], (None, None, None)])
    found = difference(a, replace(a, confidence=Fraction(9, 10)))
    assert [(row["difference"], row["low"], row["high"]) for row in found.rows()] == [
        (0, 0, 0),
        (0, 0, 0),
        (None, None, None),
    ]
    assert found.confidence == 1
    assert found.words == SAME
    for other in (
        {"receipt": SimpleNamespace(ledger="books", number=4)},
        {"receipt": SimpleNamespace(ledger="others", number=3)},
        {"sql": "SELECT SUM(x) AS n"},  # another number of the same charge may have that name
        {"released": Released([[[1]]])},  # another question of the same batch
        {"columns": a.columns | {"n": [1, 6, None]}},  # somebody changed it
    ):
        found = difference(a, replace(a, **other))
        assert found.rows()[0]["low"] == -2
        assert found.confidence == Fraction(9, 10)


def test_the_chart_has_two_shapes_a_group_with_whiskers():
    a = by(["<b>", "b", "c"], [(1, 0, 2), (5, None, 6), (None, None, None)])
    b = by(["c", "b", "<b>"], ROWS, confidence=Fraction(99, 100), **OTHER)
    text = difference(a, b).svg(alone=False)
    tree = ElementTree.fromstring(text)
    tag = "{http://www.w3.org/2000/svg}"
    assert tree.find(f"{tag}title").text == "n by k: a and b, with 95% and 99% intervals"
    assert tree.find(f"{tag}desc").text == "n: the largest difference is that of <b>: -8, between -10 and -6."
    marks = [each for each in tree.iter(f"{tag}g") if "chart-mark" in each.get("class", "")]
    assert [each.get("class").split()[1] for each in marks] == ["chart-first", "chart-second"] * 2 + ["chart-second"]
    assert all(
        len(each.findall(f"{tag}{'circle' if 'chart-first' in each.get('class') else 'rect'}")) == 1 for each in marks
    )
    texts = ["".join(each.itertext()) for each in tree.iter(f"{tag}text")]
    assert "a: filled circles, b: open squares" in texts
    assert [each for each in texts if each.endswith(("2a", "8b", "10b"))]  # names beside the first marks
    assert "<style" not in text


# -- answers -----------------------------------------------------------------------------------------------------------


SHOWN = ["a", "b", "a - b", "low", "high"]


def test_hostile_keys_are_escaped_in_a_notebook():
    found = difference(by(["<b>a</b>"], ROWS[:1]), by(["<b>a</b>"], ROWS[:1], **OTHER))
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;a&lt;/b&gt;" in found._repr_html_()


def test_answers_are_compared(tmp_path):
    data = clinic(tmp_path)
    sql = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"
    first, second = (data.quote(sql, epsilon=price).release() for price in (5, 7))
    found = first.difference(second)
    assert found.columns == ("n", "cost")
    assert [row["difference"] for row in found.rows() if row["column"] == "n"] == [
        a - b for a, b in zip(first["n"], second["n"], strict=True)
    ]
    lines = str(found).splitlines()
    assert lines[0].split() == ["ward", "column", "a", "b", "a", "-", "b", "low", "high"]
    assert len(lines) > 8
    page = ElementTree.fromstring(f"<div>{found._repr_html_()}</div>".replace("<br>", "<br/>"))
    assert ["".join(cell.itertext()) for cell in page.findall("table/thead/tr/th")] == ["ward", "column", *SHOWN]
    cells = [["".join(cell.itertext()) for cell in row] for row in page.findall("table/tbody/tr")]
    assert [" ".join(row).split() for row in cells] == [line.split() for line in lines[2 : 2 + len(cells)]]
    assert found.words.splitlines()[0] in "".join(page.find("p").itertext())
    again = data.quote(sql, epsilon=5).release()
    assert again.is_replay
    assert first.difference(again).words == SAME
    assert first.difference(dither.Answer.from_json(first.to_json())).confidence == 1
    assert ElementTree.fromstring(found.svg("cost")) is not None
    json.dumps(found.rows())
    free = data.quote("SELECT DISTINCT ward FROM visits").release()
    for one, other in ((first, free), (free, first), (free, free)):
        with pytest.raises(DataError, match="same name in both"):
            one.difference(other)
    batch = data.quote([sql, "SELECT COUNT(*) AS n FROM visits"], epsilon=1).release()
    with pytest.raises(DataError, match=r"answers\[0\]"):
        first.difference(batch)
    assert first.difference(batch[0]).confidence == Fraction(9, 10)


@pytest.mark.parametrize("sign", ["-", "<", "<=", ">", ">="])
def test_a_minus_or_an_order_names_the_method_that_has_intervals(tmp_path, sign):
    a = clinic(tmp_path).quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
    with pytest.raises(ArgumentError, match=re.escape(f"operand of {sign}")) as refused:
        eval(f"a {sign} a", {"a": a})
    assert refused.value.instead.startswith("a.difference(b), which matches the groups")
    assert isinstance(refused.value, TypeError)
    assert a.difference(a).rows()


@pytest.mark.parametrize(
    "expression", ["a + a", "a * 2", "2 * a", "a / 1000", "1 - a", "a - 1", "a < 3", "sum([a])", "two * a", "two - a"]
)
def test_other_operators_name_what_keeps_the_interval(tmp_path, expression):
    a = clinic(tmp_path).quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
    with pytest.raises(ArgumentError, match="an interval, which an operator would lose") as refused:
        eval(expression, {"a": a, "two": np.float64(2)})
    assert "in the question and keeps the interval" in refused.value.instead


def test_equality_of_answers_is_that_of_objects(tmp_path):
    a = clinic(tmp_path).quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
    assert a == a
    assert a != 1
