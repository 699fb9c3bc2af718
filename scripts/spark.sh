#!/usr/bin/env bash
# A standalone Spark cluster on loopback, for tests and trials: ordinary processes, in one folder.
#
#   spark.sh master FOLDER [PORT]     start the master and print its address, spark://127.0.0.1:PORT
#   spark.sh worker FOLDER NAME URL   start a worker of one core for the master at URL
#   spark.sh stop FOLDER              stop what runs there, workers first
#
# In the folder: NAME.pid and NAME.log of each, `master`, and the workers' directories.
#   SPARK_OWNER    a process; what is started ends with it
#   SPARK_WORKER_MEMORY   memory that a worker gives to executors (1g)
set -euo pipefail
source "$(dirname "$0")/common.sh"

BIN=${BIN:-$(dirname "$0")/../.venv/bin}
USAGE="spark.sh master FOLDER [PORT] | worker FOLDER NAME URL | stop FOLDER"

export SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_DAEMON_MEMORY=256m
# An application whose executors are killed again and again goes on; a master that was killed
# remembers its workers and applications.
export SPARK_MASTER_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
  -Dspark.deploy.maxExecutorRetries=-1 -Dspark.worker.timeout=10 \
  -Dspark.deploy.recoveryMode=FILESYSTEM"
export SPARK_WORKER_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.worker.timeout=10 \
  -Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.interval=60"

# launch FOLDER NAME COMMAND...: run in the background, with NAME.pid and NAME.log.
launch() {
  local folder=$1 name=$2
  shift 2
  setsid "$@" >>"$folder/$name.log" 2>&1 </dev/null &
  echo $! >"$folder/$name.pid"
  if [[ -n ${SPARK_OWNER:-} ]]; then
    end_with "$SPARK_OWNER" $! >/dev/null 2>&1 </dev/null &
  fi
}

# await_line FOLDER NAME TEXT: wait until the log says it.
await_line() {
  local deadline=$((SECONDS + 180))
  until grep -q "$3" "$1/$2.log"; do
    kill -0 "$(<"$1/$2.pid")" 2>/dev/null || fail "the $2 of Spark has ended: $(tail -n 1 "$1/$2.log")"
    if [[ $SECONDS -ge $deadline ]]; then
      kill -9 "$(<"$1/$2.pid")"
      fail "the $2 of Spark does not start; see $1/$2.log"
    fi
    sleep 0.2
  done
}

home() { "$BIN/python" -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)'; }

free_port() {
  "$BIN/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

master() {
  local folder=$1 port=${2:-}
  mkdir -p "$folder/recovery"
  if [[ -f $folder/master ]]; then
    port=$(sed 's/.*://' "$folder/master")
  fi
  [[ -n $port ]] || port=$(free_port)
  : >"$folder/master.log"
  SPARK_MASTER_OPTS="$SPARK_MASTER_OPTS -Dspark.deploy.recoveryDirectory=$folder/recovery" \
    launch "$folder" master "$(home)/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host 127.0.0.1 --port "$port" --webui-port 0
  await_line "$folder" master "I have been elected leader"
  echo "spark://127.0.0.1:$port" | tee "$folder/master"
}

worker() {
  local folder=$1 name=$2 url=$3
  mkdir -p "$folder/$name"
  : >"$folder/$name.log"
  launch "$folder" "$name" "$(home)/bin/spark-class" org.apache.spark.deploy.worker.Worker \
    --host 127.0.0.1 --webui-port 0 --cores 1 --memory "${SPARK_WORKER_MEMORY:-1g}" \
    --work-dir "$folder/$name" "$url"
  await_line "$folder" "$name" "Successfully registered with master"
}

stop() {
  local file
  for file in $(ls "$1"/*.pid 2>/dev/null | grep -v /master.pid) "$1/master.pid"; do
    [[ -f $file ]] || continue
    end_process "$(<"$file")" 10
    rm -f "$file"
  done
}

case "${1:-}:$#" in
  master:2 | master:3 | worker:4 | stop:2) "$@" ;;
  *) fail "usage: $USAGE" ;;
esac
