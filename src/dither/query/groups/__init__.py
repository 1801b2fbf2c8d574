"""Groups that a private release chooses."""
