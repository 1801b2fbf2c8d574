"""What dither does without SQL: noise, guarantees, mechanisms, channels, surveys, distributions, a ledger.

`tests/test_imports.py` runs it where DuckDB, Arrow and the SQL parser cannot be imported: who asks no SQL question needs
none of them, however long they take to load.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import tempfile

import dither
import dither.channels
import dither.density
import dither.local
import dither.noise
import dither.testing

QUESTIONS = {"open", "protect", "Answer", "Batch", "BatchAnswer", "BudgetPlan", "Dataset", "Policy", "Quote"}
QUESTIONS |= {"check_engine", "connect", "engine_checks", "sample_dataset"}

ROOMS = ("numeric", "noise", "privacy", "channels", "mechanisms", "local", "density", "ledger", "testing")


def modules() -> None:
    """Every file of the rooms below SQL."""
    for room in ROOMS:
        package = importlib.import_module(f"dither.{room}")
        found = [importlib.import_module(file.name) for file in pkgutil.walk_packages(package.__path__, f"dither.{room}.")]
        assert found, room


def names() -> None:
    """Every public name but those of SQL."""
    for front in (dither, dither.channels, dither.density, dither.local, dither.noise, dither.testing):
        for name in sorted(set(dir(front)) - QUESTIONS):
            getattr(front, name)


def guarantees() -> None:
    total = 3 * dither.pure("0.1") + dither.gdp(mu="0.5") + dither.zcdp("0.01")
    assert total.epsilon(delta="1e-6") > 0
    assert dither.Guarantee.from_json(total.to_json()) == total
    loss: dither.Loss = dither.Gaussian(l2_sensitivity=1, sigma=2, integers=True).loss()
    assert loss.delta(1) < 1


def mechanisms() -> None:
    assert isinstance(dither.Geometric(epsilon=1, sensitivity=1).release(3), int)
    assert dither.Laplace(epsilon=1, sensitivity=1, dimension=2).release([1.5, 2.5]).shape == (2,)
    assert dither.Exponential(epsilon=1, sensitivity=1, candidates=["a", "b"]).release([1, 2]) in ("a", "b")
    assert dither.optimal(range(4), epsilon=1).release(2) in range(4)
    assert dither.testing.check_mechanism(dither.RandomizedResponse(epsilon=1)).epsilon <= 1.001
    with dither.testing.seeded(1):
        assert len(dither.noise.DiscreteNormal(sigma2=4).sample(10)) == 10


def surveys() -> None:
    survey = dither.local.DirectEncoding(["yes", "no"], epsilon=1)
    reports = survey.randomize(["yes", "no", "no"])
    assert survey.estimate(survey.tally(reports)).people == 3
    assert str(survey.estimate(reports))


def distributions() -> None:
    bins = dither.density.Bins(range(0, 101, 10))
    found = dither.density.cdf(bins, epsilon=1).release(bins.count([5, 15, 15]))
    assert str(found)
    assert dither.density.Quantile(bins=bins, q="0.5", epsilon=1).release(bins.count([5, 15, 15])) is not None


def ledger(folder: str) -> None:
    place = os.path.join(folder, "survey.ledger")  # noqa: PTH118 - plain text, as a user writes it
    with dither.Ledger.create(place, budget=dither.pure(1), domain="survey") as kept:
        receipt = kept.reserve(dither.pure("0.5"), "how many")
        assert kept.commit(receipt, "128") == "128"
        assert kept.verify().entries > 0
        assert str(kept.remaining())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as home:
        os.environ["DITHER_HOME"] = home  # keys lie in another folder than the ledger
        modules()
        names()
        guarantees()
        mechanisms()
        surveys()
        distributions()
        ledger(made)
    print("all done without SQL")
