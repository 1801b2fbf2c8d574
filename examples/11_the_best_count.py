"""The best mechanism for a count, with the proof that nothing is better; and a query for which none is best for all."""

from dither import Flat, Geometric, ln, optimal
from dither.channels import graph, leakage, universal

# How many of ten people have a property? One person moves the answer by one.
best = optimal(range(11), epsilon=ln(2), gain="absolute")
print("loses on average           ", round(-best.utility, 6))
print("nothing loses less, up to  ", best.gap)
print("a release, where 4 is true ", best.release(4))

# What an analyst knows beforehand changes how she reads a release, not the noise.
expert = optimal(range(11), epsilon=ln(2), gain="absolute", prior=[0, 0, 0, 0, "1/4", "1/2", "1/4", 0, 0, 0, 0])
print("an expert loses            ", round(-expert.utility, 6))

# The same promise can be kept with less use.
answers = graph.path(range(11))
for name, channel in (
    ("geometric", Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 10)).channel()),
    ("flat", Flat(list(range(11)), epsilon=ln(2)).channel()),
):
    print(f"{name:27}", channel.epsilon(answers).exact, channel.utility("uniform", "identity").value)
    print(f"{'  leaks at most a factor':27}", leakage.bayes_capacity(channel))

# One record with three values: what serves one user best fails another.
found = universal.joint(["a", "b", "c"], epsilon=ln(2), priors=["uniform", ["1/2", "1/2", 0]])
print("one mechanism for both loses", round(found.lost.lower, 6), "proved" if found.impossible else "")
assert best.gap < 1e-12
assert found.impossible
