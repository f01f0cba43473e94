"""`python -m tests.bench [NAME ...]`: run the benchmarks, one JSON line a figure; NAME picks bench_NAME.py."""

import importlib
import json
import sys
from pathlib import Path

from poker.store.provenance import provenance


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them in the order of their files."""
    benchmarks = sorted(file.stem.removeprefix("bench_") for file in Path(__file__).parent.glob("bench_*.py"))
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        print(f"error: no benchmark '{unknown[0]}'; there are {', '.join(benchmarks)}", file=sys.stderr)
        return 2
    print(json.dumps(provenance()), flush=True)
    for name in names or benchmarks:
        for row in importlib.import_module(f"tests.bench.bench_{name}").run():
            print(json.dumps({"bench": name, **row}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
