"""Speed, as ratios against a peer or a limit in one run: `python -m benchmarks NAME [--soak]`."""
