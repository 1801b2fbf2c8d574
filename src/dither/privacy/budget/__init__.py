"""Privacy filters: budgets that are spent adaptively."""
