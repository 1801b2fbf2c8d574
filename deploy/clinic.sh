#!/bin/sh
# The made-up clinic for compose.yaml: rows in DATA, a policy and a gateway.toml in CONFIG, a ledger at DITHER_LEDGER.
# Run again, it changes nothing: a second ledger would be a second budget.
set -eu
here=$(dirname "$0")
data=${DATA:-/data}
config=${CONFIG:-/config}

if grep -q "^identity = " "$config/policy.new" 2>/dev/null; then # it was stopped between the ledger and the last line
    mv "$config/policy.new" "$config/policy.toml"
fi
if [ ! -e "$config/policy.toml" ]; then
    made=$(mktemp -d)
    DITHER_HOME="$made/home" dither demo --save "$made/clinic" >"$made/said"
    cp "$made/clinic/visits.parquet" "$data/visits.parquet"
    # The clinic's own ledger is a file: here it is in PostgreSQL, and made anew, with a key of its own.
    sed -e "/^identity = /d" \
        -e "s|^location = .*|location = \"$DITHER_LEDGER\"|" \
        -e "s|^source = .*|source = \"$data/visits.parquet\"|" \
        "$made/clinic/policy.toml" >"$config/policy.new"
    rm -r "$made"
    dither ledger create --policy "$config/policy.new" --write
    mv "$config/policy.new" "$config/policy.toml"
fi
if [ ! -e "$config/gateway.toml" ]; then
    sed -e "s|^database = .*|database = \"$DITHER_LEDGER#gateway\"|" "$here/gateway.toml" >"$config/gateway.toml"
fi
if [ "$(id -u)" = 0 ]; then # new volumes are root's, and the gateway is not root
    chown -R 10001:10001 "$config" "$data" "${DITHER_HOME:?}"
fi
