"""Linear regression from one release of second moments: least squares with a ridge as large as the noise.

    M       second moments of (x, c, y) with noise, c = X / 2                          (`moments/second_moments.py`)
    A, b    its parts of (x, c), and of (x, c) with y
    P       the penalty of `Ridge` on slopes; 0 of `LinearRegression`
    beta    ((A + P)+ + k I)^-1 b,  + with negative eigenvalues set to 0,  k = s sqrt(width / 2): the noise of a row of A

Categories are treatment coded: the first listed value is the reference level, and each other one has a coefficient, its
difference from it. With a coordinate for every level the columns would add up to the constant, and no coefficient would be
determined, with or without noise.

Theorem. A fit is as private as its releases, those of M alone, or those of `clipped_gradient.py`.

Proof. All else is computed from public facts and releases (`base/release.py`). A row without a listed value in some column
of categories is left out: that looks at its own cells, so it adds nothing, and no other row's part changes. The norm of any
other row is bounded in `base/rows.py`, and checked in whole numbers (`moments/second_moments.py`).

Reported coefficients are those of treatment coding. Fitted are those of a simplex, a linear map of them: coordinates of 0
and 1 without one of the first level would lose accuracy (R squared .68 to .65 of made-up rows with 7 columns at epsilon 1),
since nothing measures that level, and a ridge would draw all others to it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import evolve

from dither.errors import DataError, SizeError
from dither.extras import needs
from dither.learn.base.cells import Cells, Floats
from dither.learn.base.columns import BoundsLike, CategoryColumn, NumberColumn
from dither.learn.base.facts import Facts
from dither.learn.base.regressor import PrivateRegressor
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import EACH_COLUMN, row_counts
from dither.learn.base.rows import row_products
from dither.learn.linear.clipped_gradient import MOMENT_SHARE, gradient_solution
from dither.learn.linear.coefficient_region import CoefficientInterval, CoefficientRegion, slope_penalty
from dither.learn.linear.original_units import NamesCoefficients, bounded_values, original_coefficients
from dither.learn.moments.second_moments import REACH, SecondMoments, check_width, lattice_steps, released_moments
from dither.ledger.ledger import Ledger
from dither.mechanisms.additive.additive import read_confidence
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike
from dither.table import table
from dither.terminal import Explanation

with needs("dither[learn]"):
    from sklearn.utils.validation import check_is_fitted

CONSTANT = REACH // 2
Solver: TypeAlias = Literal["moments", "gradient"]
SOLVERS = ("moments", "gradient")
INTERCEPT = "(intercept)"


class LinearRegression(NamesCoefficients, PrivateRegressor):
    """Linear regression, (epsilon, delta)-differentially private, with intervals that have the coverage they state.

    Predictions stay within `target_bounds`. Categories are treatment coded: the first value of a list is the reference
    level, and the coefficient of another value is its difference from it. `fit` leaves out rows with a category that is
    missing or not listed; `predict` takes the mean of the levels for it.

    Args:
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        target_bounds: the public range of the target. Values beyond are moved to the bound; rows without one are left out.
        norm: a public bound of the L2 norm of rows after scaling to [-1, 1]; smaller is better where most rows are short.
        solver: "moments" releases second moments once, and gives intervals; "gradient" takes steps with clipped residuals,
            and gives none; worth a try where there are few rows for the columns.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import LinearRegression
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(0, 100, (20_000, 2))
        >>> y = 3 * X[:, 0] - X[:, 1] + rng.uniform(-10, 10, 20_000)
        >>> model = LinearRegression(epsilon=1, delta="1e-6", bounds=(0, 100), target_bounds=(-120, 320)).fit(X, y)
        >>> model.score(X, y, public=True) > 0.9
        True
        >>> [one.name for one in model.intervals(confidence="0.95")]
        ['x0', 'x1', '(intercept)']
        >>> model.intervals(confidence="0.999999")[0].unbounded
        False
    """

    rows: Any = None  # the number of rows is among the moments

    coef_: Any
    intercept_: Any
    moments_: Any
    penalty_: Any

    def __init__(
        self,
        *,
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
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.norm = norm
        self.solver = solver
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.analyst = analyst

    def _penalty(self) -> float:
        """The ridge of slopes beyond the noise, of columns scaled to [-1, 1]."""
        return 0.0

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        facts = super()._facts(cells, labels)
        coded = [evolve(one, has_reference=True) if isinstance(one, CategoryColumn) else one for one in facts.columns]
        facts = check_width(evolve(facts, columns=tuple(coded)), self)
        if facts.width == 0:
            why = "each column lists one value, the reference level, so no coefficient is left"
            raise SizeError("bounds", "no coefficients", why, "a column of numbers, or a list of two values")
        if self.solver not in SOLVERS:
            raise DataError("solver", self.solver, "there is no such solver", "solver='moments' or solver='gradient'")
        facts.norm(self.norm)  # refused here if it is no norm, before any charge
        self._penalty()
        return facts

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        norm = facts.norm(self.norm)
        steps = lattice_steps(facts.width, norm)
        penalty = self._penalty() * steps**2
        if self.solver == "moments":
            moments = released_moments(facts, release, norm=norm, constant=CONSTANT, target=True, share=Fraction(1))
            beta = moment_solution(moments, penalty)
        else:
            beta, moments = gradient_solution(facts, release, norm=norm, constant=CONSTANT, penalty=penalty)
        each, listed = 1 / CONSTANT**2, EACH_COLUMN * facts.has_lists
        counts = row_counts(facts, moments.count, moments.deviation * each, step=each, listed=listed)
        units, shift = coefficient_units(facts, steps)
        found = units @ beta + shift
        fitted = {"coef_": found[:-1], "intercept_": float(found[-1])}
        told = moments if self.solver == "moments" else None
        return fitted | {"moments_": told, "penalty_": self._penalty(), "row_counts_": counts}

    def predict(self, X: Any) -> Any:
        """The target of each row of `X`; within its bounds."""
        rows = self._predicted(X)
        found = row_products(bounded_values(rows, self.facts_.columns), self.coef_[:, None])[:, 0] + self.intercept_
        within = target_column(self.facts_)
        return np.clip(found, within.low, within.high)

    def region(self, confidence: NumberLike = "0.95") -> CoefficientRegion:
        """The region of coefficients that covers least squares *of the clipped rows* with this probability, for all data.

        That of `Ridge` covers ridge regression with its penalty, as it is without noise.

        Args:
            confidence: the probability, over draws of noise, that it holds them.

        Raises:
            DataError: the solver was "gradient", which releases no moments of the target.
            NumberError: the confidence is no probability.

        Example:
            >>> import numpy as np
            >>> from dither.learn import LinearRegression
            >>> X = np.linspace(0, 1, 5000).reshape(-1, 1)
            >>> model = LinearRegression(epsilon=1, delta="1e-6", bounds=(0, 1), target_bounds=(0, 1)).fit(X, X.ravel())
            >>> model.region("0.999999").holds([1, 0])
            True
            >>> model.region("0.999999").holds([-1, 1])
            False
        """
        check_is_fitted(self, "guarantee_")
        if self.moments_ is None:
            why = "solver='gradient' releases no moments of the target, so it has no region"
            raise DataError("region", self.solver, why, "solver='moments'")
        units, shift = coefficient_units(self.facts_, self.moments_.steps)
        names = (*self.facts_.coordinates, INTERCEPT)
        penalty = self.penalty_ * self.moments_.steps**2
        return CoefficientRegion(self.moments_, names, units, shift, penalty, read_confidence(confidence))

    def intervals(
        self, confidence: NumberLike = "0.95", *, kind: Literal["noise", "population"] = "noise"
    ) -> tuple[CoefficientInterval, ...]:
        """An interval of each coefficient, in the units of the columns, the intercept last.

        Args:
            confidence: the probability that they hold.
            kind: "noise": of what `region` covers, the estimate without noise on the clipped rows. These contain the region,
                so they hold all together, for every data set. "population": of the same estimate of the clipped population,
                that is noise and sampling; they are linearized, hold approximately, one at a time, and suppose that
                residuals have one variance.

        Raises:
            DataError: there is no such kind, or the solver was "gradient".
            NumberError: the confidence is no probability.

        Example:
            >>> import numpy as np
            >>> from dither.learn import LinearRegression
            >>> X = np.linspace(0, 1, 5000).reshape(-1, 1)
            >>> model = LinearRegression(epsilon=1, delta="1e-6", bounds=(0, 1), target_bounds=(0, 1)).fit(X, X.ravel())
            >>> slope, intercept = model.intervals("0.999999")
            >>> slope.low < 1 < slope.high
            True
        """
        region = self.region(confidence)
        if kind == "noise":
            return region.extents()
        if kind == "population":
            return region.population()
        raise DataError("kind", kind, "there is no such kind of interval", "kind='noise' or kind='population'")

    def explain(self) -> Explanation:
        """Return what was released, at which price, and a table of the coefficients with the intervals of the noise."""
        coded = [
            f"Coded      {name}: {column.values[0]!r} is the reference level; rows without a listed value are left out"
            for name, column in zip(self.facts_.names, self.facts_.columns, strict=True)
            if isinstance(column, CategoryColumn)
        ]
        lines = [super().explain()[:], *coded, *(f"Signal     {one}" for one in self._signal())]
        return Explanation("\n".join([*lines, "", *self._coefficient_table()]))

    def _coefficient_table(self) -> list[str]:
        """Name, estimate, low and high of each coefficient; without ends where there is no finite interval."""
        names = (*self.facts_.coordinates, INTERCEPT)
        estimates = [f"{one:.6g}" for one in (*self.coef_, self.intercept_)]
        if self.moments_ is None:
            return table([["coefficient", "estimate"], *zip(names, estimates, strict=True)], rule=1)
        region, rows = self.region("0.95"), [["coefficient", "estimate", "low", "high"]]
        for estimate, one in zip(estimates, region.extents(), strict=True):
            ends = ["–", "–"] if one.unbounded else [f"{one.low:.6g}", f"{one.high:.6g}"]
            rows.append([one.name, estimate, *ends])
        about = f"95% intervals of the noise, which hold together: of {region.subject}."
        return [*table(rows, rule=1), about]

    def _signal(self) -> list[str]:
        """What the released numbers say about signal and noise, in words."""
        if self.moments_ is None:
            return ["solver='gradient' releases nothing that tells signal from noise; solver='moments' does"]
        region, moments = self.region("0.95"), self.moments_
        width, within = moments.width, target_column(self.facts_)
        mean = moments.matrix[width, width + 1] / (moments.rows * moments.constant * REACH)
        flat = np.append(np.zeros(width), within.middle + within.half * np.clip(mean, -1.0, 1.0))
        if region.holds(flat):
            return ["what was released does not rule out, at 95%, that every slope is 0"]
        if region.ellipsoid is None:
            return ["some slope is told from 0 at 95%, but noise leaves coefficients unbounded"]
        clear = [one.name for one in region.extents()[:-1] if one.low > 0 or one.high < 0]
        return [f"at 95% noise leaves every coefficient bounded, and {len(clear)} of {width} slopes are not 0"]

    def _expect(self, facts: Facts, n: int) -> list[str]:
        target, rehearsal = self.solver == "moments", Rehearsal(facts.price, facts.rows_per_person)
        norm2, share = ((1 + target) * REACH**2 + CONSTANT**2) ** 2, Fraction(1) if target else MOMENT_SHARE
        noise = float(rehearsal.variance(norm2, share)) ** 0.5 / lattice_steps(facts.width, facts.norm(self.norm)) ** 2
        ridge = noise * float(np.sqrt(facts.width / 2))
        words = [f"the mean square of a column, scaled to [-1, 1], has noise of deviation {noise / n:.2g}"]
        return [*words, f"slopes are drawn to 0 as by a ridge of {ridge:,.0f} rows"] if target else words


def target_column(facts: Facts) -> NumberColumn:
    """The public bounds of the target, which every regressor has."""
    assert facts.target is not None
    return facts.target


def moment_solution(moments: SecondMoments, penalty: float) -> Floats:
    """beta of (x, c) for y, all on the lattice; `penalty` is added to the squares of x of the slopes."""
    size = moments.width + 1
    values, vectors = np.linalg.eigh(moments.matrix[:size, :size] + slope_penalty(size, penalty))
    squares = (vectors * np.maximum(values, 0.0)) @ vectors.T + moments.noise * np.eye(size)
    return np.asarray(np.linalg.solve(squares, moments.matrix[:size, size]))


def coefficient_units(facts: Facts, steps: float) -> tuple[Floats, Floats]:
    """A matrix and a shift that make coefficients in the units of columns and target of those on the lattice."""
    width, within = facts.width, target_column(facts)
    constants = np.append(np.zeros(width), CONSTANT / REACH)
    slopes, intercepts = original_coefficients(np.eye(width, width + 1) * (steps / REACH), constants, facts.columns)
    units = np.concatenate([slopes, intercepts[None]]) * within.half
    return units, np.append(np.zeros(width), within.middle)
