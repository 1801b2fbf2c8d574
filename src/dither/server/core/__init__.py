"""What every door of the gateway calls: configuration, tokens, limits, questions; needs nothing beyond the base."""
