"""The gateway without its doors: who asks, what is asked and under way, and the processes that hold ledgers and rows."""
