#!/usr/bin/env bash
# check.sh BIN STEP...: run the named checks, all of them even if one fails, and sum up.
set -uo pipefail
source "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."

BIN=$1
shift
summary=()
status=0

run_step() {
  case $1 in
    ruff-check) "$BIN/ruff" check . ;;
    ruff-format) "$BIN/ruff" format --check . ;;
    mypy) "$BIN/mypy" ;;
    lint-imports) "$BIN/lint-imports" ;;
    pytest) "$BIN/pytest" ;;
    *) fail "unknown step $1" ;;
  esac
}

for step in "$@"; do
  say "$step"
  started=$SECONDS
  if run_step "$step"; then verdict=passed; else verdict=FAILED status=1; fi
  summary+=("$(printf '  %-14s %-7s %4d s' "$step" "$verdict" $((SECONDS - started)))")
done

say "Summary"
printf '%s\n' "${summary[@]}"
exit $status
