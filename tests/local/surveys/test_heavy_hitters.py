"""Heavy hitters: the exact law of a report, what is found and what is not, texts and numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import ln
from dither.channels import graph
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.surveys.heavy_hitters import HeavyHitters
from dither.local.surveys.items import IntegerDomain, TextDomain, mix
from dither.noise.bernoulli import Bernoulli
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes

SMALL = [
    (HeavyHitters(epsilon=ln(3), bits=16, seeds=3), [0, 1, 256, 65535, 300]),
    (HeavyHitters(epsilon=1, longest=2, seeds=2), ["", "a", "ab", "é", "b"]),
]


def check_law(survey, values):
    channel = survey.channel(values)
    for value in values:
        law = outcomes(lambda v: int(survey.randomize([v]).payload[0]), value)
        with precision(200):
            for (group, seed, cell), chance in channel.row(value).items():
                code = (group * survey.seeds + seed) * survey.cells + cell
                exact = to_ball(chance) if not hasattr(chance, "ball") else chance.ball()
                assert abs(law.masses[("int", repr(code))] - exact) < 1e-25
            assert law.missing < 1e-20


@pytest.mark.parametrize(("survey", "values"), SMALL, ids=repr)
def test_the_exact_law_and_the_promise(survey, values):
    check_law(survey, values)
    leak = survey.channel(values).epsilon(graph.complete(values))
    assert leak.exact == survey.epsilon
    assert survey.guarantee.epsilon(0) >= float(survey.epsilon) * (1 - 1e-12)
    assert str(survey.guarantee.unit) == "replace one person"


def test_planted_bugs_are_caught():
    survey = HeavyHitters(epsilon=1, bits=8, seeds=2)
    survey._flat.__dict__["truthful"] = Bernoulli("99/100")  # a client that lies too rarely
    with pytest.raises(AssertionError):
        check_law(survey, [0, 1, 2])

    class Telling(HeavyHitters):
        """The group depends on the item."""

        def randomize(self, values):
            found = super().randomize(values)
            size = self.seeds * self.cells
            return Reports(found.record, (found.payload % size + size * (np.array(values) % 2)).astype(self.dtype))

    with pytest.raises((AssertionError, KeyError)):
        check_law(Telling(epsilon=1, bits=8, seeds=2), [0, 1, 2])


def test_hashes_are_fair():
    """Over seeds: cells of one key are alike, and two keys meet as often as independent cells; 6 deviations."""
    survey = HeavyHitters(epsilon=1, bits=32, seeds=2**14)
    keys = survey.items.keys(survey.items.rows([b"\0\0\0\0", b"\0\0\0\1", b"\xff\0\0\0", b"abcd"]))[:, -1]
    cells = survey.hash_cells(keys[:, None], np.arange(2**14)[None, :])
    g = survey.cells
    for at, row in enumerate(cells):
        assert np.abs(np.bincount(row, minlength=g) - 2**14 / g).max() < 6 * math.sqrt(2**14 / g)
        for other in cells[:at]:
            assert abs((row == other).sum() - 2**14 / g) < 6 * math.sqrt(2**14 / g)
    assert len(np.unique(mix(np.arange(100_000, dtype=np.uint64)))) == 100_000


def zipf(words, count, power=1.5, seed=1):
    weights = 1 / np.arange(1, len(words) + 1) ** power
    return np.random.default_rng(seed).choice(len(words), count, p=weights / weights.sum())


def test_words():
    rng = np.random.default_rng(2)
    words = list(dict.fromkeys("".join(rng.choice(list("abcdeé "), rng.integers(1, 4))) for _ in range(300)))
    drawn = [words[at] for at in zipf(words, 60_000)]
    true = {word: drawn.count(word) for word in words[:20]}
    survey = HeavyHitters(epsilon=4, longest=6)
    found = survey.estimate(survey.randomize(drawn), confidence="0.999999")
    assert set(words[:3]) <= set(found.items) <= set(words)
    for item, count, deviation, low, high in zip(
        found.items, found.counts, found.deviation, found.low, found.high, strict=True
    ):
        assert low <= true.get(item, 0) <= high
        assert abs(count - true.get(item, 0)) <= 6 * deviation
    assert list(found.counts) == sorted(found.counts, reverse=True)
    assert all(item in found.items for item, count in true.items() if count > 2 * found.threshold)
    assert found.threshold == pytest.approx(60_000 * survey.error(60_000, "0.999999"), rel=0.3)
    assert words[0] in str(found)


def test_numbers():
    values = np.concatenate([np.full(9000, 123_456), np.full(6000, 7), np.arange(5000)])
    survey = HeavyHitters(epsilon=3, bits=17, keep=16)
    found = survey.estimate(survey.randomize(values), confidence="0.999999")
    assert found.items[:2] == (123_456, 7)
    assert found.low[0] <= 9000 <= found.high[0]
    nobody = survey.estimate(survey.randomize(np.random.default_rng(0).integers(0, 2**17, 20_000)), confidence="0.999999")
    assert nobody.items == ()
    assert "not seen" in str(nobody)


def test_coverage_of_the_last_group():
    """Of the intervals of one kept item, at 95% for itself (keep = 1); a false alarm is rarer than 1e-6."""
    survey = HeavyHitters(epsilon=2, bits=8, keep=1)
    values = np.repeat([200, 3, 4, 5], [1000, 400, 300, 300])
    held, runs, listed = 0, 250, 0
    reports = survey.randomize(np.tile(values, runs))
    for part in reports.payload.reshape(runs, -1):
        found = survey.estimate(Reports(reports.record, part))
        if found.items == (200,):
            listed += 1
            held += found.low[0] <= 1000 <= found.high[0]
    assert listed >= 245
    assert held >= 213  # P(Binomial(245, 0.95) < 213) < 1e-6


def test_what_is_measured_was_chosen_by_others():
    """Nobody has anything but 0: with confidence 1/2 something else is listed in half of the runs at most.

    Measured by those who chose it, the best of 256 noises would be listed every time. P(Binomial(40, 1/2) > 36) < 1e-7.
    """
    survey = HeavyHitters(epsilon=2, bits=8, keep=8)
    reports = survey.randomize(np.zeros(40 * 3000, dtype=np.int64))
    parts = reports.payload.reshape(40, -1)
    found = [survey.estimate(Reports(reports.record, part), confidence="0.5").items for part in parts]
    assert all(items[0] == 0 for items in found)
    assert sum(len(items) > 1 for items in found) <= 36


def test_half_a_character_is_never_listed(monkeypatch):
    """Somebody who sends the beginning of a character where it cannot be completed."""
    survey = HeavyHitters(epsilon=4, longest=2)
    rows = np.tile(np.array([[0x61, 0xC3]], dtype=np.uint8), (20_000, 1))
    monkeypatch.setattr(survey.items, "read", lambda values: rows)
    assert survey.estimate(survey.randomize([]), confidence="0.999999").items == ()


def test_collisions_are_counted():
    """With one seed two items meet for good or never: the deviation says so."""
    few, many = (HeavyHitters(epsilon=3, bits=8, seeds=seeds) for seeds in (4, 4096))
    values = np.repeat([1, 2, 3], [8000, 8000, 4000])
    found = [survey.estimate(survey.randomize(values), confidence="0.999999") for survey in (few, many)]
    assert found[1].items[:2] in ((1, 2), (2, 1))
    assert found[0].threshold > 3 * found[1].threshold


def test_for_error():
    survey = HeavyHitters.for_error(people=100_000, half_width="0.05", bits=32)
    assert 0.049 <= survey.error(100_000) <= 0.05
    with pytest.raises(InputError, match="is refused"):
        HeavyHitters.for_error(people=1, half_width="1e-9", bits=8)


def test_texts_become_rows_of_bytes():
    texts = TextDomain(4)
    assert [bytes(row) for row in texts.read(["", "ab", "abcdef", "aéé", "ééé", "a\0b", "\ud800x"])] == [
        b"\0\0\0\0",
        b"ab\0\0",
        b"abcd",
        "aé".encode() + b"\0",
        "éé".encode(),
        b"ab\0\0",
        b"?x\0\0",
    ]
    assert texts.begins(b"\xc3")
    assert texts.begins(b"a\xc3")
    assert not texts.begins(b"\xc3\0")
    assert not texts.begins(b"\xff")
    assert not texts.begins(b"\0a")
    assert not texts.whole(b"abc\xc3")
    assert texts.item(b"ab\0\0") == "ab"
    for beginning in texts.longer([b"a"]):
        assert texts.begins(beginning)


def test_numbers_become_rows_of_bytes():
    wholes = IntegerDomain(12)
    assert [bytes(row) for row in wholes.read([0, 1, 4095])] == [b"\0\0", b"\0\1", b"\x0f\xff"]
    assert wholes.read(np.array([258], dtype=np.int32)).tolist() == [[1, 2]]
    assert len(wholes.longer([b""])) == 16
    assert IntegerDomain(64).item(bytes(IntegerDomain(64).read([2**64 - 1])[0])) == 2**64 - 1


def test_wire():
    survey = HeavyHitters(epsilon=1, longest=2, seeds=8)
    reports = survey.randomize(["a", "b"] * 300)
    data, whole = reports.to_bytes(), survey.tally(reports)
    assert survey.tally(Reports.from_bytes(data, size=4)) == whole == Tally.from_json(whole.to_json())
    halves = [survey.tally(Reports(reports.record, reports.payload[part])) for part in (slice(0, 40), slice(40, None))]
    assert halves[0] + halves[1] == whole
    start = len(data) - reports.payload.nbytes
    for filling in (np.random.default_rng(3).bytes(400), b"\xff" * 400, b""):
        found = survey.tally(Reports.from_bytes(data[:start] + filling, size=4))
        assert found.people + found.rejected == len(filling) // 4
    assert survey.tally(Reports.from_bytes(data[:-1], size=4)).rejected == 1
    other = HeavyHitters(epsilon=2, longest=2, seeds=8)
    with pytest.raises(InputError, match="another survey"):
        other.tally(reports)
    assert HeavyHitters(epsilon=1, longest=2, seeds=8, keep=4).estimate(whole).people == 600


def test_refusals():
    good, numbers = HeavyHitters(epsilon=1, longest=2, seeds=4), HeavyHitters(epsilon=1, bits=8, seeds=4)
    for bad in (
        lambda: HeavyHitters(epsilon=1),
        lambda: HeavyHitters(epsilon=1, bits=8, longest=2),
        lambda: HeavyHitters(epsilon=0, bits=8),
        lambda: HeavyHitters(epsilon=1, bits=0),
        lambda: HeavyHitters(epsilon=1, bits=65),
        lambda: HeavyHitters(epsilon=1, longest=65),
        lambda: HeavyHitters(epsilon=1, longest=2, keep=0),
        lambda: HeavyHitters(epsilon=1, longest=2, keep=10**6),
        lambda: HeavyHitters(epsilon=1, longest=2, seeds=2**30),
        lambda: HeavyHitters(epsilon=1, longest=2, unit="add/remove one person"),
        lambda: good.randomize("ab"),
        lambda: good.randomize([1]),
        lambda: good.randomize(5),
        lambda: numbers.randomize([256]),
        lambda: numbers.randomize([-1]),
        lambda: numbers.randomize([True]),
        lambda: numbers.randomize(["a"]),
        lambda: numbers.randomize(np.array([300])),
        lambda: numbers.randomize([[1]]),
        lambda: good.tally([1]),
        lambda: good.estimate(good.randomize([])),
        lambda: good.estimate(good.randomize(["a"])),
        lambda: good.estimate(good.randomize(["a"] * 100), confidence=1),
        lambda: good.error(0),
        lambda: good.error(10, 2),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    assert len(good.randomize([])) == 0
