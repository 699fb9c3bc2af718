#!/usr/bin/env bash
# A whole cluster on loopback: three Kafka brokers, PostgreSQL, a Spark master and two workers, two
# gateways, two delivers, and the pipeline; ordinary processes, each with a folder of its own, as if
# it had a machine of its own.
#
#   cluster.sh start FOLDER [NAME]   start what does not run, or only NAME; says where the gateways are
#   cluster.sh stop FOLDER [NAME]    stop it in order; what was published is matched and delivered first
#   cluster.sh status FOLDER         what runs
#   cluster.sh remove FOLDER         stop it, and delete everything
#
# NAMEs: postgres, broker-1 to -3, master, worker-1, worker-2, gateway-1, gateway-2, deliver-1,
# deliver-2, pipeline. FOLDER/NAME.pid is the process, FOLDER/NAME.log what it says, FOLDER/settings
# the environment of all.
#   CLUSTER_OWNER   a process; everything ends with it
#   CLUSTER_PORTS   ports of the two gateways (8400 8401)
#   CLUSTER_ISLAND  NAMESPACE HOST INSIDE: broker-2 runs in that network namespace, with the address
#                   INSIDE, and the others at HOST; a link of the same name joins them. `remove`
#                   removes both
set -euo pipefail
HERE=$(dirname "$(realpath "$0")")
source "$HERE/common.sh"

BIN=$(realpath "${BIN:-$HERE/../.venv/bin}")
export BIN
USAGE="cluster.sh start FOLDER [NAME] | stop FOLDER [NAME] | status FOLDER | remove FOLDER"
BROKERS=(broker-1 broker-2 broker-3)
WORKERS=(worker-1 worker-2)
SERVICE=(pipeline gateway-1 gateway-2 deliver-1 deliver-2)
ALL=(postgres "${BROKERS[@]}" master "${WORKERS[@]}" "${SERVICE[@]}")

runs() { [[ -f $FOLDER/$1.pid ]] && is_running "$(<"$FOLDER/$1.pid")"; }

# server_of DIRECTORY: the process of a server that scripts/postgres.sh made.
server_of() { head -n 1 "$1/data/postmaster.pid"; }

# Ports and passwords are chosen once; every start reads them again.
prepare() {
  [[ ! -f $FOLDER/settings ]] || return 0
  local servers directory url gateways island
  mkdir -p "$FOLDER"
  read -r -a gateways <<<"${CLUSTER_PORTS:-8400 8401}"
  read -r -a island <<<"${CLUSTER_ISLAND:-}"
  say "Preparing three brokers and PostgreSQL"
  KAFKA_HOSTS=${island:+${island[1]} ${island[2]} ${island[1]}} \
    "$HERE/kafka.sh" prepare "$FOLDER/kafka" 3 >"$FOLDER/servers" &
  servers=$!
  directory=$("$HERE/postgres.sh" start)
  if ! wait "$servers"; then
    "$HERE/postgres.sh" stop "$directory"
    fail "Kafka's folders cannot be prepared; what it said stands above"
  fi
  servers=$(<"$FOLDER/servers")
  url=$(sed -E 's|//geocast:[^@]*@127.0.0.1|//geocast@localhost|' "$directory/url")
  cat >"$FOLDER/settings.tmp" <<SETTINGS
export CLUSTER_POSTGRES='$directory'
export CLUSTER_GATEWAYS='${gateways[*]}'
export CLUSTER_ISLAND='${island:-}'
export GEOCAST_LOG='kafka://$servers'
export GEOCAST_REPOSITORY='$url?sslmode=verify-full&sslrootcert=$directory/root.crt'
export GEOCAST_REPOSITORY_PASSWORD_FILE='$FOLDER/postgres-password'
export GEOCAST_PARTITIONS=\${GEOCAST_PARTITIONS:-2}
export GEOCAST_NODE_FOLDER='$FOLDER/copies'
export SPARK_LOCAL_IP=127.0.0.1
SETTINGS
  (umask 077 && cat "$directory/password" >"$FOLDER/postgres-password")
  server_of "$directory" >"$FOLDER/postgres.pid"
  mv "$FOLDER/settings.tmp" "$FOLDER/settings"
}

# launch NAME COMMAND...: run it in the background, with NAME.pid and NAME.log.
launch() {
  local name=$1
  shift
  setsid "$@" >>"$FOLDER/$name.log" 2>&1 </dev/null &
  echo $! >"$FOLDER/$name.pid"
}

start_one() {
  local name=$1 number=${1##*-} ports
  runs "$name" && return 0
  read -r -a ports <<<"$CLUSTER_GATEWAYS"
  case $name in
    postgres)
      "$HERE/postgres.sh" resume "$CLUSTER_POSTGRES"
      server_of "$CLUSTER_POSTGRES" >"$FOLDER/postgres.pid"
      ;;
    broker-*)
      [[ $name != broker-2 ]] || export KAFKA_NAMESPACE=$CLUSTER_ISLAND
      "$HERE/kafka.sh" start "$FOLDER/kafka/$number" >/dev/null
      cp "$FOLDER/kafka/$number/broker.pid" "$FOLDER/$name.pid"
      ;;
    master)
      "$HERE/spark.sh" master "$FOLDER/spark" >/dev/null
      cp "$FOLDER/spark/master.pid" "$FOLDER/$name.pid"
      ;;
    worker-*)
      "$HERE/spark.sh" worker "$FOLDER/spark" "$name" "$(<"$FOLDER/spark/master")"
      cp "$FOLDER/spark/$name.pid" "$FOLDER/$name.pid"
      ;;
    pipeline)
      launch "$name" "$BIN/geocast" run --data "$FOLDER/data/$name" \
        --master "$(<"$FOLDER/spark/master")" --conf spark.executor.memory=512m \
        --conf "spark.executor.extraJavaOptions=-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
      ;;
    gateway-*)
      launch "$name" "$BIN/geocast" gateway --data "$FOLDER/data/$name" --port "${ports[number - 1]}"
      ;;
    deliver-*) launch "$name" "$BIN/geocast" deliver --data "$FOLDER/data/$name" ;;
    *) fail "there is no $name, but: ${ALL[*]}" ;;
  esac
}

# together NAME...: start all of them at once.
together() {
  local name jobs=()
  for name in "$@"; do
    start_one "$name" &
    jobs+=($!)
  done
  for name in "${jobs[@]}"; do wait "$name" || fail "not everything could be started"; done
}

# is_ready PORT: whether a gateway says that publications are matched.
is_ready() (
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET /readyz HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n\r\n' "$1" >&3
  read -r -t 5 -u 3 _ status _ && [[ $status == 200 ]]
) 2>/dev/null

# await_ready PORT: wait until publications are matched.
await_ready() {
  local deadline=$((SECONDS + 600)) name
  until is_ready "$1"; do
    for name in "${SERVICE[@]}"; do
      runs "$name" || fail "$name has ended: $(tail -n 1 "$FOLDER/$name.log")"
    done
    [[ $SECONDS -lt $deadline ]] || fail "the cluster is not ready after 600 s; see $FOLDER/*.log"
    sleep 0.5
  done
}

start() {
  prepare
  source "$FOLDER/settings"
  if [[ -n ${1:-} ]]; then
    start_one "$1"
    return
  fi
  if [[ -n ${CLUSTER_OWNER:-} ]]; then
    setsid "$0" watch "$FOLDER" "$CLUSTER_OWNER" >/dev/null 2>&1 </dev/null &
  fi
  say "Starting brokers, PostgreSQL and Spark"
  together postgres "${BROKERS[@]}" master
  say "Starting workers, gateways, delivers and the pipeline"
  # The first gateway makes the first token.
  together "${WORKERS[@]}" pipeline gateway-1 deliver-1 deliver-2
  await_token
  start_one gateway-2
  local port
  for port in $CLUSTER_GATEWAYS; do
    await_ready "$port"
    say "Ready: http://127.0.0.1:$port"
  done
  say "The administrator's token is in $FOLDER/data/gateway-1/admin-token"
}

await_token() {
  local deadline=$((SECONDS + 300))
  until [[ -s $FOLDER/data/gateway-1/admin-token ]]; do
    runs gateway-1 || fail "gateway-1 has ended: $(tail -n 1 "$FOLDER/gateway-1.log")"
    [[ $SECONDS -lt $deadline ]] || fail "gateway-1 does not start; see $FOLDER/gateway-1.log"
    sleep 0.2
  done
}

stop_one() {
  [[ -f $FOLDER/$1.pid ]] || return 0
  if [[ $1 == postgres ]]; then
    "$HERE/postgres.sh" rest "$CLUSTER_POSTGRES"
  elif runs "$1"; then
    end_process "$(<"$FOLDER/$1.pid")" 40
  fi
  rm -f "$FOLDER/$1.pid"
}

stop() {
  local name
  [[ -f $FOLDER/settings ]] || fail "there is no cluster in $FOLDER"
  source "$FOLDER/settings"
  if [[ -n ${1:-} ]]; then
    stop_one "$1"
    return
  fi
  for name in gateway-1 gateway-2 pipeline deliver-1 deliver-2; do stop_one "$name"; done
  for name in "${WORKERS[@]}" master "${BROKERS[@]}" postgres; do stop_one "$name" & done
  wait
}

status() {
  local name
  for name in "${ALL[@]}"; do
    if runs "$name"; then echo "$name runs ($(<"$FOLDER/$name.pid"))"; else echo "$name does not run"; fi
  done
}

remove() {
  local broker
  stop
  # What was still being started is known there only.
  "$HERE/spark.sh" stop "$FOLDER/spark"
  for broker in "$FOLDER"/kafka/*/; do "$HERE/kafka.sh" stop "$broker"; done
  "$HERE/postgres.sh" stop "$CLUSTER_POSTGRES"
  if [[ -n ${CLUSTER_ISLAND:-} ]]; then
    ip link del "$CLUSTER_ISLAND" 2>/dev/null || true
    ip netns del "$CLUSTER_ISLAND" 2>/dev/null || true
  fi
  # Small disks that somebody mounted here, to fill them.
  awk -v folder="$FOLDER/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | xargs -r -n 1 umount
  rm -rf "$FOLDER"
}

watch() {
  while is_running "$1" && [[ -d $FOLDER ]]; do sleep 1; done
  [[ ! -d $FOLDER ]] || remove
}

case "${1:-}:$#" in
  start:2 | start:3 | stop:2 | stop:3 | status:2 | remove:2 | watch:3)
    FOLDER=$(realpath -m "$2")
    command=$1
    shift 2
    "$command" "$@"
    ;;
  *) fail "usage: $USAGE" ;;
esac
