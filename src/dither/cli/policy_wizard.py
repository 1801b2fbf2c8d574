"""`dither policy wizard` in a terminal, or from lines of standard input: one question at a time.

Enter takes the default, `?` says why it matters, `<` goes back, Ctrl-C or the end of the input leaves. What was decided is
then stored beside the policy, and `--resume` goes on from there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import typer

from dither.cli.flags import refusal
from dither.errors import ConflictError, DataError, DitherError, PolicyError
from dither.query.owner.open_lines import SEEN
from dither.query.owner.wizard.interview import REVIEW
from dither.query.owner.wizard.step import Step
from dither.query.owner.wizard.wizard import Wizard

KEYS = "Enter takes what stands in [brackets], ? says why and shows examples, < goes back, Ctrl-C leaves and keeps replies."
EDIT = "edit"
NARROW, WIDE, MOST_CHOICES = 40, 120, 40


def run_wizard(file: str | None, out: Path, *, read_data: bool, resume: bool) -> bool:
    """Ask every step and write the policy; False if somebody left before the end, whose replies are kept."""
    stored = out.with_name(f"{out.name}.replies.json")
    if out.exists():
        raise ConflictError("--out", str(out), "there is a file already", "another name")
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK):  # said before forty questions, not after
        raise DataError("--out", str(out), "nothing can be written there", "a file in a folder that you may write to")
    wizard = _resumed(stored, file, out, read_data) if resume else _started(stored, file, out, read_data)
    _say(KEYS)
    try:
        while wizard.step is not None:
            _ask(wizard, wizard.step)
        with out.open("x", encoding="utf-8") as written:
            written.write(wizard.draft())
    except (KeyboardInterrupt, EOFError, UnicodeDecodeError) as stop:
        _store(stored, wizard)
        typer.echo()
        if isinstance(stop, UnicodeDecodeError):
            _say("A reply is no text in the encoding of this terminal.")
        _say(f"Your replies are kept in {stored}. To go on: dither policy wizard --resume --out {out}")
        return False
    except (DitherError, OSError):  # the file went away meanwhile, or the disk is full
        _store(stored, wizard)
        raise
    stored.unlink(missing_ok=True)
    return True


def _started(stored: Path, file: str | None, out: Path, read_data: bool) -> Wizard:
    if stored.exists():
        why = "replies of an earlier run are kept there"
        raise ConflictError("--out", str(stored), why, "--resume, to go on with them, or another name; or delete that file")
    return Wizard(file, folder=out.parent, read_data=read_data)


def _resumed(stored: Path, file: str | None, out: Path, read_data: bool) -> Wizard:
    if not stored.is_file():
        raise DataError("--resume", str(stored), "no replies are kept there", "leaving it out, or the --out of that run")
    wizard = Wizard.from_json(stored.read_text(encoding="utf-8", errors="replace"), folder=out.parent, read_data=read_data)
    if file is not None and file != wizard.source:
        raise ConflictError("--resume", file, f"the replies are about {wizard.source}", "leaving the file out")
    return wizard


def _ask(wizard: Wizard, step: Step) -> None:
    """One step, until its reply is taken or somebody goes back."""
    _show(wizard, step)
    text = wizard.draft()
    while True:
        reply = _read(step)
        if reply == "?":
            _explain(step)
            continue
        if reply == "<":
            wizard.back()
            return
        try:
            if step.key == REVIEW and reply.casefold() == EDIT:
                edited = _edit(text)
                if edited is None:
                    _say("Nothing was changed.")
                    continue
                reply = text = edited  # what is refused can be edited further
            wizard.answer(reply)
        except PolicyError as error:
            _say(refusal(error))
        else:
            return


def _show(wizard: Wizard, step: Step) -> None:
    total = wizard.total
    typer.echo()
    typer.secho(f"Step {wizard.number}" + ("" if total is None else f" of about {total}"), bold=True)
    if step.key == REVIEW:
        typer.echo(f"\n{wizard.draft()}")
    _say(step.question)
    choices = [*step.choices[:MOST_CHOICES], *([(EDIT, "change it in your editor")] if step.key == REVIEW else [])]
    wide = min(max((len(word) for word, _ in choices), default=0), 24)
    for word, meaning in choices:
        _say(f"{word:<{wide}}  {meaning}".rstrip(), "  ", " " * (wide + 4))
    if len(step.choices) > MOST_CHOICES:
        _say(f"... and {len(step.choices) - MOST_CHOICES} more", "  ")
    if step.seen:
        _say(f"{SEEN}: {step.seen}", "  ")


def _explain(step: Step) -> None:
    _say(step.why, "  ")
    if step.examples:
        _say(f"For example: {'; '.join(step.examples)}", "  ")


def _read(step: Step) -> str:
    """One line; shown where no terminal shows what is typed."""
    shown = step.default if step.default is None or "\n" not in step.default else "your text"
    typer.echo("> " if shown is None else f"[{shown}] > ", nl=False)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    if not sys.stdin.isatty():
        typer.echo(line.rstrip("\n"))
    return line.strip()


def _edit(text: str) -> str | None:
    """The text as it comes back from the owner's editor; None if it was not changed."""
    editor, later = os.environ.get("VISUAL") or os.environ.get("EDITOR"), "accept, and the file changed later"
    if not editor:
        raise PolicyError(REVIEW, EDIT, "no editor is set", f"EDITOR in your environment, or {later}")
    with tempfile.TemporaryDirectory() as folder:  # which nobody else can enter
        file = Path(folder) / "policy.toml"
        file.write_text(text, encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(file)], check=True)  # noqa: S603
            found = file.read_text(encoding="utf-8")
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise PolicyError(REVIEW, EDIT, f"the editor failed: {error}", later) from error
    return None if found == text else found


def _store(stored: Path, wizard: Wizard) -> None:
    """For the owner alone: replies are hers."""
    with os.fdopen(os.open(stored, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(wizard.to_json())


def _say(text: str, indent: str = "", further: str | None = None) -> None:
    """In lines as wide as the terminal is, and no wider than can be read."""
    width = max(NARROW, min(WIDE, shutil.get_terminal_size().columns))
    lines = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent if further is None else further)
    typer.echo("\n".join(lines))
