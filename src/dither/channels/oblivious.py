"""Oblivious mechanisms: those that see a database only through the answer of a query, K = H after f.

Theorem. The smallest epsilon of K on databases that differ in one record is the smallest epsilon of H on the graph
that f induces on its answers.

Proof. x ~ x' gives rows H[f(x)] and H[f(x')] of K. Where f(x) = f(x') they are the same; otherwise f(x) ~ f(x') in
the induced graph. And every edge of that graph comes from such a pair, by definition. So both maxima run over the
same pairs of rows.

    lift(channel, query, universe, records)   from answers to databases: K
    lower(channel, query)                     from databases to answers: H, refused where K is not oblivious
    is_oblivious(channel, query)              whether databases with the same answer have the same row
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.graph import databases
from dither.channels.labels import check_callable, check_hashable, plain
from dither.channels.matrix import check_channel
from dither.errors import DataError

__all__ = ["is_oblivious", "lift", "lower"]

QueryFunction = Callable[[Any], Hashable]


@argument_errors
def lift(channel: Channel, query: QueryFunction, universe: Iterable[Hashable], records: SupportsIndex) -> Channel:
    """The mechanism on databases of n records that gives the answer of a query to a channel.

    Args:
        channel: What is said for each answer.
        query: A function of a tuple of records, whose answers are inputs of the channel.
        universe: The values that a record can have, each once.
        records: How many records a database has, at least 1.

    Raises:
        DataError: `channel` is no channel, `query` no function, or an answer is no input of the channel.
        NumberError: `records` is no whole number above zero.
        SizeError: There are more than two million databases.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import oblivious
        >>> oblivious.lift(Channel.identity([0, 1, 2]), sum, [0, 1], 2)
        Channel(4 inputs, 3 outputs, exact)
    """
    check_channel(channel)
    check_callable(query, "query")
    nodes = databases(universe, records).nodes
    places = [channel.place(plain(query(node))) for node in nodes]
    matrix = channel.matrix[places] if channel.rows is None else [channel.rows[at] for at in places]
    return Channel(matrix, nodes, channel.outputs)


@argument_errors
def lower(channel: Channel, query: QueryFunction) -> Channel:
    """The channel on answers that an oblivious mechanism on databases is made of.

    Args:
        channel: What is said for each database.
        query: A function of an input of the channel; its answers are hashable.

    Raises:
        DataError: Two databases with one answer have different rows, so it is not oblivious. Or `query` is no function.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import oblivious
        >>> lifted = oblivious.lift(Channel.identity([0, 1, 2]), sum, [0, 1], 2)
        >>> oblivious.lower(lifted, sum).inputs
        (0, 1, 2)
    """
    first, clash = _by_answer(channel, query)
    if clash is not None:
        why = f"{clash[0]!r} and {clash[1]!r} have the same answer and other rows: it looks at more than the answer"
        raise DataError("channel", channel, why, "a mechanism that sees the answer only")
    places = list(first.values())
    matrix = channel.matrix[places] if channel.rows is None else [channel.rows[at] for at in places]
    return Channel(matrix, list(first), channel.outputs)


@argument_errors
def is_oblivious(channel: Channel, query: QueryFunction) -> bool:
    """Whether a mechanism on databases depends on the answer of the query only.

    Args:
        channel: What is said for each database.
        query: A function of an input of the channel; its answers are hashable.

    Raises:
        DataError: `channel` is no channel, or `query` no function.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import oblivious
        >>> oblivious.is_oblivious(Channel.identity([(0, 1), (1, 0)]), sum)
        False
    """
    return _by_answer(channel, query)[1] is None


def _by_answer(channel: Channel, query: QueryFunction) -> tuple[dict[Hashable, int], tuple[Hashable, Hashable] | None]:
    """Each answer with the first database that has it, and two with one answer and different rows, if there are."""
    check_channel(channel)
    check_callable(query, "query")
    first: dict[Hashable, int] = {}
    for at, data in enumerate(channel.inputs):
        answer = plain(query(data))
        check_hashable(answer, "query")
        other = first.setdefault(answer, at)
        if channel.entries(at) != channel.entries(other):
            return first, (channel.inputs[other], data)
    try:
        ordered = sorted(first)  # type: ignore[type-var]
    except TypeError:  # answers without an order stay as they came
        return first, None
    return {answer: first[answer] for answer in ordered}, None
