#!/usr/bin/env bash
# Kafka brokers (KRaft) on loopback; all that they keep is in a folder.
#
#   kafka.sh start FOLDER [PORT]     start a broker and print its host:port when it answers
#   kafka.sh stop FOLDER             stop it
#   kafka.sh prepare FOLDER COUNT    prepare brokers FOLDER/1 ... for one cluster, and print their
#                                    host:ports; topics are kept by three of them, and written when
#                                    two have them. `start FOLDER/1 ...`, all at once, runs them
#
#   BIN             the folder with Python and its packages (.venv/bin)
#   KAFKA_HEAP      memory of the broker (384m)
#   KAFKA_OWNER     a process with which the broker ends, if nobody stops it before
#   KAFKA_HOSTS     `prepare`: an address for each broker (127.0.0.1)
#   KAFKA_NAMESPACE `start`: the network namespace that the broker runs in (this one)
#   KAFKA_SECURITY  plaintext, or sasl_ssl: TLS by FOLDER/broker.p12, a keystore made by whoever
#                   starts it, and SCRAM-SHA-512; needs KAFKA_STORE_PASSWORD, KAFKA_USER and
#                   KAFKA_PASSWORD
set -euo pipefail
source "$(dirname "$0")/common.sh"

BIN=${BIN:-$(dirname "$0")/../.venv/bin}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || fail "a Kafka broker needs Java 17 or newer, and none was found"

# free_ports COUNT: that many, different ones.
free_ports() {
  "$BIN/python" -c '
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(one.getsockname()[1] for one in held))' "$1"
}

random_id() {
  "$BIN/python" -c 'import base64, uuid; print(base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))'
}

security() {
  [[ ${KAFKA_SECURITY:-plaintext} == sasl_ssl ]] || return 0
  cat <<CONF
ssl.keystore.location=$1/broker.p12
ssl.keystore.type=PKCS12
ssl.keystore.password=$KAFKA_STORE_PASSWORD
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.clients.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
CONF
}

# configure FOLDER NODE VOTERS REPLICAS HOST PORT INTERNAL CONTROLLER: write a broker's settings.
configure() {
  local folder=$1 node=$2 voters=$3 replicas=$4 host=$5 port=$6 internal=$7 controller=$8
  local protocol=PLAINTEXT enough=$(($4 > 2 ? 2 : 1))
  [[ ${KAFKA_SECURITY:-plaintext} == sasl_ssl ]] && protocol=SASL_SSL
  (umask 077 && cat >"$folder/server.properties") <<CONF
process.roles=broker,controller
node.id=$node
controller.quorum.voters=$voters
listeners=CLIENTS://$host:$port,INTERNAL://$host:$internal,CONTROLLER://$host:$controller
advertised.listeners=CLIENTS://$host:$port,INTERNAL://$host:$internal
listener.security.protocol.map=CLIENTS:$protocol,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
controller.listener.names=CONTROLLER
log.dirs=$folder/data
metadata.log.dir=$folder/metadata
num.partitions=1
auto.create.topics.enable=false
default.replication.factor=$replicas
min.insync.replicas=$enough
offsets.topic.replication.factor=$replicas
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=$replicas
transaction.state.log.min.isr=$enough
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=$replicas
share.coordinator.state.topic.min.isr=$enough
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=6000
replica.lag.time.max.ms=6000
log.retention.check.interval.ms=1000
num.network.threads=2
num.io.threads=4
$(security "$folder")
CONF
}

# format FOLDER CLUSTER: prepare the broker's directory.
format() {
  local folder=$1 id=$2 scram=()
  if [[ ${KAFKA_SECURITY:-plaintext} == sasl_ssl ]]; then
    scram=(--add-scram "SCRAM-SHA-512=[name=$KAFKA_USER,password=$KAFKA_PASSWORD]")
  fi
  "$java" -Xmx128m -XX:TieredStopAtLevel=1 -cp "$jars/*" kafka.tools.StorageTool format \
    "--cluster-id=$id" -c "$folder/server.properties" "${scram[@]}" >"$folder/format.log" 2>&1 ||
    fail "the broker's folder cannot be prepared: $(grep -v '^\[' "$folder/format.log" | tail -n 1)"
}

prepare() {
  local folder=$1 count=$2 hosts ports voters='' servers='' id node jobs=()
  [[ $count =~ ^[1-9]$ ]] || fail "a cluster has 1 to 9 brokers, not $count"
  jars=$("$(dirname "$0")/kafka_jars.sh" "$BIN")
  read -r -a ports <<<"$(free_ports $((3 * count)))"
  read -r -a hosts <<<"${KAFKA_HOSTS:-}"
  for ((node = 1; node <= count; node++)); do
    hosts[node - 1]=${hosts[node - 1]:-127.0.0.1}
    voters+=${voters:+,}$node@${hosts[node - 1]}:${ports[3 * node - 1]}
  done
  id=$(random_id)
  for ((node = 1; node <= count; node++)); do
    mkdir -p "$folder/$node"
    configure "$folder/$node" "$node" "$voters" $((count > 3 ? 3 : count)) "${hosts[node - 1]}" \
      "${ports[@]:3 * node - 3:3}"
    format "$folder/$node" "$id" &
    jobs+=($!)
    servers+=${servers:+,}${hosts[node - 1]}:${ports[3 * node - 3]}
  done
  for node in "${jobs[@]}"; do wait "$node"; done
  echo "$servers"
}

# answers HOST PORT
answers() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

start() {
  local folder=$1 port=${2:-} host=127.0.0.1 ports deadline place=()
  jars=$("$(dirname "$0")/kafka_jars.sh" "$BIN")
  mkdir -p "$folder"
  if [[ ! -f $folder/server.properties ]]; then
    read -r -a ports <<<"$(free_ports 3)"
    configure "$folder" 1 "1@$host:${ports[2]}" 1 "$host" "${port:-${ports[0]}}" "${ports[1]}" "${ports[2]}"
    format "$folder" "$(random_id)"
  fi
  read -r host port <<<"$(sed -nE 's/^listeners=CLIENTS:\/\/([0-9.]+):([0-9]+),.*/\1 \2/p' "$folder/server.properties")"
  [[ -z ${KAFKA_NAMESPACE:-} ]] || place=(nsenter "--net=/run/netns/$KAFKA_NAMESPACE")
  "${place[@]}" "$java" "-Xmx${KAFKA_HEAP:-384m}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$jars/*" \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn kafka.Kafka "$folder/server.properties" \
    >>"$folder/broker.log" 2>&1 </dev/null &
  echo $! >"$folder/broker.pid"
  if [[ -n ${KAFKA_OWNER:-} ]]; then
    end_with "$KAFKA_OWNER" $! >/dev/null 2>&1 </dev/null &
  fi
  deadline=$((SECONDS + 180))
  until answers "$host" "$port"; do
    kill -0 "$(<"$folder/broker.pid")" 2>/dev/null ||
      fail "the broker has ended: $(grep -m 1 -E 'ERROR|Exception' "$folder/broker.log" || tail -n 1 "$folder/broker.log")"
    if [[ $SECONDS -ge $deadline ]]; then
      kill -9 "$(<"$folder/broker.pid")"
      fail "the broker does not answer; see $folder/broker.log"
    fi
    sleep 0.1
  done
  echo "$host:$port"
}

stop() {
  [[ -f $1/broker.pid ]] || return 0
  end_process "$(<"$1/broker.pid")" 10
  rm -f "$1/broker.pid"
}

case "${1:-}:$#" in
  start:2 | start:3 | stop:2 | prepare:3) "$@" ;;
  *) fail "usage: kafka.sh start FOLDER [PORT] | stop FOLDER | prepare FOLDER COUNT" ;;
esac
