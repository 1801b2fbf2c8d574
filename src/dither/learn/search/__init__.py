"""Private choice: scores of given models, and the best of a random number of runs."""
