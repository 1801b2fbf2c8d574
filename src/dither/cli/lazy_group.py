"""A group of commands, each in a file that is imported when the command is asked for: `dither --help` imports none."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group


class Home(NamedTuple):
    """Where a command is, and what the list of commands says of it."""

    module: str  # it has a function, or a group, of the command's name
    help: str  # the same words as there; a test compares them


class LazyGroup(TyperGroup):
    """A group that lists its commands, in the order of `homes`, and imports one only to run it."""

    homes: ClassVar[Mapping[str, Home]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, home in self.homes.items():
            self.add_command(TyperCommand(name, help=home.help))  # stands for it in lists and suggestions

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What is to be run: here, and nowhere before, its module is imported."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name is not None and name in self.homes else found, rest

    def load(self, name: str) -> Any:
        """The command of that name, from its module, which is imported now."""
        found = getattr(import_module(self.homes[name].module), name)
        holder = typer.Typer(add_completion=False)
        if isinstance(found, typer.Typer):
            holder.add_typer(found, name=name)
        else:
            holder.command(name)(found)
        return _with_plain_help(get_group(holder).commands[name])

    def get_params(self, ctx: Any) -> Any:
        """As they are, where those that take no value show none."""
        return _plain_flags(super().get_params(ctx))


def _with_plain_help(command: Any) -> Any:
    """A command, and those below it, whose --help shows every word of ours, and no type beside what takes no value.

    typer reads help as markup, in which [words] in brackets are styles and vanish, and writes <bool> beside flags.
    """
    from rich.markup import escape

    command.help = escape(command.help or "")
    for one in command.params:
        if getattr(one, "help", None):
            one.help = escape(one.help)
    read = command.get_params
    command.get_params = lambda ctx: _plain_flags(read(ctx))  # --help is made when somebody asks for it
    for below in getattr(command, "commands", {}).values():
        _with_plain_help(below)
    return command


def _plain_flags(options: Any) -> Any:
    for one in options:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return options
