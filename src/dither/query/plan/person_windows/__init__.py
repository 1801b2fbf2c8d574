"""Windows within one person: what a row has of her other rows, in an order that nothing is left out of."""
