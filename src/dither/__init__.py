"""dither: differential privacy that is exact.

Names are resolved when they are first used, so `import dither` stays light.
"""

from __future__ import annotations

from dither.lazy import attach

__version__ = "0.1.0"
__all__, __getattr__, __dir__, _LAZY = attach(globals())
