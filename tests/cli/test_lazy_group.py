"""Commands are imported when they are asked for, and the list of them says what they say themselves."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dither.cli.main import Commands

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
