"""The binomial distribution X of `count` draws, by the odds p / (1 - p) of one: point probabilities, tails, sums."""

from __future__ import annotations

from flint import arb, ctx

from dither.numeric.balls import precision


def probability(count: int, odds: arb, k: int) -> arb:
    """P(X = k)."""
    with precision(ctx.prec + 2 * count.bit_length() + 16):  # the logarithms are large, and cancel
        ways = arb(count + 1).lgamma() - arb(k + 1).lgamma() - arb(count - k + 1).lgamma()
        return (ways + k * odds.log() - count * odds.log1p()).exp()


def ratio_of(count: int, odds: arb, k: int, step: int) -> arb:
    """P(X = k + step) / P(X = k), for a step of 1 or -1."""
    return odds * (count - k) / (k + 1) if step > 0 else k / (odds * (count - k + 1))


def tail_bound(count: int, odds: arb, k: int, step: int) -> arb:
    """A bound on P(X >= k) for a step of 1, on P(X <= k) for a step of -1: a geometric series."""
    if not 0 <= k <= count:
        return arb(0)
    ratio = ratio_of(count, odds, k, step)
    return probability(count, odds, k) / (1 - ratio) if ratio < 1 else arb(1)


def mass(count: int, odds: arb, first: int, last: int) -> arb:
    """P(first <= X <= last), or P(last <= X <= first): summed from `first`, away from the middle."""
    step = 1 if last >= first else -1
    term = probability(count, odds, first)
    total, tiny = term, arb((1, -ctx.prec))
    for k in range(first, last, step):
        ratio = ratio_of(count, odds, k, step)
        term *= ratio
        if ratio < 1 and term < total * tiny:
            return total + (term / (1 - ratio)).union(arb(0))
        total += term
    return total
