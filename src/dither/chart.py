"""A chart as SVG text: a notebook shows it without a network, and it can be saved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.extras import needs

SHARP = 2.0  # pixels of a PNG for each of the SVG


@argument_errors
@dataclass(frozen=True)
class Chart:
    """A chart that `Answer.plot` drew: shown in a notebook as it is, or written to a file by `save`.

    Args:
        title: what is seen, in a line.
        svg: the drawing, with colours for light and dark.

    Raises:
        DataError: by `save`, for a file of another kind.

    Example:
        >>> from dither.chart import Chart
        >>> Chart("n by ward", "<svg/>")
        Chart('n by ward')
    """

    title: str
    svg: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file: `path` ends in .svg, or in .png, which needs `dither[plot]`."""
        file = Path(path)
        if file.suffix == ".svg":
            file.write_text(self.svg, encoding="utf-8")
        elif file.suffix == ".png":
            with needs("dither[plot]"):
                import vl_convert
            file.write_bytes(vl_convert.svg_to_png(self.svg, scale=SHARP))
        else:
            raise DataError("path", str(path), "a chart is saved as SVG or PNG", "'answer.svg', 'answer.png'")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Chart({self.title!r})"
