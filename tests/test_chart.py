"""Charts are shown without a network, in one theme: those of answers, and those of altair."""

from __future__ import annotations

import re

import pytest

import dither
from dither.altair_theme import DASHES, themed
from dither.chart import Chart
from dither.density import Bins, histogram
from dither.errors import DataError
from dither.svg.theme import SERIES_COLOURS

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'


def charts():
    yield dither.plot.tradeoff({"ε = 1": dither.pure(1), "μ = 1": dither.gdp(1)})
    yield dither.plot.neighbours(dither.Geometric(epsilon=1, sensitivity=1), 10, 11)
    yield dither.plot.channel(dither.Geometric(epsilon=1, sensitivity=1, bounds=(0, 3)).channel())
    yield dither.plot.trust(1, most=100)
    yield dither.plot.density(histogram(Bins([0, 25, 50]), epsilon=1).release([10, 40]))


def test_notebooks_get_drawings_and_no_scripts():
    for chart in charts():
        shown = chart._repr_mimebundle_()
        assert set(shown) == {"image/svg+xml", "text/plain"}
        addresses = set(re.findall(r"https?://[^\"' <]+", shown["image/svg+xml"]))
        assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
        assert "<script" not in shown["image/svg+xml"]
        assert chart.title
        assert shown["text/plain"] == repr(chart) == f"{type(chart).__name__}({chart.title!r})"


def test_series_differ_by_dashes_beside_colours_in_one_legend():
    found = next(charts()).to_dict()
    colour, dash = (found["encoding"][channel] for channel in ("color", "strokeDash"))
    assert colour["scale"]["domain"] == dash["scale"]["domain"] == ["ε = 1", "μ = 1", "guessing"]
    assert (colour["scale"]["range"], dash["scale"]["range"]) == (SERIES_COLOURS[:3], DASHES[:3])
    assert colour["legend"] == dash["legend"] == {"title": None}
    assert found["config"]["axis"]["labelOverlap"] == "greedy"
    again = themed(next(charts()), "twice")
    assert again.title == "twice"
    assert "image/svg+xml" in again._repr_mimebundle_()


def contrast(colour: str) -> float:
    """With white, by WCAG."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05)


def test_colours_of_series_can_be_read():
    assert min(map(contrast, SERIES_COLOURS)) >= 4.5


def test_a_chart_is_saved_as_svg_or_png(tmp_path):
    chart = Chart("n by ward", SVG)
    assert (chart._repr_svg_(), repr(chart)) == (SVG, "Chart('n by ward')")
    chart.save(tmp_path / "n.svg")
    assert (tmp_path / "n.svg").read_text() == SVG
    chart.save(str(tmp_path / "n.png"))
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(DataError, match="SVG or PNG"):
        chart.save(tmp_path / "n.gif")
    assert not (tmp_path / "n.gif").exists()
