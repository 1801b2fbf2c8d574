"""At the collector: reports, tallies, estimates."""
