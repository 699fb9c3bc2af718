#!/usr/bin/env bash
# A private PostgreSQL for tests and trials, on loopback and a free port, in a directory of its own.
#
#   postgres.sh install          install PostgreSQL where that is allowed, else say what is missing
#   postgres.sh start [PID]      start a new server and print its directory; it ends with process PID
#   postgres.sh crash DIRECTORY  stop it at once, as if it were killed
#   postgres.sh rest DIRECTORY   stop it in order, and keep it
#   postgres.sh resume DIRECTORY start it again where it was
#   postgres.sh stop DIRECTORY   stop it and remove the directory
#
# In the directory: `url` (with the password of the superuser), `password`, and `root.crt`, which
# signed the server's certificate. Nothing in it survives the machine: it does not wait for the disk.
set -euo pipefail
SELF=$(realpath "$0")
source "$(dirname "$SELF")/common.sh"

USAGE="postgres.sh install | start [PID] | crash DIRECTORY | rest DIRECTORY | resume DIRECTORY | stop DIRECTORY"
MISSING="PostgreSQL 13 or newer is needed, its server, and openssl. Install them, for example:
  sudo apt-get install postgresql openssl"

# The directory of the server's programs: that of the newest version that there is.
programs() {
  local found
  found=$(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -V | tail -n 1)
  if [[ -z $found ]]; then
    found=$(command -v initdb) && found=$(dirname "$(realpath "$found")")
  fi
  [[ -x $found/initdb && -x $found/pg_ctl ]] && command -v openssl >/dev/null && echo "$found"
}

# The package would start a server of its own on the port that everybody knows.
install_server() {
  programs >/dev/null && return
  local config=/etc/postgresql-common/createcluster.conf
  if [[ $(id -u) -eq 0 && ! -e $config ]]; then
    mkdir -p "$(dirname "$config")" && echo "create_main_cluster = false" >"$config"
  fi
  apt_install postgresql openssl >&2 || true
  programs >/dev/null || fail "$MISSING"
}

# The server refuses to run as root.
as_server() {
  if [[ $(id -u) -eq 0 ]]; then
    (cd / && runuser -u postgres -- "$@")
  else
    "$@"
  fi
}

free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  fail "no port is free"
}

make_certificates() {
  local directory=$1
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=Geocast test root" \
    -keyout "$directory/root.key" -out "$directory/root.crt" 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" \
    -keyout "$directory/server.key" -out "$directory/server.csr" 2>/dev/null
  openssl x509 -req -in "$directory/server.csr" -CA "$directory/root.crt" \
    -CAkey "$directory/root.key" -CAcreateserial -days 30 -out "$directory/server.crt" \
    -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") 2>/dev/null
  rm "$directory/root.key" "$directory/server.csr"
  chmod 600 "$directory/server.key"
}

configure() {
  local directory=$1
  cat >>"$directory/data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
port = $(free_port)
unix_socket_directories = ''
ssl = on
ssl_cert_file = '$directory/server.crt'
ssl_key_file = '$directory/server.key'
max_connections = 200
shared_buffers = 128MB
fsync = off
full_page_writes = off
autovacuum_naptime = 10s
lc_messages = 'C'
SETTINGS
}

run_server() {
  as_server "$(programs)/pg_ctl" -D "$1/data" -l "$1/server.log" -w -t 60 start >/dev/null ||
    fail "PostgreSQL does not start: $(tail -n 3 "$1/server.log")"
}

# halt_server DIRECTORY MODE: as pg_ctl calls it, `fast` in order, `immediate` at once.
halt_server() {
  as_server "$(programs)/pg_ctl" -D "$1/data" -m "$2" -w -t 60 stop >/dev/null 2>&1 || true
}

start() {
  install_server
  local directory port password
  directory=$(mktemp -d "${TMPDIR:-/tmp}/geocast-postgres.XXXXXX")
  password=$(openssl rand -hex 16)
  (umask 077 && echo "$password" >"$directory/password")
  make_certificates "$directory"
  [[ $(id -u) -ne 0 ]] || chown -R postgres "$directory"
  as_server "$(programs)/initdb" -D "$directory/data" -U geocast --pwfile="$directory/password" \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync >/dev/null
  configure "$directory"
  run_server "$directory"
  port=$(sed -n 's/^port = //p' "$directory/data/postgresql.conf" | tail -n 1)
  (umask 077 && echo "postgresql://geocast:$password@127.0.0.1:$port/postgres" >"$directory/url")
  [[ -z ${1:-} ]] || end_with "$1" "$directory"
  echo "$directory"
}

# end_with PID DIRECTORY: stop the server when that process has ended, in whatever way.
end_with() {
  setsid bash -c "while grep -q '^State:[[:space:]]*[^ZX]' /proc/$1/status && [[ -d $2 ]]; do
      sleep 0.5
    done
    [[ ! -d $2 ]] || '$SELF' stop '$2'" </dev/null >/dev/null 2>&1 &
}

stop() {
  [[ -f $1/data/PG_VERSION ]] || fail "$1 is not a directory of a server that this script made"
  halt_server "$1" immediate
  rm -rf "$1"
}

case "${1:-}:$#" in
  install:1) install_server ;;
  start:1 | start:2) start "${2:-}" ;;
  crash:2) halt_server "$2" immediate ;;
  rest:2) halt_server "$2" fast ;;
  resume:2) run_server "$2" ;;
  stop:2) stop "$2" ;;
  *) fail "usage: $USAGE" ;;
esac
