"""Privacy loss: lists of dominating pairs."""
