"""A private choice: among models that are there already, or among settings of an estimator.

Among models: permute-and-flip (`mechanisms/selection/permute_and_flip.py`) on scores that one person moves by at most k S
(`search/model_scores.py`): epsilon, with the utility theorem of the exponential mechanism, which it never falls short of.
Among settings: the best of a random number of runs, each a setting at random, its fit, and its right answers with noise
(`search/random_runs.py`). One run costs epsilon / 2: four fifths of it for the fit, a fifth for the score.
"""

from __future__ import annotations

import json
import secrets
from fractions import Fraction
from math import ceil
from typing import Any, Self

import numpy as np
from attrs import evolve

from dither.arguments import argument_errors
from dither.errors import DataError, GuaranteeError, ReleaseError
from dither.extras import needs
from dither.learn.base.cells import Cells, check_kinds, read_cells
from dither.learn.base.columns import stated_width
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.facts import Facts, read_max_rows
from dither.learn.base.payment import KeepsLedger, read_ledger, refuse_cross_validation
from dither.learn.base.people import UNCOUNTED, check_persons, kept_rows, read_person
from dither.learn.base.price import Price, read_price
from dither.learn.base.private_score import FAILED, is_right, single_answers
from dither.learn.base.quote import FitQuote
from dither.learn.base.release import Release, to_json, untold
from dither.learn.base.targets import check_labels, read_labels
from dither.learn.search.model_scores import model_scores, read_models, row_worth, width_of
from dither.learn.search.random_runs import COST, best_run, ends
from dither.ledger.entries.receipt import Receipt
from dither.ledger.ledger import Ledger
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.noise.uniform_integers import uniform
from dither.numeric.number import NumberLike, integer
from dither.privacy.unit import UnitLike
from dither.terminal import Explanation

with needs("dither[learn]"):
    from sklearn.base import BaseEstimator, clone
    from sklearn.utils.validation import check_is_fitted

FIT_SHARE = Fraction(4, 5)  # of the price of a run; the rest buys its score
OURS = ("epsilon", "delta", "guarantee", "unit", "max_rows", "ledger", "analyst")  # the search says these, or the estimator
WAYS = "models=[...] to choose among models, or estimator=GaussianNB(...), settings=[{...}, ...]"


@argument_errors
class PrivateSearch(KeepsLedger, BaseEstimator):
    """Chooses a model by its right answers on private rows, for a pure epsilon: among models, or among settings of a fit.

    Models were made without these rows, or were released before: networks trained elsewhere, classifiers of last year, cells
    of a map (`[(0, 10), (5, 15)]`, a pair for each column: the hot spot is chosen), functions of a row that give a number
    from 0 to 1 (one minus the distance to the nearest of some public centres). A choice among m of them is within about
    ln(m)/epsilon people of the best. Settings are tried in a random number of fits, which halves the epsilon of each: it
    pays only where the default is bad. How long that takes tells how many fits there were, so it is not to be published.

    Args:
        models: what to choose among.
        estimator: whose settings to choose among, without a price of its own; it must spend pure epsilon.
        settings: a list of parameters, each a mapping of names to values.
        epsilon: the price of the search, pure; of settings all fits and scores are in it.
        mean_runs: how many fits on average, where settings are searched.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import PrivateSearch
        >>> places = np.random.default_rng(1).normal([12, 7], 2, (3000, 2))
        >>> cells = [[(x, x + 5), (y, y + 5)] for x in range(0, 20, 5) for y in range(0, 20, 5)]
        >>> search = PrivateSearch(cells, epsilon=1).fit(places)
        >>> search.best_model_
        [(10, 15), (5, 10)]
        >>> print(search.quote(3000))
        Model      PrivateSearch
        Price      ε = 1 (add/remove one person)
        Expect     with probability 95% the chosen one of 16 is within 4 people of the best
    """

    def __init__(
        self,
        models: Any = None,
        *,
        estimator: Any = None,
        settings: Any = None,
        epsilon: NumberLike | None = None,
        mean_runs: int = 5,
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        self.models, self.estimator, self.settings = models, estimator, settings
        self.epsilon = epsilon
        self.mean_runs = mean_runs
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.analyst = analyst

    def fit(self, X: Any, y: Any = None, *, person: Any = None) -> Self:
        """Charge for a choice, and make it.

        Args:
            X: one row for each record: an array, a list of rows, a frame of pandas or polars, or a table of pyarrow.
            y: the labels, one for each row; left out where models are cells of a map, or functions that give a number.
            person: one value for each row that says whose it is; left out, each row is another person.

        Raises:
            DataError, SizeError, NumberError, GuaranteeError, UnitError: parameters, shape or kind do not fit.
            BudgetError: the ledger has less left than the price.
            ReleaseError: it failed after the charge; the cause is not told.
        """
        refuse_cross_validation()
        cells = read_cells(X, width_of(self.models) or stated_width(getattr(self.estimator, "bounds", None)))
        labels = None if y is None else read_labels(y, cells.rows)
        ids = None if person is None else read_person(person, cells.rows)
        price = self._price()
        check_persons(ids, self.max_rows, "fit(X, y, person=ids)")
        among = self._candidates(cells, y, labels, price)
        receipt = self._charge(price)
        with untold() as done:
            kept = np.ones(cells.rows, dtype=bool) if ids is None else kept_rows(ids, cells.rows, self.max_rows)
            if self.models is not None:
                frame = None if cells.names is None else type(X)
                scores = model_scores(among, cells, labels, kept, frame)
                chosen = int(self._mechanism(price, labels is not None).release(scores))
                done.append(json.dumps({"search": 1, "chosen": chosen}))
            else:
                done.append(self._best_setting(price, among, cells, labels, ids, kept))
        if not done:
            ways = "asking the owner of the data"
            raise ReleaseError("fit", receipt.name if receipt else "without a ledger", FAILED, ways)
        stored = self.ledger.commit(receipt, done[0]) if self.ledger is not None and receipt is not None else done[0]
        self.guarantee_, self.receipt_ = price.guarantee, receipt
        self.uncounted_ = "" if ids is None else UNCOUNTED
        self.words_ = tuple(self._expect(price, 2**62, labels is not None))
        return self._chosen(json.loads(stored), among, price, cells.names)

    def predict(self, X: Any) -> Any:
        """What the chosen model predicts for `X`."""
        check_is_fitted(self, "guarantee_")
        return self.best_model_.predict(X)

    def quote(self, n: int, *, labelled: bool = False) -> FitQuote:
        """Price of the search, and how good the choice will be, before any data is there. Costs nothing.

        Args:
            n: a public guess of the number of rows.
            labelled: whether there will be labels.

        Raises:
            DataError, NumberError, GuaranteeError, UnitError: parameters do not fit.
        """
        price, rows = self._price(), integer(n, name="n", least=1)
        return FitQuote(type(self).__name__, price.guarantee, price.words, tuple(self._expect(price, rows, labelled)))

    def explain(self) -> Explanation:
        """What was chosen, at which price, and how far from the best it may be."""
        check_is_fitted(self, "guarantee_")
        charged = "to no ledger: nobody counts it" if self.receipt_ is None else f"under receipt {self.receipt_.name}"
        first = f"Price      {self.guarantee_}, charged {charged}\nChosen     number {self.best_index_}, from 0 on"
        first += f"\nNot counted  {self.uncounted_}" if self.uncounted_ else ""
        return Explanation("\n".join([first, *(f"Expect     {one}" for one in self.words_)]))

    def __sklearn_clone__(self) -> PrivateSearch:
        """The same search, not fitted. Models are not copied: a copy by scikit-learn would forget what they learned."""
        refuse_cross_validation()
        return PrivateSearch(**{name: getattr(self, name) for name in self._get_param_names()})

    # -- inside ------------------------------------------------------------------------------------------------

    def _price(self) -> Price:
        if (self.models is None) == (self.estimator is None):
            raise DataError("models, estimator", "both or none", "exactly one of them is searched", WAYS)
        read_ledger(self.ledger)
        read_max_rows(self.max_rows)
        return read_price(self.epsilon, None, None, self.unit, ("pure",))

    def _charge(self, price: Price) -> Receipt | None:
        if self.ledger is None:
            return None
        question = {"search": type(self).__name__, "once": secrets.token_hex(16)}
        receipt = self.ledger.reserve(price.guarantee, question, analyst=self.analyst, text="a private search", door="learn")
        self.ledger.touch(receipt)
        return receipt

    def _candidates(self, cells: Cells, y: Any, labels: Any, price: Price) -> Any:
        """Models, or estimators with their settings and facts; refused where they do not fit."""
        if self.models is not None:
            among = read_models(self.models, labels is not None, len(cells.columns))
            self._mechanism(price, labels is not None)
            return among
        found = [(model, model._facts(cells, labels)) for model in self._set(labels)]
        for model, facts in found:
            check_kinds(cells, facts.columns, facts.names)
            check_labels(y, facts.classes)
            model._rehearse(facts)
        return found

    def _mechanism(self, price: Price, labelled: bool) -> PermuteAndFlip:
        worth = row_worth(self.models, labelled)
        assert price.epsilon is not None
        return PermuteAndFlip(
            epsilon=price.epsilon,
            sensitivity=self.max_rows * worth,
            candidates=len(self.models),
            monotone=price.replacement == 1,
            integers=True,
            unit=price.unit,
        )

    def _expect(self, price: Price, n: int, labelled: bool) -> list[str]:
        if self.models is None:
            m = ends(integer(self.mean_runs, name="mean_runs"))
            each = float(self._run(price) * FIT_SHARE)
            return [f"about {(m - 1) / np.log(m):.3g} fits, each at a pure epsilon of {each:.4g}"]
        labelled = labelled or (isinstance(self.models, (list, tuple)) and any(hasattr(m, "predict") for m in self.models))
        read_models(self.models, labelled)
        within = ceil(self._mechanism(price, labelled).error("0.95") / row_worth(self.models, labelled))
        whose = "people" if self.max_rows == 1 else "rows"
        said = f"with probability 95% the chosen one of {len(self.models)} is within {within} {whose} of the best"
        return [said, "that is no fewer than all: the choice is a guess"] if within >= n else [said]

    @staticmethod
    def _run(price: Price) -> Fraction:
        """The price of one run."""
        assert price.epsilon is not None
        return price.epsilon / COST

    def _set(self, labels: Any) -> list[PrivateEstimator]:
        """The estimator with each of the settings, at the price of a fit in a run."""
        model, price, found = self.estimator, self._price(), []
        if not isinstance(model, PrivateEstimator) or model._supervision != "classes" or labels is None:
            raise DataError("estimator", type(model).__name__, "settings are scored by right answers", "a classifier, and y")
        if "pure" not in model._kinds:
            why = "the best of several runs is accounted for pure epsilon alone"
            raise GuaranteeError("estimator", type(model).__name__, why, "GaussianNB, NearestCentroid")
        if model.epsilon is not None or model.guarantee is not None or model.ledger is not None:
            why = "the search says the price and pays it"
            raise DataError("estimator", type(model).__name__, why, "no epsilon or ledger")
        if not isinstance(self.settings, (list, tuple)) or not self.settings:
            raise DataError("settings", self.settings, "it is a list of parameters", "[{'norm': 1.0}, {'norm': 0.5}]")
        names = set(model.get_params(deep=False))
        ends(integer(self.mean_runs, name="mean_runs"))
        for place, setting in enumerate(self.settings):
            if not isinstance(setting, dict):
                raise DataError(f"settings[{place}]", setting, "it is a mapping of names to values", "{'norm': 0.5}")
            strange = [name for name in setting if name not in names or name in OURS]
            if strange:
                why = "it is no parameter, or one that the search sets"
                raise DataError(f"settings[{place}]", strange[0], why, ", ".join(sorted(names - set(OURS))))
            same = {"unit": self.unit, "max_rows": self.max_rows, "delta": None}
            found.append(clone(model).set_params(**setting, **same, epsilon=self._run(price) * FIT_SHARE))
        return found

    def _best_setting(self, price: Price, among: Any, cells: Cells, labels: Any, ids: Any, kept: Any) -> str:
        """The best run, as it is stored."""
        score = read_price(self._run(price) * (1 - FIT_SHARE), None, None, self.unit, ("pure",))

        def run() -> tuple[int, tuple[int, str]]:
            place = uniform(len(among))
            model, facts = among[place]
            rows = model._rows(cells, labels, ids, facts)
            first = Release(facts.price, rows, facts.rows_per_person)
            model._learn(facts, first)
            stored = to_json(first.released)
            fitted = _fitted(model, facts, stored, cells)
            answers = single_answers(fitted.predict, cells, kept)
            right = np.array([sum(is_right(answer, labels[row]) for row, answer in answers.items())], dtype=np.int64)
            release = Release(score, rows, self.max_rows)
            return int(release.geometric(lambda _: right, (1,), norm1=1, share=Fraction(1))[0]), (place, stored)

        found, (place, stored) = best_run(run, ends(self.mean_runs))
        return json.dumps({"search": 1, "chosen": place, "score": found, "fit": stored})

    def _chosen(self, stored: dict[str, Any], among: Any, price: Price, names: tuple[str, ...] | None) -> Self:
        self.best_index_ = int(stored["chosen"])
        if self.models is not None:
            self.best_model_ = among[self.best_index_]
            self.__dict__ = {name: held for name, held in vars(self).items() if name not in ("best_setting_", "best_score_")}
            return self
        model, facts = among[self.best_index_]
        self.best_model_ = _fitted(model, facts, stored["fit"], Cells(tuple(np.zeros(0) for _ in facts.names), names, 0))
        self.best_model_.facts_ = evolve(facts, price=price)  # the promise about it is that of the search
        self.best_model_.guarantee_, self.best_model_.receipt_ = price.guarantee, self.receipt_
        self.best_setting_, self.best_score_ = dict(self.settings[self.best_index_]), int(stored["score"])
        return self


def _fitted(model: PrivateEstimator, facts: Facts, stored: str, cells: Cells) -> Any:
    """A new model of what a run released."""
    found = clone(model)
    found._name(len(cells.columns), None if cells.names is None else np.array(cells.names, dtype=object))
    return found._model(facts, stored, None)
