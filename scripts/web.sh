#!/usr/bin/env bash
# web.sh VENV [SCRIPT...]: build the map page into src/geocast/static, or run other scripts of
# web/package.json.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$(dirname "$0")/node.sh"
cd "$(dirname "$0")/.."

use_node "$1"
shift
cd web
npm_packages
for script in "${@:-build}"; do
  say "npm run $script"
  npm run --silent "$script" || fail "npm run $script failed in web/"
done
