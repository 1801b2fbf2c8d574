"""The policy wizard without a face: a current step, replies, a way back, and a draft of what is decided so far.

All of its state are the replies, kept under the keys of their steps, and the consent to look at rows, which is kept for this
run alone. The steps are gone through anew from the first after each reply, so that going back, storing and resuming need no
more than the replies.

Theorem. Without consent every step, refusal and draft is a function of the source's schema (of a CSV file: its first line),
its path, the file system outside it and the replies. With consent that holds for bounds, keys, units and limits of every
draft.

    schema    names and types of columns: a footer, a header line, a catalogue

Proof. Rows are read by `DataSource.sniffed` and `DataSource.look` alone. `csv_steps` calls them if and only if there is
consent. What they give enters a step as `seen`, which is no part of a draft, and as `default` of steps about the dialect,
types, formats, words, the person and what is left out; steps of bounds, keys, units and limits have no default or a
constant. A draft is made of values of replies. An empty reply stands for the default of its step, so a draft holds of rows
at most what such defaults hold, and no default holds bounds, keys, units or limits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dither.arguments import argument_errors
from dither.errors import ConflictError, DataError, DitherError, PolicyError
from dither.query.owner.wizard.data_source import DataSource
from dither.query.owner.wizard.decisions import Decisions
from dither.query.owner.wizard.file_steps import LOOK, SOURCE
from dither.query.owner.wizard.interview import REVIEW, interview
from dither.query.owner.wizard.policy_text import policy_text
from dither.query.owner.wizard.step import Step

STORED = 1  # version of stored replies
BROKEN = "replies that the wizard stored"


@dataclass(frozen=True)
class Position:
    """Where the replies lead to."""

    path: tuple[str, ...]  # keys of the steps that have a reply, in order
    step: Step | None  # the next one; None at the end
    said: Decisions
    text: str  # of the whole policy, at the end; '' before


@argument_errors
class Wizard:
    """Steps from a file or an address to a policy, one question at a time.

    Args:
        source: a file, a glob, a directory or an address; None if that is to be asked too.
        folder: of the policy, to which paths in it are relative; the current one unless said.
        read_data: whether the owner consents to a look at the first rows; False if she is to be asked.
        replies: of an earlier run, by the keys of their steps.
        earlier: replies that were taken back in that run: each is the default of its step.

    Raises:
        DataError: there is no such source, or it is of no kind that is read.
        ConflictError: consent to look at rows of a source whose types are known without.

    Example:
        >>> import tempfile, pathlib
        >>> from dither.query.owner.wizard.wizard import Wizard
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = pathlib.Path(folder.name, "visits.csv")
        >>> _ = file.write_text("patient,cost")
        >>> wizard = Wizard(str(file))
        >>> wizard.step.key
        'look'
        >>> wizard.answer("no").key
        'file.header'
        >>> wizard.back().key
        'look'
        >>> folder.cleanup()
    """

    def __init__(
        self,
        source: str | None = None,
        *,
        folder: Path | None = None,
        read_data: bool = False,
        replies: Mapping[str, str] | None = None,
        earlier: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = Path.cwd() if folder is None else folder
        self._read_data = read_data
        self._replies = dict(replies or {}) | ({} if source is None else {SOURCE: source})
        self._earlier = dict(earlier or {})  # what was replied before a way back
        self._sources: dict[str, DataSource] = {}
        self._given = source is not None
        if source is not None:  # refused here, not as a reply
            self._open(source)
        self._position = self._follow()

    @property
    def step(self) -> Step | None:
        """The current step; None at the end."""
        return self._position.step

    @property
    def source(self) -> str | None:
        """The file or the address; None if it is not known yet."""
        return self._replies.get(SOURCE)

    @property
    def name(self) -> str:
        """The name of the source: its policy and its ledger are called so unless somebody says otherwise."""
        return self._position.said.name

    @property
    def number(self) -> int:
        """The number of the current step, from 1."""
        return len(self._position.path) + 1 - self._given

    @property
    def total(self) -> int | None:
        """About how many steps there will be; None if nothing can be told yet."""
        counted = self._follow(to_the_end=True)
        return len(counted.path) - self._given if counted.step is None else None

    @property
    def policy(self) -> str | None:
        """The whole policy, once every step has its reply; None before."""
        return self._position.text or None

    def answer(self, reply: str) -> Step | None:
        """Reply to the current step; nothing changes where the reply is refused.

        Args:
            reply: the text; an empty one takes the default.

        Returns:
            The next step, or None at the end.

        Raises:
            PolicyError: the reply cannot be read, or is out of range; it says what would work.
            ConflictError: there is no further step.

        Example:
            >>> from dither.query.owner.wizard.wizard import Wizard
            >>> from dither.errors import PolicyError
            >>> wizard = Wizard()
            >>> try:
            ...     wizard.answer("no such file.csv")
            ... except PolicyError as error:
            ...     print(error.where)
            source
        """
        step = self.step
        if step is None:
            raise ConflictError("wizard", reply, "every step has its reply", "the policy as it is, or going back")
        if not isinstance(reply, str):
            raise PolicyError(step.key, reply, "it is no text", step.advice)
        text = reply.strip() or step.default or ""
        step.value(text)
        self._replies[step.key] = text
        try:
            self._position = self._follow()
        except (DitherError, OSError) as error:  # what the file shows under this reply is refused
            del self._replies[step.key]
            raise PolicyError(step.key, text, getattr(error, "why", str(error)), step.advice) from error
        return self.step

    def back(self) -> Step | None:
        """Take the last reply back. It is the default of its step from now on; at the first step nothing happens.

        Returns:
            The step that is asked again.
        """
        path = self._position.path[self._given :]
        if path:
            taken = self._replies.pop(path[-1])
            if path[-1] not in (LOOK, REVIEW):  # consent is given anew, and a text that was edited is about other replies
                self._earlier[path[-1]] = taken
            self._position = self._follow()
        return self.step

    def draft(self) -> str:
        """TOML of what is decided so far; what is open says FILL IN."""
        return self.policy or policy_text(self._position.said)

    def view(self) -> dict[str, Any]:
        """What a page shows: the current step, its number, about how many there are, and the draft. For the owner's eyes."""
        step = None if self.step is None else self.step.to_json()
        return {"step": step, "number": self.number, "total": self.total, "draft": self.draft()}

    def to_json(self) -> str:
        """The replies, also those taken back, to be resumed from; without the consent to look at rows, of one run alone."""
        kept = {key: text for key, text in self._replies.items() if key != LOOK}
        earlier = {key: text for key, text in self._earlier.items() if key not in kept}
        stored = {"version": STORED, "replies": kept, **({"earlier": earlier} if earlier else {})}
        return json.dumps(stored, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, stored: str, *, folder: Path | None = None, read_data: bool = False) -> Wizard:
        """A wizard that goes on from stored replies; those that no longer fit are asked for again.

        Args:
            stored: what `to_json` gave.
            folder: as for a new one.
            read_data: as for a new one; consent is never stored.

        Raises:
            DataError: it is nothing that `to_json` gave, or its source is not there any more.
        """
        try:
            found: Any = json.loads(stored)
        except (ValueError, RecursionError) as error:
            raise DataError("replies", stored, "it is not JSON", BROKEN) from error
        right = isinstance(found, dict) and found.get("version") == STORED
        replies: Any = found.get("replies") if right else None
        earlier: Any = found.get("earlier", {}) if right else None
        if not (_are_texts(replies) and _are_texts(earlier)):
            raise DataError("replies", stored, "it holds no replies of this version", BROKEN)
        rest = {key: text for key, text in replies.items() if key not in (LOOK, SOURCE)}
        before = {key: text for key, text in earlier.items() if key != LOOK}
        return cls(replies.get(SOURCE), folder=folder, read_data=read_data, replies=rest, earlier=before)

    # -- how replies are followed ----------------------------------------------------------------------------------------

    def _open(self, stated: str) -> DataSource:
        if stated not in self._sources:
            source = DataSource(stated, self._folder)
            if self._read_data and source.csv is None:
                why = "types of such a source are known without its rows"
                raise ConflictError("--read-data", stated, why, "leaving it out")
            self._sources[stated] = source
        return self._sources[stated]

    def _follow(self, *, to_the_end: bool = False) -> Position:
        """Go through the steps by the replies; `to_the_end`: further on, by what is assumed for steps without one."""
        said, path = Decisions(), list[str]()
        steps = interview(said, self._folder, self._open, read_data=self._read_data)
        step: Step = next(steps)
        try:
            while True:
                text = self._replies.get(step.key)
                if text is None and to_the_end:
                    text = step.default or step.assumed
                try:
                    value = None if text is None else step.value(text)
                except PolicyError:
                    value = text = None  # a reply that no longer fits is asked for again
                if text is None:
                    break
                path.append(step.key)
                step = steps.send(value)
        except StopIteration as end:
            return Position(tuple(path), None, said, end.value)
        except (DitherError, OSError):
            if not to_the_end:
                raise
        earlier = self._earlier.get(step.key)
        return Position(tuple(path), step if earlier is None else replace(step, default=earlier), said, "")


def _are_texts(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
