"""The Java that Spark needs: what is wrong with the one that is there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

OLDEST = 17


def java() -> str | None:
    """The one that PySpark starts: that of JAVA_HOME, or the first of the path."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(str(Path(home) / "bin" / "java") if home else "java")


def version(found: str) -> int | None:
    """17 of `openjdk version "17.0.15"`; 8 is told as 1.8."""
    try:
        told = subprocess.run([found, "-version"], check=False, capture_output=True, text=True).stderr
    except OSError:
        return None
    parts = told.partition('version "')[2].partition('"')[0].split(".")
    parts = parts[1:] if parts[0] == "1" else parts
    digits = parts[0].partition("-")[0] if parts else ""
    return int(digits) if digits.isdecimal() else None


def missing() -> str | None:
    """Why Spark cannot be run, or None."""
    found = java()
    if found is None:
        return f"Spark is not run: no Java {OLDEST}"
    number = version(found)
    if number is None:
        return f"Spark is not run: no Java {OLDEST} (what is called java does not say its version)"
    return None if number >= OLDEST else f"Spark is not run: no Java {OLDEST} (the one that is there is {number})"
