"""The best mechanism for a prior and a gain, with proof."""
