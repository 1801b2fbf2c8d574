"""Commands are imported when they are asked for, and the list of them says what they say themselves."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

from dither.cli.main import Commands, app

LISTING = """
import sys
from typer.testing import CliRunner
from dither.cli.main import app
done = CliRunner().invoke(app, {arguments})
assert done.exit_code == {code}, done.output
assert {shown!r} in done.output, done.output
print(sorted(name for name in sys.modules if name.partition(".")[0] == "dither"))
"""


@pytest.mark.parametrize("name", Commands.homes)
def test_the_list_says_what_the_command_says_of_itself(name):
    assert Commands().load(name).help == Commands.homes[name].help


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["--help"], 0, "made-up clinic"),
        (["--version"], 0, "dither "),
        (["ledge"], 2, "Did you mean 'ledger'?"),
    ],
)
def test_a_list_of_commands_imports_none_of_them(arguments, code, shown):
    script = LISTING.format(arguments=arguments, code=code, shown=shown)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == str(
        [
            "dither",
            "dither.cli",
            "dither.cli.flags",
            "dither.cli.lazy_group",
            "dither.cli.main",
            "dither.errors",
            "dither.lazy",
            "dither.svg",  # of the terminal, for how wide lines are: light, and no command
            "dither.svg.labels",
            "dither.table",
            "dither.terminal",
        ]
    ), done.stderr


def commands_below(command, words):
    """Each command that can be typed, with its words."""
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from commands_below(below, [*words, name])


def plain(text):
    """Help text as a reader sees it: without the backslashes that keep brackets, the frame and line ends."""
    return " ".join(text.replace("\\[", "[").replace("│", " ").split())


def texts(command):
    """All help texts of a command."""
    return [command.help, *(one.help for one in command.params if getattr(one, "help", None))]


EXTRAS = [
    "fastapi",
    "starlette",
    "uvicorn",
    "mcp",
    "jinja2",
    "prometheus_client",
    "sklearn",
    "altair",
    "ibis",
    "psycopg",
    "yaml",
]


def test_help_shows_every_word_of_every_command_without_any_extra():
    missing = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"
    script = f"{missing}; from tests.cli import test_lazy_group as it; print(it.read_all_help())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100, done.stdout


def read_all_help():
    """How many help texts are shown, each whole."""
    shown = 0
    for name in Commands.homes:
        top = Commands().load(name)
        for words in commands_below(top, [name]):
            command = top
            for word in words[1:]:
                command = command.load(word) if word in getattr(command, "homes", {}) else command.commands[word]
            told = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "1000", "TERM": "dumb"})
            assert told.exit_code == 0, (words, told.exception)
            for text in texts(command):
                assert plain(text) in plain(told.output), (words, text)
                shown += 1
    return shown


def test_help_keeps_brackets():
    told = CliRunner().invoke(app, ["plan", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert "[[question]]" in told.output


def test_help_keeps_brackets_in_the_words_of_a_command(monkeypatch):
    monkeypatch.setattr(import_module(Commands.homes["plan"].module).plan, "__doc__", "What each [[question]] costs.")
    told = CliRunner().invoke(app, ["plan", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert "What each [[question]] costs." in told.output


@pytest.mark.parametrize("name", ["", *Commands.homes])
def test_what_takes_no_value_shows_none_in_the_help(name):
    typed = [[]] if not name else list(commands_below(Commands().load(name), [name]))
    for words in typed:
        told = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
        assert told.exit_code == 0, told.output
        assert "--help" in told.output
        assert "bool" not in told.output.lower(), words
        assert (
            name != "query" or "path>" in told.output.lower() or " PATH " in told.output
        )  # what takes a value shows its kind
