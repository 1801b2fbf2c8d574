"""Conformance tests of engines: what `dither.testing.check_engine` runs."""
