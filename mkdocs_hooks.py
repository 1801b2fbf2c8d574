"""The site has what the repository has, and a reference made of docstrings.

Pages link to files of the repository (sources, examples): on the site these are their names. For each front of public names,
and for each public module of a front, the reference has a page, made from the same list that imports are resolved by.
The reference is read from the sources, where a constructor that attrs or a named tuple makes does not stand: `Reference`
adds it.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from typing import Any

from griffe import Extension, Function, Parameter, ParameterKind, Parameters
from mkdocs.structure.files import File
from tools.api import FRONTS, MODULES, PUBLIC
from tools.api import names as names_of

FIRST = ("protect", "open", "Ledger", "Answer")  # what a newcomer calls, and what comes back
ROOMS = {
    "Private SQL": ("query", "ledger", "client"),
    "Guarantees and losses": ("privacy",),
    "Mechanisms": ("mechanisms",),
    "Channels": ("channels",),
    "Exact numbers": ("numeric",),
}
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:src|examples|tests|benchmarks|[A-Z])[^)#]*)\)")
CELL = re.compile(r"(?<=<td>).*?(?=</td>)", re.DOTALL)
NAME = re.compile(r"(?<=<code>)[A-Za-z_][\w./-]*(?=</code>)")
WIDE = '<div class="wide" tabindex="0" role="group" aria-label="table">'
TYPES = """\
In signatures a `NumberLike` is what an exact number is read from: an integer, a float (at its printed decimal), a
`Fraction`, a `Decimal`, a `Number`, or text such as `"0.5"`, `"1/3"` or `"ln(3)"`. A `RealLike` is the same without text: a
private value. A `UnitLike` is a `Unit` or its text, such as `"replace one person"`. `SupportsIndex` is a whole number, also
one of NumPy's.
"""


def on_config(config: Any) -> Any:
    """Nowhere to edit, no link to edit: where the sources are published is said by the variable DITHER_REPOSITORY."""
    config.edit_uri = config.edit_uri if config.repo_url else ""
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links that leave the docs, as the name of what they lead to. The home page has doors in the place of its contents."""
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["toc"]
    return OUTSIDE.sub(lambda found: f"{found[1]} (`{found[2]}`)" if found[1] != found[2] else f"`{found[2]}`", markdown)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Tables scroll in a box of their own, also by keys; names in them may break behind a _, a / or a dot, and nowhere else.

    A page without sections has no contents, and their place is its own: most such pages are one wide table.
    """
    if not any(top.children for top in page.toc):
        page.meta["hide"] = ["toc"]
    if not page.file.src_uri.startswith("api/"):
        content = CELL.sub(
            lambda cell: NAME.sub(lambda name: re.sub(r"([_/.]+)(?=\w)", r"\1<wbr>", name[0]), cell[0]), content
        )
    return content.replace("<table>", f"{WIDE}<table>").replace("</table>", "</table></div>")


def on_post_page(output: str, **_: Any) -> str:
    """The theme gives the box of its search no name, by which who does not see it would know it."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def on_files(files: Any, config: Any) -> Any:
    """A page of the reference for each front, and for each module that a front lists."""
    for name, module in reference().items():
        files.append(File.generated(config, f"api/{name}.md", content=_page(name, module)))
    return files


def reference() -> dict[str, Any]:
    """Every module with public names, by the name that a user writes."""
    return {called: importlib.import_module(name) for called, name in zip([*FRONTS, *MODULES], PUBLIC, strict=True)}


def _page(called: str, module: Any) -> str:
    lines = [f"# {called}", "", (module.__doc__ or "").strip(), ""]
    public = {name: getattr(module, name) for name in names_of(module.__name__)}
    found = {name: one for name, one in public.items() if isinstance(one, type) or inspect.isfunction(one)}
    subjects = _subjects(found) if called == "dither" else {"": list(found)}
    if len(subjects) > 1:
        lines += ["| subject | names |", "|---|---|"]
        for said, names in subjects.items():
            lines.append(f"| {said} | {', '.join(f'[`{name}`][{_place(found[name])}]' for name in names)} |")
    lines += ["", TYPES]
    for name in (name for names in subjects.values() for name in names):
        lines += ["", f"::: {_place(found[name])}"]
    return "\n".join([*lines, ""])


def _subjects(found: dict[str, Any]) -> dict[str, list[str]]:
    """The names of the first page by subject, those that a newcomer needs before all others."""
    rooms = {room: subject for subject, several in ROOMS.items() for room in several}
    subjects: dict[str, list[str]] = {"To begin with": list(FIRST)} | {subject: [] for subject in ROOMS}
    for name in sorted(found.keys() - set(FIRST), key=str.casefold):
        subjects[rooms[found[name].__module__.split(".")[1]]].append(name)
    return subjects


def _place(found: Any) -> str:
    return f"{found.__module__}.{found.__qualname__}"


class Reference(Extension):
    """What the reference needs and the sources do not say: constructors that are made, and what an example is.

    A public class whose source has no `__init__` gets the signature that Python knows. An `Example:` becomes `Examples:`,
    the one word under which code is shown as code.
    """

    def __init__(self) -> None:
        public = (getattr(module, name) for module in reference().values() for name in names_of(module.__name__))
        self.made = {_place(one): one for one in public if isinstance(one, type) and _makes(one)}

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Called when the docstring of anything was read."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE)

    def on_class_members(self, *, cls: Any, **_: Any) -> None:
        """Called when the members of a class were read."""
        found = self.made.get(cls.path)
        if found is not None and "__init__" not in cls.members:
            own = Parameter("self", kind=ParameterKind.positional_or_keyword)
            taken = Parameters(own, *map(_parameter, inspect.signature(found).parameters.values()))
            cls.set_member("__init__", Function("__init__", parameters=taken, returns="None", lineno=0, endlineno=0))


def _makes(kind: type) -> bool:
    """Whether the class itself says how it is made."""
    return ("__init__" in vars(kind) or "__new__" in vars(kind)) and not issubclass(kind, (enum.Enum, Exception))


def _parameter(found: inspect.Parameter) -> Parameter:
    kind = ParameterKind(found.kind.description)
    said = getattr(found.annotation, "__forward_arg__", found.annotation)
    annotation = None if said is found.empty else said if isinstance(said, str) else inspect.formatannotation(said)
    default = None if found.default is found.empty else _text(found.default)
    return Parameter(found.name, annotation=annotation, kind=kind, default=default)


def _text(default: object) -> str:
    if isinstance(default, enum.Enum):
        return f"{type(default).__name__}.{default.name}"
    said = repr(default)
    return "..." if said.startswith("<") else said  # what is made anew each time has no text that Python reads
