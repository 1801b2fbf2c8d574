"""A release: what must be stated first, what is built and how it is checked, and a rehearsal of all but the upload."""
