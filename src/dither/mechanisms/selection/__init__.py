"""Private selection: choices among scored candidates."""
