"""Trees and sums of functions of one column: forests of random trees, and boosting."""
