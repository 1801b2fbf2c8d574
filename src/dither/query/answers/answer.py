"""The answer: a table with error bars, and what they mean. A plain value: no data, no policy, no ledger and no way to them.

It pickles, goes through JSON and back, and prints the same wherever it is shown. Everything in it was released or is public.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.chart import Chart
from dither.errors import DataError
from dither.extras import needs
from dither.ledger.entries.receipt import Receipt
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.caption import column_heads, held_words
from dither.query.answers.difference import Difference, difference
from dither.query.answers.interval_table import with_intervals
from dither.query.answers.operators import Operators
from dither.query.answers.record import Column, Kind, check_record, plain_columns, read_columns, read_version, refused
from dither.query.answers.released import Released
from dither.query.answers.svg_chart import chart_title, svg_chart
from dither.query.answers.table import html_table, page, table_text
from dither.terminal import Explanation, wrapped

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

VERSION = 2  # 2: what each number says


@argument_errors
@dataclass(frozen=True, eq=False)
class Answer(Operators):
    """The answer to a question: released numbers as a table; x_low to x_high is the confidence interval of x.

    Args:
        sql: the question, as it was put.
        columns: the table, column by column.
        kinds: what each column holds, such as 'text' or 'number'.
        keys: the columns of GROUP BY.
        aggregates: the columns of numbers, computed ones among them, without the ends of their intervals.
        confidence: the probability of each interval.
        price: the guarantee as people know it.
        guarantee: of this question alone.
        statements: what each of them says: 'truth', 'at least', 'of counted rows', 'of clamped values', 'chosen' or, for
            ranks, 'of released numbers'.
        says: the same in words, with what it means.
        beyond: how many people have more than is counted of them, with an interval; None where it was not asked.
        note: how much of one person counts; and which numbers are missing since their intervals say nothing, a line for
            each column.
        explained: the quote in words.
        frame_kind: the kind of table that was protected, such as 'pandas': `frame` gives the same.
        released: the whole numbers that were released.
        receipt: of the charge.
        constants: what scalar subqueries gave, by their texts: 'value', 'low' and 'high'.
        uninformative: by column, the rows whose number is missing (None) because its interval is all that is possible, or
            that of a number it is computed from: too few rows for the ε. The ends of the interval stay, and are true.
        open_keys: by key column, the rows of groups that also hold rows beyond the bounds of the policy, by side: 'below',
            'above' or 'beyond'. Beyond hard bounds there is nothing.
        unprotected: what the guarantee does not cover, since the owner took it from the data; '' where there is nothing.

    Raises:
        DataError: there is no column of that name, or `scalar` or `plot` need another shape, or `from_json` another text.
        MissingExtraError: pandas or polars is not installed.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> rows = pyarrow.table({"age": [31, 44, 62]})
        >>> people = dither.protect(rows, name="people", person="each row", ledger=ledger)
        >>> answer = people.quote("SELECT COUNT(*) AS n FROM people", epsilon="0.5").release()
        >>> list(answer.columns), answer.scalar() == answer["n"][0]
        (['n', 'n_low', 'n_high'], True)
        >>> dither.Answer.from_json(answer.to_json()).columns == answer.columns
        True
        >>> "<title>n, with 95% intervals</title>" in answer.svg()
        True
        >>> folder.cleanup()
    """

    sql: str
    columns: dict[str, Column] = field(repr=False)  # the table, column by column
    kinds: dict[str, Kind] = field(repr=False)  # what each column holds
    keys: tuple[str, ...] = field(repr=False)  # columns of groups
    aggregates: tuple[str, ...] = field(repr=False)  # columns of numbers, without their ends
    confidence: Fraction  # with which each interval holds
    price: str  # as people know it
    guarantee: Guarantee = field(repr=False)  # of this question
    statements: dict[str, str] = field(repr=False)  # what each aggregate says: 'truth', 'at least', 'of counted rows', ...
    says: str = field(repr=False)  # the same in words, with what it means
    beyond: dict[str, int | None] | None = field(repr=False)  # people who have more than is counted of them; None: not asked
    note: str = field(repr=False)  # how much of one person counts, and which intervals say nothing
    explained: str = field(repr=False)
    frame_kind: str = field(repr=False)  # the kind of table that was protected
    released: Released = field(repr=False)
    receipt: Receipt = field(repr=False)
    constants: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)  # what scalar subqueries gave
    uninformative: dict[str, list[int]] = field(default_factory=dict, repr=False)  # rows without a number, by column
    open_keys: dict[str, dict[str, list[int]]] = field(default_factory=dict, repr=False)  # rows, by key column and side
    unprotected: str = field(default="", repr=False)  # what the guarantee does not cover

    @property
    def is_replay(self) -> bool:
        """Whether it was stored before, so that nothing was charged now."""
        return self.receipt.answer is not None

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

    def scalar(self) -> Any:
        """The one value of an answer that has one."""
        if len(self) != 1 or len(self.aggregates) != 1:
            came = f"{len(self)} rows, {len(self.aggregates)} aggregates"
            raise DataError("answer", came, "it is not one number", "answer['n'], answer.rows()")
        return self[self.aggregates[0]][0]

    # -- as other tables ---------------------------------------------------------------------------------------

    def to_arrow(self) -> pyarrow.Table:
        """The answer as an Arrow table."""
        import pyarrow

        types = {"text": pyarrow.string(), "boolean": pyarrow.bool_(), "date": pyarrow.date32(), "whole": pyarrow.int64()}
        types |= {"timestamp": pyarrow.timestamp("us"), "number": pyarrow.float64()}
        arrays = {name: pyarrow.array(column, types[self.kinds[name]]) for name, column in self.columns.items()}
        said = {"statements": json.dumps(self.statements), "says": self.says, "note": self.note}
        return pyarrow.table(arrays).replace_schema_metadata({f"dither.{name}": text for name, text in said.items()})

    def to_pandas(self) -> pandas.DataFrame:
        """The answer as a pandas DataFrame."""
        with needs("pandas"):
            import pandas  # noqa: F401 - pyarrow imports it too, and says less where it is missing
        return self.to_arrow().to_pandas(date_as_object=False)

    def to_polars(self) -> polars.DataFrame:
        """The answer as a polars DataFrame."""
        with needs("polars"):
            import polars

        return polars.DataFrame(self.to_arrow())

    def frame(self) -> Any:
        """The answer as the kind of table that was protected: pandas, polars, or Arrow."""
        return {"pandas": self.to_pandas, "polars": self.to_polars}.get(self.frame_kind, self.to_arrow)()

    # -- to look at --------------------------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """What was released, what the error bars hold and what they do not."""
        paid = "stored before, nothing was charged now" if self.is_replay else f"charged {self.price}"
        return Explanation(f"{self.explained}\nReceipt    {self.receipt.name}: {paid}")

    def plot(self, name: str | None = None) -> Chart:
        """The chart that `svg` draws of `name`: a notebook shows it without a network; .save('answer.svg') writes it."""
        return Chart(chart_title(self, name), self.svg(name))

    def svg(self, name: str | None = None, *, alone: bool = True) -> str:
        """A chart as SVG text, drawn without a library: an estimate a group, each with its interval as a whisker.

        Args:
            name: an aggregate with error bars; None draws up to four of them, one below the other.
            alone: for a file or an image, with colours for light and dark; False for inside of a page, which gives colours
                to the classes `chart`, `chart-first` and `chart-second`.

        Raises:
            DataError: no column has error bars, or not this one.
        """
        return svg_chart(self, name, alone=alone)

    def difference(self, other: Answer) -> Difference:
        """This answer less another, group by group, each number with an interval that holds the difference.

        Args:
            other: an answer with a column of the same name and the same keys; at another price, of another time or place.

        Returns:
            `rows()`, `confidence`, `words` that say what the intervals hold, and `svg()`; printed, it is a table.

        Raises:
            DataError: no column with error bars has the same name in both, or their keys differ.

        Example:
            >>> import tempfile, pyarrow, dither
            >>> folder = tempfile.TemporaryDirectory()
            >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
            >>> people = dither.protect(pyarrow.table({"age": [31, 44]}), name="people", person="each row", ledger=ledger)
            >>> a, b = (people.quote("SELECT COUNT(*) AS n FROM people", epsilon=price).release() for price in (1, 2))
            >>> found = a.difference(b)
            >>> str(found.confidence), found.rows()[0]["difference"] == a.scalar() - b.scalar()
            ('9/10', True)
            >>> folder.cleanup()
        """
        if not isinstance(other, Answer):
            raise DataError("other", other, "it is no answer to one question", "an Answer; of a batch, answers[0]")
        return difference(self, other)

    @property
    def _with_intervals(self) -> list[str]:
        """The aggregates that are shown and have error bars."""
        return with_intervals(self)

    @property
    def caption(self) -> str:
        """Lines below the table: what was charged, what the intervals hold or do not, and how much of one person counts."""
        percent = f"{float(self.confidence * 100):.4g}%"
        paid = "stored before, nothing charged now" if self.is_replay else f"charged {self.price}"
        if self.receipt.guarantee != self.guarantee and not self.is_replay:
            paid = f"charged with its whole batch ({self.price} for this question)"
        held = f"; each low to high holds {held_words(self.statements)} with {percent} probability"
        bars = held if self._with_intervals else ""
        lines = [f"{paid}{bars}", self.note]
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        parts = [
            wrapped(self.says),
            table_text(self.columns, self.keys, self.heads, self._with_intervals, self.uninformative),
            wrapped(self.caption),
        ]
        return "\n".join(part for part in parts if part)

    __repr__ = __str__

    @property
    def heads(self) -> dict[str, str]:
        """What stands below the names of columns: what each number says, and of what its ends are."""
        return column_heads(self.statements, self.columns)

    def _repr_html_(self) -> str:
        return self._html(f"{self.says}\n{self.caption}\nreceipt {self.receipt.name}")

    def _html(self, note: str) -> str:
        return html_table(self.columns, self.keys, self._with_intervals, note, self.heads, self.uninformative)

    def to_html(self) -> str:
        """A page that stands by itself: the table with its error bars, a chart of it, and what the numbers mean."""
        return page(self._with_chart(), self.explain())

    def _with_chart(self) -> str:
        return self._repr_html_() + (self.svg(alone=False) if self._with_intervals else "")

    # -- to keep -------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole answer as text; `from_json` gives it back."""
        return json.dumps(self._record(), ensure_ascii=False)

    def _record(self) -> dict[str, Any]:
        told = {"sql": self.sql, "keys": list(self.keys), "aggregates": list(self.aggregates), "kinds": self.kinds}
        words = {"price": self.price, "statements": self.statements, "says": self.says, "note": self.note}
        words |= {"explained": self.explained, "frame_kind": self.frame_kind}
        stored = {
            "columns": plain_columns(self.columns),
            "beyond": self.beyond,
            "confidence": str(self.confidence),
            "guarantee": self.guarantee.to_json(),
            "released": self.released.to_json(),
            "receipt": self.receipt.to_json(),
        }
        first: dict[str, Any] = {"constants": self.constants} if self.constants else {}
        first |= {"uninformative": self.uninformative} if self.uninformative else {}
        first |= {"open_keys": self.open_keys} if self.open_keys else {}
        first |= {"unprotected": self.unprotected} if self.unprotected else {}
        return {"answer": VERSION, **told, **words, **stored, **first}

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """The answer of a text that `to_json` wrote."""
        with refused(text, "Answer.to_json"):
            return cls._from_record(json.loads(text))

    @classmethod
    def _from_record(cls, record: dict[str, Any]) -> Answer:
        found = dict(record)
        version = read_version(found.pop("answer"), VERSION)
        if version == 1:  # which did not say what each number says
            found |= {"statements": {}, "says": "", "beyond": None}
        check_record(found)
        found |= {"columns": read_columns(found), "keys": tuple(found["keys"]), "aggregates": tuple(found["aggregates"])}
        found |= {"confidence": Fraction(found["confidence"]), "guarantee": Guarantee.from_json(found["guarantee"])}
        found |= {"released": Released.from_json(found["released"]), "receipt": Receipt.from_json(found["receipt"])}
        return cls(**found)
