"""`python -m benchmarks NAME [--soak]`: each module here measures one subject and prints a table of ratios."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

HELPERS = {"__main__", "clock", "peer", "peers", "report"}


def main() -> int:
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in HELPERS)
    arguments = [argument for argument in sys.argv[1:] if argument != "--soak"]
    if len(arguments) != 1 or arguments[0] not in names:
        print(f"usage: python -m benchmarks {{{','.join(names)}}} [--soak]", file=sys.stderr)
        return 2
    importlib.import_module(f"benchmarks.{arguments[0]}").main(soak="--soak" in sys.argv)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
