"""The sparse vector technique: answers above a threshold, and the reusable holdout."""
