"""A rehearsal: everything of a release but the upload, into an index on this machine.

Archives are built twice and looked into, put into a local index, installed from it into a fresh environment, and the demo
runs there. What stays in the folder: the archives, SHA256SUMS, and the bill of materials (CycloneDX) of that environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.release import archives, local_index
from tools.release.blanks import ROOT, version

Say = Callable[[str], None]


def rehearse(out: Path, say: Say = print, root: Path = ROOT) -> list[Path]:
    """Run all steps; the first that fails ends it, with what was said. Gives the files that a release would publish."""
    if out.exists() and any(out.iterdir()):
        raise SystemExit(f"{out} is not empty. What would work: a folder that is not there yet")
    out.mkdir(parents=True, exist_ok=True)
    made = checked_archives(out, say, root)
    sums = out / "SHA256SUMS"
    sums.write_text("".join(f"{archives.sha256(path)}  {path.name}\n" for path in made), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        python = installed(Path(folder), made, say)
        bill = out / f"dither-{version(root)}.cdx.json"
        run([sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--output-format", "JSON",
             "--output-file", str(bill), str(python)])  # fmt: skip
    say(f"bill of materials: {bill.name}")
    return [*made, sums, bill]


def checked_archives(out: Path, say: Say, root: Path = ROOT) -> list[Path]:
    """The archives, built twice, equal, with what belongs in them, and with a description that an index can show."""
    made = archives.build(root, out)
    with tempfile.TemporaryDirectory() as folder:
        wrong = archives.differences(made, archives.build(root, Path(folder)))
    wrong += [fault for path in made for fault in archives.faults(path, version(root))]
    if len(made) != 2:
        wrong.append(f"two archives were wanted, and {len(made)} were built")
    if wrong:
        raise SystemExit("\n".join(wrong))
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, made)])
    for path in made:
        say(f"{path.name}: {path.stat().st_size:,} bytes, built twice with the same bytes, contents as they should be")
    return made


def installed(folder: Path, made: list[Path], say: Say) -> Path:
    """The Python of a fresh environment in which the wheel was installed from an index on loopback, and the demo ran."""
    environment = folder / "env"
    run([sys.executable, "-m", "venv", str(environment)])
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wanted = f"dither=={version()}"
    local_index.write(folder / "index", "dither", made)
    with local_index.served(folder / "index") as address:
        # From this index alone, whatever else is set: a package of that name elsewhere is never taken for ours.
        run([*pip, "--isolated", "install", "--no-deps", "--index-url", f"{address}/simple/", wanted], NO_PROXY="127.0.0.1")
    run([*pip, "install", wanted])  # it is there: what it needs comes from where this machine takes packages
    run([*pip, "check"])
    told = run([str(scripts / "dither"), "--version"]).strip()
    if told != f"dither {version()}":
        raise SystemExit(f"dither --version says {told!r}, not {version()}")
    run([str(scripts / "dither"), "demo"], cwd=folder, DITHER_HOME=str(folder / "home"))
    say(f"installed from a local index, nothing is missing, {told}, the demo ran")
    return python


def run(command: list[str], cwd: Path | None = None, **environment: str) -> str:
    """What a command printed; a SystemExit with all that it said when it fails."""
    told = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {told.returncode}:\n{told.stdout}{told.stderr}")
    return told.stdout
