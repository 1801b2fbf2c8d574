"""What is written into a ledger, and the decisions behind it."""
