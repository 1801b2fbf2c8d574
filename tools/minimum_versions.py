"""The lower bounds of pyproject.toml as constraints for pip: the oldest library of each kind that is said to do.

    python tools/minimum_versions.py server yaml > constraints.txt
    pip install -c constraints.txt ".[server,yaml]"

A bound is a claim, so it is installed and tested. It names a version that was released: `attrs>=24` would be no such
version, and pip says so. Extras that an extra names are followed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[(?P<extras>[\w,-]+)\])?>=(?P<least>[0-9.]+)(?:,.*)?")


def requirements(project: dict[str, Any], extras: list[str]) -> list[str]:
    """What an installation with these extras asks for, each once, in order; the project's own extras are followed."""
    known: dict[str, list[str]] = project["optional-dependencies"]
    for extra in extras:
        if extra not in known:
            raise SystemExit(f"no such extra: {extra}. What would work: {', '.join(sorted(known))}")
    found = list(project["dependencies"])
    waiting, seen = list(extras), set(extras)
    while waiting:
        for line in known[waiting.pop(0)]:
            if line.startswith(f"{project['name']}["):
                inner = line.split("[")[1].rstrip("]").split(",")
                waiting += [one for one in inner if one not in seen]
                seen |= set(inner)
            else:
                found.append(line)
    return list(dict.fromkeys(found))


def constraints(project: dict[str, Any], extras: list[str]) -> list[str]:
    """`name==least` for each requirement, sorted. One without a lower bound is refused: it claims every version."""
    least: dict[str, str] = {}
    for line in requirements(project, extras):
        bound = BOUND.fullmatch(line)
        if bound is None:
            raise SystemExit(f"no lower bound: {line}. What would work: name>=1.2,<2")
        name, version = bound["name"].lower(), bound["least"]
        if least.setdefault(name, version) != version:
            raise SystemExit(f"two lower bounds of {name}: {least[name]} and {version}. What would work: one")
    return [f"{name}=={version}" for name, version in sorted(least.items())]


def main() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(constraints(project, sys.argv[1:])))


if __name__ == "__main__":
    main()
