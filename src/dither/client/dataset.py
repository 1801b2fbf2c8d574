"""A dataset behind a gateway: the rows stay there, questions go and answers come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, overload
from urllib.parse import quote as escaped
from urllib.parse import urlencode

from dither.arguments import argument_errors
from dither.client.budget import RemoteBudget
from dither.client.exchange import Request
from dither.client.parts import Parts, check_text, identifier, sign_text, wrong
from dither.client.quote import RemoteBatch, RemoteQuote, read_answer
from dither.client.session import LARGE, Session
from dither.client.terms import question, wire_terms
from dither.errors import NumberError
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.pricing.ask import BoundsWord, ErrorsLike, LimitsWord, NoiseKind, SpreadLike, Terms, Way
from dither.terminal import Explanation

if TYPE_CHECKING:
    import pyarrow

ARROW = "application/vnd.apache.arrow.stream"
MOST_ROWS = 10_000


@dataclass(frozen=True)
class StoredAnswer:
    """An answer that somebody paid for: who asks the same gets it for nothing."""

    id: str  # for `answer`
    sql: str
    analyst: str
    when: str
    price: str
    free: bool


@argument_errors
@dataclass(frozen=True, eq=False)
class RemoteDataset:
    """Private tables behind a gateway. Made by `dither.connect(url)["clinic"]`.

    Args:
        name: of the dataset, as the gateway calls it.
        domain: the domain of its budget.
        unit: whom its guarantees protect.
        data_version: of the rows, as the owner calls it.
        tables: declared facts: names, columns with types, bounds and keys.

    Raises:
        QuestionError, NumberError, GuaranteeError, UnitError, BudgetError: by `quote`, which see.
        GatewayError: the gateway cannot be reached, or does not take the token.

    Example:
        >>> from dither.client.dataset import RemoteDataset
        >>> RemoteDataset.__name__
        'RemoteDataset'
    """

    session: Session = field(repr=False)
    name: str
    domain: str = field(repr=False)
    unit: str
    data_version: str
    tables: tuple[Mapping[str, Any], ...] = field(repr=False)

    @classmethod
    def make(cls, session: Session, told: Parts) -> RemoteDataset:
        """The dataset of what a gateway replied."""
        name, domain, unit, version = (_line(told, part) for part in ("name", "domain", "unit", "data_version"))
        for table in told.objects("tables"):
            table.text("name")
            table.objects("columns")
        return cls(session, name, domain, unit, version, tuple(told.several("tables")))

    @overload
    def quote(self, sql: str, **terms: Unpack[Terms]) -> RemoteQuote: ...

    @overload
    def quote(self, sql: list[str] | tuple[str, ...], **terms: Unpack[Terms]) -> RemoteBatch: ...

    @argument_errors
    def quote(
        self,
        sql: str | list[str] | tuple[str, ...],
        *,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        error: ErrorsLike | None = None,
        confidence: NumberLike = "0.95",
        size: SupportsIndex | None = None,
        spread: SpreadLike | None = None,
        bounding: Way | None = None,
        delta: NumberLike | None = None,
        other: str | None = None,
        noise: NoiseKind | None = None,
        intervals: bool | NumberLike = True,
        limits: LimitsWord | None = None,
        bounds: BoundsWord | None = None,
    ) -> RemoteQuote | RemoteBatch:
        """Price and error of a question; reads no data, costs nothing. A list is a batch.

        Keywords are those of `Dataset.quote`.

        Args:
            sql: a SELECT of aggregates; a list or tuple of them is charged and released as one.
            epsilon: the price in epsilon; under a budget with a delta, at that delta.
            rho: the price in zero-concentrated differential privacy.
            guarantee: the price as a guarantee, such as `pure('0.5')`.
            error: how far each aggregate may be off, by its name; the least price with that error is taken.
            confidence: the probability of each error bar, such as 0.95 or '95%'.
            size: a public guess of how many rows a group has; averages need it for their error.
            spread: public guesses of standard deviations by column, such as {'cost': 300}; STDDEV, CORR and the like need
                them for their error.
            bounding: how the rows of one person are limited: 'weights', 'clip' or 'groups'.
            delta: the largest probability that an undeclared key of one person alone is shown.
            other: the name under which rows of keys that are not shown are counted together.
            noise: 'gaussian' or 'geometric'.
            intervals: of quantiles, the share of the price for the ends of their intervals, or True, or False.
            limits: 'auto' or 'hard'.
            bounds: 'auto'.

        Raises:
            QuestionError: the SQL is not answered, or an option does not fit the question.
            NumberError: the price is stated in no way or in several, or a number is outside its range.
            GuaranteeError: the budget does not count such a price, or such noise.
            BudgetError: it costs more than the policy allows for one question.
            GatewayError: the gateway cannot be reached, or does not take the token.
        """
        terms: dict[str, Any] = {"epsilon": epsilon, "rho": rho, "guarantee": guarantee, "error": error}
        terms |= {"confidence": confidence}
        terms |= {"size": size, "spread": spread, "bounding": bounding, "delta": delta, "other": other, "noise": noise}
        terms |= {"intervals": intervals, "limits": limits, "bounds": bounds}
        asked = {"dataset": self.name, "sql": question(sql), **wire_terms(terms)}
        made = RemoteQuote if isinstance(asked["sql"], str) else RemoteBatch
        return made.make(self.session, asked, self.session.post("/v1/quotes", asked))

    def remaining(self) -> RemoteBudget:
        """What is left of the budget, of your share and of today's portion."""
        found = Parts(self.session.get(f"/v1/budget?{urlencode({'dataset': self.name})}"), "reply").objects("budgets")
        if len(found) != 1:
            raise wrong("budget")
        return RemoteBudget.read(found[0])

    def explain(self) -> Explanation:
        """What is protected, how, and what is left of the budget."""
        lines = [f"Dataset    {self.name}: {self.unit}"]
        for table in self.tables:
            lines.append(f"Table      {table['name']}: {_owner(table)}")
            lines += [f"             {_column(Parts(one, 'column'))}" for one in table["columns"]]
        return Explanation(sign_text("\n".join([*lines, f"Budget     {self.remaining()}"]), 10**6))

    @argument_errors
    def sample(self, table: str | None = None, rows: SupportsIndex = 100) -> pyarrow.Table:
        """Made-up rows of the declared schema, to try a question on: no row of the data has any part in them.

        Args:
            table: its name; left out, the only one.
            rows: how many.

        Raises:
            DataError: there is no such table, or several to choose from.
            NumberError: no number of rows, or more than 10,000.
        """
        import pyarrow

        names = [str(one["name"]) for one in self.tables]
        wanted = names[0] if table is None and len(names) == 1 else check_text(table or "", "table", ", ".join(names))
        if isinstance(rows, bool) or not hasattr(rows, "__index__") or not 1 <= rows.__index__() <= MOST_ROWS:
            raise NumberError("rows", rows, f"it is no number of rows from 1 to {MOST_ROWS}", "rows=100")
        asked = urlencode({"table": wanted, "rows": rows.__index__()})
        path = f"/v1/datasets/{escaped(self.name, safe='')}/sample?{asked}"
        reply = self.session.send(Request("GET", path, accept=ARROW, most=LARGE))
        if reply.kind != ARROW:
            raise wrong("sample")
        try:
            found = pyarrow.ipc.open_stream(reply.body).read_all()
            found.validate(full=True)  # of Arrow's own reader: what is there may be anybody's
        except (pyarrow.ArrowException, OSError, ValueError, MemoryError):
            raise wrong("sample") from None
        return found

    @argument_errors
    def answers(self, words: str = "", *, count: SupportsIndex = 50) -> list[StoredAnswer]:
        """Answers that are stored already, the latest first: what was paid for once is free for all who may see it.

        Args:
            words: that their questions have in them.
            count: how many at most.

        Raises:
            GatewayError: your role may not look at them.
        """
        told = {"dataset": self.name, "q": check_text(words, "words", "'ward'"), "count": count.__index__()}
        found = self.session.get(f"/v1/answers?{urlencode(told)}", most=LARGE)
        return [_stored(one) for one in Parts(found, "reply").objects("answers")]

    @argument_errors
    def answer(self, name: str) -> Answer | BatchAnswer:
        """A stored answer, by the `id` that `answers` lists: the name of its receipt."""
        path = f"/v1/answers/{identifier(check_text(name, 'name', 'answers()[0].id'), 'name')}"
        return read_answer(self.session.send(Request("GET", path, most=LARGE)))


def _stored(told: Parts) -> StoredAnswer:
    sql = told.raw("sql")
    text = "; ".join(str(one) for one in sql) if isinstance(sql, list) else told.text("sql", "")
    analyst, when, price = (_line(told, part) for part in ("analyst", "when", "price"))
    id_ = identifier(told.text("id"), "answers.id")
    return StoredAnswer(id_, sign_text(text, 100_000), analyst, when, price, told.flag("free", False))


def _line(told: Parts, part: str) -> str:
    return sign_text(told.text(part, ""), 1000)


def _owner(table: Mapping[str, Any]) -> str:
    if table.get("public"):
        return "public"
    person, most = table.get("person"), table.get("max_rows")
    return f"of {person}" + (f", at most {most} rows of each person count" if most is not None else "")


def _column(told: Parts) -> str:
    bounds, keys = told.raw("bounds"), told.raw("keys")
    within = f", {bounds[0]} to {bounds[1]}" if isinstance(bounds, list) and len(bounds) == 2 else ""
    listed = f", one of {len(keys)}" if isinstance(keys, list) else ""
    missing = ", may be missing" if told.raw("nullable") else ""
    return f"{told.text('name')}: {told.text('type')}{within}{listed}{missing}"
