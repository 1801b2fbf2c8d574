"""Universal optimality: one mechanism that is the best for every prior. Counts have it; where answers form a triangle
there is none.

    shortfall(channel, graph, epsilon, cases)     how far one channel stays behind the best mechanism, case by case
    joint(inputs, epsilon, priors, gain)          whether any one mechanism can be the best for all of several priors
    witness(inputs, epsilon, gain)                two priors for which none can, if such are found

Theorem (Ghosh, Roughgarden and Sundararajan 2009). For counts the truncated geometric mechanism is as good as the best one,
for any prior and any gain that falls with the distance.

Brenner and Nissim 2010: essentially only counts have it. A proof for any given graph and epsilon is a list of priors and
a number: a mechanism that were the best for each prior would gain the sum of the optima, and `joint` proves that no
mechanism gains as much. It is a linear program too: an output now says a guess for each prior, so the guesses are tuples
and their gain is the sum.

What is proved here of cycles, for the identity gain: a graph with a triangle has no such mechanism, at any epsilon (below,
for the triangle alone; docs/exercises.md, 8). On rings of 4 to 7 answers two priors exclude it at epsilon 0.5 and 3, by
`joint`: each is a proof for that ring and that epsilon, and for no other. Longer cycles without triangles are open here.

By hand, for one record with three values (all neighbours), identity gain: a column with largest entry m has sum >=
m (1 + 2/E); summing over columns, 3 >= (1 + 2/E) sum of m, with equality, so optimality for the uniform prior, only if
every column is (m, m/E, m/E) in some order. Optimality for the prior (1/2, 1/2, 0) needs the ratio E or 1/E between the
first two rows in every column, so no column has its largest entry in the third row; then the third row adds up to
3/(E + 2) < 1, which no row does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.graph import GraphLike, read_graph
from dither.channels.matrix import check_channel
from dither.channels.neighbour_graph import Graph
from dither.channels.optimal.linear_program import best_on_graph, check_size
from dither.channels.optimal.optimal import optimal
from dither.channels.prior import PriorLike, read_prior
from dither.channels.utility import GainLike, read_gain
from dither.errors import DataError, GuaranteeError, SizeError
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import Enclosure, NumberLike, exact
from dither.numeric.representation import short_repr

__all__ = ["Case", "Joint", "joint", "shortfall", "witness"]

MOST_PAIRS = 2000


@argument_errors
@dataclass(frozen=True)
class Case:
    """One case of `shortfall`: what the channel gains for a prior and a gain, and the best that is possible.

    Args:
        prior: How likely each input is, as it was given.
        gain: How good a guess is, as it was given.
        reached: What the channel gains with its best remap.
        best: What the best mechanism gains, lower and upper bound.

    Example:
        >>> from dither.channels import universal
        >>> from dither.numeric.number import Enclosure
        >>> universal.Case("uniform", "identity", 0.5, Enclosure(0.75, 0.75)).behind
        0.25
    """

    prior: PriorLike
    gain: GainLike
    reached: float  # by the channel with its best remap
    best: Enclosure  # what the best mechanism gains, lower and upper bound
    __repr__ = short_repr

    @property
    def behind(self) -> float:
        """How much less than the best mechanism it surely gains; zero or below where no loss is proved."""
        return self.best.lower - self.reached


@argument_errors
def shortfall(
    channel: Channel, graph: Graph, epsilon: NumberLike, cases: Iterable[tuple[PriorLike, GainLike]]
) -> tuple[Case, ...]:
    """For each prior and gain: what a channel gains with its best remap, beside the best mechanism at this epsilon.

    Args:
        channel: A mechanism on finitely many answers.
        graph: Which answers are neighbours.
        epsilon: The promise, an exact number above zero, which the channel itself keeps.
        cases: Pairs of a prior and a gain.

    Raises:
        GuaranteeError: The channel does not keep `epsilon`.
        DataError: `channel`, `graph` or a case is not what it should be.
        NumberError: `epsilon` is not above zero.

    Example:
        >>> import dither
        >>> from dither.channels import graph, universal
        >>> counts = dither.Geometric(epsilon=1, sensitivity=1, bounds=(0, 4)).channel()
        >>> (case,) = universal.shortfall(counts, graph.path(range(5)), 1, [("uniform", "absolute")])
        >>> case.behind < 1e-9
        True
    """
    check_channel(channel)
    promised = exact(epsilon, name="epsilon", positive=True)
    if isinstance(cases, str) or not isinstance(cases, Iterable):
        raise DataError("cases", cases, "they are pairs of a prior and a gain", "[('uniform', 'absolute')]")
    leak = channel.epsilon(graph)
    if not (leak.exact is not None and leak.exact <= promised) and not leak.bounds.upper <= promised.bounds().lower:
        why = f"the channel itself has {leak}, so it is not one of those that it is compared with"
        raise GuaranteeError("epsilon", str(promised), why, "an epsilon that the channel keeps")
    found = []
    for case in cases:
        if not isinstance(case, tuple) or len(case) != 2:
            raise DataError("cases", case, "a case is a prior and a gain", "('uniform', 'absolute')")
        prior, gain = read_prior(case[0], channel.inputs), case[1]
        best = optimal(channel.inputs, epsilon=promised, prior=prior, gain=gain, graph=graph)
        most = round_up(Fraction(best.utility) + Fraction(best.gap))
        found.append(Case(case[0], gain, float(channel.utility(prior, gain)), Enclosure(best.utility, most)))
    return tuple(found)


@argument_errors
@dataclass(frozen=True)
class Joint:
    """What several users gain, each with a mechanism of her own, and all with one.

    Args:
        priors: The prior of each user.
        separate: The optimum of each prior, lower and upper bound.
        together: The largest sum of gains with one mechanism, lower and upper bound.

    Example:
        >>> from dither.channels import universal
        >>> from dither.numeric.number import Enclosure
        >>> one, both = Enclosure(0.5, 0.5), Enclosure(0.75, 0.75)
        >>> universal.Joint(("uniform", ["1/2", "1/2", 0]), (one, one), both).impossible
        True
    """

    priors: tuple[PriorLike, ...]
    separate: tuple[Enclosure, ...]  # the optimum of each prior, lower and upper bound
    together: Enclosure  # the largest sum of gains with one mechanism
    __repr__ = short_repr

    @property
    def lost(self) -> Enclosure:
        """How much the sum of gains falls where all users share one mechanism, lower and upper bound."""
        low = sum(Fraction(one.lower) for one in self.separate) - Fraction(self.together.upper)
        high = sum(Fraction(one.upper) for one in self.separate) - Fraction(self.together.lower)
        return Enclosure(round_down(low), round_up(high))

    @property
    def impossible(self) -> bool:
        """Whether it is proved that no mechanism is the best for all of these priors."""
        return self.lost.lower > 0


@argument_errors
def joint(
    inputs: Iterable[Hashable],
    *,
    epsilon: NumberLike,
    priors: Sequence[PriorLike],
    gain: GainLike = "identity",
    graph: GraphLike = "complete",
) -> Joint:
    """Whether one mechanism can be the best for all of these priors.

    Args:
        inputs: The labels of the answers, each once.
        epsilon: The promise, an exact number above zero.
        priors: At least two: "uniform", a mapping, or a list of exact probabilities.
        gain: How good a guess is: a name, a function g(guess, truth), or a matrix (`utility.py`).
        graph: Which answers are neighbours: "path", "complete", or a `Graph` on the inputs.

    Raises:
        DataError: Fewer than two priors, or `graph` or `gain` is none.
        NumberError: `epsilon` is not above zero.
        SizeError: The linear program would be too large.

    Example:
        >>> from dither.channels import universal
        >>> universal.joint(range(3), epsilon=1, priors=["uniform", ["1/2", "1/2", 0]]).impossible
        True
    """
    promised, nodes = exact(epsilon, name="epsilon", positive=True), read_graph(graph, inputs)
    if not isinstance(priors, Sequence) or isinstance(priors, str) or len(priors) < 2:
        raise DataError("priors", priors, "at least two are needed", "['uniform', ['1/2', '1/2', 0]]")
    table = read_gain(gain, nodes.nodes)
    check_size(len(table.guesses) ** len(priors), nodes)
    known = [read_prior(prior, nodes.nodes) for prior in priors]
    weights = [[[p * g for p, g in zip(prior, row, strict=True)] for row in table.rows] for prior in known]
    separate = tuple(Enclosure(*best_on_graph(own, nodes, promised)[1:]) for own in weights)
    sums = [[sum(parts, start=Fraction(0)) for parts in zip(*rows, strict=True)] for rows in product(*weights)]
    return Joint(tuple(priors), separate, Enclosure(*best_on_graph(sums, nodes, promised)[1:]))


@argument_errors
def witness(
    inputs: Iterable[Hashable], *, epsilon: NumberLike, gain: GainLike = "identity", graph: GraphLike = "complete"
) -> Joint | None:
    """Two priors that no one mechanism serves best, by a proved margin; None where none was found, which proves nothing.

    Tried are the priors that are uniform on two inputs, on three, and on all, in pairs.

    Args:
        inputs: The labels of the answers, each once.
        epsilon: The promise, an exact number above zero.
        gain: How good a guess is: a name, a function g(guess, truth), or a matrix (`utility.py`).
        graph: Which answers are neighbours: "path", "complete", or a `Graph` on the inputs.

    Raises:
        DataError: `graph` or `gain` is none.
        NumberError: `epsilon` is not above zero.
        SizeError: There are too many pairs of priors, or the linear program would be too large.

    Example:
        >>> from dither.channels import universal
        >>> universal.witness(range(3), epsilon=1).lost.lower > 0
        True
    """
    nodes = read_graph(graph, inputs)
    count = len(nodes)
    chosen = [*combinations(range(count), 2), *combinations(range(count), 3), tuple(range(count))]
    if len(chosen) * (len(chosen) - 1) // 2 > MOST_PAIRS:
        raise SizeError("inputs", count, "there are too many pairs of priors to try", "joint(...) with priors of your own")
    priors = [[Fraction(int(at in some), len(some)) for at in range(count)] for some in dict.fromkeys(chosen)]
    for pair in combinations(priors, 2):
        found = joint(nodes.nodes, epsilon=epsilon, priors=pair, gain=gain, graph=nodes)
        if found.impossible and found.lost.lower > found.lost.width:
            return found
    return None
