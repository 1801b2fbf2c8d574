"""Scripts of a user, as type checkers see them."""
