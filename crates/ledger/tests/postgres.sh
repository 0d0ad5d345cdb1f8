#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, whose URL is in COUNTERPOINT_POSTGRES:
#   crates/ledger/tests/postgres.sh cargo test -p counterpoint-ledger
# The server's programs are those of Debian's package postgresql; it runs
# as an unprivileged user on a free local port, and is stopped and deleted afterwards. The program
# named by COUNTERPOINT_POSTGRES_CRASH stops it in mid-flight and starts it again. The one named by
# COUNTERPOINT_POSTGRES_CLUSTER has replicas, which are servers with names; the first is called data:
#   replica NAME OF   makes one of server OF, starts it and prints its URL
#   stop NAME (at once), start NAME, promote NAME
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: $0 COMMAND..." >&2; exit 2; }

programs() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1; }

bin=$(programs)
if [ -z "$bin" ] || ! command -v openssl >/dev/null; then
    echo "$0: needs PostgreSQL and OpenSSL (Debian: apt-get install postgresql openssl)" >&2
    exit 2
fi

folder=$(mktemp -d)
as_user=()
if [ "$(id -u)" = 0 ]; then
    # PostgreSQL refuses to run as root.
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$folder"
    as_user=(runuser -u "$user" --)
fi

stop() {
    local server
    for server in "$folder"/*/postmaster.pid; do
        "${as_user[@]}" "$bin/pg_ctl" -D "$(dirname "$server")" -m immediate -w stop >/dev/null 2>&1 || true
    done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

cd "$folder"
"${as_user[@]}" "$bin/initdb" -N -D "$folder/data" -U ledger --auth=trust -E UTF8 --locale=C.UTF-8 \
    >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; exit 2; }

# A certificate for the server by an authority of its own, and another authority.
new_key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256)
for name in authority other; do
    openssl req -x509 "${new_key[@]}" -nodes -days 2 -subj "/CN=test $name" \
        -keyout "$folder/$name.key" -out "$folder/$name.pem" 2>/dev/null
done
printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n' >"$folder/server.ext"
openssl req "${new_key[@]}" -nodes -subj "/CN=test server" \
    -keyout "$folder/data/server.key" -out "$folder/server.csr" 2>/dev/null
openssl x509 -req -days 2 -in "$folder/server.csr" -CA "$folder/authority.pem" \
    -CAkey "$folder/authority.key" -CAcreateserial -extfile "$folder/server.ext" \
    -out "$folder/data/server.crt" 2>/dev/null
chmod 600 "$folder/data/server.key"
[ "$(id -u)" != 0 ] || chown "$user" "$folder/data/server.key" "$folder/data/server.crt"
export COUNTERPOINT_POSTGRES_AUTHORITIES="$folder"

cat >"$folder/cluster" <<END
#!/usr/bin/env bash
set -euo pipefail
cd "$folder"
as_user=(${as_user[*]})
bin=$bin
END
cat >>"$folder/cluster" <<'END'
control() { "${as_user[@]}" "$bin/pg_ctl" -D "$PWD/$1" -w -t 60 "${@:2}" >/dev/null 2>&1; }
# From 14 on a server that was stopped at once need not sync each of its files, one by one, when it starts.
quick=
[ "$(basename "$(dirname "$bin")")" -lt 14 ] || quick="-c recovery_init_sync_method=syncfs"
start() {
    control "$1" -l "$PWD/$1/log" start \
        -o "-p $2 -h 127.0.0.1 -k $PWD -c max_connections=300 -c ssl=on $quick"
}
# A port may be taken between looking and listening: try some.
first_start() {
    for _ in 1 2 3 4 5 6 7 8; do
        port=$((20000 + RANDOM % 20000))
        if start "$1" "$port"; then
            echo "$port" >"$1.port"
            echo "postgres://ledger@127.0.0.1:$port/postgres"
            return
        fi
    done
    cat "$1/log" >&2 || true
    echo "PostgreSQL does not start" >&2
    return 1
}
name=$2
case $1 in
first)   first_start "$name" ;;
start)   start "$name" "$(cat "$name.port")" ;;
stop)    control "$name" -m immediate stop ;;
promote) control "$name" promote ;;
replica) rm -rf "$name"
         "${as_user[@]}" "$bin/pg_basebackup" -D "$PWD/$name" -c fast -N -R \
             -d "host=127.0.0.1 port=$(cat "$3.port") user=ledger application_name=$name"
         first_start "$name" ;;
*)       echo "no such command: $1" >&2; exit 2 ;;
esac
END
cat >"$folder/crash" <<END
#!/usr/bin/env bash
"$folder/cluster" stop data && "$folder/cluster" start data
END
chmod +x "$folder/cluster" "$folder/crash"
COUNTERPOINT_POSTGRES=$("$folder/cluster" first data)
export COUNTERPOINT_POSTGRES
export COUNTERPOINT_POSTGRES_CRASH="$folder/crash" COUNTERPOINT_POSTGRES_CLUSTER="$folder/cluster"

cd "$OLDPWD"
"$@"
