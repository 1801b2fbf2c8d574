"""What the wizard's process does: it lists files, shows a step, takes a reply or takes one back, and saves a policy.

It keeps nothing between two messages. Replies come with each, as `Wizard.to_json` gave them; consent to look at rows comes
beside them, in a part of its own, and goes back so: it is written nowhere.

Theorem. What goes out without consent is a function of the folder's names and sizes of files, of the schema of the file that
is named (of a CSV file: its first line), of its name, of names in the folder and the replies; whatever the replies are.

Proof. `list_files` gives names and sizes. All else is told by a `Wizard`, whose theorem adds the file system outside the
source: it looks there for the ledger and its second place alone, and of their replies those that lead out of the folder are
refused or, among stored replies, left out before the wizard has them. `Wizard.from_json` drops consent that stands among
replies; it is given by `look` alone. What is raised has a text of these parts, or one that is fixed. ∎
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from dither.errors import DataError, DitherError, PolicyError
from dither.query.owner.wizard.file_steps import LOOK, SOURCE
from dither.query.owner.wizard.interview import ACCEPT, REVIEW
from dither.query.owner.wizard.replies import YES
from dither.query.owner.wizard.wizard import Wizard
from dither.server.core.problems import Problem, unavailable
from dither.server.core.processes.new_files import list_files, must_be_new_file

Json = dict[str, Any]
LOCATION, WITNESS = "ledger.location", "ledger.witness"
HERE = Path()  # the process stands in the folder: no text names a place on this machine
LARGEST = 1_000_000  # characters of stored replies, and of one reply
BROKEN = "beginning again with the file"
LATER = "a name in the folder of new data; another place can be written into the policy at the end"
CHANGED = "something in the folder changed meanwhile, so this question comes first"


class WizardTasks:
    """Tasks about the files of one folder."""

    def __init__(self, folder: Path) -> None:
        """Stand in the folder; refused where that cannot be."""
        try:
            self._hidden = str(folder.resolve())
            os.chdir(folder)
        except OSError as error:
            raise DataError("server.new_data", str(folder), f"it cannot be opened: {error.strerror}", "a folder") from None

    def done(self, message: Json) -> Json:
        """The reply to a message: what the task gave, or the problem that is told. Nothing is raised."""
        try:
            return {"done": TASKS[message["task"]](message)}
        except DitherError as error:
            problem = Problem("refused", where=error.where, why=error.why, instead=error.instead, error=type(error).__name__)
            told = f"{problem.where} {problem.why} {problem.instead}"
            return {"problem": (unavailable() if self._hidden in told else problem).facts()}
        except Exception:  # a row may be in its text
            return {"problem": unavailable().facts()}

    def close(self) -> None:
        """Nothing is open."""


def _files(_message: Json) -> Json:
    return list_files(HERE)


def _step(message: Json) -> Json:
    """The step after a move: `begin`, `show`, `answer` or `back`."""
    wizard, refusal, look = _resumed(message)
    move, typed = message["move"], None
    if refusal is not None:
        pass
    elif move == "back":
        typed = wizard.policy  # from the end back to the text as it was edited
        if wizard.number == 1:
            return {"first": True}
        wizard.back()
    elif move == "answer":
        refusal = _answered(wizard, message)
        if refusal is None and message["key"] == LOOK:
            look = "yes" if YES.get(message["reply"].strip().casefold()) else "no"
        typed = None if refusal is None or refusal["why"] == CHANGED else message["reply"]
    if wizard.step is not None and wizard.step.key == LOOK:
        look = ""
    return _state(wizard, look) | {"refusal": refusal, "typed": typed}


def _save(message: Json) -> Json:
    """Write the policy beside the file, once every step has its reply; never over another file."""
    wizard, refusal, look = _resumed(message)
    if wizard.policy is not None and refusal is None:
        try:
            _write(f"{wizard.name}.toml", wizard.policy)
        except DitherError as error:
            refusal = _told(error)
        else:
            return _state(wizard, look) | {"refusal": None, "typed": None, "saved": True}
    if wizard.policy is None and refusal is None:
        refusal = {"where": "save", "why": CHANGED, "instead": ""}
    return _state(wizard, look) | {"refusal": refusal, "typed": None}


TASKS: dict[str, Callable[[Json], Json]] = {"files": _files, "step": _step, "save": _save}


# -- replies and consent -------------------------------------------------------------------------------------------------


def _resumed(message: Json) -> tuple[Wizard, Json | None, str]:
    """The wizard where the replies lead, what is refused on the way, and the consent that still holds."""
    if message["move"] == "begin":
        must_be_new_file(message["source"], HERE)
        return Wizard(message["source"], folder=HERE), None, ""
    wizard, look = Wizard.from_json(_cleared(message["replies"]), folder=HERE), message["look"]
    if look not in ("", "yes", "no"):
        raise DataError("look", look, "it says neither yes nor no", BROKEN)
    if look and wizard.step is not None and wizard.step.key == LOOK:
        try:
            wizard.answer(look)
        except PolicyError as error:  # what the first rows show is refused, now
            return wizard, _told(error), ""
    return wizard, None, look


def _cleared(stored: str) -> str:
    """Stored replies about a file of the folder, without those that lead out of it: whoever sends them can write them."""
    if len(stored) > LARGEST:
        raise DataError("replies", len(stored), f"they have more than {LARGEST:,} characters", BROKEN)
    try:
        found: Any = json.loads(stored)
    except (ValueError, RecursionError):
        raise DataError("replies", None, "they cannot be read", BROKEN) from None
    replies = found.get("replies") if isinstance(found, dict) else None
    if not isinstance(replies, dict) or not isinstance(replies.get(SOURCE), str):
        raise DataError("replies", None, "they are about no file", BROKEN)
    must_be_new_file(replies[SOURCE], HERE)
    for stated in (replies, found.get("earlier")):  # one that was taken back is what an empty reply stands for
        for key in (LOCATION, WITNESS) if isinstance(stated, dict) else ():
            if isinstance(stated.get(key), str) and _leads_out(key, stated[key].strip()):
                del stated[key]
    return json.dumps(found)


def _answered(wizard: Wizard, message: Json) -> Json | None:
    """Reply to the current step; what is refused."""
    step, reply = wizard.step, message["reply"]
    if step is None or step.key != message["key"]:
        return {"where": message["key"], "why": CHANGED, "instead": ""}
    if step.key == REVIEW and reply.strip() == wizard.draft().strip():
        reply = ACCEPT
    if _leads_out(step.key, reply.strip()):
        why = "the page looks at nothing outside the folder of new data"
        return {"where": step.key, "why": why, "instead": LATER if step.key == LOCATION else "~/.dither/heads, or none"}
    try:
        wizard.answer(reply)
    except PolicyError as error:
        return _told(error)
    return None


def _leads_out(key: str, reply: str) -> bool:
    """Whether the wizard would look outside the folder because of a reply: for a file, or for a user's folder."""
    if "://" in reply or key not in (LOCATION, WITNESS):
        return False
    if key == WITNESS:  # it is compared with the folder, and looked for nowhere
        return reply.startswith("~") and not reply.startswith("~/")
    path = PurePosixPath(reply)
    leads = path.is_absolute() or ".." in path.parts
    with suppress(OSError, RuntimeError, ValueError):
        return leads or not (HERE / reply).resolve().is_relative_to(HERE.resolve())
    return True


# -- what is shown, and what is written ----------------------------------------------------------------------------------


def _state(wizard: Wizard, look: str) -> Json:
    """All that the page has of the wizard, and sends back."""
    view, policy = wizard.view(), wizard.policy
    view["review"] = wizard.step is not None and wizard.step.key == REVIEW
    told = {"view": view, "replies": wizard.to_json(), "look": look, "source": wizard.source, "policy": policy}
    return told | {"name": wizard.name, "saved": False}


def _told(error: DitherError) -> Json:
    """A refusal; of a text of a policy, the place in it that was refused."""
    cause = error.__cause__
    where = cause.where if error.where == REVIEW and isinstance(cause, DitherError) else error.where
    return {"where": where, "why": error.why, "instead": error.instead}


def _write(name: str, text: str) -> None:
    """A file of its own, for the gateway's user alone. The same text again is the same file."""
    instead = "the download, under another name; or that file moved away first"
    try:
        number = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        with suppress(OSError, ValueError):
            if Path(name).is_file() and not Path(name).is_symlink() and Path(name).read_text(encoding="utf-8") == text:
                return
        raise DataError("save", name, "there is another file of that name", instead) from None
    except OSError as error:
        raise DataError("save", name, f"it cannot be written: {error.strerror}", "the download") from None
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:  # the disk is full: half a policy is none
        Path(name).unlink(missing_ok=True)
        raise DataError("save", name, f"it cannot be written: {error.strerror}", "the download") from None
