# Installs: each looks first whether its thing is there, so that a second run costs nothing.

# The packages of Debian that hold the commands which are missing.
missing_packages() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || echo postgresql
  command -v chromium >/dev/null || printf '%s\n' chromium fonts-liberation
  command -v chromedriver >/dev/null || echo chromium-driver
  command -v npm >/dev/null || echo npm
  [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || echo nginx-light
  command -v python3 >/dev/null || echo python3
  python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
}

install_debian() {
  local packages
  mapfile -t packages < <(missing_packages)
  [ ${#packages[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "Install these first, or run this as root: ${packages[*]}"
    return 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -qy --no-install-recommends "${packages[@]}"
}

# up_to_date STAMP SOURCE: whether what STAMP remembers was made from this SOURCE.
up_to_date() {
  [ -e "$1" ] && cmp -s "$1" "$2"
}

# The official clients, example servers and Prism, with the Node.js they run on. No package's script is run.
install_npm() {
  local stamp=infra/npm/node_modules/.installed-lock
  up_to_date "$stamp" infra/npm/package-lock.json && return 0
  command -v npm >/dev/null || install_debian
  npm ci --prefix infra/npm --ignore-scripts --no-audit --no-fund
  cp infra/npm/package-lock.json "$stamp"
}

# The official client, and the two cargo commands that a machine may lack (a package of each holds the finished program).
install_python() {
  local stamp=target/venv/installed-requirements
  up_to_date "$stamp" infra/python/requirements.txt && return 0
  python3 -c 'import ensurepip' 2>/dev/null || install_debian
  python3 -m venv --clear target/venv
  target/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r infra/python/requirements.txt
  cp infra/python/requirements.txt "$stamp"
}
