# Sourced by the other scripts: say things, install system packages where that is allowed, and look
# after processes that run in the background.

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

# is_running PID: whether there is such a process, and not only what is left of it.
is_running() { grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null; }

# end_process PID SECONDS: ask it to end, and kill it where it has not by then.
end_process() {
  kill "$1" 2>/dev/null || return 0
  for _ in $(seq $((10 * $2))); do
    is_running "$1" || return 0
    sleep 0.1
  done
  kill -9 "$1" 2>/dev/null || true
}

# end_with OWNER PID: ask the one to end when the other has.
end_with() {
  while is_running "$1" && is_running "$2"; do sleep 1; done
  kill "$2" 2>/dev/null || true
}
