#!/usr/bin/env bash
# Runs a command with a Spark cluster of its own, whose URL is in COUNTERPOINT_SPARK:
#   crates/curator/tests/spark.sh cargo test -p counterpoint-curator --features spark -- engines::
# Spark comes from PyPI (into target/spark, once); Java has to be there. The cluster has two worker processes, listens on a free local port, and is stopped and deleted afterwards.
# The program named by COUNTERPOINT_SPARK_KILL kills its `executor` or its `server`, which it starts again.
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: $0 COMMAND..." >&2; exit 2; }
version=4.2.1

needs() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null && return
    echo "$0: needs $1 (Debian: apt-get install $2)" >&2
    exit 2
}
needs java default-jre-headless
needs python3 python3-venv
needs pkill procps
python3 -c 'import ensurepip' 2>/dev/null || needs ensurepip python3-venv

root=$(cd "$(dirname "$0")/../../.." && pwd)
home=${CARGO_TARGET_DIR:-$root/target}/spark
if ! [ -x "$home/bin/python" ] || ! "$home/bin/python" -c "import pyspark; assert pyspark.__version__ == '$version'" 2>/dev/null; then
    rm -rf "$home"
    python3 -m venv "$home"
    "$home/bin/pip" install --quiet --disable-pip-version-check "pyspark==$version" >&2
fi
export SPARK_HOME
SPARK_HOME=$("$home/bin/python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')

folder=$(mktemp -d)
cat >"$folder/log4j2.properties" <<'END'
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
END

cat >"$folder/start" <<END
#!/usr/bin/env bash
set -euo pipefail
cd "$folder"
export SPARK_LOCAL_IP=127.0.0.1
setsid "$SPARK_HOME/bin/spark-submit" --class org.apache.spark.sql.connect.service.SparkConnectServer \\
    --name "$folder" --master 'local-cluster[2,1,1024]' --driver-memory 1g \\
    --conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port=\$1 \\
    --conf spark.shuffle.io.maxRetries=1 --conf spark.shuffle.io.retryWait=1s \\
    --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=4 \\
    --conf spark.driver.host=127.0.0.1 --conf spark.local.dir="$folder" \\
    --conf spark.executor.extraJavaOptions=-Dcounterpoint="$folder" \\
    --conf spark.driver.extraJavaOptions="-Dlog4j2.configurationFile=file:$folder/log4j2.properties" \\
    local:/dev/null >>"$folder/log" 2>&1 </dev/null &
for _ in \$(seq 1500); do
    if (exec 3<>/dev/tcp/127.0.0.1/\$1) 2>/dev/null; then exit 0; fi
    pgrep -f -- "--name $folder" >/dev/null || exit 1
    sleep 0.2
done
exit 1
END
cat >"$folder/stop" <<END
#!/usr/bin/env bash
# The server, then what it started.
for part in "--name $folder" "-Dcounterpoint=$folder"; do
    while pkill -9 -f -- "\$part"; do sleep 0.1; done
done
END
chmod +x "$folder/start" "$folder/stop"

stop() {
    "$folder/stop"
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

# A port may be taken between looking and listening: try some.
for _ in 1 2 3 4; do
    port=$((20000 + RANDOM % 20000))
    if "$folder/start" "$port"; then
        export COUNTERPOINT_SPARK="sc://127.0.0.1:$port"
        break
    fi
    "$folder/stop"
done
if [ -z "${COUNTERPOINT_SPARK:-}" ]; then
    cat "$folder/log" >&2 || true
    echo "$0: Spark does not start" >&2
    exit 2
fi

cat >"$folder/kill" <<END
#!/usr/bin/env bash
set -euo pipefail
case "\$1" in
executor) pkill -9 -n -f -- "-Dcounterpoint=$folder" || true ;;
server)
    "$folder/stop"
    # What was killed may listen a little longer.
    while (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.1; done
    "$folder/start" $port ;;
esac
END
chmod +x "$folder/kill"
export COUNTERPOINT_SPARK_KILL="$folder/kill"

"$@"
