# Steps: commands whose output nobody needs to read unless they fail.
# A step runs in a shell of its own (so that a failing line inside a function ends it); it cannot set variables here.

declare -A step_process step_began
failed_steps=()

# A fresh folder for logs, sockets and data of this run. It lies outside the project, since the folders above a clone
# may be closed to the database's own user.
prepare_work_folder() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/playmaker-test.XXXXXX")
  chmod 755 "$work"
  mkdir "$work/logs"
}

# begin NAME COMMAND…: start a step and go on.
begin() {
  local name=$1
  shift
  step_began[$name]=$SECONDS
  # Job control gives the step a process group of its own, so that it ends whole when the run is interrupted.
  set -m
  "$@" >"$work/logs/$name.log" 2>&1 </dev/null &
  step_process[$name]=$!
  set +m
}

# ended NAME: wait for a step and say how it went; a failure shows the step's output.
ended() {
  local name=$1
  if wait "${step_process[$name]}"; then
    printf '%-14s ok  %4d s\n' "$name" $((SECONDS - step_began[$name]))
  else
    printf '%-14s FAILED after %d s\n\n' "$name" $((SECONDS - step_began[$name]))
    tail -n 400 "$work/logs/$name.log"
    return 1
  fi
}

# finish NAME…: wait for steps the rest depends on; a failure ends the run.
finish() {
  local name
  for name in "$@"; do
    ended "$name" || exit 1
  done
}

# step NAME COMMAND…: do something the rest depends on.
step() {
  begin "$@"
  finish "$1"
}

# check NAME COMMAND…: do something that may fail without hiding what comes after it.
check() {
  begin "$@"
  ended "$1" || failed_steps+=("$1")
}
