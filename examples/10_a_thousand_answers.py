"""What a list of mechanisms costs together: adding epsilons, composing promises, and the exact law of the loss."""

from dither import Loss, calibrate, pure

DELTA = "1e-6"

# A thousand answers with Laplace noise, epsilon 0.05 each.
one = Loss.laplace(20)
print("added up                   ", 1000 * 0.05)
print("any promise of 0.05        ", round((1000 * pure("0.05")).epsilon(DELTA), 4))
print("Laplace noise, exactly     ", round((1000 * one).epsilon(DELTA), 4))

# Private learning: 1,000 steps, each on a Poisson sample of 1% of the people.
steps = 1000 * Loss.gaussian(1).poisson_subsampled("0.01")
print("1,000 steps, noise 1       ", round(steps.epsilon(DELTA), 4))
print("the same without sampling  ", round((1000 * Loss.gaussian(1)).epsilon(DELTA), 4))
sigma = calibrate.sampled_gaussian(1, DELTA, rate="0.01", count=1000)
print("noise for epsilon 1        ", round(float(sigma), 4))

# Two halves of a plan, and how certain the answer is.
plan = 200 * one + steps + Loss.approx("0.1", "1e-9")
found = plan.bracket(DELTA)
print("all of it                  ", round(found.upper, 4))
assert found.width < 1e-6
