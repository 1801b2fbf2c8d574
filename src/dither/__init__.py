"""dither: differential privacy that is exact.

Names are resolved when they are first used, so `import dither` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dither import errors as errors
    from dither import noise as noise
    from dither import testing as testing
    from dither.numeric.enclosure import Enclosure as Enclosure
    from dither.numeric.lattice import Lattice as Lattice
    from dither.numeric.number import Number as Number
    from dither.numeric.number import ln as ln

__all__ = ["Enclosure", "Lattice", "Number", "__version__", "errors", "ln", "noise", "testing"]
__version__ = "0.1.0"

_LAZY = {
    "Enclosure": "dither.numeric.enclosure",
    "Lattice": "dither.numeric.lattice",
    "Number": "dither.numeric.number",
    "errors": "dither",
    "ln": "dither.numeric.number",
    "noise": "dither",
    "testing": "dither",
}


def __getattr__(name: str) -> object:
    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module 'dither' has no attribute '{name}'")
    value: object = import_module(f"dither.{name}") if home == "dither" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
