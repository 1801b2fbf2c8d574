"""Charts are made of certified numbers, and can be saved without a browser."""

from __future__ import annotations

import pytest

import dither
from dither.errors import DataError


def test_tradeoff_chart(tmp_path):
    chart = dither.plot.tradeoff({"pure": dither.pure(1), "gaussian": dither.gdp(1)})
    rows = [row for row in next(iter(chart.to_dict()["datasets"].values())) if row["guarantee"] == "pure"]
    assert rows[0] == {"level": 0.0, "power": 0.0, "guarantee": "pure"}
    assert all(row["power"] >= min(1, row["level"] * 2.718) for row in rows if row["level"] < 0.2)
    path = tmp_path / "chart.svg"
    chart.save(str(path))
    assert "<svg" in path.read_text()
    assert dither.plot.tradeoff(dither.pure(1)).to_dict()["mark"]["type"] == "line"


def test_nothing_to_draw():
    for nothing in ({}, {"x": 1}, None, [1], 5):
        with pytest.raises(DataError):
            dither.plot.tradeoff(nothing)


def test_neighbours_chart(tmp_path):
    chart = dither.plot.neighbours(dither.Geometric(epsilon=1, sensitivity=1), 10, 11)
    rows = next(iter(chart.to_dict()["datasets"].values()))
    first = {row["release"]: row["probability"] for row in rows if row["value"] == "the value is 10"}
    other = {row["release"]: row["probability"] for row in rows if row["value"] == "the value is 11"}
    for release in first.keys() & other.keys():
        assert first[release] <= other[release] * 2.7183
    chart.save(str(tmp_path / "chart.svg"))
    fine = dither.plot.neighbours(dither.Laplace(epsilon=1, sensitivity=1), 0, 1).to_dict()
    assert len(next(iter(fine["datasets"].values()))) < 400
    for bad in (3, dither.Geometric(epsilon=1, sensitivity=1, dimension=2), dither.pure(1)):
        with pytest.raises(DataError):
            dither.plot.neighbours(bad, 0, 1)


def test_curves_of_losses(tmp_path):
    losses = {"Laplace": 1000 * dither.Loss.laplace(20), "any": 1000 * dither.Loss.pure("0.05"), "pure": dither.pure(1)}
    chart = dither.plot.epsilon(losses)
    rows = next(iter(chart.to_dict()["datasets"].values()))
    for name in losses:
        values = [row["epsilon"] for row in rows if row["promise"] == name]
        assert len(values) == 11
        assert values == sorted(values)
    chart.save(str(tmp_path / "chart.svg"))
    growth = dither.plot.composition(dither.Loss.pure("0.1"), delta="1e-6", most=50)
    rows = next(iter(growth.to_dict()["datasets"].values()))
    assert rows[0]["times"] == 1
    assert rows[-1]["times"] == 50
    assert [row["epsilon"] for row in rows] == sorted(row["epsilon"] for row in rows)
    power = dither.plot.tradeoff({"sample": 500 * dither.Loss.gaussian(1).poisson_subsampled("0.01")})
    rows = [row for row in next(iter(power.to_dict()["datasets"].values())) if row["guarantee"] == "sample"]
    assert all(row["level"] <= row["power"] <= 1 for row in rows)
    with pytest.raises(DataError):
        dither.plot.epsilon({"x": 1})
    with pytest.raises(DataError):
        dither.plot.epsilon(dither.Loss.approx(1, "0.5"))
    with pytest.raises(DataError):
        dither.plot.composition(dither.Loss.gaussian(1), delta=0)


def test_channel_and_utility(tmp_path):
    chart = dither.plot.channel(dither.Geometric(epsilon=1, sensitivity=1, bounds=(0, 3)).channel())
    rows = next(iter(chart.to_dict()["datasets"].values()))
    assert len(rows) == 16
    assert sum(row["probability"] for row in rows if row["input"] == "2") == pytest.approx(1)
    chart.save(str(tmp_path / "chart.svg"))
    gained = dither.plot.utility(range(6), epsilons=["0.5", 1, 2], gain="absolute")
    rows = next(iter(gained.to_dict()["datasets"].values()))
    best = [row["utility"] for row in rows if row["mechanism"] == "the best mechanism"]
    flat = [row["utility"] for row in rows if row["mechanism"] == "the flat mechanism"]
    assert best == sorted(best)
    assert all(one >= other for one, other in zip(best, flat, strict=True))
    gained.save(str(tmp_path / "chart.svg"))
    near = dither.channels.graph.metric(range(3), lambda a, b: dither.Number(abs(a - b)).fraction() / 10)
    rows = next(iter(dither.plot.utility(range(3), epsilons=[1], graph=near).to_dict()["datasets"].values()))
    assert rows[0]["utility"] >= rows[1]["utility"] - 1e-9
    for bad in (
        lambda: dither.plot.channel([[1]]),
        lambda: dither.plot.channel(dither.Channel.identity(range(201))),
        lambda: dither.plot.utility(range(6), epsilons=[]),
        lambda: dither.plot.utility(range(6), epsilons=1),
        lambda: dither.plot.utility(range(6), epsilons=[0]),
    ):
        with pytest.raises(dither.errors.InputError):
            bad()


def test_trust(tmp_path):
    """Without trust the deviation grows like the root of the number of people; with it not at all."""
    chart = dither.plot.trust(1, most=10_000)
    rows = next(iter(chart.to_dict()["datasets"].values()))
    central, local = ({r["people"]: r["deviation"] for r in rows if r["collector"].startswith(w)} for w in ("a ", "no "))
    assert list(central.values()) == pytest.approx([2**0.5] * len(central))
    assert local[10_000] == pytest.approx(100 * local[1])
    assert local[1] == pytest.approx(2.718281828459045**0.5 / 1.718281828459045)
    assert chart.to_dict()["encoding"]["y"]["scale"]["type"] == "log"
    chart.save(str(tmp_path / "chart.svg"))
    for bad in (lambda: dither.plot.trust(0), lambda: dither.plot.trust(1, most=1)):
        with pytest.raises(dither.errors.InputError, match="is refused"):
            bad()


def test_lines(tmp_path):
    curves = {"exact": [(1, 2), (10, 3)], "a bound": [(1, 3), (10, 5.5)]}
    chart = dither.plot.lines(curves, x="n", y="error", title="A bound above what is exact", log="x")
    drawn = chart.to_dict()
    rows = next(iter(drawn["datasets"].values()))
    assert [(row["name"], row["x"], row["y"]) for row in rows] == [
        (name, float(x), float(y)) for name, points in curves.items() for x, y in points
    ]
    assert [drawn["encoding"][axis]["scale"]["type"] for axis in "xy"] == ["log", "linear"]
    assert drawn["encoding"]["color"]["field"] == drawn["encoding"]["strokeDash"]["field"] == "name"
    chart.save(str(tmp_path / "chart.svg"))
    assert (tmp_path / "chart.svg").read_text().count("a bound") >= 1


@pytest.mark.parametrize(
    "curves",
    [{}, {"x": []}, {"x": 1}, {"x": [1]}, {"x": [(1, "?")]}, {"x": [(1, float("nan"))]}, {"x": [(0, 1)]}, None, [1]],
)
def test_lines_without_points_are_refused(curves):
    with pytest.raises(DataError):
        dither.plot.lines(curves, x="x", y="y", title="", log="x")
    with pytest.raises(DataError):
        dither.plot.lines({"x": [(1, 1)]}, x="x", y="y", title="", log="z")
