"""The iterative Bayesian update: from counts of reports to frequencies, through any channel.

    p(i) <- p(i) w(i),    w = pull(h / m),    m = push(p),    h the shares of the n reports

It is Bayes' theorem for every report, averaged: the expectation-maximisation algorithm. Letters: C the channel,
m = p C what p makes likely, l(p) = n sum of h ln m its log-likelihood.

Theorem. A step never lowers l. A fixed point with p > 0 is a maximum. No distribution is better than p by more than
n ln max w, so where max w is 1, p is a maximum.

Stopping rule: held-out likelihood. Run to its end, the update fits the noise as well, so `until="held-out"` stops where
reports that it was not fitted to are likeliest. These are made of the same reports: from counts c and signs s = +-1

    fitted = c + a s sqrt(v),    held out = c - s sqrt(v) / a,    v = c - n push_squares(p)        (a = 1/2)

p being what the first step gives. Theorem. If v is the variance of c, fitted and held out have the same mean, and each count
is uncorrelated with its other half, for random signs. So the mean over signs of Q(k) = sum of held out * ln m after k steps
on `fitted` ranks the steps by how likely another report of the same people would be.

It stops at the first step whose Q is within half a unit of the largest: that is what one number fitted to noise costs. The
signs are fixed (a quadratic sequence), so that equal reports have equal estimates. `smooth=True` averages neighbours after
each step, for values in order whose frequencies change little from one to the next; l may then fall.

`bayesian_update.md` has the proofs. Agrawal and Aggarwal 2001; Silverman et al. 1990; Oliveira, Lei and Tibshirani 2022.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import DataError, SizeError
from dither.local.collect.estimate import Frequencies
from dither.local.collect.reconstruct import CountsLike, read_counts
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE = 0.5  # a: how much of its own noise is added to the reports that are fitted
NATS = 0.5  # of Q: further steps that gain less may be fitting noise
CLOSE = 0.01  # of log-likelihood: converged if no distribution has more than that on top
STILL = 1e-9  # converged, with smoothing: a step moves no more than that in all
LEAST = 1e-300  # probability of an output that was reported, where rounding took it away
AHEAD, AT_LEAST = 3, 100  # it looks so many times as far as the best step, and so many steps more
SIGNS = 1600  # rows of signs: so many signs in all, at least one row and at most 16, each with its negative
ODD = 0x9E3779B97F4A7C15  # of the quadratic sequence: 2^64 divided by the golden ratio


class Kernel(Protocol):
    """A channel as products with vectors; several at once are rows of an array (`channels/kernels.py`)."""

    def push(self, prior: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def pull(self, values: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def push_squares(self, prior: NDArray[np.float64]) -> NDArray[np.float64]: ...


class DenseKernel:
    """The products of a channel with its matrix in floats."""

    def __init__(self, channel: Channel) -> None:
        self._matrix = channel.matrix
        self._squares = channel.matrix**2

    def push(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely each output is, from how likely each input is (`prior`)."""
        import numpy as np

        return np.asarray(prior @ self._matrix)

    def pull(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of `values` over the outputs of each input."""
        import numpy as np

        if values.shape[-1] != self._matrix.shape[1]:
            raise SizeError("counts", values.shape[-1:], "the channel has another size", f"{self._matrix.shape[1]} numbers")
        return np.asarray(values @ self._matrix.T)

    def push_squares(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """`push` of `prior` with squared probabilities."""
        import numpy as np

        return np.asarray(prior @ self._squares)


@dataclass(frozen=True, eq=False)
class BayesianEstimate:
    """The frequencies at which the iteration stopped, and why it did."""

    frequency: NDArray[np.float64]
    iterations: int
    log_likelihood: float  # of the reports, without the constant
    stopped: str  # "held-out", "converged" or "limit"

    def __str__(self) -> str:
        why = {
            "held-out": "reports that were held out are likeliest there",
            "converged": "a further step changes nothing",
            "limit": "the limit of iterations was reached",
        }[self.stopped]
        return f"{self.frequency.size} frequencies after {self.iterations} iterations: {why}"


@argument_errors
def bayes(
    channel: Channel | Kernel,
    counts: CountsLike,
    *,
    until: Literal["held-out", "convergence"] = "held-out",
    smooth: bool = False,
    start: CountsLike | None = None,
    most: SupportsIndex = 10_000,
    progress: Callable[[int, float], object] | None = None,
) -> BayesianEstimate:
    """Frequencies of the inputs from how often each output was reported, by the iterative Bayesian update.

    Args:
        channel: how likely each output is for each input; or its products push, pull and push_squares.
        counts: how many reports there are of each output.
        until: stop where reports that were held out are likeliest ("held-out"), or at the maximum ("convergence").
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

    if until not in ("held-out", "convergence"):
        raise DataError("until", until, "it says when to stop", "'held-out' or 'convergence'")
    if not isinstance(smooth, (bool, np.bool_)):
        raise DataError("smooth", smooth, "it says whether neighbours are averaged", "True or False")
    kernel = DenseKernel(channel) if isinstance(channel, Channel) else channel
    if not all(hasattr(kernel, name) for name in ("push", "pull", "push_squares")):
        raise DataError("channel", channel, "it has no push, pull and push_squares", "a Channel, or FlatKernel(10, 1)")
    found, limit = read_counts(counts), integer(most, name="most", least=0)
    people = float(found.sum())
    if people < 2 and (found != np.floor(found)).any():
        raise DataError("counts", counts, "they are shares, and noise depends on how many reports there are", "counts")
    h = found / people
    inputs = kernel.pull(h).size  # refused there if these are not its outputs
    p = np.full(inputs, 1 / inputs) if start is None else read_counts(start, inputs, name="start")
    p = p / p.sum()
    seen, done, stopped = h > 0, 0, "limit"
    m = kernel.push(p)
    if not (m[seen] > 0).all():
        why = f"output {int(np.flatnonzero(seen & ~(m > 0))[0])} was reported, and the start makes it impossible"
        raise DataError("start", start, why, "a start without zeros, and counts of this channel's outputs")
    last = held_out_stop(kernel, found, p, smooth=smooth, most=limit) if until == "held-out" else limit
    while True:
        if progress is not None:
            progress(done, _log_likelihood(people, h, m, seen))
        w = _weights(kernel, h, m)
        if not smooth and people * math.log(max(float(w.max()), 1.0)) <= CLOSE:
            stopped = "converged"
        elif done == last < limit:
            stopped = "held-out"
        if stopped != "limit" or done == limit:
            return BayesianEstimate(p, done, _log_likelihood(people, h, m, seen), stopped)
        moved = _moved(p, w, smooth=smooth)
        if smooth and float(np.abs(moved - p).sum()) <= STILL:
            return BayesianEstimate(p, done, _log_likelihood(people, h, m, seen), "converged")
        p, done = moved, done + 1
        m = kernel.push(p)


def updated(kernel: Kernel, counts: NDArray[np.int64], method: str | None) -> Frequencies:
    """Frequencies by the update: "bayes", "smooth", "likelihood"; None for "bayes", or "likelihood" if it does not stop."""
    until: Literal["held-out", "convergence"] = "convergence" if method == "likelihood" else "held-out"
    found = bayes(kernel, counts, until=until, smooth=method == "smooth")
    name = method or ("bayes" if found.stopped == "held-out" else "likelihood")
    chosen = "" if method else "chosen: "
    if found.stopped == "held-out":
        return Frequencies(
            found.frequency, name, f"{chosen}stopped where held-out reports are likeliest, step {found.iterations}"
        )
    end = "converged" if found.stopped == "converged" else "not converged"
    if method is None:
        chosen = "chosen: held-out reports are likelier to the end; "
    return Frequencies(found.frequency, name, f"{chosen}{end} after {found.iterations} steps")


def held_out_stop(kernel: Kernel, counts: NDArray[np.float64], p: NDArray[np.float64], *, smooth: bool, most: int) -> int:
    """The first step, of `most`, whose Q is within half a unit of the largest."""
    import numpy as np

    seen = counts > 0
    first = _moved(p, _weights(kernel, counts / counts.sum(), kernel.push(p)), smooth=False)
    fitted, held = split(counts, counts - counts.sum() * kernel.push_squares(first))
    h, held = fitted / fitted.sum(axis=1, keepdims=True), held[:, seen]
    rows = np.tile(p, (len(h), 1))
    steps: list[int] = []
    scores: list[float] = []
    best = step = 0
    while True:
        m = kernel.push(rows)
        if not steps or step > steps[-1] * 21 // 20:  # every step up to 20, then each a twentieth later
            steps.append(step)
            scores.append(float((held * np.log(np.maximum(m[:, seen], LEAST))).sum()) / len(held))
            best = step if scores[-1] > max(scores[:-1], default=-math.inf) else best
        if step == most or step >= AHEAD * best + AT_LEAST:
            return steps[int(np.argmax(np.array(scores) >= max(scores) - NATS))]
        rows, step = _moved(rows, _weights(kernel, h, m), smooth=smooth), step + 1


def split(counts: NDArray[np.float64], variance: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts to fit and counts that are held out, in rows, one for each row of signs."""
    import numpy as np

    rows = min(16, max(1, round(SIGNS / (2 * counts.size))))
    noise = signs(counts.size, rows) * np.sqrt(np.clip(variance, 0.0, counts**2))  # below 1 a count may be no whole number
    return counts + SHARE * noise, counts - noise / SHARE


def signs(size: int, rows: int) -> NDArray[np.float64]:
    """Rows of signs, then their negatives: -1 where `phases` are 1/2 or more."""
    import numpy as np

    found = np.where(phases(size, rows) < 0.5, 1.0, -1.0)
    return np.concatenate([found, -found])


def phases(size: int, rows: int, *, first: int = 1) -> NDArray[np.float64]:
    """Rows of numbers from 0 to 1: 1, 4, 9, ... times powers of ODD from `first`, modulo 2^64, divided by 2^64."""
    import numpy as np

    at = np.arange(1, size + 1, dtype=np.uint64)
    factors = np.array([pow(ODD, first + row, 2**64) for row in range(rows)], dtype=np.uint64)
    return (at * at * factors[:, None]).astype(np.float64) / 2.0**64


def _weights(kernel: Kernel, h: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]:
    """w = pull(h / m); an output that nobody reported has no part in it, nor one that rounding made impossible."""
    import numpy as np

    return np.maximum(kernel.pull(np.divide(h, m, out=np.zeros_like(h), where=(h > 0) & (m > 0))), 0.0)


def _moved(p: NDArray[np.float64], w: NDArray[np.float64], *, smooth: bool) -> NDArray[np.float64]:
    """One step of the update, or of many in rows."""
    import numpy as np

    moved = _averaged(p * w) if smooth else p * w
    return np.asarray(moved / moved.sum(axis=-1, keepdims=True))  # the sum is 1 but for rounding


def _log_likelihood(people: float, h: NDArray[np.float64], m: NDArray[np.float64], seen: NDArray[np.bool_]) -> float:
    import numpy as np

    return people * float(h[seen] @ np.log(m[seen]))


def _averaged(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Binomial smoothing, 1/4, 1/2, 1/4; each end counts as its own neighbour."""
    import numpy as np

    wide = np.concatenate([p[..., :1], p, p[..., -1:]], axis=-1)
    return np.asarray(wide[..., :-2] / 4 + p / 2 + wide[..., 2:] / 4)
