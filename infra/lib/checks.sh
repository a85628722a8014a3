# Checks: what is run, with which settings.

# The list of known advisories lives outside and is not asked here; a release asks it.
check_dependencies() {
  cargo deny --locked --config infra/deny.toml check bans licenses sources
}

nextest() {
  cargo nextest run --locked --config-file infra/nextest.toml --profile all --color never "$@"
}

test_on_sqlite() {
  PLAYMAKER_TEST_DATABASE=sqlite nextest
}

test_on_postgres() {
  PLAYMAKER_TEST_DATABASE=$postgres_url nextest --test it
}

# The protocol's own suite, as infra/npm pins it and on its Node.js.
test_conformance() {
  CONFORMANCE_SUITE_DIR="$PWD/infra/npm" PATH="$PWD/infra/npm/node_modules/.bin:$PATH" tests/conformance/run
}

# Says what failed and, last, how each run of the tests went.
conclude() {
  local database
  [ ${#failed_steps[@]} = 0 ] || echo "failed: ${failed_steps[*]}"
  for database in postgres sqlite; do
    echo "$database:"
    grep -E '^ +Summary' "$work/logs/$database.log" || echo '     no summary'
  done
  [ ${#failed_steps[@]} = 0 ]
}
