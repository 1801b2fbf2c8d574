"""A dataset: tables under one policy and one ledger. `open` reads a policy file; `protect` takes a table and keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from dither.errors import ConflictError, DataError, PolicyError
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.query.batch import Batch, make_batch
from dither.query.holdings import Holdings
from dither.query.policy.policy import VERSION, Policy, load_policy, read_policy
from dither.query.pricing.ask import Ask
from dither.query.quote import Quote, make_quote
from dither.query.sources.find_source import find_source
from dither.query.sources.schema import Schema, unreadable
from dither.query.sql.ibis import as_sql


class Terms(TypedDict, total=False):
    """How a price is stated, and what error bars are to hold."""

    epsilon: object
    rho: object
    guarantee: object
    error: object
    confidence: object
    size: object
    bounding: object
    delta: object
    other: object


class Dataset(Holdings):
    """What people hold, and what may be asked about it."""

    @overload
    def quote(self, sql: str, **terms: Unpack[Terms]) -> Quote: ...

    @overload
    def quote(self, sql: list[str] | tuple[str, ...], **terms: Unpack[Terms]) -> Batch: ...

    def quote(
        self,
        sql: object,
        *,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        guarantee: object = None,
        error: NumberLike | None = None,
        confidence: NumberLike = "0.95",
        size: object = None,
        bounding: object = None,
        delta: NumberLike | None = None,
        other: object = None,
    ) -> Quote | Batch:
        """Price and error of a question, in SQL or as an Ibis expression; reads no data, costs nothing. A list is a batch.

        The price is stated in one way: `epsilon`, `rho`, a `guarantee`, or the `error` that is wished for each column.
        `size` is a public guess of how many rows a group has: averages need it for their error. `bounding` is 'weights',
        'clip' or 'groups'; left out, the best that fits is taken. Where nobody declared the keys of GROUP BY, `delta` is the
        probability with which keys of one person alone may be shown, a hundredth of the budget's if left out, and `other`
        the name under which rows of keys that are not shown are counted together.
        """
        terms: Terms = {"epsilon": epsilon, "rho": rho, "guarantee": guarantee, "error": error, "confidence": confidence}
        terms |= {"size": size, "bounding": bounding, "delta": delta, "other": other}
        if isinstance(sql, (list, tuple)):
            return make_batch(Ask(text=[as_sql(one) for one in sql], **terms), self)
        return make_quote(Ask(text=as_sql(sql), **terms), self)

    def explain(self) -> str:
        """What is protected, how, and what is left of the budget."""
        return f"{self.policy.explain()}\nBudget     {self.ledger.remaining()}"


def open(path: object) -> Dataset:  # noqa: A001 - as `dither.open`
    """The dataset of a policy file; its ledger is made if there is none. Paths in it are relative to its folder."""
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
    """Bind the ledger to the policy. As long as nothing was ever spent the owner may correct it; that is recorded, too."""
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
    data: object,
    *,
    name: str,
    person: str,
    ledger: Ledger,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    bounds: Mapping[str, tuple[object, object]] | None = None,
    steps: Mapping[str, object] | None = None,
    keys: Mapping[str, Sequence[object]] | None = None,
    types: Mapping[str, str] | None = None,
    complete: Sequence[str] = (),
    public: Mapping[str, object] | None = None,
    per_question: object = None,
    data_version: str = "",
) -> Dataset:
    """One table under a policy of keywords. `person` names the column that says whose a row is, or is 'each row'.

    Types come from the schema of the table, or from `types`; `complete` lists the columns that have a value in every row.
    `public` are tables to join with that tell nothing of anybody, by name; a column of theirs is called 'wards.site'.
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
    for limit, value in (("max_groups", max_groups), ("max_rows_per_group", max_rows_per_group)):
        if value is not None:
            table[limit] = value
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
    """The columns of each table that can be read, with their facts; 'wards.site' is the column site of another table than
    the first."""
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


def _mapping(stated: object, fact: str) -> Mapping[str, Any]:
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        raise PolicyError(fact, stated, "it says something for each column by name", "{'cost': ...}")
    return stated
