"""What was spent: one budget a domain, never overspent, never forgotten."""
