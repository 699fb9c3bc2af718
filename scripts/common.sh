# Sourced by the other scripts: say things, and install system packages where that is allowed.

say() {
  if [[ -t 1 ]]; then printf '\033[1m==> %s\033[0m\n' "$*"; else printf '==> %s\n' "$*"; fi
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# apt_install PACKAGE...: true if they were installed; false if this user or system may not.
apt_install() {
  command -v apt-get >/dev/null || return 1
  local root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
    root=(sudo -n)
  fi
  say "Installing $* with apt-get"
  "${root[@]}" apt-get update -qq &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
