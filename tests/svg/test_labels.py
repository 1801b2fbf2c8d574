"""Labels: signs that cannot be seen are shown, and names that differ stay apart however they are cut."""

from __future__ import annotations

import itertools

import pytest

from dither.svg import labels
from dither.svg.labels import LEAST_LETTERS, distinct_labels, isolated, joined_labels, shortened, text_width, visible
from tests.seeds import examples, of_the_day


def test_what_cannot_be_seen_is_shown_as_its_code():
    assert visible("a\u202eb\n\x1b\ud800é漢") == "a\\u202eb\\n\\x1b\\ud800é漢"
    assert isolated("ward") == "ward"
    assert isolated("אבג") == "\u2068אבג\u2069"
    assert isolated("a\u2069b") == "a\\u2069b"  # nobody leaves an isolate by himself


def hostile_names(random) -> list[str]:
    """Names that differ in one place, at the beginning, in the middle or at the end, and such as look cut already."""
    long = "".join(random.choice("aWi漢 .…é") for _ in range(random.randrange(1, 300)))
    names = [long]
    for _ in range(random.randrange(1, 12)):
        at = random.randrange(len(long))
        names.append(long[:at] + random.choice("xyzW漢…\u0301") + long[at + random.randrange(2) :])
    return [*names, shortened(long, 60, 12), *(f"{long[:3]}…({number})" for number in range(2, 5)), "Z" + "\u0301" * 500]


def check(names: list[str], width: float, labels_of=distinct_labels) -> None:
    found = labels_of(names, width, 12)
    for (one, label), (other, beside) in itertools.combinations(zip(names, found, strict=True), 2):
        assert (one == other) == (label == beside), (one, other)
    for label in found:
        assert text_width(label, 12) <= width or len(label) <= LEAST_LETTERS + 2, label
        assert len(label) <= labels.MOST_LETTERS + 8


def test_names_that_differ_have_labels_that_differ():
    random = of_the_day("labels")
    for _ in range(examples(60, 2000)):
        check(hostile_names(random), random.choice([20, 60, 120, 200]))
    same = [letter * 50 for letter in "ab"] * 2
    assert distinct_labels(same, 60, 12)[:2] == distinct_labels(same, 60, 12)[2:]


def test_a_cut_that_merges_names_is_caught():
    names = ["a" * 50 + middle + "b" * 50 for middle in "xy"]
    check(names, 100)
    with pytest.raises(AssertionError):
        check(names, 100, lambda several, width, size: [shortened(one, width, size) for one in several])


def test_where_names_differ_can_be_seen():
    one, other = distinct_labels(["a" * 90 + middle + "b" * 90 for middle in "xy"], 200, 12)
    assert "y" in other
    assert one.startswith("aaa")
    assert shortened("a" * 90 + "b" * 90, 200, 12).endswith("bbb")
    assert shortened("short", 200, 12) == "short"


def test_each_of_several_that_differ_in_the_middle_shows_where():
    names = [f"a rather long name of region {number} in the north of the country" for number in range(3)]
    for number, label in enumerate(distinct_labels(names, 20, len)):
        assert str(number) in label, label


def test_a_label_that_shows_the_end_of_a_name_has_no_ellipsis_after_it():
    """Where names differ near their ends, the room behind the difference goes to what stands before it."""
    names = [f"{'department ' * 9}{number:03} of the north" for number in range(3)]
    found = distinct_labels(names, 30, len)
    assert len(set(found)) == 3
    for name, label in zip(names, found, strict=True):
        assert label.endswith(name[-12:]), label
        assert len(label) <= 30
    assert len(shortened("a" * 60, 30, len)) == 30  # all the room is used


def test_each_part_of_a_label_is_seen():
    random = of_the_day("joined labels")
    for _ in range(examples(60, 2000)):
        several = hostile_names(random), hostile_names(random)
        names = list(dict.fromkeys((random.choice(several[0]), random.choice(several[1])) for _ in range(9)))
        names = list({", ".join(parts): parts for parts in names}.values())
        for width in (60, 200, 300):
            found = joined_labels(names, width, 12)
            assert len(set(found)) == len(names)
            assert all(text_width(label, 12) <= width or len(label) <= LEAST_LETTERS + 2 for label in found)
    towns = ("a very long name of a town beside the sea", "a very long name of a town upon the hill")
    for label, (town, sex) in zip(
        joined_labels([(town, sex) for town in towns for sex in ("women", "men")], 200, 12),
        itertools.product(towns, ("women", "men")),
        strict=True,
    ):
        head, tail = label.split(", ")
        assert (head[:6], head[-4:], tail) == (town[:6], town[-4:], sex)
    long = joined_labels([("first " * 9, "second " * 9), ("first " * 9, "other " * 9)], 200, 12)
    assert [label.split(", ")[1][:5] for label in long] == ["secon", "other"]
