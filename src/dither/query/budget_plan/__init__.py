"""Plans of a budget: questions, how often each is asked, what all of them cost together, and what would fit."""
