"""The answer: a table with error bars. Everything here is computed from what was released; nothing else is known.

One row for each combination of declared keys, whether the data has it or not, and of the keys that a private release chose
where nobody declared them; sorted by key unless the question says otherwise. `x_low` and `x_high` hold the true value of
the bounded data with the stated probability, each by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from dither.errors import DataError, QuestionError
from dither.extras import needs
from dither.ledger.receipt import Receipt
from dither.privacy.guarantee import Guarantee
from dither.query import interval
from dither.query.column import Type
from dither.query.dispersion import spreads
from dither.query.explain import explain_answer
from dither.query.show import html, page, table_text
from dither.query.strategy import Place, Ratio, Reading, Spread, Sum

if TYPE_CHECKING:
    import altair
    import pandas
    import polars
    import pyarrow

    from dither.query.quote import Quote

Column = list[Any]
WIDE = 2**20  # what one row adds to a sum that is shown in 64 bits
SIGNS = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True, eq=False)
class Answer:
    """Released numbers, read as a table."""

    quote: Quote = field(repr=False)
    stored: dict[str, Any] = field(repr=False)  # "released": for each family, each group: its measures; and "parts"
    receipt: Receipt = field(repr=False)

    @property
    def guarantee(self) -> Guarantee:
        """What was charged for it."""
        return self.quote.guarantee

    @property
    def is_replay(self) -> bool:
        """Whether it was stored before, so that nothing was charged now."""
        return self.receipt.answer is not None

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The table, column by column."""
        plan = self.quote.plan
        cells = self.quote.chosen(self.stored.get("chosen")).shown
        whole: dict[str, Column] = {group.name: [cell[place] for cell in cells] for place, group in enumerate(plan.groups)}
        for aggregate, reading in zip(plan.aggregates, self.quote.strategy.readings, strict=True):
            for suffix, column in zip(("", "_low", "_high"), self._read(reading), strict=True):
                whole[aggregate.name + suffix] = column
        kept = self._kept(whole, len(cells))
        shown = [name for base in plan.shown for name in (base, f"{base}_low", f"{base}_high") if name in whole]
        keys = [group.name for group in plan.groups if group.name not in shown]
        return {name: [whole[name][row] for row in kept] for name in [*keys, *shown]}

    def __getitem__(self, name: str) -> Column:
        """A column by its name."""
        if name not in self.columns:
            raise DataError("column", name, "the answer has no such column", ", ".join(self.columns))
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def rows(self) -> list[dict[str, Any]]:
        """The table, row by row."""
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def scalar(self) -> int | float:
        """The one number of an answer that has one."""
        if len(self) != 1 or len(self.quote.plan.aggregates) != 1:
            came = f"{len(self)} rows, {len(self.quote.plan.aggregates)} aggregates"
            raise DataError("answer", came, "it is not one number", "answer['n'], answer.rows()")
        found: int | float = self[self.quote.plan.aggregates[0].name][0]
        return found

    # -- as other tables ---------------------------------------------------------------------------------------

    def to_arrow(self) -> pyarrow.Table:
        """As an Arrow table."""
        import pyarrow

        kinds = self._kinds()
        return pyarrow.table({name: pyarrow.array(column, kinds[name]) for name, column in self.columns.items()})

    def _kinds(self) -> dict[str, Any]:
        """Types of the columns: of the question, not of what came out."""
        import pyarrow

        plan = self.quote.plan
        keys = {Type.TEXT: pyarrow.string(), Type.BOOLEAN: pyarrow.bool_(), Type.DATE: pyarrow.date32()}
        keys[Type.TIMESTAMP] = pyarrow.timestamp("us")
        kinds = {group.name: keys.get(group.by.facts.type, pyarrow.int64()) for group in plan.groups}
        for aggregate, reading in zip(plan.aggregates, self.quote.strategy.readings, strict=True):
            kind = pyarrow.int64() if self._is_whole(reading) else pyarrow.float64()
            kinds |= dict.fromkeys((aggregate.name + end for end in ("", "_low", "_high")), kind)
        return kinds

    def _is_whole(self, reading: Reading) -> bool:
        if isinstance(reading, Place):
            return self.quote.parts[reading.part].is_whole(reading.place)
        return isinstance(reading, Sum) and reading.quantum.denominator == 1 and reading.row < WIDE

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas DataFrame."""
        with needs("pandas"):
            import pandas  # noqa: F401 - pyarrow imports it too, and says less where it is missing
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """As a polars DataFrame."""
        with needs("polars"):
            import polars

        return polars.DataFrame(self.to_arrow())

    def frame(self) -> Any:
        """As the kind of table that was protected: pandas, polars, or Arrow."""
        kind = self.quote.dataset.source(self.quote.plan.relation.tables[0]).kind
        return {"pandas": self.to_pandas, "polars": self.to_polars}.get(kind, self.to_arrow)()

    # -- to look at --------------------------------------------------------------------------------------------

    def explain(self) -> str:
        """What was released, what the error bars hold and what they do not."""
        return explain_answer(self)

    def plot(self, name: str | None = None) -> altair.LayerChart:
        """A chart of one aggregate with its error bars (install `dither[plot]`); save it with .save('answer.svg')."""
        from dither.query.chart import chart

        return chart(self, name)

    def __str__(self) -> str:
        return table_text(self)

    def _repr_html_(self) -> str:
        return html(self)

    def to_html(self) -> str:
        """A page that stands by itself: the table with its error bars, and what the numbers mean."""
        return page(html(self), self.explain())

    # -- from the released numbers -------------------------------------------------------------------------------

    def _read(self, reading: Reading) -> tuple[Column, Column, Column]:
        if isinstance(reading, Place):
            found = self.stored["parts"][reading.part]
            return self.quote.parts[reading.part].read(found, reading.place) if found != [] else ([], [], [])
        if isinstance(reading, Spread):
            noise, counters = self.quote.noise[reading.family], self._counters(reading.family)
            return spreads(counters, reading, noise, self.quote.bounding.resolution, self.quote.confidence)
        return self._sums(reading) if isinstance(reading, Sum) else self._averages(reading)

    def _counters(self, family: int) -> list[list[int]]:
        """The measures of each group."""
        found: list[list[int]] = self.stored["released"][family]
        return found

    def _sums(self, reading: Sum) -> tuple[Column, Column, Column]:
        quote = self.quote
        weights = [weight / quote.bounding.resolution for weight in reading.weights]
        half = Fraction(interval.sum_error(quote.noise[reading.family], weights, quote.confidence))
        quantum = reading.quantum
        values, lows, highs = [], [], []
        for numbers in self._counters(reading.family):
            exactly = sum((weight * number for weight, number in zip(weights, numbers, strict=True)), start=Fraction(0))
            values.append(_plain(floor(exactly / quantum + Fraction(1, 2)) * quantum))
            lows.append(_plain(floor((exactly - half) / quantum) * quantum))
            highs.append(_plain(ceil((exactly + half) / quantum) * quantum))
        return values, lows, highs

    def _averages(self, reading: Ratio) -> tuple[Column, Column, Column]:
        quote = self.quote
        counters = self._counters(reading.family)
        last, shared = (2, 0.5) if reading.of_squares else (1, 0)
        above, below = ([numbers[place] + shared * numbers[1] for numbers in counters] for place in (0, last))
        limits = interval.quantiles(quote.noise[reading.family], quote.confidence, of_squares=reading.of_squares)
        low, high = interval.fractions(above, below, limits)
        if reading.rounding:  # what the coarser steps of a variance may have changed
            hidden = float(reading.rounding / reading.width)
            low, high = (low - hidden).clip(0.0), (high + hidden).clip(None, 1.0)
        floor_ = reading.row * quote.bounding.resolution  # as if at least one row had counted
        middle = [min(1.0, max(0.0, a / max(a + b, floor_))) for a, b in zip(above, below, strict=True)]
        lower, width = float(reading.lower), float(reading.width)
        inside = (max(a, min(b, c)) for a, b, c in zip(low.tolist(), middle, high.tolist(), strict=True))
        return tuple([lower + width * float(part) for part in column] for column in (list(inside), low, high))  # type: ignore[return-value]

    def _kept(self, whole: dict[str, Column], count: int) -> list[int]:
        """Which rows are shown, in which order: HAVING, ORDER BY and LIMIT, on released values."""
        plan = self.quote.plan
        rows = list(range(count))
        for keep in plan.having:
            rows = [row for row in rows if SIGNS[keep.operator](whole[keep.name][row], keep.value)]
        for order in reversed(plan.order):
            if order.name not in whole:
                raise QuestionError("ORDER BY", order.name, "the answer has no such column", ", ".join(whole))
            column = whole[order.name]  # the key of all others together may be None: it is sorted as the last one
            rows.sort(key=lambda row, of=column: (of[row] is None, of[row]), reverse=order.descending)  # type: ignore[misc]
        return rows if plan.limit is None else rows[: plan.limit]


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
