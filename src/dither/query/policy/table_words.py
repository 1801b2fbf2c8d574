"""A table of a policy in words: whose rows they are, and how much of a person counts."""

from __future__ import annotations

from dither.query.policy.origin import origin_words
from dither.query.policy.table import Table


def whose(table: Table) -> str:
    """Whose rows they are."""
    if table.owner is None:
        return str(table.person)
    equal = ", ".join(child if child == parent else f"{child} = {parent}" for child, parent in table.owner.on)
    return f"the owner of its {table.owner.through} ({equal})"


def limit_words(table: Table) -> str:
    """How much of a person counts, and which of it nobody can exceed."""
    if table.person is None:
        told = f", unique by {', '.join(table.unique)}" if table.unique else ""
        return told + (f", hard limits{origin_words(table.known_from)}" if table.known_from else "")
    told = f", {table.max_groups} groups of {table.max_rows_per_group} rows"
    if table.max_rows is not None:
        told = f", {table.max_rows} rows in all" + ("" if table.max_groups == table.max_rows else told)
    if table.auto:
        told = f", limits found privately for each question, within {table.most_rows} rows"
    told += "".join(f", {name} of {float(most):,.12g} in all" for name, most in table.max_sum)
    told += f" (hard: {', '.join(sorted(table.hard))})" if table.hard else ""
    return told + origin_words(table.known_from)
