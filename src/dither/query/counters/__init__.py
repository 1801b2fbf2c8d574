"""Which counters a question releases, and the estimators that read aggregates off them."""
