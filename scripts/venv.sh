#!/usr/bin/env bash
# venv.sh FOLDER: make or refresh the virtual environment with the pinned packages.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."

VENV=$1
export PIP_DISABLE_PIP_VERSION_CHECK=1

# The first of PYTHON, python3.11, python3.12, python3 that is at least 3.11.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.11 python3.12 python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

can_make_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

make_venv() {
  local python
  find_python >/dev/null || apt_install python3 python3-venv || true
  python=$(find_python) || fail "Geocast needs Python 3.11 or newer. Install it, for example:
  sudo apt-get install python3 python3-venv"
  can_make_venv "$python" || apt_install python3-venv || true
  can_make_venv "$python" || fail "$python cannot make virtual environments. Install that part:
  sudo apt-get install python3-venv"
  say "Making $VENV with $("$python" --version)"
  "$python" -m venv "$VENV"
}

[[ -x $VENV/bin/python ]] || make_venv
say "Installing $(wc -l <constraints.txt) pinned packages into $VENV (1.6 GB; minutes, the first time)"
"$VENV/bin/python" -m pip install --prefer-binary -r constraints.txt
"$VENV/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable .
"$VENV/bin/python" -m pip check
