"""`sample_dataset`: a dataset of made-up rows under a throw-away ledger, where a question can be tried for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import DataError, UnitError
from dither.ledger.entries.budget import BudgetLike
from dither.ledger.ledger import Ledger
from dither.privacy.guarantee.definitions import approx
from dither.query.dataset import Dataset
from dither.query.policy.policy import Policy, load_policy
from dither.query.sample.sample_policy import sample_policy
from dither.query.sample.sample_rows import ROWS, sample_rows
from dither.query.sources.frames import ArrowTable

EPSILON, DELTA = 3, "1e-6"  # of the budget, where the policy names no ledger


@argument_errors
def sample_dataset(
    policy: Policy | str | Path,
    rows: SupportsIndex = ROWS,
    *,
    seed: SupportsIndex = 0,
    budget: BudgetLike | None = None,
) -> Dataset:
    """A dataset of made-up rows, for trying questions. No data is read, and the ledger of the policy is not touched.

    Questions are understood, priced and answered by the same code as those about the data, under a ledger that is gone when
    it is closed. Quotes and answers say that the rows are made up, and receipts that the ledger is temporary.

    Args:
        policy: a policy, or the path of a policy file.
        rows: of each table, as of `sample_rows`.
        seed: as of `sample_rows`.
        budget: of the throw-away ledger; left out, the budget that the policy states.

    Raises:
        DataError: `policy` is neither a policy nor a path.
        PolicyError: the file cannot be read.
        NumberError, SizeError: as of `sample_rows`.
        GuaranteeError, UnitError: what is given as a budget is none, or about other neighbours.

    Example:
        >>> import dither
        >>> from dither.query.policy.policy import read_policy
        >>> facts = {"person": "who", "max_rows": 2, "columns": {"who": {"type": "integer"}, "town": {"type": "text"}}}
        >>> policy = read_policy({"version": 1, "domain": "class", "tables": {"visits": facts}})
        >>> trial = dither.sample_dataset(policy)
        >>> answer = trial.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
        >>> print(answer.says.splitlines()[0])
        made-up rows: no row is real, and nothing was taken from the data
        >>> trial.policy.domain, answer.receipt.name.startswith("temporary-")
        ('sample of class', True)
        >>> trial.ledger.close()
    """
    if isinstance(policy, (str, Path)):
        policy = load_policy(Path(policy))
    if not isinstance(policy, Policy):
        raise DataError("policy", policy, "it is neither a policy nor a path", "'policy.toml'")
    tables = sample_rows(policy, rows, seed=seed)
    own = sample_policy(policy, f"made up, {rows} rows, seed {seed}")
    if budget is None:
        budget = approx(EPSILON, DELTA, unit=policy.unit) if policy.ledger is None else policy.ledger.budget
    ledger = Ledger.temporary(budget)
    if ledger.budget.unit is not policy.unit:
        ledger.close()
        why = f"the policy is about another unit: {policy.unit.value}"
        raise UnitError("budget", ledger.budget.unit.value, why, "a budget of that unit, or leaving it out")
    ledger.bind(own.domain, own.hash)
    return Dataset(own, ledger, {name: ArrowTable(table) for name, table in tables.items()})
