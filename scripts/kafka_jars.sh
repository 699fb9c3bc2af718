#!/usr/bin/env bash
# kafka_jars.sh BIN: fetch what a Kafka broker needs into the user's cache, once; prints where it is.
#   KAFKA_VERSIONS   versions to try, the first that is found is used (4.3.1 4.3.0 4.2.0 4.1.1 4.0.0)
#   IVY_SETTINGS     a settings file of Ivy, where Maven Central is not to be asked directly
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$(dirname "$0")/ivy.sh"

versions=${KAFKA_VERSIONS:-4.3.1 4.3.0 4.2.0 4.1.1 4.0.0}
cache_of kafka
for version in $versions; do
  is_fetched "$version" && exit
done
lock_cache
tried=()
for version in $versions; do
  is_fetched "$version" && exit
  say "Fetching Kafka $version (100 MB, once)" >&2
  if fetch "$1" "$version" org.apache.kafka kafka_2.13 kafka-tools org.slf4j:slf4j-simple:1.7.36; then
    is_fetched "$version"
    exit
  fi
  tried+=("org.apache.kafka:kafka_2.13:$version: $reason")
done
fail "Kafka cannot be fetched; tried:
$(printf '  %s\n' "${tried[@]}")
Set KAFKA_VERSIONS to versions that your registry has, or IVY_SETTINGS to a file that names one."
