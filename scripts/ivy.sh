# Sourced by the scripts that fetch jars: by the Ivy that comes with PySpark, so that no other tool is
# needed. Sets `cache`, the user's folder for what was fetched.
#   IVY_SETTINGS   a settings file of Ivy, where Maven Central is not to be asked directly

cache_of() { cache=${XDG_CACHE_HOME:-$HOME/.cache}/geocast/$1; }

# lock_cache: have the folder to oneself. Several test processes may come at once: one fetches, the
# others wait.
lock_cache() {
  mkdir -p "$cache"
  exec 9>"$cache/.lock"
  flock 9
}

# spark_jar BIN NAME: the newest NAME-*.jar that PySpark has.
spark_jar() {
  local found
  found=$("$1/python" -c '
import pathlib, pyspark, sys
found = sorted((pathlib.Path(pyspark.__file__).parent / "jars").glob(f"{sys.argv[1]}-[0-9]*.jar"))
print(found[-1] if found else "")' "$2")
  [[ -n $found ]] || fail "PySpark has no jars/$2-*.jar"
  echo "$found"
}

# is_fetched VERSION: whether that is in the cache; says where.
is_fetched() { [[ -f $cache/$1/.complete ]] && echo "$cache/$1"; }

# fetch BIN VERSION ORGANISATION NAME...: fetch what these need, in that version, into the cache; says
# where. What else is needed is ORGANISATION:NAME:VERSION. Where it cannot, `reason` says why.
fetch() {
  local ivy version=$2 organisation=$3 fresh one parts
  ivy=$(spark_jar "$1" ivy) || exit
  fresh=$(mktemp -d "$cache/$version.XXXXXX") || fail "$cache cannot be written"
  shift 3
  {
    echo '<ivy-module version="2.0"><info organisation="geocast" module="jars"/><dependencies>'
    for one in "$@"; do
      [[ $one == *:* ]] || one=$organisation:$one:$version
      IFS=: read -r -a parts <<<"$one"
      echo "<dependency org=\"${parts[0]}\" name=\"${parts[1]}\" rev=\"${parts[2]}\" conf=\"default\"/>"
    done
    echo '</dependencies></ivy-module>'
  } >"$fresh/ivy.xml"
  if "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$ivy" ${IVY_SETTINGS:+-settings "$IVY_SETTINGS"} \
    -cache "$cache/ivy" -ivy "$fresh/ivy.xml" -retrieve "$fresh/[artifact]-[revision].[ext]" \
    >"$fresh/ivy.log" 2>&1 9>&- && compgen -G "$fresh/$1-*.jar" >/dev/null; then
    { touch "$fresh/.complete" && rm -rf "${cache:?}/$version" && mv "$fresh" "$cache/$version"; } ||
      fail "$cache cannot be written"
    return 0
  fi
  reason=$(grep -m 1 -E 'UNRESOLVED|not found|rror|xception' "$fresh/ivy.log" || tail -n 1 "$fresh/ivy.log")
  reason=${reason:-no answer}
  rm -rf "$fresh"
  return 1
}
