"""What all estimators share: columns, rows, the price, the release of integer statistics, the way of a fit."""
