"""One theme for all charts: sizes, and colours by classes, for light and dark.

Everything is drawn in `currentColor`, so that a page gives it colours by these classes:

    chart           the picture; its colour is that of letters and lines
    chart-paper     what is behind a chart that stands alone
    chart-first     marks of the first series, filled circles
    chart-second    marks of the second series, open squares
"""

from __future__ import annotations

WIDTH = 560.0
LETTERS, SMALL = 12.0, 11.0  # sizes of letters: labels, and ticks
FONT = "system-ui, sans-serif"
GRID, RULE = "0.15", "0.55"  # how dark lines are: of ticks, and at zero
SERIES = ("chart-first", "chart-second")
# Blue and orange are told apart in all common kinds of colour blindness; each has a contrast of 4.5 at least.
COLOURS = ".chart {{ color: {} }} .chart-first {{ color: {} }} .chart-second {{ color: {} }} .chart-paper {{ fill: {} }}"
LIGHT = COLOURS.format("#1f2328", "#0b5cad", "#a34700", "#ffffff")
DARK = COLOURS.format("#e6e8eb", "#7cb7ff", "#ffb072", "#16191d")
# For charts with more series than two, which differ by dashes or shapes as well.
SERIES_COLOURS = ["#0b5cad", "#a34700", "#00725a", "#7b3f98", "#6a5d00", "#4d545b"]
DARK_SERIES_COLOURS = ["#7cb7ff", "#ffb072", "#5fc9a8", "#d19be8", "#d2c04f", "#b3bac1"]  # of the same series, in dark
STYLE = f"{LIGHT} @media (prefers-color-scheme: dark) {{ {DARK} }}"
