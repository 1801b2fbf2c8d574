"""What is released: counters and the statistics beside them, how one person is bounded, how they are read."""
