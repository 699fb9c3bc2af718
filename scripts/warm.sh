#!/usr/bin/env bash
# warm.sh BIN: compile the numba kernels and archive Spark's classes, once, so that the first
# command is as quick as the next.
set -euo pipefail
source "$(dirname "$0")/common.sh"

say "Compiling the kernels (about a minute, once for every change to them)"
"$1/python" -m geocast.match.warm
say "Keeping Spark's classes (half a minute, once)"
"$1/python" -m geocast.pipeline.archive
