"""How a front resolves its public names: on first use, so that `import dither` stays light (PEP 562).

The names of a front are listed once, in the stub beside it (`__init__.pyi`), a line each: `from home import name as name`.
Type checkers and editors read the stub, so they know every name and report one that is not there; here the same lines say
where a name is imported from when it is used. The loader of the package reads the file, so a zip file will do.

`from dither import *` must not take Python's own `open` away: names of builtins are public and listed by `dir`, but stand
not in `__all__`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from importlib import import_module
from typing import Any

FRONTS = ("dither", "dither.density", "dither.learn", "dither.local", "dither.noise")
Front = tuple[list[str], Callable[[str], object], Callable[[], list[str]], dict[str, str]]


def attach(names: dict[str, Any]) -> Front:
    """`__all__`, `__getattr__` and `__dir__` of a package, and the home of each public name; from the package's globals."""
    package, spec = names["__name__"], names["__spec__"]
    rows = [line.split() for line in spec.loader.get_data(spec.origin + "i").decode().splitlines()]
    homes: dict[str, str] = {row[3]: row[1] for row in rows if row[:1] == ["from"]}
    public = sorted([*homes, *(name for name in ("__version__",) if name in names)])

    def resolve(name: str) -> object:
        home = homes.get(name)
        if home is None:
            meant = "" if name.startswith("_") else import_module("dither.hints").hint(name, public, elsewhere())
            raise AttributeError(f"module '{package}' has no attribute '{name}'{': ' * bool(meant)}{meant}")
        module = import_module(home)
        # A name is something in its home, or a module of its own there.
        names[name] = vars(module)[name] if name in vars(module) else import_module(f"{home}.{name}")
        return names[name]

    def elsewhere() -> list[str]:
        """The names of the other fronts, each with its front."""
        fronts = [import_module(front) for front in FRONTS if front != package]
        return [f"{front.__name__}.{name}" for front in fronts for name in dir(front)]

    unshadowed = [name for name in public if not hasattr(builtins, name)]
    return unshadowed, resolve, lambda: list(public), homes
