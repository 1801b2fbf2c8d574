"""Boosting that can be read: what each column adds to the chance, from released sums; and the score of private rows."""

import numpy as np
import pyarrow

import dither
from dither.learn import BoostingClassifier

rng = np.random.default_rng(3)
age, ward, days = rng.integers(18, 95, 8000), rng.choice(["medicine", "surgery"], 8000), rng.integers(0, 30, 8000)
people = pyarrow.table({"age": age, "ward": ward, "days": days})  # or a frame of pandas or polars
odds = (age - 60) / 12 + (ward == "medicine") - (days - 10) ** 2 / 80
back = rng.random(8000) < 1 / (1 + np.exp(-odds))

with dither.Ledger.temporary(dither.approx(2, "1e-5"), domain="clinic") as ledger:
    model = BoostingClassifier(
        epsilon=1,
        delta="1e-6",
        bounds={"age": (18, 95), "ward": ["medicine", "surgery"], "days": (0, 30)},  # public: never read off the data
        classes=[False, True],
        ledger=ledger,
    ).fit(people, back)
    told = model.explain()
    print(told[: told.index("\n\nage")])  # price, what was released; a table for each column follows
    print(told[told.index("ward:") :], "\n")
    # The days matter most around ten: an effect that no straight line has.
    three = pyarrow.table({"age": [60] * 3, "ward": ["surgery"] * 3, "days": [0, 10, 28]})
    print(model.predict_proba(three)[:, 1].round(2))
    # How good it is on these very rows is a question of its own, with a price.
    print(model.private_score(people, back, epsilon="0.2", ledger=ledger))
    print(ledger.remaining())
