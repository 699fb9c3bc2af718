#!/usr/bin/env bash
# yarn_jars.sh BIN: fetch what YARN's ResourceManager and NodeManager need into the user's cache, once;
# prints where it is.
#   HADOOP_VERSION   the version (that of PySpark's own Hadoop client)
#   IVY_SETTINGS     a settings file of Ivy, where Maven Central is not to be asked directly
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$(dirname "$0")/ivy.sh"

version=${HADOOP_VERSION:-}
if [[ -z $version ]]; then
  client=$(spark_jar "$1" hadoop-client-api)
  version=$(basename "${client##*-api-}" .jar)
fi
cache_of yarn
is_fetched "$version" && exit
lock_cache
is_fetched "$version" && exit
say "Fetching YARN $version (90 MB, once)" >&2
fetch "$1" "$version" org.apache.hadoop \
  hadoop-yarn-server-{nodemanager,resourcemanager,timelineservice} ||
  fail "YARN $version cannot be fetched: $reason
Set HADOOP_VERSION to a version that your registry has, or IVY_SETTINGS to a file that names one."
is_fetched "$version"
