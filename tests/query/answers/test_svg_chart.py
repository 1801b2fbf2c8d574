"""Answers as SVG text: a whisker on every mark, numbers where they belong, and nothing that a page could obey."""

from __future__ import annotations

import base64
import datetime
import hashlib
import itertools
import re
from collections import Counter
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from dither.errors import DataError
from dither.query.answers.svg_chart import svg_chart
from dither.query.answers.table import STYLE
from dither.svg.theme import WIDTH
from tests.query.answers.interval_tables import table
from tests.query.clinics import clinic
from tests.seeds import examples, of_the_day

WARDS = ["cardiology", "maternity", "oncology"]
COUNTS = [(5012, 4950, 5070), (1200, 1140, 1260), (-13, -80, 44)]
BY_WARD = table({"ward": ("text", WARDS)}, {"n": ("whole", COUNTS)})
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066\u2067\ud800-\udfff]")


def read(text: str) -> ElementTree.Element:
    """The picture, by a strict reader, with what every chart has to keep."""
    assert not CONTROLS.search(text)
    assert "javascript:" not in text
    tree = ElementTree.fromstring(text.encode())
    for one in tree.iter():
        one.tag = one.tag.removeprefix("{http://www.w3.org/2000/svg}")
    tags, names = {one.tag for one in tree.iter()}, {name for one in tree.iter() for name in one.attrib}
    assert tags <= {"svg", "title", "desc", "style", "g", "rect", "line", "circle", "polyline", "text"}
    assert not {name for name in names if name in ("style", "id") or name.startswith("on") or "href" in name}
    assert [one.tag for one in tree][:2] == ["title", "desc"]
    assert tree.get("role") == "img"
    height = float(tree.get("height"))
    for one in tree.iter():
        across = [float(one.get(name)) for name in ("x", "x1", "x2", "cx") if name in one.attrib]
        down = [float(one.get(name)) for name in ("y", "y1", "y2", "cy") if name in one.attrib]
        for point in (one.get("points") or "").split():
            x, y = map(float, point.split(","))
            across, down = [*across, x], [*down, y]
        assert all(0 <= x <= WIDTH for x in across)
        assert all(0 <= y <= height for y in down)
    return tree


def drawn(found, name=None) -> ElementTree.Element:
    inline = svg_chart(found, name, alone=False)
    assert "<style" not in inline
    assert svg_chart(found, name, alone=True).count("<style>") == 1
    return read(svg_chart(found, name, alone=True))


def marks(tree) -> list[ElementTree.Element]:
    return [one for one in tree.iter("g") if "chart-mark" in one.get("class", "")]


def texts(tree) -> list[str]:
    return ["".join(one.itertext()) if one.find("title") is None else one.find("title").tail for one in tree.iter("text")]


def test_each_mark_has_its_whisker_where_its_numbers_are():
    tree = drawn(BY_WARD)
    assert len(marks(tree)) == 3
    grid = {one.text: float(one.get("x")) for one in tree.iter("text") if one.text in ("0", "1,000", "4,000")}
    pixels = (grid["4,000"] - grid["0"]) / 4000
    assert abs(grid["1,000"] - grid["0"] - 1000 * pixels) < 0.2
    for mark, numbers in zip(marks(tree), COUNTS, strict=True):
        (dot,) = mark.iter("circle")
        whisker, low, high = mark.iter("line")
        where = [float(dot.get("cx")), float(whisker.get("x1")), float(whisker.get("x2"))]
        assert all(abs(grid["0"] + number * pixels - x) < 0.2 for number, x in zip(numbers, where, strict=True))
        for cap, x in ((low, "x1"), (high, "x2")):
            assert cap.get("x1") == cap.get("x2") == whisker.get(x)
            assert float(cap.get("y2")) - float(cap.get("y1")) == 10
    assert tree.find("title").text == "n by ward, with 95% intervals"
    told = "n: from -13 to 5,012 in 3 groups; the largest is cardiology with 5,012, between 4,950 and 5,070."
    assert tree.find("desc").text == told
    assert marks(tree)[0].find("title").text == "cardiology: 5,012, between 4,950 and 5,070"


def test_a_line_has_upright_whiskers_where_its_numbers_are():
    days = [datetime.date(2024, month, 1) for month in range(1, 13)]
    rows = [(month * 10, month * 10 - 7, month * 10 + 9) for month in range(12)]
    tree = drawn(table({"month": ("date", days)}, {"n": ("whole", rows)}))
    grid = {one.text: float(one.get("y")) - 4 for one in tree.iter("text") if one.text in ("0", "100")}
    pixels = (grid["100"] - grid["0"]) / 100
    for mark, numbers in zip(marks(tree), rows, strict=True):
        (dot,), (whisker, _, _) = mark.iter("circle"), mark.iter("line")
        where = [float(dot.get("cy")), float(whisker.get("y1")), float(whisker.get("y2"))]
        assert all(abs(grid["0"] + number * pixels - y) < 0.2 for number, y in zip(numbers, where, strict=True))
    assert len(list(tree.iter("polyline"))) == 1
    assert {"2024-01", "2024-03"} <= set(texts(tree))


def test_open_ends_are_arrows_and_no_value_is_said():
    rows = [(5, None, 9), (5, 1, None), (None, 2, 3), (None, None, 3), (float("nan"), float("-inf"), float("inf"))]
    tree = drawn(table({"k": ("text", list("abcde"))}, {"x": ("number", rows)}))
    assert [len(list(mark.iter("polyline"))) for mark in marks(tree)] == [1, 1, 0]  # the last two have nothing to draw
    assert texts(tree).count("no value") == 3
    assert "an arrow: the interval has no end there" in texts(tree)
    left, right = (float(next(mark.iter("line")).get(x)) for mark, x in zip(marks(tree), ("x1", "x2"), strict=False))
    assert left < min(float(one.get("x1")) for one in marks(tree)[1].iter("line"))
    assert right > max(float(one.get("x2")) for one in marks(tree)[0].iter("line"))
    assert [mark.find("title").text for mark in marks(tree)] == [
        "a: 5, 9 or less",
        "b: 5, 1 or more",
        "c: no value, between 2 and 3",
    ]
    plain = drawn(table({"k": ("text", ["a", "b"])}, {"x": ("number", [(1, 0, 2), (None, None, 3)])}))
    assert not [one for one in texts(plain) if "arrow" in one]


def dates(*days: int) -> tuple[str, list[datetime.date]]:
    return "date", [datetime.date(2024, 1, day) for day in days]


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (dates(1, 2, 3, 4), 1),
        (dates(4, 3, 2, 1), 1),
        (dates(1, 2, 3, 6, 7), 2),  # over a gap there is no line
        (dates(1, 3, 2, 4), 0),  # somebody sorted them
        (("whole", [1, 2, 3, 4]), 1),
        (("whole", [2021, 2022, 2023]), 1),
        (("whole", [17, 4711, 8000]), 0),  # numbers that name something
        (("whole", [1, 2]), 0),
        (("boolean", [False, True]), 0),
        (("text", ["1", "2", "3"]), 0),
        (("whole", [1, 2, None]), 0),
        (("timestamp", [datetime.datetime(2024, 1, 1, hour, tzinfo=datetime.UTC) for hour in range(3)]), 1),
        (("timestamp", [datetime.datetime.min, datetime.datetime.max]), 1),
    ],
)
def test_a_series_is_a_line(keys, lines):
    rows = [(place, place - 1, place + 1) for place in range(len(keys[1]))]
    tree = drawn(table({"k": keys}, {"n": ("whole", rows)}))
    assert len(marks(tree)) == len(rows)
    assert len(list(tree.iter("polyline"))) == lines


def test_a_line_has_no_part_where_there_is_no_value():
    rows = [(1, 0, 2), (2, 1, 3), (None, None, None), (3, 2, 4), (4, 3, 5)]
    tree = drawn(table({"day": dates(1, 2, 3, 4, 5)}, {"n": ("whole", rows)}))
    assert len(list(tree.iter("polyline"))) == 2
    assert "×" in texts(tree)
    assert "×: no value" in texts(tree)


def test_what_is_not_drawn_is_said():
    rows = [(at, at - 1, at + 1) for at in range(52)]
    keys = {"k": ("text", [f"key {at}" for at in range(52)])}
    tree = drawn(table(keys, {f"a{at}": ("whole", rows) for at in range(6)}))
    assert len(marks(tree)) == 4 * 40
    assert {"12 more groups are in the table", "not drawn: a4, a5"} <= set(texts(tree))
    assert "the largest is key 51 with 51" in tree.find("desc").text  # of all groups
    assert len(marks(drawn(table(keys, {f"a{at}": ("whole", rows) for at in range(6)}), "a5"))) == 40
    assert "1 more group is in the table" in texts(
        drawn(table({"k": ("text", list("ab") * 20 + ["c"])}, {"n": ("whole", rows[:41])}))
    )
    series = drawn(table({"k": ("whole", list(range(130)))}, {"n": ("whole", [(1, 0, 2)] * 130)}))
    assert len(marks(series)) == 120
    assert "10 more groups are in the table" in texts(series)


def test_no_groups_and_one_number():
    assert "no groups" in texts(drawn(table({"k": ("text", [])}, {"n": ("whole", [])})))
    tree = drawn(table({}, {"n": ("whole", [(7, 5, 9)]), "cost": ("number", [(1.5, 1.0, 2.0)])}))
    assert tree.find("title").text == "n, cost, with 95% intervals"
    assert tree.find("desc").text == "n: 7, between 5 and 9. cost: 1.5, between 1 and 2."
    assert {"n", "cost"} <= set(texts(tree))
    assert len(marks(tree)) == 2


NUMBERS = [0, 1, -1, 1e300, -1e300, 5e-324, 10**400, None, float("nan"), float("inf"), -0.0, 0.1, 2**63]


def test_all_numbers_can_be_drawn():
    several = list(itertools.product(NUMBERS, repeat=3))
    for value, low, high in of_the_day("charts").sample(several, examples(150, len(several))):
        rows = [(value, low, high), (1, 0, 2)]
        for keys in (("text", ["a", "b"]), dates(1, 2)):
            read(svg_chart(table({"k": keys}, {"x": ("number", rows)}), None, alone=True))


HOSTILE = [
    *(
        "</title><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "a\u202eb\u202c",
        "a\u2066b",
        "\x00\x1b[31m",
        "",
    ),
    *("אבג", "\ud800", "é" * 400 + "1", "é" * 400 + "2", "漢" * 90, "Z" + "\u0301" * 900, "&amp;", "None", "]]>", "<!--"),
]


def test_hostile_names_and_keys():
    found = table({"<b>\u202e": ("text", HOSTILE)}, {'"n" <i>\n': ("whole", [(1, 0, 2)] * len(HOSTILE))})
    tree = drawn(found)
    labels = [one.text for one in tree.iter("text") if one.get("text-anchor") == "end"]
    assert len(labels) == len(set(labels)) == len(HOSTILE)
    assert "a\\u202eb\\u202c" in labels
    assert len(svg_chart(found, None, alone=True)) < 30_000
    both = table(
        {"a": ("text", ["x, y", "x", None, "None"]), "b": ("text", ["z", "y, z", "q", "q"])},
        {"n": ("whole", [(1, 0, 2)] * 4)},
    )
    labels = [one.text for one in drawn(both).iter("text") if one.get("text-anchor") == "end"]
    assert Counter(labels).most_common(1)[0][1] == 1  # also of keys that read alike when they are put together


def test_labels_of_two_long_keys_keep_both():
    """All letters where there is room; otherwise each key is cut by itself, and the marks keep their room."""
    wards = ["Cardiology and heart surgery", "Children's and youth medicine"]
    rows = [(ward, reason) for ward in wards for reason in ("emergency admission", "planned")]
    counts = [(1, 0, 2)] * 4

    def labels(rows):
        found = table({"w": ("text", [w for w, _ in rows]), "r": ("text", [r for _, r in rows])}, {"n": ("whole", counts)})
        tree = drawn(found)
        axis = [float(one.get("x1")) for one in tree.iter("line") if one.get("stroke-opacity")]
        assert max(axis) - min(axis) >= 120
        return [one.text for one in tree.iter("text") if one.get("text-anchor") == "end"]

    whole = [(ward.split()[0], reason) for ward, reason in rows]
    assert labels(whole) == [", ".join(row) for row in whole]
    cut = labels([(f"{ward}, {ward}", reason) for ward, reason in rows])
    assert len(set(cut)) == 4
    for label, (ward, reason) in zip(cut, rows, strict=True):
        assert label.startswith(ward[:6])
        assert label.endswith(f"{ward[-4:]}, {reason}")


def test_confidence_is_never_rounded_up():
    for level, told in (("0.95", "95%"), ("0.99999999", "99.9999%"), ("2/3", "66.6666%"), ("0.5", "50%")):
        found = table({}, {"n": ("whole", [(7, 5, 9)])}, confidence=Fraction(level))
        assert drawn(found).find("title").text == f"n, with {told} intervals"


# -- of answers ----------------------------------------------------------------------------------------------------------


def test_an_answer_draws_itself(tmp_path):
    data = clinic(tmp_path, keys={"ward": ["<script>alert(1)</script>", "A"]})
    sql = 'SELECT ward, COUNT(*) AS n, AVG(cost) AS "<i>" FROM visits GROUP BY ward'
    answer = data.quote(sql, epsilon=5).release()
    tree = read(answer.svg())
    assert tree.find("title").text == "n, <i> by ward, with 95% intervals"
    assert len(marks(tree)) == 4 - len(answer.uninformative.get("<i>", []))  # an average of few people, or of nobody
    assert len(marks(read(answer.svg("n", alone=False)))) == 2
    for name in ("ward", "n_low", "m"):
        with pytest.raises(DataError, match="no aggregate with error bars"):
            answer.svg(name)
    page = answer.to_html()
    assert answer.svg(alone=False) in page
    assert not re.search("<script|<i>", page)
    assert re.findall("<style>(.*?)</style>", page) == [STYLE]  # one, whose hash the gateway allows
    formats = pytest.importorskip("dither.server.http.formats")
    assert base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode() in formats.PAGE_POLICY
    free = data.quote("SELECT DISTINCT ward FROM visits").release()
    with pytest.raises(DataError, match="no column of it has error bars"):
        free.svg()
    assert "<svg" not in free.to_html()
    both = data.quote(["SELECT COUNT(*) AS n FROM visits", "SELECT SUM(age) AS age FROM visits"], epsilon=1).release()
    assert all(one.svg(alone=False) in both.to_html() for one in both)


def two_keys(months, *, kind="date"):
    """Wards by month, in the order of either key; one more ward than there are panels."""
    keys = [(ward, month) for ward in "ABCDEFG" for month in months]
    numbers = [(10 * at, 10 * at - 5, 10 * at + 5) for at in range(len(keys))]
    columns = {"ward": ("text", [ward for ward, _ in keys]), "month": (kind, [month for _, month in keys])}
    return columns, numbers


@pytest.mark.parametrize("kind", ["date", "whole"])
def test_a_second_key_gives_a_line_for_each_of_its_values_on_one_scale(kind):
    months = [2021, 2022, 2023] if kind == "whole" else [datetime.date(2024, month, 1) for month in (1, 2, 3)]
    keys, numbers = two_keys(months, kind=kind)
    tree = drawn(table(keys, {"n": ("whole", numbers)}))
    assert len(list(tree.iter("polyline"))) == 6
    assert [text for text in texts(tree) if text in "ABCDEFG"] == list("ABCDEF")
    assert "3 more groups are in the table" in texts(tree)
    assert texts(tree).count("150") == 6  # one scale: each panel has its end
    turned = {name: (kind, values) for name, (kind, values) in reversed(keys.items())}
    assert len(list(drawn(table(turned, {"n": ("whole", numbers)})).iter("polyline"))) == 6
    several = drawn(table(keys, {"n": ("whole", numbers), "m": ("whole", numbers)}))
    assert "not drawn: m" in texts(several)
    few = table(
        {name: (kind, values[:6]) for name, (kind, values) in keys.items()}, dict.fromkeys("nm", ("whole", numbers[:6]))
    )
    assert [text for text in texts(drawn(few)) if ": " in text] == ["n: A", "n: B", "m: A", "m: B"]


def test_time_is_the_axis_beside_a_key_of_numbers():
    days = [datetime.date(year, 1, day) for year in (2023, 2024) for day in (1, 2, 3)]
    keys = {"year": ("whole", [day.year for day in days]), "day": ("date", days)}
    tree = drawn(table(keys, {"n": ("whole", [(at, at - 1, at + 1) for at in range(6)])}))
    assert [text for text in texts(tree) if text.startswith("202")] == [
        "2023",
        *map(str, days[:3]),
        "2024",
        *map(str, days[3:]),
    ]


def test_two_keys_that_are_no_series_are_dots():
    keys, numbers = two_keys([datetime.date(2024, month, 1) for month in (1, 3, 2)])
    assert not list(drawn(table(keys, {"n": ("whole", numbers)})).iter("polyline"))
    both = dict.fromkeys(("from", "to"), ("date", keys["month"][1]))  # which of them is time is not known
    assert not list(drawn(table(both, {"n": ("whole", numbers)})).iter("polyline"))


def test_a_number_that_says_nothing_leaves_a_gap_and_sets_no_scale():
    rows = [(1, 0, 2), (2, 1, 3), (None, -120, 600), (3, 2, 4), (4, 3, 5)]
    tree = drawn(table({"day": dates(1, 2, 3, 4, 5)}, {"n": ("whole", rows)}, uninformative={"n": [2]}))
    assert len(list(tree.iter("polyline"))) == 2
    assert len(marks(tree)) == 4
    assert "×: too few rows for this ε" in texts(tree)
    assert not {"600", "-100", "500"} & set(texts(tree))
