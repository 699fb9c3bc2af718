#!/usr/bin/env bash
# check.sh BIN STEP...: run the named checks, all of them even if one fails, and sum up.
set -uo pipefail
source "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."

BIN=$1
shift
summary=()
status=0

command_of() {
  case $1 in
    ruff-check) echo ruff check . ;;
    ruff-format) echo ruff format --check . ;;
    mypy) echo mypy ;;
    lint-imports) echo lint-imports ;;
    pytest) echo pytest -n auto --maxprocesses 4 --dist loadgroup ;;
    *) fail "unknown step $1" ;;
  esac
}

for step in "$@"; do
  command=$(command_of "$step") || exit 1
  say "$command"
  started=$SECONDS
  if "$BIN"/$command; then verdict=passed; else verdict=FAILED status=1; fi
  summary+=("$(printf '  %-14s %-7s %4d s' "$step" "$verdict" $((SECONDS - started)))")
done

say "Summary"
printf '%s\n' "${summary[@]}"
exit $status
