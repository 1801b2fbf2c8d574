"""The privacy loss: lists of dominating pairs, and the profile of their sum."""
