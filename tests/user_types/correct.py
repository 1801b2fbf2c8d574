"""A script of a user: what README shows, without a mistake. Type checkers report nothing in it, and it runs."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

import dither
from dither.density import Bins, cdf
from dither.noise import DiscreteLaplace, RoundedGaussian

SQL = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


def ask(policy: Path) -> str:
    """A question about the clinic of a policy: price and error, then the answer."""
    clinic: dither.Dataset = dither.open(policy)
    quote = clinic.quote(SQL, epsilon="0.5", size=5000)
    clinic.quote("SELECT STDDEV(cost) AS s FROM visits", error={"s": 20}, size=5000, spread={"cost": 300})
    errors: dict[str, float | None] = quote.errors
    answer: dither.Answer = quote.release(analyst="ada", wait=5)
    batch: dither.Batch = clinic.quote(["SELECT COUNT(*) FROM visits", "SELECT AVG(age) FROM visits"], epsilon="0.25")
    both = batch.release()
    rows = [row["ward"] for row in answer]
    return (
        f"{quote.explain()} {sorted(errors)} {quote.epsilon('1e-6')} {rows} {len(both.answers)} {clinic.ledger.remaining()}"
    )


def ask_a_table(folder: Path) -> dither.Answer:
    """The same about a file, under a policy of keywords."""
    ledger = dither.Ledger.create(folder / "visits.ledger", budget=dither.approx(3, "1e-6"))
    visits = dither.protect(
        folder / "visits.parquet",
        name="visits",
        person="patient_id",
        ledger=ledger,
        max_groups=3,
        max_rows_per_group=2,
        bounds={"age": (0, 100), "cost": (0, 2000)},
        steps={"cost": "0.01"},
        keys={"ward": ["surgery", "oncology"]},
    )
    cheap = visits.quote(SQL, rho="0.01")
    dear = visits.quote(SQL, guarantee=dither.zcdp("0.02"))
    print(cheap.compare(dear))
    return cheap.release(progress=None)


def promises() -> float:
    """Guarantees and losses add up."""
    budget: dither.Guarantee = 10 * dither.pure("0.1") + dither.gdp(mu="0.5")
    total = dither.compose([budget, dither.zcdp(Fraction(1, 10)), dither.approx(dither.ln(3), 1e-9)])
    print(total, dither.parallel([dither.pure(1), dither.pure(2)]), dither.renyi({2: "0.5", 8: 1}))
    loss: dither.Loss = dither.Geometric(epsilon=1, sensitivity=1).loss()
    print(loss.epsilon(delta="1e-6"), dither.amplify.poisson(loss, "0.01").epsilon())
    return budget.epsilon(delta="1e-6")


def mechanisms() -> float:
    """Noise on numbers and vectors; a choice among candidates."""
    count = dither.Geometric(epsilon="0.5", sensitivity=1, bounds=(0, 1000))
    print(count.guarantee, count.error(0.95), count.release(128), count.release(np.int64(3)))
    print(dither.Geometric.for_error(3, 0.95, sensitivity=1).guarantee)
    vector = dither.Gaussian(l2_sensitivity=1, rho="0.5", dimension=3)
    print(vector.release([1, 2.5, Fraction(1, 3)]), vector.release(np.zeros(3)))
    total = dither.Lattice("0.01").total(np.array([1.5, 2.25]))
    wages = dither.Laplace(epsilon=Decimal("0.5"), sensitivity=dither.sensitivity.sum(0, 5_000), step="0.01")
    best = dither.Exponential(epsilon=1, sensitivity=1, candidates=["a", "b"], unit="replace one person")
    other = dither.NoisyMax(epsilon=1, sensitivity=1, candidates=3, integers=True)
    print(best.release([3, 4]), other.release([3, 4, 5]), wages.guarantee.epsilon())
    return float(wages.release(total))


def optimal() -> dither.Optimal:
    """The best mechanism for a count."""
    best = dither.optimal(range(11), epsilon=1, prior="uniform", gain="absolute")
    print(best.utility, best.gap, best.release(4))
    return best


def noise() -> int:
    """Laws with exact draws."""
    law = DiscreteLaplace(rate=dither.ln(3))
    print(law.pmf(0).lower, law.quantile("0.975"), law.sample(1000).dtype, RoundedGaussian(sigma="2.5").tail(10))
    return 128 + law.sample()


def density() -> float:
    """A distribution, from bins."""
    bins = Bins(range(0, 101, 10))
    found = cdf(bins, epsilon=1).release(bins.count([3.5, 20, 71]))
    return found.quantile(0.5).low


def survey() -> dither.local.Estimate:
    """Local differential privacy."""
    asked = dither.local.DirectEncoding(["yes", "no", "unsure"], epsilon=1)
    reports = asked.randomize(["yes"] * 600 + ["no"] * 400)
    print(dither.local.choose(100, 1, 10_000), asked.error(1000), dither.local.HadamardResponse(100, epsilon=1).domain)
    return asked.estimate(reports)


def remember(location: Path) -> str:
    """A ledger pays before data is read."""
    count = dither.Geometric(epsilon="0.5", sensitivity=1)
    with dither.Ledger.create(location, budget=dither.pure(1), domain="survey") as ledger:
        receipt: dither.Receipt = ledger.reserve(count.guarantee, "how many patients")
        stored = ledger.commit(receipt, str(count.release(128)))
        try:
            ledger.reserve(dither.pure(1), "how many more")
        except dither.errors.BudgetError as error:
            print(error.why)
    return stored


def any_mechanism(mechanism: dither.Mechanism) -> dither.Guarantee:
    """A function that takes whatever mechanism there is."""
    return mechanism.guarantee


if __name__ == "__main__":
    for mechanism in (dither.Geometric(epsilon=1, sensitivity=1), dither.RandomizedResponse(epsilon=1), optimal()):
        print(any_mechanism(mechanism))
    print(promises(), mechanisms(), noise(), density(), survey(), remember(Path("survey.ledger")))
    print(ask(Path("policy.toml")), ask_a_table(Path()))
