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

pip() { "$VENV/bin/python" -m pip "$@"; }

# Modules are compiled when they are first imported, which most of 1.6 GB never are.
install() { pip install --no-compile "$@"; }

# build_spark FOLDER: pyspark is distributed as source, so that a wheel has to be made of it first.
build_spark() {
  local spark
  spark=$(grep '^pyspark==' constraints.txt)
  [[ $(pip freeze) == *"$spark"* ]] || pip wheel --quiet --no-deps --wheel-dir "$1" "$spark"
}

[[ -x $VENV/bin/python ]] || make_venv
say "Installing $(wc -l <constraints.txt) pinned packages into $VENV (1.6 GB; minutes, the first time)"
wheels=$(mktemp -d "$VENV/wheels.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$wheels"' EXIT
build_spark "$wheels" &
building=$!
install --prefer-binary -r <(grep -v '^pyspark==' constraints.txt)
wait "$building"
if compgen -G "$wheels/*.whl" >/dev/null; then install --quiet --no-deps "$wheels"/*.whl; fi
install --quiet --no-deps --no-build-isolation --editable .
pip check
