#!/usr/bin/env bash
# warm.sh BIN: compile the numba kernels and archive Spark's classes, once, so that the first
# command is as quick as the next.
set -euo pipefail
source "$(dirname "$0")/common.sh"

say "Compiling the kernels and keeping Spark's classes (minutes, once for every change to them)"
kept=$(mktemp)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -f "$kept"' EXIT
"$1/python" -m geocast.pipeline.archive >"$kept" &
keeping=$!
"$1/python" -m geocast.match.warm
wait "$keeping"
cat "$kept"
