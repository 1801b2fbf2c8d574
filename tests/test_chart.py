"""Charts are shown without a network, in one theme: those of answers, and those of altair."""

from __future__ import annotations

import io
import re

import pytest

import dither
from dither.altair_theme import DARK, DASHES, INK, PAPER, RULE, themed
from dither.chart import Chart
from dither.density import Bins, histogram
from dither.errors import DataError
from dither.svg.theme import DARK_SERIES_COLOURS, SERIES_COLOURS

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


def light(colour: str) -> float:
    """How much light it sends, by WCAG."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    sent = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * sent[0] + 0.7152 * sent[1] + 0.0722 * sent[2]


def contrast(one: str, other: str) -> float:
    """Of two colours, by WCAG."""
    lower, upper = sorted(map(light, (one, other)))
    return (upper + 0.05) / (lower + 0.05)


def test_colours_can_be_read_on_light_and_dark_paper():
    assert min(contrast(PAPER, colour) for colour in (INK, *SERIES_COLOURS)) >= 4.5
    assert min(contrast(DARK[PAPER], colour) for colour in (DARK[INK], *DARK_SERIES_COLOURS)) >= 4.5
    assert min(contrast(paper, RULE) for paper in (PAPER, DARK[PAPER])) >= 3


def test_every_colour_of_an_altair_chart_has_a_dark_one(tmp_path):
    """Lines at axes are seen on both papers, and cells of a heat map are no letters: they stay as they are."""
    for chart in charts():
        chart.save(tmp_path / "chart.svg")
        drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        style, body = drawn.split("</style>")
        used = set(re.findall(r'(?:fill|stroke)="(?!none|url|rgb)([^"]+)"', body)) - {RULE, "transparent"}
        assert {PAPER, INK} < used <= set(DARK)
        for colour in used:
            assert f'svg.marks [fill="{colour}"] {{ fill: {DARK[colour]} }}' in style
            assert f'svg.marks [stroke="{colour}"] {{ stroke: {DARK[colour]} }}' in style
        assert "@media (prefers-color-scheme: dark)" in style
        assert chart._repr_mimebundle_()["image/svg+xml"].split("</style>")[0] == style
    chart.save(str(tmp_path / "chart.png"))
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    chart.save(file := io.StringIO(), format="json")
    assert file.getvalue().startswith("{")


def test_titles_of_axes_stand_apart_from_the_numbers():
    assert all(chart.to_dict()["config"]["axis"]["titlePadding"] == 14 for chart in charts())


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
