#!/usr/bin/env bash
# check.sh BIN STEP...: run the named checks, all of them even if one fails, and sum up.
# The step `warm` waits for what `make warm` does beside the steps before it.
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
    pytest) echo pytest -n auto --durations 30 ;;
    *) fail "unknown step $1" ;;
  esac
}

if [[ " $* " == *" warm "* ]]; then
  warming=$(mktemp)
  make --no-print-directory warm >"$warming" 2>&1 &
  warm_job=$!
fi

wait_for_warm() {
  wait "$warm_job" && verdict=passed || { verdict=FAILED status=1; }
  cat "$warming"
  rm -f "$warming"
}

for step in "$@"; do
  started=$SECONDS
  if [[ $step == warm ]]; then
    say "waiting for compiled kernels and Spark's classes"
    wait_for_warm
  else
    command=$(command_of "$step") || exit 1
    say "$command"
    if "$BIN"/$command; then verdict=passed; else verdict=FAILED status=1; fi
  fi
  summary+=("$(printf '  %-14s %-7s %4d s' "$step" "$verdict" $((SECONDS - started)))")
done

say "Summary"
printf '%s\n' "${summary[@]}"
exit $status
