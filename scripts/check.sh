#!/usr/bin/env bash
# check.sh BIN STEP...: run the named checks, all of them even if one fails, and sum up.
# The step `warm` waits for what `make warm web browser` does beside the steps before it.
set -uo pipefail
source "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."

BIN=$1
shift
# What needs neither compiled kernels nor the map page can be tested while they are made.
EARLY=(tests/repository tests/language tests/files tests/operate tests/oracle tests/deploy)
summary=()
status=0

command_of() {
  case $1 in
    ruff-check) echo "$BIN"/ruff check . ;;
    ruff-format) echo "$BIN"/ruff format --check . ;;
    mypy) echo "$BIN"/mypy ;;
    lint-imports) echo "$BIN"/lint-imports ;;
    web-check) echo scripts/web.sh .venv check ;;
    web-test) echo scripts/web.sh .venv test ;;
    pytest-early) echo "$BIN"/pytest --quiet "${EARLY[@]}" ;;
    pytest) echo "$BIN"/pytest -n auto --durations 30 "${EARLY[@]/#/--ignore=}" ;;
    *) fail "unknown step $1" ;;
  esac
}

if [[ " $* " == *" warm "* ]]; then
  warming=$(mktemp)
  make --no-print-directory --jobs=3 warm web browser >"$warming" 2>&1 &
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
    say "waiting for compiled kernels, Spark's classes, the map page and a browser"
    wait_for_warm
  else
    command=$(command_of "$step") || exit 1
    say "${command#"$BIN"/}"
    if $command; then verdict=passed; else verdict=FAILED status=1; fi
  fi
  summary+=("$(printf '  %-14s %-7s %4d s' "$step" "$verdict" $((SECONDS - started)))")
done

say "Summary"
printf '%s\n' "${summary[@]}"
exit $status
