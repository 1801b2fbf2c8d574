"""`python -m dither` is the command line."""

from dither.cli import main

main()
