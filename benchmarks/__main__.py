"""`python -m benchmarks NAME [--soak]`: each module here measures one subject and prints a table of ratios.

`python -m benchmarks tpch verdicts` says what becomes of TPC-H's queries, `python -m benchmarks clickbench` of ClickBench's;
`--record` writes what was found into the file that the tests compare with.

`--rows` is the number of rows of engines: `python -m benchmarks engines --rows 100000`. `--growth` is how their cost grows.
`--scale` is the scale of TPC-H's tables, 1 unless it is said: `python -m benchmarks tpch --scale 0.1`.
`python -m benchmarks learn` fits every task beside peers, 50 seeds each, on Adult 10: `--all` for 50, `--seeds N` for
another number everywhere, `--task trees` for one task, `--without-peers` for ours alone.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil

import benchmarks

HELPERS = {"__main__", "clock", "peer", "peers", "question_files", "report"}
VERDICTS = {"tpch": "tpch.verdicts", "clickbench": "clickbench.verdicts"}
SCALES = ("0.01", "0.1", "1", "10")


def main() -> int:
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in HELPERS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("name", choices=names)
    parser.add_argument("part", nargs="?", choices=["verdicts"], help="of tpch: what becomes of its queries")
    parser.add_argument("--record", action="store_true", help="of verdicts: write them down")
    parser.add_argument("--soak", action="store_true", help="more of it")
    parser.add_argument("--scale", choices=SCALES, help="of TPC-H's tables; for tpch alone")
    parser.add_argument("--rows", type=int, help="how many; for engines alone")
    parser.add_argument("--growth", action="store_true", help="with rows, people and groups; for engines alone")
    parser.add_argument("--seeds", type=int, help="how many; for learn alone")
    parser.add_argument("--all", action="store_true", help="all seeds on Adult too; for learn alone")
    parser.add_argument("--task", help="one of them; for learn alone")
    parser.add_argument("--without-peers", action="store_true", help="ours alone; for learn alone")
    asked = parser.parse_args()
    learned = {
        "seeds": asked.seeds,
        "every": asked.all or None,
        "task": asked.task,
        "peers": False if asked.without_peers else None,
    }
    if asked.name != "learn" and any(value is not None for value in learned.values()):
        parser.error("--seeds, --all, --task and --without-peers are for learn alone")
    if asked.task is not None and asked.task not in (tasks := importlib.import_module("benchmarks.learn").NAMES):
        parser.error(f"--task is one of {', '.join(tasks)}")
    if asked.seeds is not None and asked.seeds < 2:
        parser.error("--seeds is 2 at least: one has no deviation")
    if (asked.rows is not None or asked.growth) and asked.name != "engines":
        parser.error("--rows and --growth are for engines alone")
    if asked.scale is not None and asked.name != "tpch":
        parser.error("--scale is for tpch alone")
    if asked.part is not None or asked.name == "clickbench":
        if asked.name not in VERDICTS:
            parser.error("verdicts are of tpch and clickbench")
        importlib.import_module(f"benchmarks.{VERDICTS[asked.name]}").main(again=asked.record)
        return 0
    given = {"scale": asked.scale, "rows": asked.rows, "grows": asked.growth or None, **learned}
    options = {name: value for name, value in given.items() if value is not None}
    importlib.import_module(f"benchmarks.{asked.name}").main(soak=asked.soak, **options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
