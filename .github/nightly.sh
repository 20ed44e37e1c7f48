#!/usr/bin/env bash
# nightly.sh TOPOLOGY IMAGE SEED [LOCK]: a run as a user makes it, and what there is to say of it in nightly/: the run's folder,
# row.md for the table, and issue.md where it needs somebody's attention.
#
# What a topology cannot hold is known (a failover loses writes, a lease ends under a client that is paused): there a
# violation is what the run is for, and one that finds nothing, or cannot tell, deserves a look.
#
# A run that cannot tell (exit status 2) is tried once more, with the next seed. The table says so, whatever comes of it; any
# other status is never tried again.
set -euo pipefail
topology=$1 image=$2 seed=$3 lock=${4:-}
case $topology in
  redlock) nemesis=kill,pause:one,partition expected=0 flags=(--persistence aof-always --fail-on exclusion,harm,liveness) ;;
  single) nemesis=kill,partition expected=0 flags=(--persistence aof-always --fail-on exclusion,harm,liveness) ;;
  *) nemesis=failover expected=1 flags=() ;;
esac
if [[ -n $lock ]]; then flags+=(--lock "$lock"); fi

mkdir -p nightly
name=$topology-${image//[^a-zA-Z0-9.]/-}
if [[ -n ${GITHUB_OUTPUT:-} ]]; then echo "name=$name" >>"$GITHUB_OUTPUT"; fi

run() { # run SEED: sets command, status, server and verdict
  status=0
  command=(npm run --silent torture -- --runtime docker --image "$image" --topology "$topology" --nemesis "$nemesis"
    --time-limit 60s --seed "$1" "${flags[@]}" --out "$PWD/nightly/runs")
  "${command[@]}" 2>&1 | tee nightly/output.txt || status=${PIPESTATUS[0]}
  read -r server verdict < <(node -e '
    const { readFileSync } = require("fs");
    const read = (name) => readFileSync(`nightly/runs/latest/${name}`, "utf8");
    try {
      const events = read("history.jsonl").split("\n", 50).filter(Boolean).map((line) => JSON.parse(line));
      const server = events.find(({ type }) => type === "deployment")?.serverVersion ?? "unknown";
      console.log(server.replaceAll(" ", "_"), JSON.parse(read("results.json")).headline.replaceAll("|", "\\|"));
    } catch {
      console.log("unknown could not run");
    }
  ')
}

run "$seed"
exits=$status
if ((status == 2)); then
  first=$verdict
  run "$((seed + 1))"
  exits="2, then $status" verdict="tried twice: at first $first; then $verdict"
fi
echo "| $topology | $image | ${server//_/ } | $exits | $verdict |" >nightly/row.md

if ((status == expected)); then exit 0; fi
{
  echo
  echo "## $topology on $image: exit status $exits, and $expected was expected"
  echo
  echo "$verdict"
  echo
  echo '```'
  printf '%q ' "${command[@]}"
  echo
  echo '```'
  echo
  echo '<details><summary>Output</summary>'
  echo
  echo '```'
  tail -n 60 nightly/output.txt
  echo '```'
  echo
  echo '</details>'
} | tee nightly/issue.md
exit 1
