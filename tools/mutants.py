"""Mutation testing: bugs drawn by a seed from the files that bound privacy, and whether tests find them.

    python tools/mutants.py --seed 20261119 --count 120 --tests own --results mutants.jsonl

Each mutant changes one node of a syntax tree in a copy of the checkout, where pytest then runs. Results are JSON lines with
a diff; with the same file of results, a run continues where it stopped. `--tests own` takes the tests that
belong to the changed file by name, folder or import; `default` takes the quick ones, `full` all. Mutants that change
no behavior are listed with a reason in `tools/equivalent_mutants.txt`, and are not run. The status is 1 if tests missed a
mutant.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
# Files that bound privacy, by folders of src/dither: what draws noise, computes a guarantee, limits a person or charges a
# budget. Files that only read released numbers (estimates, intervals) or word them are left out.
FILES = {
    "numeric": "balls columns enclosure lattice log_sum logarithms number rounding search simplex",
    "noise": "*",
    "noise/samplers": "*",
    "privacy": "amplify calibrate compose concentrated operands records theorems unit",
    "privacy/budget": "*",
    "privacy/formulas": "*",
    "privacy/guarantee": "*",
    "privacy/loss": "*",
    "privacy/loss/pairs": "[!j]*",
    "privacy/loss/profile": "*",
    "channels": "matrix neighbour_graph privacy",
    "channels/optimal": "*",
    "mechanisms": "combine norms protocol sensitivity",
    "mechanisms/additive": "*",
    "mechanisms/response": "*",
    "mechanisms/selection": "*",
    "mechanisms/threshold": "*",
    "mechanisms/workload": "chernoff column_norms given_strategy strategy strategy_optimum workload",
    "density/histograms": "grid histogram marginals prefix_workload range_workload tree tree_least_squares tree_shape",
    "density/moments": "covariance moments steps",
    "density/quantiles": "*",
    "density/samples": "*",
    "density/unknown_keys": "*",
    "ledger": "handle ledger verify witness write_queue",
    "ledger/entries": "*",
    "ledger/storage": "*",
    "local": "bridge client_law least_epsilon survey",
    "local/surveys": "*",
    "query": "counts release",
    "query/counters": "counter_sets joint_counters pair_counters",
    "query/engines": "key_lists words",
    "query/engines/duckdb": "read_table words",
    "query/engines/postgres": "read_table words",
    "query/engines/spark": "read_table words",
    "query/engines/templates": "*",
    "query/groups": "group_choice shown_key_counts top_groups unknown_keys",
    "query/plan": "chain counters facts lattice relations",
    "query/plan/joins": "*",
    "query/plan/mathematics": "pair_counters",
    "query/policy": "chains table",
    "query/pricing": "key_delta limit_searches price pricing spend",
    "query/sql": "chains domains from_clause group_keys joins person_totals",
    "query/sql/join_kinds": "*",
    "query/statistics": "[!s]* statistic",
    "query/workload": "*",
    "learn": "naive_bayes nearest_centroid private_search",
    "learn/base": "cells class_means classifier columns estimator exact_sums payment people price private_score regressor"
    " release row_count rows",
    "learn/clusters": "grid kmeans",
    "learn/linear": "clipped_gradient linear_regression logistic_regression",
    "learn/moments": "*",
    "learn/networks": "*",
    "learn/search": "*",
    "learn/trees": "*",
}
TEXT = r"_repr_|_*(repr|str|html|words?|texts?|told|said|explain(ed)?|describe|spell(ed)?|statements?|note|short_words)_*$"
WORDS = {"why", "came", "instead", "text", "words", "said", "told", "doc"}  # variables with the words of a refusal
SLOW = ("tests/server/", "tests/docs/", "tests/benchmarks/", "tests/cli/", "tests/query/engines/spark/", "tests/client/")
OWN_FILES = 20
COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {  # flipped, or strict in the place of not strict
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn], ast.NotIn: [ast.In],
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Mod: ast.FloorDiv,
}  # fmt: skip
OTHER = {"min": "max", "floor": "ceil", "upper": "lower", "round_up": "round_down", "above": "below", "minimum": "maximum"}
OTHER |= {other: name for name, other in OTHER.items()}


@dataclass(frozen=True)
class Mutant:
    """One changed node; `name` says where it is without its line, so that it outlives changes elsewhere."""

    name: str
    path: str
    line: int
    kind: str
    start: int  # in bytes
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


# -- what may be changed ---------------------------------------------------------------------------------------------------


class _Sites(ast.NodeVisitor):
    """The nodes of a file that may be changed, each with its variants."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source, self.sites = path, source, list[list[Mutant]]()
        self._lines = [0]
        for line in source.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self._scope: list[str] = []
        self._arguments: list[list[str]] = []
        self._names: Counter[str] = Counter()
        self.visit(ast.parse(source))

    def _add(self, node: ast.expr | ast.stmt, *variants: tuple[str, str, str]) -> None:
        """A node with its variants: kind, text in the place of the node, and the change as its name has it."""
        start = self._lines[node.lineno - 1] + node.col_offset
        end = self._lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        found = []
        for kind, text, change in variants:
            name = f"{self.path} {'.'.join(self._scope) or 'module'}: {' '.join(change.split())}"
            self._names[name] += 1
            name += f" ({self._names[name]})" if self._names[name] > 1 else ""
            found.append(Mutant(name, self.path, node.lineno, kind, start, end, text))
        if found:
            self.sites.append(found)

    def _replace(self, kind: str, node: ast.expr, *others: ast.expr) -> None:
        old, told = ast.unparse(node), []
        for other in others:
            new = ast.unparse(ast.fix_missing_locations(other))
            told.append((kind, new if isinstance(other, ast.Constant) else f"({new})", f"{old} -> {new}"))
        self._add(node, *told)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.append(node.name)
        for statement in _without_docstring(node.body):
            self.visit(statement)
        self._scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if re.match(TEXT, node.name):  # what it gives is for people
            return
        self._scope.append(node.name)
        arguments = [one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        self._arguments.append([one for one in arguments if one not in ("self", "cls")])
        defaults = [one for one in [*node.args.defaults, *node.args.kw_defaults] if one is not None]
        for part in [*defaults, *_without_docstring(node.body)]:
            self.visit(part)
        self._arguments.pop()
        self._scope.pop()

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if isinstance(node.body[-1], ast.Raise):
            test = ast.unparse(node.test)
            self._add(node.test, ("guard", f"(({test}) and False)", f"guard deleted: {test}"))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call) and re.match(r"_*(check|refuse|require|must)", _name(call.func)):
            self._add(node, ("guard", "None", f"guard deleted: {ast.unparse(node)}"))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id in WORDS for target in node.targets):
            self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit(self, node: ast.AST) -> None:
        """Visit a node, but for words of refusals, and assertions, which no refusal depends on."""
        if not isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert, ast.AsyncFunctionDef)):
            super().visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        value, arguments = node.value, self._arguments[-1] if self._arguments else []
        if isinstance(value, ast.Name) and value.id in arguments:
            self._replace("return", value, *(ast.Name(other) for other in arguments if other != value.id))
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            self._replace("return", value, ast.Tuple(value.elts[::-1], ast.Load()))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._replace("return", node, ast.IfExp(node.test, node.orelse, node.body))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        others = []
        for place, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                others.append(changed)
        self._replace("comparison", node, *others)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)  # joined or repeated, without arithmetic
        other, sides = OPERATORS.get(type(node.op)), (node.left, node.right)
        if other and not any(isinstance(one, texts) or isinstance(getattr(one, "value", None), str) for one in sides):
            self._replace("arithmetic", node, ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._replace("logic", node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        inner = node.operand
        if isinstance(node.op, ast.Not):
            self._replace("not", node, inner)
        elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.FloorDiv) and isinstance(inner.left, ast.UnaryOp):
            self._replace("rounding", node, ast.BinOp(inner.left.operand, inner.op, inner.right))  # -(-a // b) rounds up
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            self._replace("constant", node, ast.Constant(node.value + 1), ast.Constant(node.value - 1))

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if re.search(r"(Error|Problem|Warning|warn)$", name):
            return
        if name in ("sorted", "sort"):
            changed = copy.deepcopy(node)
            changed.keywords = [one for one in changed.keywords if one.arg != "reverse"]
            if len(changed.keywords) == len(node.keywords):
                changed.keywords.append(ast.keyword("reverse", ast.Constant(True)))
            self._replace("order", node, changed)
        if name in OTHER:
            changed, function = copy.deepcopy(node), node.func
            if isinstance(function, ast.Attribute):
                changed.func = ast.Attribute(function.value, OTHER[name])
                self._replace("rounding", node, changed)
            elif name in ("min", "max"):  # what other names mean is not known here
                changed.func = ast.Name(OTHER[name])
                self._replace("min and max", node, changed)
        self.generic_visit(node)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if text else body


def sites(root: Path, paths: Iterable[str]) -> Iterator[list[Mutant]]:
    """Yield the nodes that may be changed, each with its variants, in order."""
    for path in paths:
        yield from _Sites(path, (root / path).read_bytes()).sites


def private_files(root: Path) -> list[str]:
    """Return the files that bound privacy."""
    package = root / "src" / "dither"
    found = {
        path for folder, names in FILES.items() for name in names.split() for path in (package / folder).glob(f"{name}.py")
    }
    return sorted(path.relative_to(root).as_posix() for path in found if path.name != "__init__.py")


def draw(root: Path, paths: Iterable[str], count: int, seed: int) -> list[Mutant]:
    """Draw mutants: each node is as likely as any other, and so is each of its variants."""
    rng, every = random.Random(seed), list(sites(root, paths))
    return [rng.choice(variants) for variants in rng.sample(every, min(count, len(every)))]


def equivalents(text: str) -> dict[str, str]:
    """Return the reasons of mutants that change no behavior, by their names."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return dict(line.split("  # ", 1) for line in lines)


# -- which tests a file has ------------------------------------------------------------------------------------------------


@cache
def _imports(path: Path) -> frozenset[str]:
    """Modules that a file imports, and public names that it may take from a front."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
    return frozenset(found)


def _fronts(root: Path, module: str) -> set[str]:
    """Public names of a module, as `dither.Geometric`."""
    found = set()
    for stub in (root / "src").rglob("__init__.pyi"):
        front = ".".join(stub.parent.relative_to(root / "src").parts)
        names = re.findall(rf"^from {re.escape(module)} import (\w+)", stub.read_text(), re.MULTILINE)
        found |= {f"{front}.{name}" for name in names}
        found |= {f"{front.split('.')[-1]}.{name}" for name in names}
    return found


def own_tests(root: Path, path: str) -> list[str]:
    """Return the files of tests that belong to a file, that of its name first, then by folders and imports."""
    source, tests = root / path, list((root / "tests").rglob("*.py"))
    module = ".".join(source.relative_to(root / "src").with_suffix("").parts)
    folder = root / "tests" / Path(*module.split(".")[1:-1])
    while not folder.exists():
        folder = folder.parent
    names = {module, *_fronts(root, module)}
    helpers = {".".join(one.relative_to(root).with_suffix("").parts) for one in tests if _imports(one) & names}
    users = [one for one in (root / "src").rglob("*.py") if module in _imports(one)]
    modules = {".".join(one.relative_to(root / "src").with_suffix("").parts) for one in users}

    def near(test: Path) -> int:
        return len(Path(os.path.commonpath([test.parent, folder])).relative_to(root).parts)

    def distance(test: Path) -> int:
        imported = _imports(test)
        if test.stem == f"test_{source.stem}" and (test.parent == folder or near(test) > 1):
            return 0
        places = [module in imported, bool(names & imported), bool(helpers & imported), bool(modules & imported)]
        return places.index(True) + 1 if True in places else 5 if test.parent == folder else 9

    files = {one.relative_to(root).as_posix(): one for one in tests if one.name.startswith("test_")}
    found = sorted((distance(one) > 0, -near(one), distance(one), len(_imports(one)), name) for name, one in files.items())
    return [name for _, _, far, _, name in found if far < 9 and not name.startswith(SLOW)][:OWN_FILES]


# -- what tests say --------------------------------------------------------------------------------------------------------


class Runner:
    """A copy of a checkout, in which one mutant at a time is tested."""

    def __init__(self, root: Path, folder: Path, tests: str, seconds: float) -> None:
        self.folder, self._tests, self._seconds = folder, tests, seconds
        self._sound, self._unsound = set[str](), set[str]()
        left_out = shutil.ignore_patterns(".git", ".venv", ".cache", "__pycache__", ".*_cache", "node_modules", "*.jsonl")
        shutil.copytree(root, folder, ignore=left_out, dirs_exist_ok=True)
        # Byte code that is checked by its source's hash: a mutant of the same size within a second is not overlooked.
        compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(folder / "src")]
        subprocess.run(compiled, check=True)

    def test(self, mutant: Mutant) -> dict[str, object]:
        """Return the outcome of a mutant: found, missed, timed out or not compiled; and the test that found it."""
        path = self.folder / mutant.path
        source = path.read_bytes()
        changed = mutant.apply(source)
        try:
            compile(changed, mutant.path, "exec")
        except SyntaxError:
            return {"outcome": "not compiled"}
        started = time.monotonic()
        while True:
            path.write_bytes(changed)
            try:
                code, output = self._run(self._arguments(mutant.path))
            finally:
                path.write_bytes(source)
            if code is None:
                return {"outcome": "timed out", "seconds": round(time.monotonic() - started, 1)}
            if code in (0, 5):  # no test failed, or there is none
                return {"outcome": "missed", "seconds": round(time.monotonic() - started, 1)}
            failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output, re.MULTILINE)
            if not failed:
                raise SystemExit(f"pytest ended with {code}, and names no test:\n{output[-2000:]}")
            if self._passes(failed[0]):
                return {"outcome": "found", "by": failed[0], "seconds": round(time.monotonic() - started, 1)}

    def _passes(self, test: str) -> bool:
        """True for a test that passes without a mutant; others say nothing, and are left out from then on."""
        if test not in self._sound | self._unsound:
            code, _ = self._run([test] if "::" in test else [test, "--collect-only"])
            (self._unsound if code not in (0, None) else self._sound).add(test)
        return test in self._sound

    def _arguments(self, path: str) -> list[str]:
        without = [f"--deselect={test}" if "::" in test else f"--ignore={test}" for test in self._unsound]
        return [*(own_tests(self.folder, path) if self._tests == "own" else ["tests"]), *without] + (
            ["--tier=default"] if self._tests == "default" else []
        )

    def _run(self, arguments: list[str]) -> tuple[int | None, str]:
        """Pytest's status and output; no status if it took too long."""
        if not arguments:
            return 5, ""
        paths = os.pathsep.join([str(self.folder / "src"), str(self.folder)])
        environment = {
            "DITHER_SEED": "1",
            **os.environ,
            "PYTHONPATH": paths,
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "999",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *arguments]
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, text=True, errors="replace", start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=self._seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None, process.communicate()[0]
        return process.returncode, output


def run(
    root: Path,
    mutants: list[Mutant],
    results: Path,
    *,
    tests: str,
    known: dict[str, str],
    jobs: int = 1,
    seconds: float = 60,
) -> list[dict[str, object]]:
    """Test mutants, add a line for each to the results, and return all that are there of them."""
    before = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {line["name"]: line for line in before if line["tests"] == tests}
    for mutant in mutants:
        if mutant.name in known:
            done[mutant.name] = {"name": mutant.name, "outcome": "equivalent", "why": known[mutant.name]}
    waiting = [mutant for mutant in mutants if mutant.name not in done]
    with tempfile.TemporaryDirectory(prefix="mutants") as folder, results.open("a") as file:
        free: Queue[Runner] = Queue()
        for number in range(min(jobs, len(waiting))):
            free.put(Runner(root, Path(folder, str(number)), tests, seconds))

        def test(mutant: Mutant) -> None:
            runner = free.get()
            try:
                outcome = runner.test(mutant)
            finally:
                free.put(runner)
            line = {"name": mutant.name, "tests": tests, "kind": mutant.kind, "line": mutant.line, **outcome}
            done[mutant.name] = {**line, "diff": diff(root, mutant)}
            file.write(json.dumps(done[mutant.name], ensure_ascii=False) + "\n")
            file.flush()
            print(f"{outcome['outcome']}: {mutant.name}", flush=True)

        with ThreadPoolExecutor(max(1, jobs)) as pool:
            list(pool.map(test, waiting))
    return [done[mutant.name] for mutant in mutants]


def diff(root: Path, mutant: Mutant) -> str:
    """Return a mutant as a unified diff."""
    source = (root / mutant.path).read_bytes()
    old, new = (text.decode().splitlines(keepends=True) for text in (source, mutant.apply(source)))
    return "".join(difflib.unified_diff(old, new, mutant.path, mutant.path, n=1))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="of the draw")
    parser.add_argument("--count", type=int, default=120, help="how many mutants")
    parser.add_argument("--tests", choices=("own", "default", "full"), default="own", help="which tests are run")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--seconds", type=float, default=60, help="the limit of one mutant")
    parser.add_argument(
        "--results", type=Path, default=Path("mutants.jsonl"), help="JSON lines; what is there is not run again"
    )
    options = parser.parse_args(arguments)
    mutants = draw(ROOT, private_files(ROOT), options.count, options.seed)
    known = equivalents(EQUIVALENT.read_text())
    found = run(
        ROOT, mutants, options.results, tests=options.tests, known=known, jobs=options.jobs, seconds=options.seconds
    )  # fmt: skip
    outcomes = Counter(line["outcome"] for line in found)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    return 1 if outcomes["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
