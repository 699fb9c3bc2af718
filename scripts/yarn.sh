#!/usr/bin/env bash
# YARN on loopback, for tests and trials: a ResourceManager and one NodeManager, ordinary processes,
# in one folder. The file system that its machines share is that of this one.
#
#   yarn.sh start FOLDER   start both, and print the folder to set HADOOP_CONF_DIR to
#   yarn.sh stop FOLDER    stop both, and whatever runs in containers
#
# In the folder: conf, NAME.pid and NAME.log of each, local (what containers work in), and logs (what
# they said: APPLICATION/CONTAINER/stdout and stderr).
#   BIN           the folder with Python and its packages (.venv/bin)
#   YARN_MEMORY   megabytes for containers (8192); they may have 8 cores
#   YARN_OWNER    a process; what is started ends with it
set -euo pipefail
HERE=$(dirname "$(realpath "$0")")
source "$HERE/common.sh"

BIN=${BIN:-$HERE/../.venv/bin}
command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java" >/dev/null ||
  fail "YARN needs Java 17 or newer, and none was found"
# What containers get of the NodeManager's environment; they run JAVA_HOME/bin/java.
export JAVA_HOME=${JAVA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v java)")")")}
export SPARK_LOCAL_IP=127.0.0.1

# free_ports COUNT: that many, different ones.
free_ports() {
  "$BIN/python" -c '
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(one.getsockname()[1] for one in held))' "$1"
}

# settings NAME VALUE...: a file of settings as Hadoop reads it.
settings() {
  echo "<configuration>"
  while [[ $# -gt 0 ]]; do
    echo "  <property><name>$1</name><value>$2</value></property>"
    shift 2
  done
  echo "</configuration>"
}

# The scheduler that needs no file of queues; a disk that is nearly full is no reason to refuse here,
# and address space that is only reserved, as Java and numba do, is no memory.
configure() {
  local folder=$1 ports
  mkdir -p "$folder/conf"
  read -r -a ports <<<"$(free_ports 5)"
  settings fs.defaultFS file:/// hadoop.tmp.dir "$folder/tmp" >"$folder/conf/core-site.xml"
  cat >"$folder/conf/log4j.properties" <<CONF
log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
CONF
  settings \
    yarn.resourcemanager.address "127.0.0.1:${ports[0]}" \
    yarn.resourcemanager.scheduler.address "127.0.0.1:${ports[1]}" \
    yarn.resourcemanager.resource-tracker.address "127.0.0.1:${ports[2]}" \
    yarn.resourcemanager.admin.address "127.0.0.1:${ports[3]}" \
    yarn.resourcemanager.webapp.address "127.0.0.1:${ports[4]}" \
    yarn.resourcemanager.scheduler.class \
    org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler \
    yarn.resourcemanager.am.max-attempts 5 \
    yarn.scheduler.minimum-allocation-mb 256 \
    yarn.nodemanager.address 127.0.0.1:0 \
    yarn.nodemanager.localizer.address 127.0.0.1:0 \
    yarn.nodemanager.webapp.address 127.0.0.1:0 \
    yarn.nodemanager.env-whitelist JAVA_HOME,SPARK_LOCAL_IP \
    yarn.nodemanager.user-home-dir "$folder/home" \
    yarn.nodemanager.local-dirs "$folder/local" \
    yarn.nodemanager.log-dirs "$folder/logs" \
    yarn.nodemanager.resource.memory-mb "${YARN_MEMORY:-8192}" \
    yarn.nodemanager.vmem-check-enabled false \
    yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage 100 \
    >"$folder/conf/yarn-site.xml"
}

# launch FOLDER NAME CLASS TEXT: run in the background, and wait until its log says the text. Without
# Hadoop's native library a NodeManager starts a process (`chmod`) for every file that it unpacks.
launch() {
  local folder=$1 name=$2 deadline=$((SECONDS + 180))
  : >"$folder/$name.log"
  setsid "$JAVA_HOME/bin/java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Djdk.lang.Process.launchMechanism=VFORK -cp "$folder/conf:$jars/*" "$3" \
    >>"$folder/$name.log" 2>&1 </dev/null &
  echo $! >"$folder/$name.pid"
  if [[ -n ${YARN_OWNER:-} ]]; then
    end_with "$YARN_OWNER" $! >/dev/null 2>&1 </dev/null &
  fi
  until grep -q "$4" "$folder/$name.log"; do
    is_running "$(<"$folder/$name.pid")" ||
      fail "the $name has ended: $(grep -m 1 -E 'ERROR|FATAL|Exception' "$folder/$name.log" || tail -n 1 "$folder/$name.log")"
    if [[ $SECONDS -ge $deadline ]]; then
      kill -9 "$(<"$folder/$name.pid")"
      fail "the $name does not start; see $folder/$name.log"
    fi
    sleep 0.2
  done
}

start() {
  local folder=$1 name package=org.apache.hadoop.yarn.server
  for name in resourcemanager nodemanager; do
    [[ ! -f $folder/$name.pid ]] || ! is_running "$(<"$folder/$name.pid")" ||
      fail "a $name runs in $folder already"
  done
  jars=$("$HERE/yarn_jars.sh" "$BIN")
  configure "$folder"
  # One without the other is of no use.
  trap 'stop "'"$folder"'"' EXIT
  launch "$folder" resourcemanager $package.resourcemanager.ResourceManager "Transitioned to active state"
  launch "$folder" nodemanager $package.nodemanager.NodeManager "Registered with ResourceManager"
  trap - EXIT
  say "Submit with: export HADOOP_CONF_DIR=$folder/conf" >&2
  echo "$folder/conf"
}

# The NodeManager ends its containers when it is asked to end; those of one that was killed are found
# by where they work.
stop() {
  local folder=$1 name link
  for name in nodemanager resourcemanager; do
    [[ -f $folder/$name.pid ]] || continue
    end_process "$(<"$folder/$name.pid")" 20
    rm -f "$folder/$name.pid"
  done
  for link in /proc/[0-9]*/cwd; do
    [[ $(readlink "$link") == "$folder"/local/* ]] || continue
    link=${link#/proc/}
    kill -9 "${link%/cwd}" 2>/dev/null || true
  done
}

case "${1:-}:$#" in
  start:2 | stop:2) "$1" "$(realpath -m "$2")" ;;
  *) fail "usage: yarn.sh start FOLDER | stop FOLDER" ;;
esac
