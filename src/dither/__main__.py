"""`python -m dither` is the command line."""

from dither.cli.main import main

main()
