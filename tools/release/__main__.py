"""The command: `python -m tools.release check` or `rehearse`; docs/releasing.md has the whole way."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.release.blanks import blanks, version
from tools.release.rehearsal import rehearse


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0 when the step passed, 1 when something stands in the way."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="What a release of dither goes through.")
    steps = parser.add_subparsers(dest="step", required=True)
    check = steps.add_parser("check", help="may this be published: no blank stands, and the tag is that of the version")
    check.add_argument("--tag", help="the tag that is released, such as v0.1.0")
    trial = steps.add_parser("rehearse", help="everything but the upload, into an index on this machine")
    trial.add_argument("--out", type=Path, default=Path("dist"), help="a folder that is not there yet; dist unless stated")
    chosen = parser.parse_args(arguments)
    if chosen.step == "rehearse":
        rehearse(chosen.out)
        report_blanks()
        return 0
    wrong = report_blanks()
    if chosen.tag is not None and chosen.tag != f"v{version()}":
        print(f"the tag is {chosen.tag}, the version {version()}. What would work: the tag v{version()}")
        wrong = True
    return 1 if wrong else 0


def report_blanks() -> bool:
    """Whether there are any; each is printed with its place."""
    found = blanks()
    if found:
        print(f"dither {version()} cannot be published: {len(found)} blanks stand")
    for blank in found:
        print(f"  {blank}")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
