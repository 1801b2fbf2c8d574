"""Made-up rows of every table of a policy, made of the policy alone.

Theorem. The rows have the same value whatever the data is: they are 0-differentially private for every unit, and nothing is
charged.

    policy, rows, seed    what `sample_rows` is given; none of them holds a row, a source that is open, or a ledger

Proof. All that is drawn is a hash of the seed and of names of the policy (`hash_stream.py`), and all that is done with it is
arithmetic on facts of the policy. No file, database, frame or ledger is opened, which a test listens for (audit events of
Python). What has the same value on all data has the same law on neighbours, with a ratio of 1. (What an owner took from the
data into the policy was public before, and is outside of it as it is outside of every answer.)

Rows fit the policy: numbers are on their steps within the bounds, texts among the keys, no limit of a person is exceeded.
Columns of one name have the same values in all tables, people are the same everywhere, and keys of parents are there, so
that joins find rows. Texts of which the policy says nothing are `text 1`, `text 2` and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex

from dither.arguments import argument_errors
from dither.errors import DataError, SizeError
from dither.numeric.number import integer
from dither.query.policy.chains import parents
from dither.query.policy.policy import MADE_UP, Policy
from dither.query.policy.table import Table
from dither.query.sample.column_values import arrow_type
from dither.query.sample.shared_columns import SharedColumns
from dither.query.sample.table_rows import PrivateRows, TableRows, public_rows

if TYPE_CHECKING:
    import pyarrow

ROWS = 1000
MOST_ROWS = 1_000_000


@argument_errors
def sample_rows(policy: Policy, rows: SupportsIndex = ROWS, *, seed: SupportsIndex = 0) -> dict[str, pyarrow.Table]:
    """Made-up rows of every table of a policy, by its name: for trying a question. No data is read, and nothing is charged.

    Args:
        policy: what is declared: columns with their types, bounds and keys, and whose rows they are.
        rows: of each table; there are fewer where the policy leaves no room for more, such as keys of a public table.
        seed: a whole number; the same number gives the same rows, on every machine.

    Raises:
        DataError: `policy` is no policy.
        NumberError: `rows` is no whole number above 0, or the seed is no whole number.
        SizeError: more than a million rows of a table are asked for.

    Example:
        >>> import dither
        >>> from dither.query.policy.policy import read_policy
        >>> facts = {"person": "who", "max_rows": 2, "columns": {"who": {"type": "integer"}, "town": {"type": "text"}}}
        >>> policy = read_policy({"version": 1, "domain": "class", "tables": {"visits": facts}})
        >>> rows = dither.sample_rows(policy, 5)["visits"]
        >>> rows.column_names, rows.num_rows, rows["town"][0].as_py().startswith("text ")
        (['who', 'town'], 5, True)
    """
    if not isinstance(policy, Policy):
        raise DataError("policy", policy, "it is not a policy", "dither.open('policy.toml').policy")
    count, drawn = integer(rows, name="rows", least=1), integer(seed, name="seed")
    if count > MOST_ROWS:
        raise SizeError("rows", count, f"a table of made-up rows has at most {MOST_ROWS:,}", "1000")
    shared, made = SharedColumns(policy.tables), dict[str, TableRows]()
    for table in _parents_first(policy.tables):
        if table.public:
            made[table.name] = public_rows(table, shared, count, drawn)
        else:
            parent = None if table.owner is None else made[table.owner.through]
            made[table.name] = PrivateRows(table, shared, parent, count, drawn).made(count)
    return {table.name: _arrow(made[table.name], shared) for table in policy.tables}


def _parents_first(tables: Sequence[Table]) -> list[Table]:
    return sorted(tables, key=lambda table: len(parents(table, tables)))


def _arrow(made: TableRows, shared: SharedColumns) -> pyarrow.Table:
    """The rows as an Arrow table, which says of itself that they are made up."""
    import pyarrow

    columns = {one.name: arrow_type(shared.stated(one)) for one in made.table.columns}
    arrays = [pyarrow.array([row[name] for row in made.rows], kind) for name, kind in columns.items()]
    return pyarrow.Table.from_arrays(arrays, names=list(columns)).replace_schema_metadata({"dither": MADE_UP})
