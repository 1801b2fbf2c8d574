"""Lines that people write by mistake. Each that is marked must be reported by type checkers, and no other one."""

from __future__ import annotations

import dither
import dither.local
from dither.noise import DiscreteLaplace, RoundedGaussian

ledger = dither.Ledger.create("mistakes.ledger", budget=dither.approx(3, "1e-6"))
clinic = dither.open("policy.toml")
quote = clinic.quote("SELECT COUNT(*) FROM visits", epsilon="0.1")
answer = quote.release()
batch = clinic.quote(["SELECT COUNT(*) FROM visits"], epsilon="0.1")
count = dither.Geometric(epsilon=1, sensitivity=1)
vector = dither.Laplace(epsilon=1, sensitivity=1, dimension=2)
survey = dither.local.DirectEncoding(["a", "b"], epsilon=1)
best = dither.optimal(range(3), epsilon=1)
law = DiscreteLaplace(rate=1)

# Names that are not there.
dither.Ledgr("mistakes.ledger")  # wrong
dither.Geometrical(epsilon=1, sensitivity=1)  # wrong
dither.noise.Laplace(1)  # wrong
dither.local.RandomizedResponse(epsilon=1)  # wrong
dither.density.hist(epsilon=1)  # wrong
dither.errors.BudgetExceeded("spent")  # wrong
quote.releas()  # wrong
count.privatize(128)  # wrong
answer.to_dataframe()  # wrong
ledger.spent()  # wrong
count.guarantee.eps()  # wrong

# Values that are no numbers.
dither.Geometric(epsilon=[], sensitivity=1)  # wrong
dither.Geometric(epsilon=None, sensitivity=1)  # wrong
dither.Geometric(epsilon=1, sensitivity=1, bounds=100)  # wrong
dither.Geometric(epsilon=1, sensitivity=1, bounds=(0, 1, 2))  # wrong
dither.Geometric(epsilon=1, sensitivity=1, dimension="3")  # wrong
dither.Laplace(epsilon=1, sensitivity=1, step=(1, 100))  # wrong
dither.Exponential(epsilon=1, sensitivity=1, candidates=None)  # wrong
dither.RandomizedResponse(p=[0.75])  # wrong
dither.pure([])  # wrong
dither.pure({"epsilon": 1})  # wrong
dither.approx(1, None)  # wrong
dither.renyi([(2, 1)])  # wrong
dither.ln(None)  # wrong
dither.local.DirectEncoding(["a"], epsilon=None)  # wrong
dither.local.DirectEncoding(None, epsilon=1)  # wrong
dither.local.DirectEncoding([["a"], ["b"]], epsilon=1)  # wrong
dither.density.Bins(10)  # wrong
dither.density.Histogram(cells="ten", epsilon=1)  # wrong
dither.density.cdf([0, 10, 20], epsilon=1)  # wrong
dither.optimal(11, epsilon=1)  # wrong
DiscreteLaplace(rate=[1])  # wrong
RoundedGaussian(sigma=dither)  # wrong

# Values that mean something else.
dither.Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", sensitivity=1)  # wrong
dither.Gaussian(1, 1)  # wrong
dither.Geometric(1, 1)  # wrong
dither.Geometric(epsilon=1)  # wrong
dither.Geometric(eps=1, sensitivity=1)  # wrong
dither.approx(1)  # wrong
dither.pure(1, unit=1)  # wrong
dither.pure(1) + 1  # wrong
dither.compose([1, 2])  # wrong
dither.amplify.poisson(dither.pure(1), "0.01")  # wrong
dither.Guarantee(1)  # wrong
count.epsilon = dither.Number(2)  # wrong

# What is released, and at which confidence.
dither.Geometric(epsilon=1, sensitivity=1).release("no")  # wrong
count.release(None)  # wrong
count.release()  # wrong
count.release(128, 2)  # wrong
vector.release(["a", "b"])  # wrong
vector.release({"a": 1})  # wrong
count.error([0.95])  # wrong
count.error()  # wrong
law.sample("many")  # wrong
law.sample(1.5)  # wrong
law.pmf(None)  # wrong
survey.randomize(3)  # wrong
survey.estimate(["a", "b"])  # wrong
survey.error("many")  # wrong
best.error([0.95])  # wrong

# Questions and ledgers.
dither.open(3)  # wrong
dither.protect("visits.parquet", name="visits", person="patient_id", ledger=ledger, bounds=3)  # wrong
dither.protect("visits.parquet", name="visits", person="patient_id", ledger=ledger, keys=["ward"])  # wrong
dither.protect("visits.parquet", name="visits", person="patient_id", ledger="visits.ledger")  # wrong
dither.protect("visits.parquet", name="visits", ledger=ledger)  # wrong
dither.protect(3, name="visits", person="patient_id", ledger=ledger)  # wrong
clinic.quote("SELECT COUNT(*) FROM visits", eps=1)  # wrong
clinic.quote("SELECT COUNT(*) FROM visits", epsilon=[1])  # wrong
clinic.quote("SELECT COUNT(*) FROM visits", guarantee=1)  # wrong
clinic.quote("SELECT COUNT(*) FROM visits", epsilon=1, bounding="clamp")  # wrong
clinic.quote("SELECT COUNT(*) FROM visits", epsilon=1, size="large")  # wrong
clinic.quote("SELECT COUNT(*) FROM visits", epsilon=1, spread=300)  # wrong
clinic.quote(3, epsilon=1)  # wrong
quote.release("ada")  # wrong
quote.epsilon([])  # wrong
quote.compare(1)  # wrong
batch.release("ada")  # wrong
dither.Ledger(3)  # wrong
dither.Ledger.create("mistakes.ledger", budget=1)  # wrong
ledger.reserve(1, "how many")  # wrong
ledger.reserve(dither.pure(1))  # wrong
ledger.commit("receipt", "128")  # wrong
