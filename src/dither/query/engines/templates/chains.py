"""Chains of tables as SQL (`plan/chain.py`): rows beside their parents, with the owner at the end.

Keys are compared as the declared type, texts by their bytes; a key that is missing, or too long, or no value of its type, is
NULL and equals nothing. Nothing is chosen: owners are read as different pairs of key and person, rows that a person repeats
are counted.
"""

from __future__ import annotations

from collections.abc import Callable

from dither.query.engines.words import Words
from dither.query.plan.chain import MOST_REPEATED, Chain
from dither.query.policy.column import Column, Type
from dither.query.policy.owner import HIDDEN, OURS
from dither.query.policy.table import Table

Scanned = Callable[[Table], str]  # a SELECT of all columns of a table, each as its type
REPEATED = f"how many of one key{OURS}"  # a column that no question can name
Pairs = list[tuple[Column, Column]]  # columns of a key: of the child, and of the parent


def chain_sql(words: Words, chain: Chain, scanned: Scanned, at: int = 0) -> str:
    """A SELECT with all columns of the chain, from a link on."""
    link, last = chain.links[at], len(chain.links) - 1
    shown = [f"t.{words.name(there.name)} AS {words.name(here.name)}" for here, there in link.columns]
    rows = f"({scanned(link.table)}) AS t"
    if at < last:
        beside = [here for other in chain.links[at + 1 :] for here, _ in other.columns]
        shown += [f"q.{words.name(here.name)}" for here in beside] + ([f"q.{words.name(HIDDEN)}"] if chain.above else [])
        pairs = [(mine, chain.links[at + 1].here(theirs.name)) for mine, theirs in _pairs(chain, at)]
        rows += f" JOIN ({_few(words, chain, scanned, at + 1)}) AS q ON {_equal(words, pairs, 't', 'q', keys=False)}"
    elif chain.above:
        shown.append(f"o.p AS {words.name(HIDDEN)}")
        equal = _equal(words, _pairs(chain, at), "t", "o", keys=True)
        rows += f" JOIN ({_owners(words, chain, at + 1, scanned)}) AS o ON {equal}"
    return f"SELECT {', '.join(shown)} FROM {rows}"


def orphans_sql(words: Words, chain: Chain, scanned: Scanned) -> str:
    """A SELECT of the number of rows of the first table that lead to nobody. For the owner of the data alone."""
    assert len(chain.links) == 1
    equal = _equal(words, _pairs(chain, 0), "t", "o", keys=True)
    owners = f"SELECT 1 FROM ({_owners(words, chain, 1, scanned)}) AS o WHERE {equal}"
    return f"SELECT count(*) FROM ({scanned(chain.links[0].table)}) AS t WHERE NOT EXISTS ({owners})"


def _few(words: Words, chain: Chain, scanned: Scanned, at: int) -> str:
    """Parents, without those of a person who has too many with one key. They are counted by a window, which no engine moves
    behind the join that comes next: that one would make all their pairs."""
    person = f"q.{words.name(str(chain.table.person))}"
    keys = [_key(words, chain.links[at].here(parent.name), "q") for _, parent in _pairs(chain, at - 1)]
    columns = [here.name for link in chain.links[at:] for here, _ in link.columns] + ([HIDDEN] if chain.above else [])
    many, rows = words.name(REPEATED), chain_sql(words, chain, scanned, at)
    counted = f"SELECT *, count(*) OVER (PARTITION BY {', '.join([person, *keys])}) AS {many} FROM ({rows}) AS q"
    shown = ", ".join(words.name(column) for column in columns)
    return f"SELECT {shown} FROM ({counted}) AS c WHERE {many} <= {MOST_REPEATED}"


def _owners(words: Words, chain: Chain, at: int, scanned: Scanned) -> str:
    """Who owns rows of a table above: her and the key by which rows below lead there, once."""
    tables = chain.tables
    keys = _keys(words, _pairs(chain, at - 1), "t")
    rows = f"({scanned(tables[at])}) AS t"
    if at + 1 == len(tables):
        return f"SELECT DISTINCT {keys}, t.{words.name(str(tables[at].person))} AS p FROM {rows}"
    equal = _equal(words, _pairs(chain, at), "t", "o", keys=True)
    return f"SELECT DISTINCT {keys}, o.p FROM {rows} JOIN ({_owners(words, chain, at + 1, scanned)}) AS o ON {equal}"


def _pairs(chain: Chain, at: int) -> Pairs:
    """The key that leads from a table of the chain to the next."""
    child, parent = chain.tables[at : at + 2]
    assert child.owner is not None
    found = [(child.column(mine), parent.column(theirs)) for mine, theirs in child.owner.on]
    return [(mine, theirs) for mine, theirs in found if mine is not None and theirs is not None]


def _keys(words: Words, pairs: Pairs, called: str) -> str:
    return ", ".join(f"{_key(words, parent, called)} AS k{place}" for place, (_, parent) in enumerate(pairs))


def _key(words: Words, column: Column, called: str) -> str:
    name = f"{called}.{words.name(column.name)}"
    return words.binary(name) if column.type is Type.TEXT else name


def _equal(words: Words, pairs: Pairs, child: str, parent: str, *, keys: bool) -> str:
    """The equality of a step; of a parent's table, or of its `keys` k0, k1, .."""
    theirs = [f"{parent}.k{place}" if keys else _key(words, column, parent) for place, (_, column) in enumerate(pairs)]
    return " AND ".join(f"{_key(words, mine, child)} = {one}" for (mine, _), one in zip(pairs, theirs, strict=True))
