# Services the tests talk to: a PostgreSQL cluster and a ChromeDriver, both on loopback, on free ports, for this run only.

start_services() {
  step postgresql start_postgres
  step chromedriver start_chromedriver
  postgres_url=$(<"$work/postgres.url")
  PLAYMAKER_TEST_WEBDRIVER=$(<"$work/webdriver.url")
  export PLAYMAKER_TEST_WEBDRIVER
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# PostgreSQL refuses to run as root.
as_database_user() {
  if [ "$(id -u)" = 0 ]; then
    runuser -u postgres -- "$@"
  else
    "$@"
  fi
}

postgres_command() {
  local found
  found=$(compgen -G "/usr/lib/postgresql/*/bin/$1" | sort -V | tail -n 1)
  echo "${found:-$1}"
}

# start_postgres [durable]: the data is thrown away, so nothing waits for the disk unless that is measured. Anyone on this
# machine may connect: there is nothing to steal.
start_postgres() {
  local cluster="$work/postgres" durability=${1:-} port
  mkdir "$cluster"
  [ "$(id -u)" != 0 ] || chown postgres: "$cluster"
  cd "$cluster"
  as_database_user "$(postgres_command initdb)" -D "$cluster/data" -U playmaker -A trust -E UTF8 --locale=C --no-sync
  cat >>"$cluster/data/postgresql.conf" <<EOF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$cluster'
max_connections = 300
EOF
  if [ "$durability" != durable ]; then
    printf '%s = off\n' fsync synchronous_commit full_page_writes >>"$cluster/data/postgresql.conf"
  fi
  # A port found free may be taken by the time it is used.
  for _ in 1 2 3 4 5; do
    port=$(free_port)
    if as_database_user "$(postgres_command pg_ctl)" -D "$cluster/data" -l "$cluster/server.log" -w -t 60 -o "-p $port" start; then
      as_database_user "$(postgres_command createdb)" -h 127.0.0.1 -p "$port" -U playmaker playmaker
      echo "postgres://playmaker@127.0.0.1:$port/playmaker" >"$work/postgres.url"
      return 0
    fi
  done
  cat "$cluster/server.log"
  return 1
}

# ChromeDriver picks its port itself and says it once it listens. It leads a process group of its own, so that the
# browsers it started end with it.
start_chromedriver() {
  local log="$work/logs/chromedriver-server.log" port
  : >"$log"
  setsid chromedriver --port=0 >"$log" 2>&1 </dev/null &
  echo $! >"$work/chromedriver.process"
  for _ in $(seq 300); do
    port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$log")
    if [ -n "$port" ]; then
      echo "http://127.0.0.1:$port" >"$work/webdriver.url"
      return 0
    fi
    sleep 0.1
  done
  cat "$log"
  return 1
}

# Ends what this run started, however the run itself ends.
stop_everything() {
  local status=$? process
  trap - EXIT
  for process in $(jobs -pr); do
    kill -- "-$process" 2>/dev/null || true
  done
  if [ -e "$work/chromedriver.process" ]; then
    kill -- "-$(<"$work/chromedriver.process")" 2>/dev/null || true
  fi
  if [ -e "$work/postgres/data/postmaster.pid" ]; then
    (cd / && as_database_user "$(postgres_command pg_ctl)" -D "$work/postgres/data" -m immediate stop) >/dev/null 2>&1 || true
  fi
  rm -rf "$work"
  exit "$status"
}
