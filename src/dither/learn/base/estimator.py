"""The way of a fit: facts, charge, release, and then the model from what was released.

    facts     parameters, shape and kind of the data are read, and refused where they do not fit; no cell is looked at
    rehearse  the estimator runs on zeros in place of releases: what its parameters make impossible is refused
    charge    the ledger charges, or says that the same fit was paid for; from here on nothing is given back
    release   rows become whole numbers, statistics get noise (`base/release.py`)
    commit    what was released is stored
    model     the estimator runs again on what is *stored*, without rows: so a model holds nothing else, by construction

What fails after the charge is one error with one text: its cause may depend on a row.
"""

from __future__ import annotations

import secrets
import warnings
from copy import copy
from typing import Any, ClassVar, Self

from attrs import evolve

from dither.arguments import argument_errors
from dither.errors import ReleaseError
from dither.extras import needs
from dither.learn.base import targets
from dither.learn.base.cells import Cells, Integers, check_kinds, read_cells, scaled
from dither.learn.base.columns import read_bounds, stated_width
from dither.learn.base.facts import Facts, read_max_rows, read_rows_hint
from dither.learn.base.from_features import read_features
from dither.learn.base.payment import KeepsLedger, read_ledger, refuse_cross_validation
from dither.learn.base.people import UNCOUNTED, check_persons, kept_rows, person_numbers, read_person
from dither.learn.base.price import Kind, read_price
from dither.learn.base.quote import FitQuote
from dither.learn.base.release import Rehearsal, Release, Replay, from_json, to_json, untold
from dither.learn.base.row_count import RowCount
from dither.learn.base.rows import Rows, listed_rows
from dither.ledger.entries.receipt import Receipt
from dither.ledger.ledger import Ledger
from dither.numeric.number import integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.features import Features
from dither.terminal import Explanation

with needs("dither[learn]"):
    import numpy as np
    from sklearn.base import BaseEstimator, clone
    from sklearn.utils.validation import check_is_fitted, validate_data

UNSEEN = ": noise does not tell this from none; see that classes and bounds spell values as the rows do"
PUBLIC_LABELS = "which labels occur was declared public and read off the data"
FAILED = "it failed after data was touched; the charge stays, and the cause is not told: it may depend on a row"


class PrivateEstimator(KeepsLedger, BaseEstimator):
    """What all estimators of `dither.learn` do alike. Parameters are stored as given, and read by `fit`."""

    _kinds: ClassVar[tuple[Kind, ...]] = ("gaussian",)  # the noise that it can spend
    _supervision: ClassVar[str | None] = None  # "classes", "target" or None
    _by_person: ClassVar[bool] = False  # whether rows say whose they are: samples are of persons

    epsilon: Any
    delta: Any
    guarantee: Any
    bounds: Any
    unit: Any
    max_rows: Any
    rows: Any
    ledger: Ledger | None
    analyst: str

    facts_: Facts
    released_: tuple[Integers, ...]
    receipt_: Receipt | None
    guarantee_: Guarantee
    outside_: tuple[str, ...]
    uncounted_: str
    row_counts_: tuple[RowCount, ...] = ()  # of rows that have what they need, where they need something

    def __init_subclass__(cls, **how: Any) -> None:
        """A call with wrong arguments is refused in words, of every estimator."""
        super().__init_subclass__(**how)
        argument_errors(cls)

    # -- what each of them says for itself ---------------------------------------------------------------------

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        """The fitted attributes, from public facts and releases alone. It runs twice, and gives the same both times."""
        raise NotImplementedError

    def _expect(self, facts: Facts, n: int) -> list[str]:
        """What is to be expected of n rows, in words; from public facts alone."""
        raise NotImplementedError

    # -- scikit-learn ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, person: Any = None) -> Self:
        """Charge for a fit, release its statistics, and make the model of them.

        Args:
            X: one row for each record: an array, a list of rows, a frame of pandas or polars, or a table of pyarrow.
            y: the labels or targets, one for each row.
            person: one value for each row that says whose it is; left out, each row is another person.

        Raises:
            DataError, SizeError, NumberError, GuaranteeError, UnitError: parameters, shape or kind do not fit; or
                scikit-learn's cross-validation asks, which would be charged for every fold.
            BudgetError: the ledger has less left than the price.
            ReleaseError: it failed after the charge; the cause is not told.
        """
        refuse_cross_validation()
        if isinstance(X, Features):
            return self._fit_features(X, y, person)
        cells = read_cells(X, stated_width(self.bounds))
        named = copy(self)  # a fit that is refused leaves the names of the last one
        validate_data(named, X if cells.names else cells, reset=True, skip_check_array=True)  # of a list it reads a row
        labels = None if self._supervision is None else targets.read_labels(y, cells.rows)
        ids = None if person is None else read_person(person, cells.rows)
        facts = evolve(self._facts(cells, labels), has_persons=ids is not None)
        check_kinds(cells, facts.columns, facts.names)
        if labels is not None:
            targets.check_labels(y, facts.classes)
        check_persons(ids, facts.rows_per_person, "fit(X, y, person=ids)")
        self._rehearse(facts)
        receipt = self._charge(facts)
        with untold() as done:
            done.append(self._released(facts, self._rows(cells, labels, ids, facts)))
        if not done:
            raise ReleaseError(
                "fit", receipt.name if receipt else "without a ledger", FAILED, "asking the owner of the data"
            )
        stored = self.ledger.commit(receipt, done[0]) if self.ledger is not None and receipt is not None else done[0]
        self._model(facts, stored, receipt)
        self._name(named.n_features_in_, getattr(named, "feature_names_in_", None))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._supervision is not None
        return tags

    # -- price and explanation ---------------------------------------------------------------------------------

    def quote(self, n: int, d: int | None = None) -> FitQuote:
        """Price of a fit, and what to expect of n rows of d columns, before any data is there. Costs nothing.

        Args:
            n: a public guess of the number of rows.
            d: the number of columns, where `bounds` does not say it.

        Raises:
            DataError, SizeError, NumberError, GuaranteeError, UnitError: parameters do not fit.
        """
        size = integer(n, name="n", least=1)
        width = (stated_width(self.bounds) or 1) if d is None else integer(d, name="d", least=1)
        names = tuple(self.bounds) if isinstance(self.bounds, dict) else None
        facts = self._facts(Cells(tuple(np.zeros(0) for _ in range(width)), names, 0), None)
        return FitQuote(type(self).__name__, facts.price.guarantee, facts.price.words, tuple(self._expect(facts, size)))

    def explain(self) -> Explanation:
        """What was released, at which price, and what the guarantee does not hold."""
        check_is_fitted(self, "guarantee_")
        charged = "to no ledger: nobody counts it" if self.receipt_ is None else f"under receipt {self.receipt_.name}"
        most = self.facts_.rows_per_person
        whose = f"at most {most} of a person count{'s' * (most == 1)}"
        lines = [
            f"Model      {type(self).__name__}",
            f"Price      {self.facts_.price.words}, charged {charged}",
            f"Rows       {whose if self.facts_.has_persons else 'each is taken as another person'}",
            *([f"Not counted  {self.uncounted_}"] if self.uncounted_ else []),
            f"Released   {self._made_of()}",
        ]
        total = "" if self.facts_.rows is None else f", of {self.facts_.rows:,} declared"
        lines += [f"Counted    {count}{total}{UNSEEN * (count.low == 0)}" for count in self.row_counts_]
        lines += [f"Outside    {text}" for text in self.outside_]
        return Explanation("\n".join(lines))

    # -- inside ------------------------------------------------------------------------------------------------

    def _made_of(self) -> str:
        """What was released, in words."""
        size = sum(one.size for one in self.released_)
        return f"{size:,} whole numbers with noise; the model is made of them alone"

    def _spelled(self, name: str, value: Any) -> str:
        """A parameter as it tells this fit from others, where a ledger keeps what was released."""
        return repr(value)

    def _rehearse(self, facts: Facts) -> None:
        """Run without rows, on zeros: what can never work is refused before it is charged."""
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            self._learn(facts, Rehearsal(facts.price, facts.rows_per_person))

    def _released(self, facts: Facts, rows: Rows) -> str:
        """What is released of rows, as it is stored."""
        first = Release(facts.price, rows, facts.rows_per_person)
        self._learn(facts, first)
        return to_json(first.released)

    def _fit_features(self, features: Features, y: Any, person: Any) -> Self:
        """The fit to rows of a dataset: under its ledger, with the public facts of its policy."""
        stated = read_features(self, features, y, person)
        cells = Cells(tuple(np.zeros(0) for _ in features.columns), stated.names, 0)
        stating = clone(self).set_params(**stated.parameters)
        facts = stating._facts(cells, np.zeros(0))
        facts = evolve(facts, rows_per_person=features.max_rows, has_persons=features.question.table.person is not None)

        def compute(found: list[tuple[Any, ...]]) -> str:
            read, labels = stated.cells(found)
            return self._released(facts, self._rows(read, labels, None, facts))

        self._rehearse(facts)
        question = {
            "fit": type(self).__name__,
            "parameters": {**stated.asked, "classes": repr(facts.classes)},
            **features.asked,
        }
        text = f"fit of {type(self).__name__} to {features.sql}"
        stored, receipt = features.released(facts.price.guarantee, question, compute, analyst=self.analyst, text=text)
        self._name(len(stated.names), np.array(stated.names, dtype=object))
        self._model(facts, stored, receipt)
        self.outside_ += (features.unprotected,) if features.unprotected else ()
        self.uncounted_ = features.uncounted
        return self

    def _name(self, count: int, names: Any) -> None:
        """Set how many columns there are, and their names, where they have some."""
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        """Parameters as public facts; refused where they do not fit. Of the data only shape and names are looked at."""
        names = cells.names or tuple(f"x{place}" for place in range(len(cells.columns)))
        price = read_price(self.epsilon, self.delta, self.guarantee, self.unit, self._kinds)
        classes: tuple[Any, ...] = ()
        if self._supervision == "classes":
            classes = targets.read_classes(self.classes, np.zeros(0) if labels is None else labels)
        target = targets.read_target_bounds(self.target_bounds) if self._supervision == "target" else None
        columns = read_bounds(self.bounds, cells.names, len(cells.columns))
        read_ledger(self.ledger)
        return Facts(columns, names, price, classes, target, read_rows_hint(self.rows), read_max_rows(self.max_rows))

    def _charge(self, facts: Facts) -> Receipt | None:
        """The receipt of the charge. Each fit is a charge of its own: a ledger cannot know whether data is the same."""
        if self.ledger is None:
            return None
        question = {"fit": type(self).__name__, "once": secrets.token_hex(16)}
        text = f"fit of {type(self).__name__} on {', '.join(facts.names[:20])}"
        outside = PUBLIC_LABELS if isinstance(getattr(self, "classes", None), str) else ""
        told: dict[str, Any] = {"analyst": self.analyst, "text": text, "door": "learn", "unprotected": outside}
        receipt = self.ledger.reserve(facts.price.guarantee, question, **told)
        self.ledger.touch(receipt)
        return receipt

    def _rows(self, cells: Cells, labels: Any, ids: Any, facts: Facts) -> Rows:
        """Cells as rows: each from its own cells, those without a label, a target or a needed category left out."""
        numbers, codes = scaled(cells, facts.columns)
        label = targets.encode_labels(labels, facts.classes) if facts.classes else None
        target = targets.encode_target(labels, facts.target) if facts.target else None
        whose = person_numbers(ids, cells.rows) if self._by_person and ids is not None else None
        rows = Rows(numbers, codes, label, target, whose)
        kept = listed_rows(rows, facts.columns)
        if ids is not None:
            kept &= kept_rows(ids, cells.rows, facts.rows_per_person)
        if label is not None:
            kept &= label >= 0
        if target is not None:
            kept &= ~np.isnan(target)
        return rows if kept.all() else rows.take(kept)

    def _model(self, facts: Facts, stored: str, receipt: Receipt | None) -> Self:
        """The model from what is stored: no row has a way into it."""
        again = Replay(facts.price, from_json(stored), facts.rows_per_person)
        fitted = self._learn(facts, again)
        self.facts_, self.released_, self.receipt_ = facts, tuple(again.released), receipt
        self.guarantee_ = facts.price.guarantee
        self.outside_ = (PUBLIC_LABELS,) if isinstance(getattr(self, "classes", None), str) else ()
        self.uncounted_ = UNCOUNTED if facts.has_persons else ""
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def _predicted(self, X: Any) -> Rows:
        """Rows to predict for, as those of the fit were read."""
        check_is_fitted(self, "guarantee_")
        cells = read_cells(X, stated_width(self.bounds))
        validate_data(self, X if cells.names else cells, reset=False, skip_check_array=True)  # of a list it reads a row
        check_kinds(cells, self.facts_.columns, self.facts_.names)
        return Rows(*scaled(cells, self.facts_.columns))
