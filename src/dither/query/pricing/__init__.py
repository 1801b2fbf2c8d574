"""What a question costs, and the offer that is made of it."""
