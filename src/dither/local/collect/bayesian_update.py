"""The iterative Bayesian update: from counts of reports to frequencies, through any channel.

    p(i) <- p(i) w(i),    w = pull(h / m),    m = push(p),    h the shares of the n reports

It is Bayes' theorem for every report, averaged: the expectation-maximisation algorithm. Letters: C the channel,
m = p C what p makes likely, l(p) = n sum of h ln m its log-likelihood.

Theorem. A step never lowers l. A fixed point with p > 0 is a maximum. No distribution is better than p by more than
n ln max w, so where max w is 1, p is a maximum.

`until="noise"` stops as soon as s = n sum p (w - 1)^2, about what a step gains, is at most half of its mean E s for a p that
is the truth: the maximum fits the noise as well. `smooth=True` averages neighbours after each step, for values in order
whose frequencies change little from one to the next; l may then fall.

`bayesian_update.md` has the proofs, and why it stops there. Agrawal and Aggarwal 2001; Silverman et al. 1990.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import DataError
from dither.local.collect.reconstruct import CountsLike, read_counts
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOISE = 0.5  # of what noise alone would give: there it stops
CLOSE = 0.01  # of log-likelihood: converged if no distribution has more than that on top
STILL = 1e-9  # converged, with smoothing: a step moves no more than that in all
SEEN = 1e-6  # reports: outputs with fewer than that to be expected have no part in E s


class Kernel(Protocol):
    """A channel as products with vectors (`channels/kernels.py`)."""

    def push(self, prior: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def pull(self, values: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def pull_squares(self, values: NDArray[np.float64]) -> NDArray[np.float64]: ...


class DenseKernel:
    """The products of a channel with its matrix in floats."""

    def __init__(self, channel: Channel) -> None:
        self._matrix = channel.matrix
        self._squares = channel.matrix**2

    def push(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely each output is, from how likely each input is (`prior`)."""
        import numpy as np

        return np.asarray(read_counts(prior, self._matrix.shape[0]) @ self._matrix)

    def pull(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of `values` over the outputs of each input."""
        import numpy as np

        return np.asarray(self._matrix @ read_counts(values, self._matrix.shape[1]))

    def pull_squares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of `values` over the outputs with the squared probabilities of each input."""
        import numpy as np

        return np.asarray(self._squares @ read_counts(values, self._matrix.shape[1]))


@dataclass(frozen=True, eq=False)
class BayesianEstimate:
    """The frequencies at which the iteration stopped, and why it did."""

    frequency: NDArray[np.float64]
    iterations: int
    log_likelihood: float  # of the reports, without the constant
    stopped: str  # "noise", "converged" or "limit"

    def __str__(self) -> str:
        why = {
            "noise": "a further step would fit no more than noise",
            "converged": "a further step changes nothing",
            "limit": "the limit of iterations was reached",
        }[self.stopped]
        return f"{self.frequency.size} frequencies after {self.iterations} iterations: {why}"


@argument_errors
def bayes(
    channel: Channel | Kernel,
    counts: CountsLike,
    *,
    until: Literal["noise", "convergence"] = "noise",
    smooth: bool = False,
    start: CountsLike | None = None,
    most: SupportsIndex = 10_000,
    progress: Callable[[int, float], object] | None = None,
) -> BayesianEstimate:
    """Frequencies of the inputs from how often each output was reported, by the iterative Bayesian update.

    Args:
        channel: how likely each output is for each input; or its products push, pull and pull_squares.
        counts: how many reports there are of each output.
        until: stop where a step would fit noise alone ("noise"), or at the maximum likelihood ("convergence").
        smooth: whether neighbours are averaged after each step, for values in order.
        start: a distribution to begin with, uniform unless it is given; what starts at zero stays at zero.
        most: how many steps are made at most.
        progress: called with the number of a step and the log-likelihood, at the start and after every step.

    Raises:
        DataError: until is another word, smooth is not a truth value, counts are shares or below zero, or the start makes an
            output impossible.
        SizeError: there are not as many counts as outputs.
        NumberError: most is not a whole number.

    Example:
        >>> from dither.local import DirectEncoding, bayes
        >>> channel = DirectEncoding(["a", "b"], epsilon="ln(3)").channel()
        >>> bayes(channel, [600, 400], until="convergence").frequency.round(2).tolist()
        [0.7, 0.3]
    """
    import numpy as np

    if until not in ("noise", "convergence"):
        raise DataError("until", until, "it says when to stop", "'noise' or 'convergence'")
    if not isinstance(smooth, (bool, np.bool_)):
        raise DataError("smooth", smooth, "it says whether neighbours are averaged", "True or False")
    kernel = DenseKernel(channel) if isinstance(channel, Channel) else channel
    if not all(hasattr(kernel, name) for name in ("push", "pull", "pull_squares")):
        raise DataError("channel", channel, "it has no push, pull and pull_squares", "a Channel, or FlatKernel(10, 1)")
    found, limit = read_counts(counts), integer(most, name="most", least=0)
    people = float(found.sum())
    if people < 2 and (found != np.floor(found)).any():
        raise DataError("counts", counts, "they are shares, and noise depends on how many reports there are", "counts")
    h = found / people
    inputs = kernel.pull(h).size  # refused there if these are not its outputs
    p = np.full(inputs, 1 / inputs) if start is None else read_counts(start, inputs, name="start")
    p = p / p.sum()
    seen, done, stopped = h > 0, 0, "limit"
    while True:
        m = kernel.push(p)
        if not (m[seen] > 0).all():
            why = f"output {int(np.flatnonzero(seen & ~(m > 0))[0])} was reported, and the start makes it impossible"
            raise DataError("start", start, why, "a start without zeros, and counts of this channel's outputs")
        if progress is not None:
            progress(done, _log_likelihood(people, h, m, seen))
        w = np.maximum(kernel.pull(np.divide(h, m, out=np.zeros_like(h), where=seen)), 0.0)
        if until == "noise" and people * float(p @ (w - 1) ** 2) <= NOISE * noise_gain(kernel, p, m, people):
            stopped = "noise"
        elif not smooth and people * math.log(max(float(w.max()), 1.0)) <= CLOSE:
            stopped = "converged"
        if stopped != "limit" or done == limit:
            return BayesianEstimate(p, done, _log_likelihood(people, h, m, seen), stopped)
        moved = p * w
        moved = _averaged(moved) if smooth else moved
        moved /= moved.sum()  # it is 1 but for rounding
        if smooth and float(np.abs(moved - p).sum()) <= STILL:
            return BayesianEstimate(p, done, _log_likelihood(people, h, m, seen), "converged")
        p, done = moved, done + 1


def noise_gain(kernel: Kernel, p: NDArray[np.float64], m: NDArray[np.float64], people: float) -> float:
    """E s: the log-likelihood that a step would gain by noise alone, if p were the truth."""
    import numpy as np

    inverse = np.divide(1.0, m, out=np.zeros_like(m), where=people * m > SEEN)
    return float(p @ kernel.pull_squares(inverse)) - 1


def _log_likelihood(people: float, h: NDArray[np.float64], m: NDArray[np.float64], seen: NDArray[np.bool_]) -> float:
    import numpy as np

    return people * float(h[seen] @ np.log(m[seen]))


def _averaged(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Binomial smoothing, 1/4, 1/2, 1/4; each end counts as its own neighbour."""
    import numpy as np

    wide = np.concatenate([p[:1], p, p[-1:]])
    return np.asarray(wide[:-2] / 4 + p / 2 + wide[2:] / 4)
