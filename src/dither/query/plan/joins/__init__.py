"""Joins of a person's rows with other rows of hers that keep rows without a match, or tell whether there is one."""
