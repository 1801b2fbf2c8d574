"""The fit of a network: nothing but noisy sums reaches the weights, charges, refusals before them, copies, SQL, digits."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch", reason="not run: no torch", exc_type=ImportError)

import dither  # noqa: E402
from dither.errors import BudgetError, DataError, DitherError, ReleaseError  # noqa: E402
from dither.learn import PrivateSGD, StandardScaler  # noqa: E402
from dither.learn.networks import private_sgd  # noqa: E402
from dither.learn.networks.lattice_gradients import LENGTH  # noqa: E402
from dither.learn.networks.modules import flat_weights  # noqa: E402
from dither.learn.networks.sampled_release import SampledRelease, poisson_sample  # noqa: E402
from dither.testing import seeded  # noqa: E402
from tests.learn.cases import CLASSES, COLUMNS, REFUSALS, as_data, hostile_rows, plain_rows  # noqa: E402
from tests.learn.test_fit import SILLY, NoNoise  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

UNITS = ("add/remove one person", "replace one person")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def model(**how):
    """Steps of all rows, whose price is quick; samples where a test is about them."""
    given = {"epsilon": 1, "delta": "1e-6", "bounds": (-1, 1), "classes": CLASSES, "rate": 1, "steps": 3, "chunk": 8}
    return PrivateSGD(**given | how)


def sampled(**how):
    return model(**{"rate": "0.25", "steps": 20} | how)


def data(rows=None):
    return as_data([*plain_rows(), *hostile_rows()] if rows is None else rows, "classes")


def weights(fitted):
    return flat_weights(fitted.network_)


# -- the weights are made of noisy sums alone ----------------------------------------------------------------------------


class Fixed(SampledRelease):
    """Whatever the rows are, the same sums come out."""

    def step(self, statistic, size):
        super().step(statistic, size)
        return self.sums(self.steps_left, size)

    @staticmethod
    def sums(left, size):
        return np.random.default_rng(left).integers(-(2**16), 2**16, size)


def fits(monkeypatch, release, **how):
    monkeypatch.setattr(private_sgd, "SampledRelease", release)
    found = []
    for rows in ([*plain_rows(), *hostile_rows()], plain_rows(2), [], hostile_rows()[::-1]):
        with seeded(5):
            found.append(sampled(rows=100, **how).fit(*data(rows)))
    return found


def test_equal_sums_make_equal_models_whatever_the_rows(monkeypatch):
    """The attributes of a fit, byte by byte: what training sees of rows are these sums, and no size of a sample."""
    states = [pickle.dumps({**vars(one), "network_": weights(one)}) for one in fits(monkeypatch, Fixed)]
    assert len(set(states)) == 1


def test_a_mean_by_the_size_of_the_sample_is_found(monkeypatch):
    class ByItsSize(Fixed):
        def step(self, statistic, size):
            count = poisson_sample(self._rows, self._coin).count
            return super().step(statistic, size) // max(1, count)

    assert len({weights(one).tobytes() for one in fits(monkeypatch, ByItsSize)}) > 1


def test_an_empty_sample_is_a_step_of_noise():
    """No row at all: as many steps, and weights that moved."""
    with seeded(3):
        none = sampled(rows=10).fit(np.zeros((0, COLUMNS)), np.array([], dtype=object))
    start = flat_weights(private_sgd.read_network(None, COLUMNS, 3))
    assert (weights(none) != start).mean() > 0.99
    assert none.n_iter_ == 20


def test_the_step_is_divided_by_the_expected_size(monkeypatch):
    """One step without noise: the weights move by the sum over the sample, over rate times rows."""
    monkeypatch.setattr("dither.learn.networks.sampled_release.RoundedGaussian", NoNoise)
    X, y = data()
    one = model(steps=1, rows=50, learning_rate=0.5, clip=2.0).fit(X, y)
    start = flat_weights(private_sgd.read_network(None, COLUMNS, 3))
    facts = one.facts_
    network, gradients = one._network(facts)
    cells = private_sgd.Cells(tuple(X.T), None, len(X))
    rows = one._rows(cells, y, None, facts)
    total = gradients.sums(start, private_sgd.row_inputs(rows, facts), rows.labels)
    assert (weights(one) == (start - 0.5 * 2.0 / LENGTH / 50 * total).astype(np.float32)).all()
    assert network is not one.network_
    monkeypatch.setattr(private_sgd, "SampledRelease", Fixed)
    one = sampled(steps=20, rows=80, learning_rate=0.5).fit(X, y)
    speed, mean, here = np.zeros(start.size), np.zeros(start.size), start
    for left in reversed(range(20)):
        speed = 0.8 * speed + Fixed.sums(left, start.size) / LENGTH / (0.25 * 80)
        here = (here - 0.5 * speed).astype(np.float32)
        mean += here / 10 if left < 10 else 0
    assert np.allclose(weights(one), mean, atol=1e-5)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("most", [1, 3])
def test_noise_pays_for_clip_slack_and_all_rows_of_a_person(monkeypatch, unit, most):
    drawn = []

    class Law(NoNoise):
        def __init__(self, *, sigma2):
            drawn.append(Fraction(sigma2))

    monkeypatch.setattr("dither.learn.networks.sampled_release.RoundedGaussian", Law)
    X, y = data()
    one = model(unit=unit, max_rows=most, slack=100, rows=40).fit(X, y, person=np.arange(len(X)) // most)
    moved = (LENGTH + 100) * most * (2 if unit == UNITS[1] else 1)
    assert sum(Fraction(moved**2) / sigma2 for sigma2 in drawn * 3) == one.facts_.price.mu2  # three steps of one law


def test_rows_of_a_person_are_sampled_together(monkeypatch):
    seen = []

    class Watched(SampledRelease):
        def step(self, statistic, size):
            return super().step(lambda rows: (seen.append(rows.person.tolist()), statistic(rows))[1], size)

    monkeypatch.setattr(private_sgd, "SampledRelease", Watched)
    X, y = data(plain_rows(12))
    with seeded(1):
        sampled(max_rows=3, rows=12).fit(X, y, person=np.array(["a", "b", "c", "d"] * 3))
    assert all(people.count(one) in (0, 3) for people in seen for one in range(4))
    assert len({len(people) for people in seen}) > 2


# -- charge, refusals, copies ------------------------------------------------------------------------------------------


def test_a_fit_is_charged_as_it_is_quoted_and_explained():
    X, y = data()
    with dither.Ledger.temporary(dither.approx(2, "1e-5"), domain="net") as ledger:
        found = clone(sampled(ledger=ledger)).fit(X, y)
        assert found.guarantee_ == sampled().quote(100, COLUMNS).guarantee == dither.approx(1, "1e-6")
        assert found.receipt_.ledger == ledger.identity
        assert "20 noisy sums of gradients" in found.explain()
        assert found.receipt_.name in found.explain()
        clone(found).fit(X, y)
        with pytest.raises(BudgetError):
            clone(found).fit(X, y)
        away = pickle.loads(pickle.dumps(found))
        assert np.array_equal(away.predict_proba(X), found.predict_proba(X))
        with pytest.raises(DataError, match="left behind"):
            away.fit(X, y)


def test_wrong_parameters_and_networks_are_refused_before_the_charge():
    X, y = data(plain_rows())
    mixing = torch.nn.Sequential(torch.nn.BatchNorm1d(COLUMNS), torch.nn.Linear(COLUMNS, 3))
    tries = [("network", mixing), *((name, value) for name in model().get_params(deep=False) for value in SILLY)]
    with dither.Ledger.temporary(dither.zcdp(10**6), domain="net") as ledger:
        for name, value in tries:
            before = len(list(ledger.history()))
            try:
                model(**{"ledger": ledger, "steps": 1, "rows": 9, "chunk": 2} | {name: value}).fit(X, y)
            except ReleaseError as error:
                raise AssertionError(f"{name}={value!r} is refused after the charge") from error
            except DitherError:
                assert len(list(ledger.history())) == before, (name, value)
            else:
                assert name != "network" or value is None


def test_what_fails_after_the_charge_is_one_error(monkeypatch):
    def broken(*_):
        raise ValueError("row 7 is 42")

    monkeypatch.setattr(private_sgd.LatticeGradients, "sums", broken)
    with pytest.raises(ReleaseError) as told:
        model().fit(*data())
    assert "42" not in str(told.value)
    assert told.value.__context__ is None


def test_the_network_that_was_given_stays_as_it_is():
    given = torch.nn.Sequential(torch.nn.Linear(COLUMNS, 3).requires_grad_(False), torch.nn.Linear(3, 3))
    before = {name: value.clone() for name, value in given.state_dict().items()}
    found = model(network=given).fit(*data())
    assert found.network is given
    assert all((value == before[name]).all() for name, value in given.state_dict().items())
    after = found.network_.state_dict()
    assert [bool((after[name] == before[name]).all()) for name in before] == [True, True, False, False]
    assert found.released_[0].size == 12


def test_predictions_are_of_each_row_alone():
    X, y = data()
    found = model().fit(X, y)
    chances = found.predict_proba(X)
    assert np.allclose(chances.sum(axis=1), 1)
    assert all((found.predict_proba(X[place : place + 1])[0] == chances[place]).all() for place in range(len(X)))
    assert found.predict_proba(X[:0]).shape == (0, 3)
    assert set(found.predict(X)) <= set(CLASSES)
    with pytest.raises(DataError, match="private_score"):
        found.score(X, y)
    assert found.private_score(X, y, epsilon=1).guarantee == dither.pure(1)


def test_a_pipeline_of_private_steps():
    X, y = data(plain_rows(30))
    scaler = StandardScaler(epsilon=1, bounds=(-1, 1))
    assert make_pipeline(scaler, model(bounds=(-3, 3))).fit(X, y).predict(X).shape == (30,)


@parametrize_with_checks(
    [model(bounds=(-100, 100), classes="public", steps=2, rows=50)], expected_failed_checks=lambda _: REFUSALS
)
def test_scikit_learn(estimator, check, monkeypatch):
    """With noise that is zero at every fit: the checks compare fits, and no seed of noise is to be had."""
    for room in ("base.release", "networks.sampled_release", "networks.private_sgd"):
        monkeypatch.setattr(f"dither.learn.{room}.RoundedGaussian", NoNoise)
    check(estimator)


# -- rows of a dataset ---------------------------------------------------------------------------------------------------


def test_rows_of_a_dataset_and_the_same_fit_is_free():
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, 60)
    table = pyarrow.table({"patient": np.arange(60) // 2, "age": age, "ill": age > 50})
    with dither.Ledger.temporary(dither.approx(8, "1e-5"), domain="clinic") as ledger:
        facts = {"bounds": {"age": (0, 100)}, "max_rows": 2}
        clinic = dither.protect(table, name="visits", person="patient", ledger=ledger, **facts)
        with pytest.raises(DataError, match="max_rows=1"):
            PrivateSGD(epsilon=1, delta="1e-6", steps=2, rate=1).fit(clinic.features("SELECT age FROM visits", target="ill"))
        features = clinic.features("SELECT age FROM visits", target="ill", max_rows=1)
        given = torch.nn.Linear(1, 2)
        first = PrivateSGD(given, epsilon=1, delta="1e-6", steps=2, rate=1).fit(features)
        spent = str(ledger.remaining())
        again = PrivateSGD(given, epsilon=1, delta="1e-6", steps=2, rate=1).fit(features)
        assert str(ledger.remaining()) == spent
        assert (weights(first) == weights(again)).all()
        with torch.no_grad():
            given.bias += 1  # another network of the same layers is another question
        PrivateSGD(given, epsilon=1, delta="1e-6", steps=2, rate=1).fit(features)
        assert str(ledger.remaining()) != spent


# -- digits ----------------------------------------------------------------------------------------------------------------


def test_digits_are_learned():
    """The network of the notes; 92% of other rows are told right at epsilon 3."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    fit, rest = order[:1347], order[1347:]
    with seeded(1):
        found = PrivateSGD(epsilon=3, delta="1e-6", bounds=(0, 16), classes=list(range(10))).fit(X[fit], y[fit])
    assert found.score(X[rest], y[rest], public=True) > 0.85
