"""Ask for an error, see what it costs, release a count, and check that the mechanism keeps its promise."""

import dither
from dither.testing import check_mechanism

print("error at 95%   epsilon")
for half_width in (1, 3, 10, 30):
    mechanism = dither.Geometric.for_error(half_width, 0.95, sensitivity=1)
    print(f"{'±' + str(half_width):>12}   {mechanism.guarantee.epsilon():.4f}")

count = dither.Geometric(epsilon="0.5", sensitivity=1, bounds=(0, 1000))
print(f"\npublished: {count.release(128)}, give or take {count.error(0.95)}; promised: {count.guarantee}")

small = dither.Geometric(epsilon="0.5", sensitivity=1, bounds=(0, 10))  # the same on a domain that can be gone through
print(check_mechanism(small))
