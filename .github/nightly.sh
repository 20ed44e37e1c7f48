#!/usr/bin/env bash
# nightly.sh TOPOLOGY IMAGE SEED: one run as a user makes it, and what there is to say of it in nightly/: the run's folder,
# row.md for the table, and issue.md where it needs somebody's attention.
#
# What a topology cannot hold is known (a failover loses writes, a lease ends under a client that is paused): there a
# violation is what the run is for, and one that finds nothing, or cannot tell, deserves a look.
set -euo pipefail
topology=$1 image=$2 seed=$3
case $topology in
  redlock) nemesis=kill,pause:one,partition expected=0 flags=(--persistence aof-always --fail-on exclusion,harm,liveness) ;;
  single) nemesis=kill,partition expected=0 flags=(--persistence aof-always --fail-on exclusion,harm,liveness) ;;
  *) nemesis=failover expected=1 flags=() ;;
esac

mkdir -p nightly
name=$topology-${image//[^a-zA-Z0-9.]/-}
if [[ -n ${GITHUB_OUTPUT:-} ]]; then echo "name=$name" >>"$GITHUB_OUTPUT"; fi

status=0
command=(npm run --silent torture -- --runtime docker --image "$image" --topology "$topology" --nemesis "$nemesis"
  --time-limit 60s --seed "$seed" "${flags[@]}" --out "$PWD/nightly/runs")
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
echo "| $topology | $image | ${server//_/ } | $status | $verdict |" >nightly/row.md

if ((status == expected)); then exit 0; fi
{
  echo
  echo "## $topology on $image: exit status $status, and $expected was expected"
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
