"""Quantitative information flow: by how much the output of a channel helps somebody to guess its input.

prior vulnerability      V = max over w of E g(w, x): the best guess without the channel (identity gain: Bayes)
posterior                the same with it: the utility of the channel for that gain
multiplicative leakage   posterior / prior
min-capacity             the largest Bayes leakage over all priors: ln of the sum over outputs of the largest entry,
                         attained by the uniform prior (Braun, Chatzikokolakis and Palamidessi 2009)
mutual information       of input and output, in nats
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.matrix import check_channel
from dither.channels.prior import PriorLike, read_prior
from dither.channels.rational_function import Ratio
from dither.channels.utility import GainLike, read_gain, utility
from dither.errors import DataError
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure

__all__ = [
    "bayes_capacity",
    "min_capacity",
    "multiplicative",
    "mutual_information",
    "posterior_vulnerability",
    "prior_vulnerability",
]


@argument_errors
def prior_vulnerability(
    channel: Channel, prior: PriorLike, gain: GainLike = "identity", guesses: Iterable[Hashable] | None = None
) -> Fraction:
    """The best expected gain of somebody who sees nothing: the prior g-vulnerability.

    Args:
        channel: What is said for each input.
        prior: How likely each input is: "uniform", a mapping, or a list of exact probabilities.
        gain: How good a guess is: a name, a function g(guess, truth), or a matrix (`utility.py`).
        guesses: What may be guessed; None for the inputs.

    Raises:
        DataError: `channel` is no channel, `prior` no distribution of its inputs or `gain` no gain.
        SizeError: `prior` or `gain` has another size than the inputs.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import leakage
        >>> leakage.prior_vulnerability(Channel.identity(["a", "b"]), "uniform")
        Fraction(1, 2)
    """
    check_channel(channel)
    chances, table = read_prior(prior, channel.inputs), read_gain(gain, channel.inputs, guesses)
    return max(sum((p * g for p, g in zip(chances, row, strict=True)), start=Fraction(0)) for row in table.rows)


@argument_errors
def posterior_vulnerability(
    channel: Channel, prior: PriorLike, gain: GainLike = "identity", guesses: Iterable[Hashable] | None = None
) -> Any:
    """The best expected gain of somebody who sees the output: the posterior g-vulnerability, exact where the channel is.

    Args:
        channel: What is said for each input.
        prior: How likely each input is: "uniform", a mapping, or a list of exact probabilities.
        gain: How good a guess is: a name, a function g(guess, truth), or a matrix (`utility.py`).
        guesses: What may be guessed; None for the inputs.

    Raises:
        DataError: `channel` is no channel, `prior` no distribution of its inputs or `gain` no gain.
        SizeError: `prior` or `gain` has another size than the inputs.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import leakage
        >>> c = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> leakage.posterior_vulnerability(c, "uniform")
        Fraction(3, 4)
    """
    return utility(channel, prior, gain, guesses).value


@argument_errors
def multiplicative(
    channel: Channel, prior: PriorLike, gain: GainLike = "identity", guesses: Iterable[Hashable] | None = None
) -> Any:
    """By which factor the output raises the vulnerability, for gains that are not negative.

    Args:
        channel: What is said for each input.
        prior: How likely each input is: "uniform", a mapping, or a list of exact probabilities.
        gain: How good a guess is: a name, a function g(guess, truth), or a matrix (`utility.py`).
        guesses: What may be guessed; None for the inputs.

    Raises:
        DataError: `channel` is no channel, `prior` no distribution of its inputs or `gain` no gain; or nothing is gained
            without the channel.
        SizeError: `prior` or `gain` has another size than the inputs.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import leakage
        >>> c = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> leakage.multiplicative(c, "uniform")
        Fraction(3, 2)
    """
    check_channel(channel)
    chances, listed = read_prior(prior, channel.inputs), None if guesses is None else tuple(guesses)
    before = prior_vulnerability(channel, chances, gain, listed)
    if before <= 0:
        raise DataError("gain", gain, "a factor needs a gain above zero without the channel", "'identity'")
    after = posterior_vulnerability(channel, chances, gain, listed)
    return after / float(before) if isinstance(after, float) else after / before


@argument_errors
def bayes_capacity(channel: Channel) -> Any:
    """The largest factor for guessing the input, over all priors: the sum over outputs of the largest entry.

    Args:
        channel: What is said for each input.

    Raises:
        DataError: `channel` is no channel.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import leakage
        >>> leakage.bayes_capacity(Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
        Fraction(3, 2)
    """
    check_channel(channel)
    if channel.rows is None:
        return float(channel.matrix.max(axis=0).sum())
    total: Any = Fraction(0)
    for column in zip(*channel.rows, strict=True):
        total = total + _largest(column)
    return total


@argument_errors
def min_capacity(channel: Channel) -> Enclosure:
    """The min-capacity: ln of the Bayes capacity, in nats.

    Args:
        channel: What is said for each input.

    Raises:
        DataError: `channel` is no channel.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import leakage
        >>> from dither import ln
        >>> ln("3/2") in leakage.min_capacity(Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
        True
    """
    check_channel(channel)
    columns = zip(*(channel.entries(at) for at in range(len(channel.inputs))), strict=True)
    largest = [_largest(column) for column in columns]
    return certify(lambda: sum((_ball(entry) for entry in largest), start=to_ball(0)).log())


def _largest(column: tuple[Any, ...]) -> Any:
    most = column[0]
    for entry in column[1:]:
        most = entry if entry > most else most
    return most


@argument_errors
def mutual_information(channel: Channel, prior: PriorLike) -> Enclosure:
    """The mutual information of input and output, in nats.

    Args:
        channel: What is said for each input.
        prior: How likely each input is: "uniform", a mapping, or a list of exact probabilities.

    Raises:
        DataError: `channel` is no channel, or `prior` no distribution of its inputs.
        SizeError: `prior` has another size than the inputs.

    Example:
        >>> from dither import Channel, ln
        >>> from dither.channels import leakage
        >>> ln(2) in leakage.mutual_information(Channel.identity([0, 1]), "uniform")
        True
    """
    check_channel(channel)
    chances = read_prior(prior, channel.inputs)
    rows = [channel.entries(at) for at in range(len(channel.inputs))]

    def total() -> Any:
        seen = [
            sum((to_ball(p) * _ball(row[z]) for p, row in zip(chances, rows, strict=True)), start=to_ball(0))
            for z in range(len(channel.outputs))
        ]
        found = to_ball(0)
        for p, row in zip(chances, rows, strict=True):
            for entry, whole in zip(row, seen, strict=True):
                if p and entry != 0:
                    found += to_ball(p) * _ball(entry) * (_ball(entry) / whole).log()
        return found

    return certify(total)


def _ball(entry: Fraction | Ratio) -> Any:
    return entry.ball() if isinstance(entry, Ratio) else to_ball(entry)
