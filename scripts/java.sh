#!/usr/bin/env bash
# Make sure that there is a Java that Spark can use: 17 or newer.
set -euo pipefail
source "$(dirname "$0")/common.sh"

OLDEST=17

java_version() {
  local java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  "$java" -version 2>&1 | sed -nE 's/.*version "(1\.)?([0-9]+).*/\2/p' | head -n 1
}

is_new_enough() {
  local version
  version=$(java_version || true)
  [[ -n $version && $version -ge $OLDEST ]]
}

is_new_enough && exit 0
if [[ -n ${JAVA_HOME:-} ]]; then
  fail "JAVA_HOME is $JAVA_HOME, which has no Java $OLDEST or newer; unset it or point it at one"
fi
# Which of these exists depends on the release of the distribution.
for package in openjdk-17-jre-headless openjdk-21-jre-headless default-jre-headless; do
  apt_install "$package" && is_new_enough && exit 0
done
fail "Spark needs Java $OLDEST or newer. Install it, for example:
  sudo apt-get install openjdk-17-jre-headless      (Debian 12, Ubuntu)
  sudo apt-get install openjdk-21-jre-headless      (Debian 13)"
