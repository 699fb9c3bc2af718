#!/usr/bin/env bash
# Make sure that there is a Chromium that the tests of the map page can drive.
set -euo pipefail
source "$(dirname "$0")/common.sh"

is_there() { [[ -n ${GEOCAST_BROWSER:-} ]] || command -v chromium chromium-browser google-chrome >/dev/null; }

is_there && exit 0
apt_install chromium && is_there && exit 0
fail "the tests of the map page need Chromium. Install it, for example:
  sudo apt-get install chromium
or let GEOCAST_BROWSER name one that is there"
