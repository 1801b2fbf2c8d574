"""Charts, with altair (install `dither[plot]`). Every function returns an altair chart: show it, or save it as SVG.

Every point of a chart is a certified number, rounded so that no promise looks better than it is; between two points the
line is only a line.
"""

from __future__ import annotations

from dither.plot.channels import channel, utility
from dither.plot.collectors import trust
from dither.plot.distributions import cdf, density
from dither.plot.lines import lines
from dither.plot.promises import composition, epsilon, neighbours, tradeoff

__all__ = ["cdf", "channel", "composition", "density", "epsilon", "lines", "neighbours", "tradeoff", "trust", "utility"]
