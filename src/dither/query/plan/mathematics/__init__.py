"""Functions of numbers, row by row: division and remainders, logarithms, roots and powers."""
