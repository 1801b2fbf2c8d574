"""Filters: budgets that are spent adaptively."""
