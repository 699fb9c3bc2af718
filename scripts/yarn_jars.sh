#!/usr/bin/env bash
# yarn_jars.sh BIN: fetch what YARN's ResourceManager and NodeManager need into the user's cache, once;
# prints where it is. Fetched by the Ivy that comes with PySpark, so that no other tool is needed.
#   HADOOP_VERSION   the version (that of PySpark's own Hadoop client)
#   IVY_SETTINGS     a settings file of Ivy, where Maven Central is not to be asked directly
set -euo pipefail
source "$(dirname "$0")/common.sh"

BIN=$1
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/geocast/yarn
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

# of_spark NAME: the newest NAME-*.jar that PySpark has.
of_spark() {
  "$BIN/python" -c '
import pathlib, pyspark, sys
found = sorted((pathlib.Path(pyspark.__file__).parent / "jars").glob(f"{sys.argv[1]}-[0-9]*.jar"))
print(found[-1] if found else "")' "$1"
}

version=${HADOOP_VERSION:-}
if [[ -z $version ]]; then
  client=$(of_spark hadoop-client-api)
  [[ -n $client ]] || fail "PySpark has no jars/hadoop-client-api-*.jar; name a HADOOP_VERSION"
  version=$(basename "${client##*-api-}" .jar)
fi

mkdir -p "$CACHE"
# Several test processes may come here at once: one fetches, the others wait.
exec 9>"$CACHE/.lock"
flock 9
if [[ -f $CACHE/$version/.complete ]]; then
  echo "$CACHE/$version"
  exit 0
fi

ivy=$(of_spark ivy)
[[ -n $ivy ]] || fail "PySpark has no Ivy (jars/ivy-*.jar) to fetch YARN with"
fresh=$(mktemp -d "$CACHE/$version.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
cat >"$fresh/ivy.xml" <<XML
<ivy-module version="2.0">
  <info organisation="geocast" module="yarn"/>
  <dependencies>
    <dependency org="org.apache.hadoop" name="hadoop-yarn-server-resourcemanager" rev="$version" conf="default"/>
    <dependency org="org.apache.hadoop" name="hadoop-yarn-server-nodemanager" rev="$version" conf="default"/>
    <dependency org="org.apache.hadoop" name="hadoop-yarn-server-timelineservice" rev="$version" conf="default"/>
  </dependencies>
</ivy-module>
XML
say "Fetching YARN $version (90 MB, once)" >&2
if ! "$java" -jar "$ivy" ${IVY_SETTINGS:+-settings "$IVY_SETTINGS"} -cache "$CACHE/ivy" \
  -ivy "$fresh/ivy.xml" -retrieve "$fresh/[artifact]-[revision].[ext]" >"$fresh/ivy.log" 2>&1 ||
  ! compgen -G "$fresh/hadoop-yarn-server-nodemanager-*.jar" >/dev/null; then
  reason=$(grep -m 1 -E 'UNRESOLVED|not found|rror|xception' "$fresh/ivy.log" || tail -n 1 "$fresh/ivy.log")
  fail "YARN $version cannot be fetched: ${reason:-no answer}
Set HADOOP_VERSION to a version that your registry has, or IVY_SETTINGS to a file that names one."
fi
touch "$fresh/.complete"
rm -rf "${CACHE:?}/$version"
mv "$fresh" "$CACHE/$version"
echo "$CACHE/$version"
