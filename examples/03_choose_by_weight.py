"""Draw one of a million candidates with probability proportional to exp(rate * score), exactly."""

import numpy as np

from dither.noise import Categorical

scores = np.arange(1_000_000) // 10  # a made-up score for each candidate
chooser = Categorical(scores, rate="0.25")

winner = chooser.sample()
print(f"Candidate {winner}, whose score is {scores.max() - scores[winner]} below the best.")
