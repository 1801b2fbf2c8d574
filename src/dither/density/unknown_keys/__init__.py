"""Which keys may be shown that nobody declared."""
