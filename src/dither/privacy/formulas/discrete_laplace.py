"""Discrete Laplace noise on whole numbers: the rho of a move, smaller than that of other mechanisms with its epsilon.

Theorem. Add independent noise to the coordinates of a vector of whole numbers, P(N_i = x) proportional to exp(-r_i |x|),
and let neighbours differ by d with sum of r_i |d_i| <= epsilon. This is rho-zCDP for

    rho = epsilon - (1 - e^-epsilon) r / sinh(r),    r the largest of the r_i,

and for a single coordinate with r |d| = epsilon no smaller rho will do. With r = epsilon it is epsilon tanh(epsilon/2),
the rho of every epsilon-DP mechanism; as r falls it falls, to that of continuous Laplace noise, epsilon + e^-epsilon - 1.

    D_a       the Renyi divergence of order a of the two laws
    b         e^-r

Proof, one coordinate moved by d > 0. With t = a - 1/2 the sum of p(x)^a p(x-d)^(1-a) over all x is, times a constant,

    M(t) = (e^(trd) + e^(-trd)) / (1 - b) + sum over 0 < x < d of e^(tr(d - 2x)),    (a-1) D_a = ln M(t) - ln M(1/2).

So M(t) = e^(-trd) P(z) / (1 - b) with z = e^(2tr) and P(z) = z^d + (1-b)(z^(d-1) + ... + z) + 1, for which
(z-1) P(z) = z^d (z-b) - (1-bz). A zero of it has z^d (z-b) / (1-bz) = 1, where the left side is a Blaschke product: its
modulus is below 1 inside the unit circle and above 1 outside. Hence all zeros e^(iw) of P lie on the circle; none is 1, as
P(1) > 0. In pairs of conjugates they make M a constant times a product of factors cosh(2tr) - cos(w), and of cosh(tr) where
one of them is -1. Now cosh(y) - cos(w) is 1 - cos(w) times the product over all whole k of 1 + y^2 / (w + 2 pi k)^2, and
cosh(y/2) has such a product too. So ln M is a sum of logarithms of 1 + c t^2, c > 0: concave in t^2, and below its tangent
at t^2 = 1/4. As t^2 - 1/4 = a (a-1), D_a <= a K with K the slope there. That is the slope of (a-1) D_a at a = 1, the
expected loss r (E|N-d| - E|N|), and D_a / a tends to it as a tends to 1. E|N-d| = |d| + b^|d| / sinh(r), since both sides
have the second difference 2 P(N = d), are even in d, and come near to |d| as d grows. So

    K = K_r(y) = y - (1 - e^-y) r / sinh(r),    y = rd.

Proof, vectors. The coordinates are independent, so D_a <= a times the sum of the K_(r_i)(y_i), y_i = r_i |d_i|. r / sinh(r)
falls in r, so K_r grows in r, and each r_i may be replaced by the largest. K_r is convex in y, its second derivative being
e^-y r / sinh(r), and K_r(0) = 0; so the sum is at most K_r(sum of y_i), and K_r grows in y since r / sinh(r) <= 1. QED.

Values that are moved into bounds first, and releases moved into them afterwards, change nothing: the first moves values
apart by no more, the second is post-processing. That the largest D_a / a is at order 1 is due to Harrison and Manurangsi
(2025); the proof is ours.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from flint import arb

from dither.numeric.enclosure import upper_fraction
from dither.numeric.number import Number
from dither.privacy.formulas import randomized_response


def rho(epsilon: Number, rate: Number) -> arb:
    """The rho of noise of this largest rate, where neighbours differ by epsilon in all: see above."""
    r = rate.ball()
    return epsilon.ball() + (-epsilon.ball()).expm1() * r / r.sinh()


@lru_cache(maxsize=1024)
def charged_rho(epsilon: Number, rate: Number) -> Fraction:
    """The same, rounded up to 64 binary digits; at most that of every mechanism with this epsilon."""
    if rate >= epsilon:
        return randomized_response.charged_rho(epsilon)
    return min(randomized_response.charged_rho(epsilon), upper_fraction(lambda: rho(epsilon, rate)))
