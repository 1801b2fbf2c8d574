"""Who is readmitted? A model of private rows from a policy's own table, its price known first, under the clinic's budget."""

import numpy as np
import pyarrow

import dither
from dither.learn import LogisticRegression

rng = np.random.default_rng(7)
age, ward = rng.integers(18, 95, 6000), rng.choice(["medicine", "surgery"], 6000)
chance = 1 / (1 + np.exp(-(age - 65) / 8 - (ward == "medicine")))
visits = pyarrow.table(
    {"patient": rng.integers(0, 4000, 6000), "age": age, "ward": ward, "readmitted": rng.random(6000) < chance}
)

with dither.Ledger.temporary(dither.approx(2, "1e-5"), domain="clinic") as ledger:
    clinic = dither.protect(
        visits,
        name="visits",
        person="patient",
        max_rows=3,  # of one patient
        bounds={"age": (18, 95)},  # no secret: whom the clinic takes
        keys={"ward": ["medicine", "surgery"]},
        ledger=ledger,
    )
    features = clinic.features("SELECT age, ward FROM visits", target="readmitted", max_rows=1)
    model = LogisticRegression(epsilon=1, delta="1e-6").fit(features)
    print(model.explain(), "\n")
    for name, weight in zip(model.facts_.coordinates, model.coef_[0], strict=True):
        print(f"{name:>15}: {weight:+.2f}")
    print("\nchance of somebody of 40, and of 85, from medicine:")
    print(model.predict_proba(pyarrow.table({"age": [40, 85], "ward": ["medicine", "medicine"]}))[:, 1].round(2))
    print(ledger.remaining())
