"""Labels that nothing predicts: what a plain holdout confirms, and what a reusable one says. Draws a picture of it."""

import numpy as np

import dither

ROWS = 1000


def vote(training, ask, features):
    """Keep the features that agree with the label, or disagree with it, in both sets; let them vote."""
    kept = []
    for j in range(features):
        here = np.mean(training[:, j] == training[:, -1]) - 0.5
        there = ask(lambda rows, j=j: (rows[:, j] == rows[:, -1]).astype(float)) - 0.5
        if here * there > 0 and min(abs(here), abs(there)) > 0.02:
            kept.append((j, np.sign(here)))
    return lambda rows: ((sum(s * (2.0 * rows[:, j] - 1) for j, s in kept) > 0) == (rows[:, -1] > 0)).astype(float)


def experiment(features, rng):
    training, holdout, fresh = (rng.integers(0, 2, size=(ROWS, features + 1)) for _ in range(3))
    plain = vote(training, lambda question: np.mean(question(holdout)), features)
    careful = dither.ReusableHoldout(training, holdout, threshold="0.08", epsilon=20, budget=10)
    guarded = vote(training, lambda question: careful.ask(question).value, features)
    return np.mean(plain(holdout)), careful.ask(guarded).value, np.mean(guarded(fresh))


rng = np.random.default_rng(3)
rows = []
for features in (200, 500, 1000, 2000):
    results = np.mean([experiment(features, rng) for _ in range(2)], axis=0)
    for name, accuracy in zip(("a plain holdout", "the reusable holdout", "fresh data: the truth"), results, strict=True):
        rows.append({"features": features, "accuracy": float(accuracy), "says": name})
    print(f"{features:5} features   plain {results[0]:.3f}   reusable {results[1]:.3f}   truth {results[2]:.3f}")

try:
    import altair
except ImportError:
    print("install dither[plot] for the picture")
else:
    chart = altair.Chart(altair.InlineData(values=rows), width=420, height=260).mark_line(point=True)
    chart = chart.encode(
        x=altair.X("features:Q", title="features tried"),
        y=altair.Y("accuracy:Q", title="accuracy reported", scale=altair.Scale(zero=False)),
        color=altair.Color("says:N", title=None),
    )
    chart.save("holdout.svg")
