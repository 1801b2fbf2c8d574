"""The question as dither understands it: expressions about a row, where rows come from, what is asked of them."""
