"""The shape of a hierarchical histogram, a tree over cells, and the variance of its answers, in closed form from its sizes.

Leaves are the cells; each node above has b children, the last one of a level those that are left (1 to b). So all nodes of
a level but its last are alike, and every figure is kept for two nodes a level. The variance of one node's noise is the unit.
The root takes noise like the others, or is exact (a public total), or is absent: then the top level is a row of nodes.

    y_v            the noisy count of node v
    w_v            variance of the best estimate of v's count from v's subtree: 1 at a leaf, 1 / (1 + 1/S_v) above, and S_v
                   at an absent root
    S_v            the sum of w over the children of v
    a_j, E_j       a running sum inside v that ends at leaf j is a_j h_v + e_j, with e_j of variance E_j, not correlated with
                   the final estimate h_v of v's count

Theorem. For any weights u on the cells, in an interval [l, l + 1] that holds 0, let u_v be the weighted mean sum_c u_c w_c
/ S_v over the children of v, up the tree. The least squares answer to sum_i u_i x_i has the variance

    u_root^2 Var(h_root) + sum over inner nodes v of (sum_c u_c^2 w_c - S_v u_v^2)

and no node's noise has a weight beyond 1 in it.

Proof. Given h_v, least squares moves the children's own estimates z_c by (w_c / S_v)(h_v - sum of z): so sum_c u_c h_c is
u_v h_v plus an error not correlated with h_v, of variance sum u^2 w - (sum u w)^2 / S_v; induct from the leaves. The weight
of y_v is k_v = Cov(h_v, answer), as all nodes have variance 1 and estimates are best. k_root = u_root w_root (0 if the root
is exact), and k_c = w_c (k_v / S_v + u_c - u_v). If -w_v (l + 1 - u_v) <= k_v <= w_v (u_v - l), then, since w_v <= S_v,
-w_c (l + 1 - u_c) <= k_c <= w_c (u_c - l): true at the root, as l <= 0 <= l + 1, so true everywhere, and w <= 1.

Less a share q of the total. A prefix has the weights 1 and 0; less q of the total they are 1 - q and -q. Brackets stay when
a constant is added to u, and u_root moves by it: the variance is (a_j - q)^2 Var(h_root) + E_j.

Bounds. A bracket of the sum is 0 where u is constant on the children of v, and otherwise at most S_v / 4 (it is convex in u,
so largest at a vertex, where it is Q (1 - Q / S_v) for a partial sum Q). A prefix has one such node on each level; a range
has two, and one on the top level. At an absent root both terms together are sum_c u_c^2 w_c, so at most S_root.

Hay, Rastogi, Miklau and Suciu 2010; Qardaji, Yang and Li 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Root: TypeAlias = Literal["noisy", "exact", "absent"]  # noise like the other nodes; a public total; no root
SMALL, WIDEST = 32, 1024  # children of a node: all up to the first are tried, none beyond the second


class LevelPair(NamedTuple):
    """A figure of all nodes of a level but the last, and of the last."""

    full: float
    last: float


@dataclass(frozen=True, kw_only=True)
class TreeShape:
    """A tree over so many cells, by its branching and its root."""

    cells: int
    branching: int
    root: Root

    @cached_property
    def sizes(self) -> list[int]:
        """Nodes on each level, leaves first."""
        sizes = [self.cells]
        while sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // self.branching))
        return sizes

    @property
    def levels(self) -> int:
        """How many levels take noise."""
        return len(self.sizes) - (self.root != "noisy")

    def last_children(self, level: int) -> int:
        """How many children the last node of a level has."""
        return self.sizes[level - 1] - self.branching * (self.sizes[level] - 1)

    @cached_property
    def own(self) -> list[LevelPair]:
        """The variances w of best estimates from subtrees, on every level."""
        found = [LevelPair(1.0, 1.0)]
        for level in range(1, len(self.sizes)):
            sums = self._sum(found[-1], level)
            found.append(LevelPair(*(sum_ / (1 + sum_) for sum_ in sums)))
        if self.root == "absent":
            found[-1] = self._sum(found[-2], len(self.sizes) - 1)
        return found

    @cached_property
    def sums(self) -> list[LevelPair]:
        """The sums S of w over children, on every level; there is none for the leaves."""
        return [LevelPair(math.nan, math.nan)] + [self._sum(self.own[at - 1], at) for at in range(1, len(self.sizes))]

    def _sum(self, below: LevelPair, level: int) -> LevelPair:
        children = self.last_children(level)
        return LevelPair(self.branching * below.full, (children - 1) * below.full + below.last)

    @property
    def root_variance(self) -> float:
        """The variance of the final estimate of the total."""
        return 0.0 if self.root == "exact" else self.own[-1].last

    # -- bounds ------------------------------------------------------------------------------------------------

    def leaf_square(self) -> float:
        """A bound on the variance of every cell."""
        most = self.root_variance
        for level in range(len(self.sizes) - 1, 0, -1):
            below, sums = self.own[level - 1], self.sums[level]
            under_last = [below.last] + ([below.full] if self.last_children(level) > 1 else [])
            ways = [(w, sums.last) for w in under_last]
            if self.sizes[level] > 1:
                ways.append((below.full, sums.full))
            most = max((w / s) ** 2 * most + w - w * w / s for w, s in ways)
        return most

    def prefix_square(self) -> float:
        """A bound on the variance of every prefix."""
        return self._top() + sum(self._partial(level) for level in range(1, len(self.sizes) - 1))

    def prefix_squares(self) -> Vector:
        """The variance of every prefix, one by one."""
        return self.contrast_squares(0.0)

    def contrast_squares(self, share: float) -> Vector:
        """The variance of every prefix less a share of the total, one by one: u is 1 - share up to a cell, -share beyond."""
        import numpy as np

        shares, errors = self._prefixes
        found: Vector = np.square(shares - share) * self.root_variance + errors
        return found

    @cached_property
    def _prefixes(self) -> tuple[Vector, Vector]:
        """a_j and E_j of all prefixes at the root."""
        import numpy as np

        full = last = (np.ones(1), np.zeros(1))
        for level in range(1, len(self.sizes)):
            below, children = self.own[level - 1], self.last_children(level)
            end = _joined([full] * (children - 1) + [last], [below.full] * (children - 1) + [below.last])
            if self.sizes[level] > 1:
                full = _joined([full] * self.branching, [below.full] * self.branching)
            last = end
        shares, errors = last
        return shares, np.maximum(errors, 0.0)  # of which rounding may leave a little below

    def range_square(self) -> float:
        """A bound on the variance of every range."""
        return self._top() + 2 * sum(self._partial(level) for level in range(1, len(self.sizes) - 1))

    def _top(self) -> float:
        """The variance that the root and its bracket in the theorem add together."""
        return self.root_variance + (0.0 if self.root == "absent" else self._partial(len(self.sizes) - 1))

    def _partial(self, level: int) -> float:
        last = self.sums[level].last if self.last_children(level) > 1 else 0.0
        return max(last, self.sums[level].full if self.sizes[level] > 1 else 0.0) / 4

    # -- expected errors ---------------------------------------------------------------------------------------

    def _moments(self, *, pairs: bool) -> _SubtreeSums:
        full = last = _SubtreeSums(1.0, 1.0, 1.0, 0.0, 0.0)
        for level in range(1, len(self.sizes)):
            below, children = self.own[level - 1], self.last_children(level)
            end = _combined([full] * (children - 1) + [last], [below.full] * (children - 1) + [below.last], pairs)
            if self.sizes[level] > 1:
                full = _combined([full] * self.branching, [below.full] * self.branching, pairs)
            last = end
        return last

    def mean_prefix(self) -> float:
        """The mean variance of a prefix, over the prefixes of 1 to all cells."""
        found = self._moments(pairs=False)
        return (found.squares * self.root_variance + found.errors) / self.cells

    def mean_range(self) -> float:
        """The mean variance of a range, over all ranges of 1 to all cells."""
        found = self._moments(pairs=True)
        apart = (self.cells * found.squares - found.shares**2) * self.root_variance + found.pairs
        return (self.cells * self.mean_prefix() + apart) / (self.cells * (self.cells + 1) / 2)


class _SubtreeSums(NamedTuple):
    """Sums of a_j, a_j^2 and E_j over the leaves of a subtree, and of variances over pairs of leaves i < j."""

    leaves: float
    shares: float  # of a_j
    squares: float  # of a_j^2
    errors: float  # of E_j
    pairs: float  # of the variance of e_j - e_i


def _joined(children: list[tuple[Vector, Vector]], variances: list[float]) -> tuple[Vector, Vector]:
    """a_j and E_j of a node's leaves, from those of its children."""
    import numpy as np

    total, before = sum(variances), 0.0
    shares, errors = [], []
    for (a, e), w in zip(children, variances, strict=True):
        shares.append((before + w * a) / total)
        errors.append(e + before + w * np.square(a) - total * np.square(shares[-1]))
        before += w
    return np.concatenate(shares), np.concatenate(errors)


def _combined(children: list[_SubtreeSums], variances: list[float], between: bool) -> _SubtreeSums:
    """The sums of a node, from those of its children."""
    import numpy as np

    n, a1, a2, e, apart = (np.array(column) for column in zip(*children, strict=True))
    w = np.array(variances)
    total = w.sum()
    before, share = (np.cumsum(w) - w) / total, w / total
    sums = n * before + share * a1
    squares = n * before**2 + 2 * before * share * a1 + share**2 * a2
    errors = e + n * total * before + w * a2 - total * squares
    inside = apart + (n * a2 - a1**2) * (w - w * w / total)
    across = _across(n, a1, a2, e, w, before) if between else 0.0
    return _SubtreeSums(n.sum(), sums.sum(), squares.sum(), errors.sum(), inside.sum() + across)


def _across(n: Vector, a1: Vector, a2: Vector, e: Vector, w: Vector, before: Vector) -> float:
    """The sum over leaves i and j of different children p < q: weights 1 - a_i, then 1 between, then a_j."""
    import numpy as np

    total = w.sum()
    u1, u2 = n - a1, n - 2 * a1 + a2
    between = total * (before[None, :] - before[:, None]) - w[:, None]
    np_, nq, wp, wq = n[:, None], n[None, :], w[:, None], w[None, :]
    p1, p2, q1, q2 = u1[:, None], u2[:, None], a1[None, :], a2[None, :]
    spread = nq * wp * p2 + np_ * nq * between + np_ * wq * q2
    squared = nq * wp**2 * p2 + np_ * nq * between**2 + np_ * wq**2 * q2
    mixed = 2 * (nq * wp * p1 * between + wp * p1 * wq * q1 + between * wq * np_ * q1)
    found = nq * e[:, None] + np_ * e[None, :] + spread - (squared + mixed) / total
    return float(np.triu(found, 1).sum())


def branchings(cells: int) -> list[int]:
    """Branching factors that are worth comparing: small ones, and for every height the smallest that reaches it."""
    found = set(range(2, min(SMALL, cells) + 1))
    for height in range(1, max(1, math.ceil(math.log2(cells))) + 1):
        branching = max(2, math.floor(cells ** (1 / height)))
        while branching**height < cells:
            branching += 1
        if branching <= WIDEST:
            found.add(branching)
    return sorted(found)


if TYPE_CHECKING:
    Vector = NDArray[np.float64]
