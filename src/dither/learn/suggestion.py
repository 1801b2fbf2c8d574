"""Which estimator for data of a size: from public numbers alone, by what was measured on four small data sets and on Adult.

The rules speak of n mu / sqrt(d) (Gaussian noise) and n epsilon (pure): how large the signal of all rows is beside the noise
that one person's protection needs. They are rules of thumb, and promise nothing.
"""

from __future__ import annotations

from typing import SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.numeric.number import NumberLike, exact, integer, rational
from dither.privacy import calibrate


@frozen
class Suggestion:
    """The name of an estimator of `dither.learn`, and why."""

    estimator: str
    reason: str

    def __str__(self) -> str:
        return f"{self.estimator}: {self.reason}"


@argument_errors
def suggest(
    n: SupportsIndex,
    d: SupportsIndex,
    classes: SupportsIndex | None,
    epsilon: NumberLike,
    delta: NumberLike | None = None,
) -> Suggestion:
    """The estimator that public facts favour, with the reason in words. Reads no data, and costs nothing.

    Args:
        n: a public guess of the number of rows.
        d: the number of columns.
        classes: the number of classes; None where the target is a number.
        epsilon: the price.
        delta: of the price; left out, it is pure.

    Raises:
        NumberError: n, d or classes are no whole numbers, or too small; epsilon or delta lie outside their range.

    Example:
        >>> from dither.learn import suggest
        >>> suggest(100, 4, 3, "0.1").estimator
        'ForestClassifier'
        >>> print(suggest(1000, 10, 2, 1, "1e-6"))
        LogisticRegression: n mu / sqrt(d) is 75, 15 or more: gradient steps over all rows
    """
    rows, columns = integer(n, name="n", least=1), integer(d, name="d", least=1)
    price = exact(epsilon, name="epsilon", positive=True)
    lost = None if delta is None else rational(delta, name="delta", positive=True)
    mu = None if lost is None else float(1 / calibrate.gaussian(price, lost))
    if classes is None:
        return _regressor(rows, columns, float(price), mu)
    several = integer(classes, name="classes", least=2)
    if mu is None:
        return _pure_classifier(rows, columns, several, float(price))
    ratio = rows * mu / columns**0.5
    if several == 2 and rows >= 10_000 and rows * mu >= 300:
        why = "many rows and two classes: sums over bins can follow what is not linear, and every column can be looked at"
        return Suggestion("BoostingClassifier", why)
    if ratio >= 15:
        why = f"n mu / sqrt(d) is {ratio:.0f}, 15 or more: gradient steps over all rows"
        return Suggestion("LogisticRegression", why)
    if ratio >= 5 and columns > 20:
        return Suggestion(
            "NearestCentroid", f"n mu / sqrt(d) is {ratio:.0f}, below 15: one small release in place of many steps"
        )
    return _forest(rows, float(price))


def _pure_classifier(rows: int, columns: int, classes: int, epsilon: float) -> Suggestion:
    each = rows * epsilon / columns / classes
    if columns >= 20 and each >= 3:
        why = f"{columns} columns, and noise of about {1 / each:.0%} of a class of mean size in each: one mean a class"
        return Suggestion("NearestCentroid", why)
    return _forest(rows, epsilon)


def _forest(rows: int, epsilon: float) -> Suggestion:
    if rows * epsilon < 100:
        why = "n epsilon is below 100: a single tree of random cuts, one count a leaf"
        return Suggestion("ForestClassifier", why)
    return Suggestion(
        "ForestClassifier",
        "few rows for the noise of this price: random cuts cost nothing, and each row is one count a tree",
    )


def _regressor(rows: int, columns: int, epsilon: float, mu: float | None) -> Suggestion:
    if mu is None:
        return Suggestion("ForestRegressor", "pure epsilon: each row is one count a tree")
    why = f"n mu / d is {rows * mu / columns:.3g}: one release of second moments, with intervals of the noise"
    return Suggestion("LinearRegression", why)
