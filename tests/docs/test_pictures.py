"""Charts of the pages: each is made by code that its page shows, in the theme of all charts, for light and dark."""

from __future__ import annotations

import pytest

from dither.altair_theme import STYLE
from tests.docs.pictures import DOCS, EXAMPLE, made_by

PAGES = [*DOCS.glob("*.md"), *DOCS.glob("notes/*.md")]
CHARTS = [chart for chart in DOCS.rglob("*.svg") if 'class="marks"' in chart.read_text(encoding="utf-8")]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.relative_to(DOCS).as_posix())
def test_a_chart_is_made_by_the_code_of_its_page_and_has_the_theme(chart):
    pages = [page for page in PAGES if page.parent == chart.parent]
    codes = [
        (code, page)
        for page in pages
        for code in (page, *(page.parent / link for link in EXAMPLE.findall(page.read_text(encoding="utf-8"))))
    ]
    assert any(chart.name in made_by(code, page) for code, page in codes), "python -m tests.docs.pictures does not make it"
    assert STYLE in chart.read_text(encoding="utf-8"), "it is older than the theme: python -m tests.docs.pictures"


def test_there_are_charts():
    assert {"trust.svg", "holdout.svg", "laplace-neighbours.svg"} <= {chart.name for chart in CHARTS}
