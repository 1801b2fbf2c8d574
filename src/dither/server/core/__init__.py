"""The gateway without its interfaces: who asks, what is asked and under way, and processes that hold ledgers and rows."""
