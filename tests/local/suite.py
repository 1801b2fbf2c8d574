"""What every survey must pass: its exact law, its promise, its estimate, its wire format, and bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.channels import graph
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes
from dither.testing.enumerate import as_key


def one_report(survey, value):
    """A report of one person as something that can be compared: bytes."""
    return survey.randomize([value]).payload.tobytes()


def check_law(survey, outputs):
    """The law of one report, by going through every draw, is a row of the survey's exact channel.

    `outputs(payload bytes)` names the column of the channel.
    """
    channel = survey.channel()
    for value in survey.domain:
        law = outcomes(lambda v: outputs(one_report(survey, v)), value)
        with precision(200):
            for output, chance in channel.row(value).items():
                exact = to_ball(chance) if isinstance(chance, Fraction) else chance.ball()
                assert abs(law.masses.get(as_key(output), to_ball(0)) - exact) < 1e-20, (value, output)
            assert law.missing < 1e-20


def check_promise(survey):
    """The exact epsilon of the channel is what is promised: no more, and no less."""
    leak = survey.channel().epsilon(graph.complete(survey.domain))
    assert leak.exact == survey.epsilon
    assert survey.guarantee.epsilon(0) >= float(survey.epsilon) * (1 - 1e-12)
    assert str(survey.guarantee.unit) == "replace one person"


def check_support(survey, supports):
    """p and q are what the exact channel says; `supports(output)` lists the values that an output supports."""
    p, q = survey.support
    channel = survey.channel()
    for value in survey.domain:
        for other in survey.domain:
            chance = sum(float(c) for out, c in channel.row(value).items() if other in supports(out))
            assert chance == pytest.approx(p if value == other else q, rel=1e-12), (value, other)


def people(survey, shares, count, seed=1):
    """Values with these frequencies, as exactly as rounding allows."""
    sizes = np.floor(np.array(shares) * count).astype(int)
    sizes[0] += count - sizes.sum()
    return [value for value, size in zip(survey.domain, sizes, strict=True) for _ in range(size)], sizes / count


def check_estimates(survey, shares, count=20_000):
    """Every method comes near; intervals hold the truth (z = 6, so that a false alarm is rarer than 1e-8 for each value)."""
    values, truth = people(survey, shares, count)
    tally = survey.tally(survey.randomize(values))
    for method in survey.methods:
        found = survey.estimate(tally, method=method, confidence="0.999999998")
        assert (found.low <= truth).all()
        assert (truth <= found.high).all()
        assert np.abs(found.raw - truth).max() <= 6 * found.deviation.max() + 1e-9
        if method != "raw":
            assert found.frequency.sum() == pytest.approx(1)
            assert (found.frequency >= 0).all()
        assert found.people == count
    assert survey.error(count) == pytest.approx(1.96 * found.deviation.max(), rel=2)
    return tally


def check_wire(survey):
    """Bytes and back; tallies add up; another survey's are refused; garbage is counted and never crashes."""
    values = [survey.domain[at % len(survey.domain)] for at in range(101)]
    reports = survey.randomize(values)
    data = reports.to_bytes()
    again = Reports.from_bytes(data, size=survey.dtype.itemsize)
    whole = survey.tally(reports)
    assert survey.tally(again) == whole
    half = [survey.tally(Reports(reports.record, reports.payload[part])) for part in (slice(0, 40), slice(40, None))]
    assert half[0] + half[1] == whole
    assert Tally.from_json(whole.to_json()) == whole
    assert len(reports + again) == 202
    cut = Reports.from_bytes(data[:-1], size=survey.dtype.itemsize)
    assert survey.tally(cut).rejected >= (1 if survey.dtype.itemsize > 1 else 0)
    rng = np.random.default_rng(3)
    start = len(data) - reports.payload.nbytes
    for filling in (rng.bytes(reports.payload.nbytes), b"\xff" * reports.payload.nbytes, b""):
        found = survey.tally(Reports.from_bytes(data[:start] + filling, size=survey.dtype.itemsize))
        assert found.people + found.rejected == len(filling) // survey.dtype.itemsize
        assert (found.counts >= 0).all()
    for bad in (b"", b"dither", data[:20], b"x" + data[1:], data[:12] + b"\xff" * 40):
        with pytest.raises(InputError, match="is refused"):
            Reports.from_bytes(bad, size=survey.dtype.itemsize)
    other = Reports({**reports.record, "epsilon": "77"}, reports.payload)
    with pytest.raises(InputError, match="another survey"):
        survey.tally(other)
    with pytest.raises(InputError, match="another survey"):
        reports + other
    with pytest.raises(InputError, match="another survey"):
        survey.estimate(Tally(other.record, whole.counts, 1))


def check_refusals(survey):
    """Bad input is refused with words."""
    for bad in (
        lambda: survey.randomize(["no such value", 10**9]),
        lambda: survey.randomize([None]),
        lambda: survey.randomize([[1]]),
        lambda: survey.randomize("yes"),
        lambda: survey.randomize(5),
        lambda: survey.tally([1, 2]),
        lambda: survey.estimate(survey.randomize([])),
        lambda: survey.estimate(survey.randomize(survey.domain[:2]), method="magic"),
        lambda: survey.estimate(survey.randomize(survey.domain[:2]), confidence=1),
        lambda: survey.error(0),
        lambda: survey.error(10, 0),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    assert len(survey.randomize([])) == 0


def check_error_before(survey, make):
    """for_error finds the least epsilon; `make(**keywords)` is the class's own for_error."""
    found = make(people=10_000, half_width="0.05")
    assert found.error(10_000) <= 0.05
    assert found.error(10_000) >= 0.0499 or math.isclose(found.error(10_000), 0.05, rel_tol=1e-3)
    with pytest.raises(InputError, match="is refused"):
        make(people=1, half_width="1e-9")
