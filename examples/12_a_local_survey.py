"""A survey with local differential privacy, without a trusted collector, and what that costs in accuracy."""

from dither import ln, local
from dither.local import bridge

# The textbook's coin: heads, the truth; tails, a second coin answers.
coin = local.CoinFlip()
assert coin.epsilon == ln(3)
cheated = [True] * 240 + [False] * 760
found = coin.estimate(coin.randomize(cheated))
print("share who cheated, truth 0.24   ", round(found[True], 3), f"({found.low[0]:.3f} to {found.high[0]:.3f})")
print(bridge.compare(1000, ln(3)))

# Many values: which survey, and how it is reconstructed.
values = [f"street {k}" for k in range(200)]
chosen = local.choose(len(values), 2, 20_000)
print("best for 200 values             ", chosen.name)
survey = chosen.build(values)
people = [values[(k * k) % 37] for k in range(20_000)]
half = survey.tally(survey.randomize(people[:10_000]))
rest = survey.tally(survey.randomize(people[10_000:]))
estimate = survey.estimate(half + rest)  # tallies add up, wherever they were made
print("most frequent                   ", [name for name, _ in estimate.top(3)])

# A mean, without anybody telling a wage.
wage = local.Hybrid(0, 10_000, epsilon=1)
print("mean wage, truth 3,250          ", wage.estimate(wage.randomize([2500, 4000] * 5000)))
