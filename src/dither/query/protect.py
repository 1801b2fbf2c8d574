"""`dither.protect`: one table as a dataset, under a policy of keywords."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from dither.arguments import argument_errors
from dither.errors import ArgumentError, DataError, PolicyError
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.dataset import Dataset, put_in_force
from dither.query.policy.column import Key, Type
from dither.query.policy.csv_dialect import CsvDialect, read_csv_dialect
from dither.query.policy.origin import CONSENT
from dither.query.policy.policy import VERSION, read_policy
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.find_source import find_source, must_be_table
from dither.query.sources.schema import Schema, unreadable
from dither.query.sources.source import DataLike

KEYS = {Type.INTEGER: int, Type.BOOLEAN: bool, Type.DATE: datetime.date}  # what keys say of a column of a CSV file
Target = TypeVar("Target", bound=Callable[..., Any])


def _data_first(target: Target) -> Target:
    """The same function; where its arguments do not fit, data that is no table is refused before them."""

    @wraps(target)
    def outer(*given: Any, **named: Any) -> Any:
        try:
            return target(*given, **named)
        except ArgumentError as error:
            refused = error
        if given or "data" in named:
            must_be_table(given[0] if given else named["data"], "data")
        raise refused

    return cast(Target, outer)


@_data_first
@argument_errors
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
    limits: str | None = None,
    hard: Sequence[str] = (),
    min_people: int | None = None,
    min_group_size: int | None = None,
    bounds: Mapping[str, Sequence[float | str] | str] | None = None,
    steps: Mapping[str, float | str] | None = None,
    keys: Mapping[str, Sequence[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    complete: Sequence[str] = (),
    known_from: Mapping[str, str] | None = None,
    limits_known_from: str | None = None,
    values_from_data: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    header: bool | Sequence[str] | None = None,
    decimal: str | Mapping[str, str] | None = None,
    thousands: str | Mapping[str, str] | None = None,
    null: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    format: Mapping[str, str] | None = None,  # noqa: A002 - the word of the policy
    true: Mapping[str, Sequence[str]] | None = None,
    false: Mapping[str, Sequence[str]] | None = None,
    public: Mapping[str, DataLike] | None = None,
    per_question: Guarantee | None = None,
    data_version: str = "",
) -> Dataset:
    """A table as a dataset, under a policy of keywords. A column of a public table is called 'wards.site' in them.

    Args:
        data: a DataFrame of pandas, polars or Spark, a table of pyarrow, or the path of Parquet, CSV or DuckDB files.
        name: the name of the table in SQL.
        person: the column that says whose a row is, or 'each row' where nobody has two.
        ledger: keeps the budget; it is bound to this policy.
        max_rows: how many rows of one person count, in all groups together; the other two limits follow from it.
        max_groups: in how many groups of an answer one person counts; needed unless max_rows is stated.
        max_rows_per_group: with how many rows in each of them; needed unless max_rows is stated.
        max_sum: what the values of one person add up to at most, by column.
        limits: 'auto' to find limits privately for each question, at a part of its price, within those that are stated.
        hard: the limits that nobody can exceed, such as 'max_rows', 'max_sum.cost' or 'bounds.cost': answers believe it.
        min_people: the fewest people of a group that is shown, where nobody declared the keys; 2 unless said.
        min_group_size: rows of an answer whose noisy number of people is below it are not shown; no such rule unless said.
        bounds: lower and upper bound of columns that are added up, by column; 'auto' to find them privately.
        steps: the unit in which a column is added up, such as '0.01' for cents, by column.
        keys: the values of a column that an answer shows groups for, by column.
        types: types of columns, such as 'date', where those of the table are others. A column of a CSV file is text, unless
            its keys are whole numbers, truth values or dates, or its bounds are numbers ('float') or dates.
        complete: columns that have a value in every row.
        known_from: from where bounds, steps, keys and completeness of a column are known, by column: 'law', 'unit',
            'questionnaire', 'private release ...' with its receipt, or 'data'.
        limits_known_from: the same of the limits of a person and of what is hard.
        values_from_data: 'accepted' where one of them is 'data', which the guarantee does not cover; answers say so.
        separator: of the cells of a CSV file, ',' unless said; this and the next three are about `data`, not `public`.
        encoding: of a CSV file: 'utf-8' unless said, 'latin-1', 'windows-1252' or 'utf-16'.
        quote: around cells of a CSV file, '"' unless said; '' if there is none.
        header: the names of all columns of a CSV file, in order, if its first line does not have them.
        decimal: the decimal sign of numbers in text, such as ','; for all columns, or by column.
        thousands: the mark before each three digits of numbers in text, such as '.'; for all columns, or by column.
        null: words for missing in text, such as ['NA']; for all columns, or by column.
        format: how dates and times in text are written, such as 'DD.MM.YYYY', by column.
        true: words for true in text, such as ['ja'], by column; beside it `false`.
        false: words for false in text, such as ['nein'], by column.
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
        >>> ledger = dither.Ledger.create(folder.name + "/clinic.ledger", budget=dither.approx(3, "1e-6"))
        >>> clinic = dither.protect(
        ...     visits, name="visits", person="patient", ledger=ledger, max_groups=2, max_rows_per_group=5,
        ...     bounds={"cost": (0, 2000)}, keys={"ward": ["A", "B", "C"]},
        ... )
        >>> quote = clinic.quote("SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward", epsilon="0.5")
        >>> quote.release()["ward"]
        ['A', 'B', 'C']
        >>> folder.cleanup()
    """
    must_be_table(data, "data")
    if not isinstance(ledger, Ledger):
        instead = (
            "dither.Ledger.create('clinic.ledger', budget=dither.approx(3, '1e-6')); "
            "to try things out, dither.Ledger.temporary(dither.pure(1))"
        )
        raise DataError("ledger", ledger, "it is not a ledger", instead)
    if not isinstance(name, str) or not name:
        raise PolicyError("name", name, "a table has a name", "'visits'")
    dialect = _dialect(separator, encoding, quote, header)
    sources = {name: find_source(data, Path.cwd(), "data", dialect)}
    for other, frame in _mapping(public, "public").items():
        if other in sources:
            raise PolicyError("public", other, "the protected table has that name", "another name for the public one")
        sources[other] = find_source(frame, Path.cwd(), f"public.{other}")
    if isinstance(complete, str) or not isinstance(complete, Sequence):
        raise PolicyError("complete", complete, "it lists columns that have a value in every row", "['age']")
    facts = {"type": types, "bounds": bounds, "step": steps, "keys": keys, "nullable": dict.fromkeys(complete, False)}
    cells = {"decimal": decimal, "thousands": thousands, "null": null}
    facts |= {fact: said for fact, said in cells.items() if isinstance(said, Mapping)}
    facts |= {"format": format, "true": true, "false": false, "known_from": known_from}
    held = {table: source.schema(table) for table, source in sources.items()}
    if isinstance(person, str) and person not in held[name] and (hint := sources[name].hint()):
        raise PolicyError("person", person, "the data has no such column", hint)
    columns = _columns(name, held, {fact: _mapping(stated, fact) for fact, stated in facts.items()})
    typed = {*([person] if isinstance(person, str) else []), *_mapping(types, "types")}
    for other, source in sources.items():
        for column, said in columns[other].items() if isinstance(source, CsvFiles) else ():
            if f"{other}.{column}" not in typed and (other != name or column not in typed):
                said["type"] = _type_of(said).value
    if isinstance(person, str) and person in held[name] and held[name][person].type is None:
        raise unreadable(person, held[name][person], "person")
    table: dict[str, Any] = {"person": person, "columns": columns.pop(name)}
    stated: dict[str, Any] = {"max_rows": max_rows, "max_groups": max_groups, "max_rows_per_group": max_rows_per_group}
    stated |= {"max_sum": max_sum, "min_people": min_people, "min_group_size": min_group_size, "limits": limits}
    stated["known_from"] = limits_known_from
    stated |= {fact: said for fact, said in cells.items() if not isinstance(said, Mapping)}
    table |= {limit: value for limit, value in stated.items() if value is not None} | {"hard": hard}
    stated_policy: dict[str, Any] = {
        "version": VERSION,
        "domain": ledger.domain or name,
        "unit": ledger.budget.unit.value,
        "data_version": data_version,
        "tables": {name: table, **{other: {"public": True, "columns": held} for other, held in columns.items()}},
    }
    stated_policy |= {} if values_from_data is None else {CONSENT: values_from_data}
    policy = read_policy(stated_policy, per_question=per_question)
    policy = replace(policy, tables=tuple(replace(one, unread=_unread(held[one.name])) for one in policy.tables))
    policy = replace(
        policy, tables=tuple(replace(one, dialect=dialect) if one.name == name else one for one in policy.tables)
    )
    if ledger.domain is None:
        ledger.bind(policy.domain, policy.hash)
    put_in_force(policy, ledger)
    return Dataset(policy, ledger, sources)


def _dialect(
    separator: str | None, encoding: str | None, quote: str | None, header: bool | Sequence[str] | None
) -> CsvDialect | None:
    """The dialect of a CSV file, as a policy states it."""
    given: dict[str, Any] = {"separator": separator, "encoding": encoding, "quote": quote, "header": header}
    if header is False:
        why = "without a header line the names of the columns are nowhere"
        raise PolicyError("header", False, why, "header=['patient', 'ward', 'cost'], all of them in order")
    return read_csv_dialect({fact: said for fact, said in given.items() if said is not None}, (), "data")


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


def _type_of(facts: Mapping[str, Any]) -> Type:
    """Return what cells of a CSV file, which are text, are read as: what facts of the column say, never what cells are."""
    bounds, keys = facts.get("bounds"), facts.get("keys")
    of_keys = {type(key) for key in keys} if isinstance(keys, (list, tuple)) else set()
    found = next((kind for kind, key in KEYS.items() if of_keys == {key}), Type.TEXT)
    if float in of_keys and of_keys <= {int, float}:
        return Type.FLOAT  # which has no keys, and is refused as such
    if found is not Type.TEXT or bounds is None:
        return found
    ends = set(map(_type_of_end, bounds)) if isinstance(bounds, (list, tuple)) else {Type.FLOAT}  # or 'auto'
    return next((kind for kind in (Type.TIMESTAMP, Type.DATE) if kind in ends), Type.FLOAT)


def _type_of_end(end: Any) -> Type:
    if isinstance(end, str):
        with suppress(ValueError):
            end = (datetime.date if len(end) == len("2024-01-31") else datetime.datetime).fromisoformat(end)
    if isinstance(end, datetime.datetime):
        return Type.TIMESTAMP
    return Type.DATE if isinstance(end, datetime.date) else Type.FLOAT


def _unread(schema: Schema) -> tuple[tuple[str, str], ...]:
    return tuple((column, held.stored) for column, held in schema.items() if held.type is None)


def _mapping(stated: Mapping[str, Any] | None, fact: str) -> Mapping[str, Any]:
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        raise PolicyError(fact, stated, "it says something for each column by name", "{'cost': ...}")
    return stated
