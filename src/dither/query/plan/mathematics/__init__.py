"""Mathematics of a row: division, logarithms, roots and powers; what is counted of two numbers."""
