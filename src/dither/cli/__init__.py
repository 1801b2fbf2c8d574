"""The command line: `main.py` starts it; a file for each group of commands. Each command is a few lines."""
