"""What tools write, in the words that are read here: other spellings of names, dates, conditions and aggregates."""
