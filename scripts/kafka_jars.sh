#!/usr/bin/env bash
# kafka_jars.sh BIN: fetch what a Kafka broker needs into the user's cache, once; prints where it is.
# Fetched by the Ivy that comes with PySpark, so that no other tool is needed.
#   KAFKA_VERSIONS   versions to try, the first that is found is used (4.3.1 4.3.0 4.2.0 4.1.1 4.0.0)
#   IVY_SETTINGS     a settings file of Ivy, where Maven Central is not to be asked directly
set -euo pipefail
source "$(dirname "$0")/common.sh"

BIN=$1
VERSIONS=${KAFKA_VERSIONS:-4.3.1 4.3.0 4.2.0 4.1.1 4.0.0}
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/geocast/kafka
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

for version in $VERSIONS; do
  if [[ -f $CACHE/$version/.complete ]]; then
    echo "$CACHE/$version"
    exit 0
  fi
done

mkdir -p "$CACHE"
# Several test processes may come here at once: one fetches, the others wait.
exec 9>"$CACHE/.lock"
flock 9

ivy=$("$BIN/python" -c '
import pathlib, pyspark
found = sorted((pathlib.Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
print(found[-1] if found else "")')
[[ -n $ivy ]] || fail "PySpark has no Ivy (jars/ivy-*.jar) to fetch Kafka with"

# fetch VERSION FOLDER: everything that a broker of that version needs, into the folder.
fetch() {
  cat >"$2/ivy.xml" <<XML
<ivy-module version="2.0">
  <info organisation="geocast" module="broker"/>
  <dependencies>
    <dependency org="org.apache.kafka" name="kafka_2.13" rev="$1" conf="default"/>
    <dependency org="org.apache.kafka" name="kafka-tools" rev="$1" conf="default"/>
    <dependency org="org.slf4j" name="slf4j-simple" rev="1.7.36" conf="default"/>
  </dependencies>
</ivy-module>
XML
  "$java" -jar "$ivy" ${IVY_SETTINGS:+-settings "$IVY_SETTINGS"} -cache "$CACHE/ivy" \
    -ivy "$2/ivy.xml" -retrieve "$2/[artifact]-[revision].[ext]" >"$2/ivy.log" 2>&1 &&
    compgen -G "$2/kafka_2.13-*.jar" >/dev/null
}

tried=()
for version in $VERSIONS; do
  if [[ -f $CACHE/$version/.complete ]]; then
    echo "$CACHE/$version"
    exit 0
  fi
  fresh=$(mktemp -d "$CACHE/$version.XXXXXX")
  say "Fetching Kafka $version (100 MB, once)" >&2
  if fetch "$version" "$fresh"; then
    touch "$fresh/.complete"
    rm -rf "${CACHE:?}/$version"
    mv "$fresh" "$CACHE/$version"
    echo "$CACHE/$version"
    exit 0
  fi
  reason=$(grep -m 1 -E 'UNRESOLVED|not found|rror|xception' "$fresh/ivy.log" || tail -n 1 "$fresh/ivy.log")
  tried+=("org.apache.kafka:kafka_2.13:$version: ${reason:-no answer}")
  rm -rf "$fresh"
done
fail "Kafka cannot be fetched; tried:
$(printf '  %s\n' "${tried[@]}")
Set KAFKA_VERSIONS to versions that your registry has, or IVY_SETTINGS to a file that names one."
