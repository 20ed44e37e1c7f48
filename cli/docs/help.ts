/** What `--help` shows below the options of a command. */

export const REPETITION = `
Several runs: --times 20 makes 20 runs, each with its own seed and folder. It prints one line for each as it ends, and a
summary at the end (also in runs/<time>-series-<id>/summary.md and .json): which seeds are violated, by what, and why. With
--plan all runs carry out the same plan, and only what the clients do differs. runs/latest is then the first violated run,
or the last one if none is. Ctrl-C ends the current run and sums up; a second Ctrl-C ends everything at once.
The exit status is the gravest: 1, then 3, then 2, then 0.
`;

export const REPLAY_HELP = `
A replay has the original's topology, options, seed and plan. The lock's file is read as it is now, so you can fix your
lock and see whether the violation is gone. Redis is located again, unless the original named one with --server; passwords
are drawn again. On real servers the timing is never quite the same twice, so one replay that finds
nothing proves little: --times 10 says in how many of ten a violation of the original's gravest class was found again
for the same cause (if the original found nothing: how many came to the same verdict).

Examples:
  npm run torture -- replay                              the last run, once more
  npm run torture -- replay 2026-11-21T09-13-06-sentinel-9bb2 --times 10
  npm run torture -- replay latest --until-violation     until it is found again

Exit status: that of the replays themselves; 0 if all of them held, 1 if one was violated, 2 cannot tell,
3 could not run. Reproduced or not does not change it.
`;

export const HUNT_HELP = `
redis-server runs unmodified, in virtual time: every clock, message and random number comes from one seed, so a schedule of some
virtual seconds takes a fraction of one, and is the same whenever it is played again. Your lock runs with its own imports, in
JavaScript or TypeScript; what the simulated world does not have (files, threads, programs, fetch) is refused in one line.

A finding is shrunk to the fewest faults that still find it, kept in hunts/<time>-<topology>-<id>/<n>/ with its report, and told
once. What breaks every lock on this topology is told once too, and then left out. docs/simulation.md says how it works and what it
cannot find; a finding is a finding in simulation until a run on real servers has shown it.

Examples:
  npm run torture -- hunt --lock ./my-lock.ts                          a minute on a single server
  npm run torture -- hunt --lock ./my-lock.ts --topology redlock --for 5m
  npm run torture -- hunt --lock ./my-lock.ts --runs 500 --seed 7      the same 500 schedules again
  npm run torture -- hunt --faults pause,delay --lease 1s
  npm run torture -- replay hunts/2026-.../1                           exactly what was found, once more

Exit status: 1 found, 0 nothing was found and the search was strong enough, 2 nothing was found in too little, 3 could not run.
`;

export const CONFORM_HELP = `
Half a minute: first nothing fails, then links are slow, answers are lost, and a server forgets what it stored. What is found is
the adapter's, one line each with the remedy; of the lock itself it says nothing, \`run\` does. docs/adapters.md says how an
adapter is written.

Examples:
  npm run torture -- conform --lock 'cmd:./my-client'
  npm run torture -- conform --lock ./my-lock.ts --topology sentinel
  npm run torture -- conform --lock go/redsync --json

Exit status: 0 nothing is wrong (there may be advice), 1 mistakes were found, 2 cannot tell, 3 could not run.
`;

export const MATRIX_HELP = `
Every cell is a lock under a fault, with the expected result and the reason for it (matrix/index.ts): safe, exclusion, stale,
harm or liveness; or refused, where a service cannot be asked for the fault. A cell that must break has --seeds runs to do so; if
it does not, the test lacks power, which proves nothing. The table links to the report of each cell's last run.

Examples:
  npm run torture -- matrix --faults eviction,client-paused --locks set-nx-px
  npm run torture -- matrix --services                            Redis beside etcd, ZooKeeper, PostgreSQL, MariaDB, MySQL and MongoDB
  npm run torture -- matrix --locks published --keep              all tables of docs/ (in a clone)
  npm run torture -- matrix --locks redlock --min-strikes 59 --runtime sim    a safe cell again, until 59 faults met a hold
  npm run torture -- matrix --shard 1/4                           the first quarter, on one of four machines
  npm run torture -- matrix --resume runs/2026-...-matrix-1a2b    continue where it was interrupted
  npm run torture -- matrix --resume shard1 --resume shard2       merge what several machines did; run what is missing

Exit status: 0 every cell as expected, 1 a cell came out otherwise, 2 some prove nothing or were not made, 3 could not run.
`;

export const CAMPAIGN_HELP = `
A cell is a lock on a topology under faults with a workload; its runs have seeds of their own. Cells that lately found something
new come first, then those whose faults have struck the fewest holds. Two findings are the same where lock, topology, blame, class, kind
and cause are: each is told once, with the command that repeats its run of fewest faults. All of it lies in runs/<time>-campaign-<id>/:
end it however you like, and --resume goes on. Its known/ has a file for each new finding; copy those that you know of to a folder of
yours and give it as --known: they are tried again first, and with --known-ok they fail nothing.

Examples:
  npm run torture -- campaign --for 8h --locks ./my-lock.ts --topologies single,sentinel
  npm run torture -- campaign --runs 500 --faults pause,kill:client -- --time-limit 10s --clients 4
  npm run torture -- campaign --hunt --runs 5000 --locks ./my-lock.ts        in virtual time
  npm run torture -- campaign --resume runs/2026-...-campaign-1a2b
  npm run torture -- campaign --runs 500 --seed 7 --shard 1/4     a quarter of it, on one of four machines
  npm run torture -- merge part1 part2 part3 part4 --out whole    and their one report

Exit status: 1 something was found, 0 nothing was (or nothing but what is known, with --known-ok), 2 cannot tell or not all was made,
3 something could not run.
`;

export const SELFTEST_HELP = `
Every canary (list locks: broken/...) is a lock with one realistic mistake. It is tortured until the checker that is named for it
finds that mistake. Its twin, in which the mistake is fixed, goes through the same and must not be accused of it. Sound locks go
through faults that they must survive. A run that could not be judged is "cannot tell", and one whose record shows that nothing
happened which would have shown the mistake "not provoked"; busy machines make both. The results are written to a folder below
--out, run by run.

Examples:
  npm run torture -- selftest --quick                    some minutes
  npm run torture -- selftest --only blind-del,redlock   one canary with its twin, and one sound lock

Exit status: 0 all canaries caught and nothing else accused, 1 otherwise, 2 some runs prove nothing or were not made, 3 could not run.
`;

export const EXAMPLES = `
Examples:
  npm run torture -- --topology sentinel                 eight clients, failovers: does set-nx-px survive?
  npm run torture -- --topology redlock --nemesis kill --persistence aof-always
  npm run torture -- --lock ./my-lock.ts --nemesis pause:client --time-limit 30s
  npm run torture -- --lock 'cmd:python3 my_lock.py'     any program that speaks docs/protocol.md
  npm run torture -- --topology sentinel --times 20      20 seeds: how often, and in which?
  npm run torture -- --lock ./my-lock.ts --until-violation --time-limit 10s
  npm run torture -- --lock ./my-lock.ts --watch         again after each change, until you stop it
  npm run torture -- replay latest --times 5             is it reproduced?
  npm run torture -- check latest                        judge the last run again

Exit status: 0 the lock held, 1 a property was violated, 2 cannot tell, 3 could not run.
`;

export const LIST_HELP = `
Examples:
  npm run torture -- list                                the kinds, with how many there are of each
  npm run torture -- list faults                         all of one kind
  npm run torture -- list lock redlock                   one of them
`;

export const DOCTOR_HELP = `
Each finding comes from doing the thing once; nothing on the machine is changed.

Examples:
  npm run torture -- doctor
  npm run torture -- doctor --server valkey@9            which faults that server can have
  npm run torture -- doctor --service etcd               a service beside Redis; all: every one

Exit status: 0 a run can be made here, 3 what every run needs is missing.
`;

export const OPEN_HELP = `
Nothing is opened in a pipe, in a CI, or on a machine without a screen: there the path is printed.

Examples:
  npm run torture -- open
  npm run torture -- open 2026-11-21T09-13-06-sentinel-9bb2
`;

export const MERGE_HELP = `
The parts were made with --shard, each on a machine of its own. Their folders stay as they are.

Examples:
  npm run torture -- merge part1 part2 part3 --out whole
  npm run torture -- merge runs/2026-...-series-1a2b runs/2026-...-series-3c4d

Exit status: as of the command whose parts these are, over all of its runs.
`;

export const INIT_HELP = `
It reads your lock's file without running it, and overwrites nothing unless --force is given.

Examples:
  npm run torture -- init                                asks what it has to know
  npm run torture -- init --lock ./src/lock.ts --topology sentinel --yes
  npm run torture -- init --example --yes                a lock that is wrong on purpose, to see a violation
`;
