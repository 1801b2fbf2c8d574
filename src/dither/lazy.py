"""How a front resolves its public names: on first use, so that `import dither` stays light (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def resolver(package: str, homes: Mapping[str, str], names: dict[str, object]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `homes` says where each public name lives; `names` are the package's own globals."""

    def resolve(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(home)
        # A name is something in its home, or a module of its own there.
        names[name] = vars(module)[name] if name in vars(module) else import_module(f"{home}.{name}")
        return names[name]

    return resolve
