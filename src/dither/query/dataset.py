"""A dataset: private tables, a policy, a ledger for the budget. `open` reads a policy file; `protect` takes a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, SupportsIndex, Unpack, overload

from dither.errors import ConflictError, DataError, PolicyError
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.batch import Batch, make_batch
from dither.query.holdings import Holdings
from dither.query.policy.column import Key
from dither.query.policy.policy import VERSION, Policy, load_policy, read_policy
from dither.query.pricing.ask import Ask, ErrorsLike, QuestionLike, QuestionsLike, Terms, Way
from dither.query.quote import Quote, make_quote
from dither.query.sources.find_source import find_source
from dither.query.sources.schema import Schema, unreadable
from dither.query.sources.source import DataLike
from dither.query.sql.ibis import as_sql


class Dataset(Holdings):
    """Private tables under a policy, with the ledger of their budget. Made by `dither.open` and `dither.protect`.

    Args:
        policy: what is protected, and within which bounds and limits.
        ledger: keeps the privacy budget and the answers.
        sources: where the rows of each table are, by its name.

    Raises:
        QuestionError, NumberError, GuaranteeError, UnitError, BudgetError: by `quote`, which see.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> people = dither.protect(pyarrow.table({"age": [31, 44]}), name="people", person="each row", ledger=ledger)
        >>> print(people.explain())
        Domain     people: add/remove one person
        Table      people: one row a person
                     age: integer, may be missing
        Budget     ε = 3 left of ε = 3 (add/remove one person)
        >>> people.quote("SELECT COUNT(*) AS n FROM people", error={"n": 6}).errors
        {'n': 6.0}
        >>> folder.cleanup()
    """

    @overload
    def quote(self, sql: QuestionLike, **terms: Unpack[Terms]) -> Quote: ...

    @overload
    def quote(self, sql: QuestionsLike, **terms: Unpack[Terms]) -> Batch: ...

    def quote(
        self,
        sql: QuestionLike | QuestionsLike,
        *,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        error: ErrorsLike | None = None,
        confidence: NumberLike = "0.95",
        size: SupportsIndex | None = None,
        bounding: Way | None = None,
        delta: NumberLike | None = None,
        other: str | None = None,
        intervals: bool | NumberLike = True,
    ) -> Quote | Batch:
        """Price and error of a question, in SQL or as an Ibis expression; reads no data, costs nothing. A list is a batch.

        The price is stated in exactly one way: `epsilon`, `rho`, `guarantee` or `error`.

        Args:
            sql: a SELECT of aggregates, or an Ibis expression; a list or tuple of them is charged and released as one.
            epsilon: the price in epsilon; under a budget with a delta, at that delta.
            rho: the price in zero-concentrated differential privacy.
            guarantee: the price as a guarantee, such as `pure('0.5')`.
            error: how far each aggregate may be off, by its name; the least price with that error is taken.
            confidence: the probability of each error bar, such as 0.95 or '95%'.
            size: a public guess of how many rows a group has; averages need it for their error.
            bounding: how the rows of one person are limited: 'weights', 'clip' or 'groups'; left out, the best that fits.
            delta: where keys of GROUP BY are not declared, the probability with which a key of one person alone may be
                shown; left out, a hundredth of what the budget keeps for that.
            other: the name under which rows of keys that are not shown are counted together.
            intervals: of medians and other quantiles, whether part of the price goes to the ends of their intervals: True
                for two thirds, False for nothing and no ends, or a share such as '1/2'.

        Raises:
            QuestionError: the SQL is not answered here, or an option does not fit the question.
            NumberError: the price is stated in no way or in several, or a number is outside its range.
            GuaranteeError: the budget does not count such a price.
            UnitError: the guarantee is about other neighbours than the budget.
            BudgetError: it costs more than the policy allows for one question.
        """
        terms: Terms = {"epsilon": epsilon, "rho": rho, "guarantee": guarantee, "error": error, "confidence": confidence}
        terms |= {"size": size, "bounding": bounding, "delta": delta, "other": other, "intervals": intervals}
        if isinstance(sql, (list, tuple)):
            return make_batch(Ask(text=[as_sql(one) for one in sql], **terms), self)
        return make_quote(Ask(text=as_sql(sql), **terms), self)

    def explain(self) -> str:
        """What is protected, how, and what is left of the budget."""
        return f"{self.policy.explain()}\nBudget     {self.ledger.remaining()}"


def open(path: str | Path) -> Dataset:  # noqa: A001 - as `dither.open`
    """The dataset of a policy file; its ledger is made if there is none.

    Args:
        path: a TOML file, see `dither policy init`; paths in it are relative to its folder.

    Raises:
        PolicyError: the file cannot be read, or says too little, too much or two things at once.
        DataError: a source is not there, or is no table.
        ConflictError: the ledger was spent under another policy, or is another one than the policy names.
        LedgerError: the ledger cannot be opened.

    Example:
        >>> import tempfile, pathlib, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "people.csv").write_text("age\\n31\\n44\\n62\\n")
        >>> _ = pathlib.Path(folder.name, "policy.toml").write_text('''
        ... version = 1
        ... domain = "people"
        ... ledger = { location = "people.ledger", budget = { epsilon = "3" } }
        ... [tables.people]
        ... source = "people.csv"
        ... person = "each row"
        ... columns = { age = { type = "integer", bounds = [0, 100] } }
        ... ''')
        >>> dither.open(folder.name + "/policy.toml").quote("SELECT COUNT(*) AS n FROM people", epsilon="0.5").affordable
        6
        >>> folder.cleanup()
    """
    if not isinstance(path, (str, Path)):
        raise DataError("policy", path, "it is not a path", "'policy.toml'")
    policy = load_policy(Path(path))
    folder = Path(path).resolve().parent
    facts = policy.ledger
    if facts is None:
        raise PolicyError(
            "ledger", None, "a policy names the ledger that keeps the budget", '[ledger] location = "clinic.ledger"'
        )
    sources = {
        table.name: find_source(table.source, folder, f"tables.{table.name}.source")
        for table in policy.tables
        if table.source is not None
    }
    ledger = Ledger(
        _place(facts.location, folder),
        budget=facts.budget,
        domain=policy.domain,
        identity=facts.identity,
        witness=None if facts.witness is None else _place(facts.witness, folder),
    )
    try:
        _put_in_force(policy, ledger)
    except BaseException:
        ledger.close()
        raise
    return Dataset(policy, ledger, sources)


def _put_in_force(policy: Policy, ledger: Ledger) -> None:
    """Bind the ledger to the policy. While nothing is spent the owner may correct the policy, which is recorded."""
    if ledger.policy_hash == policy.hash:
        return
    try:
        ledger.amend(policy.hash, loosens=True, note="before anything was spent", unspent=True)
    except ConflictError as error:
        instead = "that policy, or: dither ledger amend LOCATION --policy FILE, which is recorded"
        raise ConflictError("policy", policy.hash[:16], error.why, instead) from None


def _place(location: str, folder: Path) -> str:
    return location if "://" in location else str(folder / location)


def protect(
    data: DataLike,
    *,
    name: str,
    person: str,
    ledger: Ledger,
    max_rows: int | None = None,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    max_sum: Mapping[str, NumberLike] | None = None,
    hard: Sequence[str] = (),
    bounds: Mapping[str, Sequence[float | str]] | None = None,
    steps: Mapping[str, float | str] | None = None,
    keys: Mapping[str, Sequence[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    complete: Sequence[str] = (),
    public: Mapping[str, DataLike] | None = None,
    per_question: Guarantee | None = None,
    data_version: str = "",
) -> Dataset:
    """A table as a dataset, under a policy of keywords. A column of a public table is called 'wards.site' in them.

    Args:
        data: a DataFrame of pandas or polars, a table of pyarrow, or the path of Parquet, CSV or DuckDB files.
        name: the name of the table in SQL.
        person: the column that says whose a row is, or 'each row' where nobody has two.
        ledger: keeps the budget; it is bound to this policy.
        max_rows: how many rows of one person count, in all groups together; the other two limits follow from it.
        max_groups: in how many groups of an answer one person counts; needed unless max_rows is stated.
        max_rows_per_group: with how many rows in each of them; needed unless max_rows is stated.
        max_sum: what the values of one person add up to at most, by column.
        hard: the limits that nobody can exceed, such as 'max_rows', 'max_sum.cost' or 'bounds.cost': answers believe it.
        bounds: lower and upper bound of columns that are added up, by column.
        steps: the unit in which a column is added up, such as '0.01' for cents, by column.
        keys: the values of a column that an answer shows groups for, by column.
        types: types of columns, such as 'date', where those of the table are others.
        complete: columns that have a value in every row.
        public: tables to join with that say nothing of anybody, by name.
        per_question: the most that one question may cost.
        data_version: a label of the data; change it when the data changes.

    Raises:
        DataError: the data is no table that can be read, or `ledger` is no ledger.
        PolicyError: a keyword does not fit the columns, or a needed limit is missing.
        ConflictError: the ledger was spent under another policy.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> visits = pyarrow.table({"patient": [1, 2, 2], "ward": ["A", "A", "B"], "cost": [120, 80, 900]})
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger(folder.name + "/clinic.ledger", budget=dither.approx(3, "1e-6"))
        >>> clinic = dither.protect(
        ...     visits, name="visits", person="patient", ledger=ledger, max_groups=2, max_rows_per_group=5,
        ...     bounds={"cost": (0, 2000)}, keys={"ward": ["A", "B", "C"]},
        ... )
        >>> quote = clinic.quote("SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward", epsilon="0.5")
        >>> quote.release()["ward"]
        ['A', 'B', 'C']
        >>> folder.cleanup()
    """
    if not isinstance(ledger, Ledger):
        raise DataError(
            "ledger", ledger, "it is not a ledger", "dither.Ledger('clinic.ledger', budget=dither.approx(3, '1e-6'))"
        )
    if not isinstance(name, str) or not name:
        raise PolicyError("name", name, "a table has a name", "'visits'")
    sources = {name: find_source(data, Path.cwd(), "data")}
    for other, frame in _mapping(public, "public").items():
        if other in sources:
            raise PolicyError("public", other, "the protected table has that name", "another name for the public one")
        sources[other] = find_source(frame, Path.cwd(), f"public.{other}")
    if isinstance(complete, str) or not isinstance(complete, Sequence):
        raise PolicyError("complete", complete, "it lists columns that have a value in every row", "['age']")
    facts = {"type": types, "bounds": bounds, "step": steps, "keys": keys, "nullable": dict.fromkeys(complete, False)}
    held = {table: source.schema(table) for table, source in sources.items()}
    columns = _columns(name, held, {fact: _mapping(stated, fact) for fact, stated in facts.items()})
    if isinstance(person, str) and person in held[name] and held[name][person].type is None:
        raise unreadable(person, held[name][person], "person")
    table: dict[str, Any] = {"person": person, "columns": columns.pop(name)}
    limits = {"max_rows": max_rows, "max_groups": max_groups, "max_rows_per_group": max_rows_per_group, "max_sum": max_sum}
    table |= {limit: value for limit, value in limits.items() if value is not None} | {"hard": hard}
    stated_policy: dict[str, Any] = {
        "version": VERSION,
        "domain": ledger.domain or name,
        "unit": ledger.budget.unit.value,
        "data_version": data_version,
        "tables": {name: table, **{other: {"public": True, "columns": held} for other, held in columns.items()}},
    }
    policy = read_policy(stated_policy, per_question=per_question)
    policy = replace(policy, tables=tuple(replace(table, unread=_unread(held[table.name])) for table in policy.tables))
    if ledger.domain is None:
        ledger.bind(policy.domain, policy.hash)
    _put_in_force(policy, ledger)
    return Dataset(policy, ledger, sources)


def _columns(
    name: str, held: Mapping[str, Schema], facts: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, dict[str, Any]]]:
    """The facts of each readable column, by table; 'wards.site' is the column site of the public table wards."""
    columns: dict[str, dict[str, dict[str, Any]]] = {
        table: {column: {"type": found.type.value} for column, found in schema.items() if found.type is not None}
        for table, schema in held.items()
    }
    for fact, stated in facts.items():
        for called, value in stated.items():
            table, column = name, called
            if called not in held[name] and str(called).partition(".")[0] in held:
                table, _, column = str(called).partition(".")
            if column not in held[table]:
                raise PolicyError(f"tables.{table}.columns", column, "the data has no such column", ", ".join(held[table]))
            if held[table][column].type is None:
                raise unreadable(column, held[table][column], f"{fact} of {table}")
            columns[table][column][fact] = list(value) if isinstance(value, tuple) else value
    return columns


def _unread(schema: Schema) -> tuple[tuple[str, str], ...]:
    return tuple((column, held.stored) for column, held in schema.items() if held.type is None)


def _mapping(stated: Mapping[str, Any] | None, fact: str) -> Mapping[str, Any]:
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        raise PolicyError(fact, stated, "it says something for each column by name", "{'cost': ...}")
    return stated
