"""Ridge regression: linear regression whose slopes are drawn to zero by more than the noise asks for. It costs nothing."""

from __future__ import annotations

from dither.learn.base.columns import BoundsLike
from dither.learn.base.facts import read_setting
from dither.learn.linear.linear_regression import LinearRegression, Solver
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

LARGEST = 1e15  # nothing is left of a slope there


class Ridge(LinearRegression):
    """Ridge regression, (epsilon, delta)-differentially private.

    `region` and `intervals` are about ridge regression with the same penalty, as it is without noise on these rows.
    Categories are treatment coded, as in `LinearRegression`; the penalty draws the levels of a column to their mean,
    whichever of them is the reference level, as with scikit-learn's `Ridge` of one-hot encoded columns.

    Args:
        alpha: the penalty of the squares of the slopes, of columns that are scaled to [-1, 1]; the intercept has none. It is
            added to the ridge of the noise, after the release: with 0 this is `LinearRegression`.
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        target_bounds: the public range of the target. Values beyond are moved to the bound; rows without one are left out.
        norm: a public bound of the L2 norm of rows after scaling to [-1, 1]; smaller is better where most rows are short.
        solver: "moments", or "gradient" as in `LinearRegression`.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import Ridge
        >>> X = np.linspace(0, 1, 5000).reshape(-1, 1)
        >>> weak, strong = (
        ...     Ridge(alpha=alpha, epsilon=1, delta="1e-6", bounds=(0, 1), target_bounds=(0, 1)).fit(X, X.ravel())
        ...     for alpha in (1, 100_000)
        ... )
        >>> bool(weak.coef_[0] > 0.5 > 0.1 > strong.coef_[0])
        True
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        target_bounds: tuple[float, float] | None = None,
        norm: float | None = None,
        solver: Solver = "moments",
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            guarantee=guarantee,
            bounds=bounds,
            target_bounds=target_bounds,
            norm=norm,
            solver=solver,
            unit=unit,
            max_rows=max_rows,
            ledger=ledger,
            analyst=analyst,
        )
        self.alpha = alpha

    def _penalty(self) -> float:
        why = f"it is a penalty: a number from 0 to {LARGEST:.0e}"
        return read_setting(self.alpha, "alpha", 0, LARGEST, "alpha=1.0", why)
