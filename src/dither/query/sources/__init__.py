"""Where rows are, and what is known of them before any is read."""
