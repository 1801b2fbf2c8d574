"""The command line: `main.py` starts it and lists the commands, which are in the other files. Each is a few lines."""
