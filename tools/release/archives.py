"""The archives of a release: built twice, equal byte for byte, and looked into.

The time in an archive is that of the last commit, so whoever builds the same commit gets the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

WHEEL_WANTED = ("dither/py.typed", "dither/__init__.pyi", "dither/server/page/assets/codemirror.js")
SDIST_WANTED = (
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "pyproject.toml",
    "PKG-INFO",
    "src/dither/__init__.py",
    "tests/conftest.py",
)
UNWANTED = ("__pycache__", ".git", ".venv", ".ledger", ".key", ".env")  # parts, or ends, of names of files


def epoch(root: Path) -> str:
    """The time of the last commit, in seconds; SOURCE_DATE_EPOCH where it is stated, as it must be outside of git."""
    if stated := os.environ.get("SOURCE_DATE_EPOCH"):
        return stated
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit("the time of the last commit is not known here. What would work: SOURCE_DATE_EPOCH=1767225600")
    return told.stdout.strip()


def build(root: Path, out: Path) -> list[Path]:
    """An sdist and, from it, a wheel: what pip would build from the sdist is what is published."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(root)]
    told = subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": epoch(root)}, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"the build failed:\n{told.stdout}{told.stderr}")
    return sorted(path for path in out.iterdir() if path.suffix in (".whl", ".gz"))


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differences(first: list[Path], second: list[Path]) -> list[str]:
    """In which archives two builds differ."""
    one, two = ({path.name: sha256(path) for path in paths} for paths in (first, second))
    return sorted(f"{name}: two builds differ" for name in one.keys() | two.keys() if one.get(name) != two.get(name))


def faults(archive: Path, version: str) -> list[str]:
    """What is wrong with what an archive contains; an empty list when nothing is."""
    return _wheel_faults(archive, version) if archive.suffix == ".whl" else _sdist_faults(archive, version)


def _wheel_faults(archive: Path, version: str) -> list[str]:
    info = f"dither-{version}.dist-info"
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        metadata = opened.read(f"{info}/METADATA").decode() if f"{info}/METADATA" in names else ""
    found = [f"{name} is missing" for name in (*WHEEL_WANTED, f"{info}/licenses/LICENSE") if name not in names]
    found += [f"{name} does not belong in it" for name in names if PurePosixPath(name).parts[0] not in ("dither", info)]
    return [f"{archive.name}: {one}" for one in [*found, *_unwanted(names), *_metadata(metadata, version)]]


def _sdist_faults(archive: Path, version: str) -> list[str]:
    top = f"dither-{version}"
    with tarfile.open(archive) as opened:
        names = opened.getnames()
        about = opened.extractfile(f"{top}/PKG-INFO") if f"{top}/PKG-INFO" in names else None
        metadata = about.read().decode() if about else ""
    found = [f"{name} is missing" for name in SDIST_WANTED if f"{top}/{name}" not in names]
    found += [f"{name} does not belong in it" for name in names if PurePosixPath(name).parts[0] != top]
    return [f"{archive.name}: {one}" for one in [*found, *_unwanted(names), *_metadata(metadata, version)]]


def _unwanted(names: list[str]) -> list[str]:
    return [
        f"{name} does not belong in it"
        for name in names
        if any(part in UNWANTED or part.endswith(UNWANTED) for part in PurePosixPath(name).parts)
    ]


def _metadata(text: str, version: str) -> list[str]:
    told: Message = Parser().parsestr(text)
    wanted = {"Name": "dither", "Version": version, "License-Expression": "Apache-2.0", "License-File": "LICENSE"}
    found = [f"{name} is {told[name]!r}, not {value!r}" for name, value in wanted.items() if told[name] != value]
    return found + ([] if str(told.get_payload()).strip() else ["the metadata has no description"])
