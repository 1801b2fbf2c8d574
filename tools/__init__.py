"""Programs for whoever works on dither: none of them is in the wheel."""
