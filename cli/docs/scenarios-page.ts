/** `docs/scenarios.md`, from the scenarios themselves. Nothing about a particular one is written here. */

import type { ExpectedFinding, Scenario } from '../../harness/vocabulary/workload.js';
import { scenarios } from '../../scenarios/index.js';
import { lacksInVirtualTime } from '../batches/scenario-cast.js';
import { markdownCell } from '../judge/summary-text.js';

/** The whole page, in Markdown. */
export function scenariosPage(): string {
  const all = Object.values(scenarios);
  return `${[INTRODUCTION, '## All of them', table(all)].join('\n\n')}\n`;
}

const INTRODUCTION = `# Scenarios

<!-- Written by \`npm run docs\` from the code that runs. Change the scenario, not this page. -->

A **scenario** is a claim about locks, what is true of it, and a play that shows it: on real servers, with real clients, step
by step, the same each time. Where a run with \`--nemesis\` looks for what goes wrong, a scenario knows it, and shows how.

\`\`\`sh
npx lock-torture scenario --list
npx lock-torture scenario pause-between-grant-and-write
npx lock-torture scenario --all
\`\`\`

Each play is a run like any other: it has a folder with a history, a report and a verdict. It went **as written** if every
step of the play came out as its file says *and* the checkers, who know nothing of the play, found all that the file expects
and nothing of another class. Where nothing is expected the lock must have held. Exit status 0: all went as written; 1: one
went otherwise; 2: it was ended before all were played; 3: one could not run.

## On several servers

\`\`\`sh
npx lock-torture scenario --all --servers redis@7.0,redis@8.0,valkey@8.1,valkey@9
\`\`\`

plays them on one server after the other; the table has a column for each, and then a section. What is expected is the same on
all of them; one that needs a command which a server lacks is not tried there, and the table says so. Of 64 that are not about a
lock of another language, Redis 7.0.15 has what 60 need, Redis 8.0.2 62, Valkey 8.1.1 60 and Valkey 9.1.2 62, and all of these
went as written: on a machine of two busy cores 236 of 243 at the first time, the other seven at the second, and the one that came
later (\`coordinated-failover-keeps-the-lock\`) on Valkey 9.1.2. The rest need \`CLUSTER MIGRATESLOTS\` or \`SENTINEL FAILOVER
COORDINATED\` (Valkey 9), or a \`WAITAOF\` that waits for the disk (Redis 8).

## In virtual time

\`\`\`sh
npx lock-torture scenario --all --runtime sim
npx lock-torture scenario pause-between-grant-and-write --runtime sim --seed 7
\`\`\`

plays them as a [hunt](simulation.md) plays its schedules: unmodified servers, clients, waits and faults in virtual time, the same
steps, the same checkers. A play takes a second or so, and the same seed is the same course of events, byte by byte (\`digest\` in
\`--json\`). Each run has its folder, with every message in it. What a play needs that virtual time does not have is told by its
name ("not played in virtual time: needs ..."), which is not passed: where nothing else was played the status is 2. The last column
below says which these are.

## With another lock

\`\`\`sh
npx lock-torture scenario failover-loses-the-lock --lock ./my-lock.ts
npx lock-torture scenario --all --lock reentrant
npx lock-torture scenario only-one-holds --lock redlock --topology redlock
\`\`\`

plays the same steps with a lock, or on servers, that the file was not written for. Nothing is expected then: the row says
whether the lock **held** or was **violated**, and the exit status is that of a run. Where a step cannot come out with such a
lock (it stops at no step of that name, or refuses what was to be granted) it **cannot tell**, unless something was found
before. That is how the [matrix](../matrix/index.ts) plays one scenario with many locks.

## How one is written

One file in \`scenarios/\`, listed in \`scenarios/index.ts\`. [pause-between-grant-and-write.ts](../scenarios/pause-between-grant-and-write.ts)
is a good one to begin with. The types are in \`harness/vocabulary/workload.ts\`: \`Scenario\`, \`Stage\`, \`StageClient\`.

- \`stage.client(1)\` acquires, extends and releases when the play says so, and reads and writes what the lock protects
  (\`settings.resource\`). Its answer is \`ok\`, \`fail\` or \`info\`; \`info\` ends its process, and another takes its place.
- \`stage.strike(fault, target, args)\` is in force, and read back, when it resolves, and until \`heal()\`. Every fault of
  [faults.md](faults.md) is available.
- \`client.stopAt(step, ...)\` and \`client.crashAt(step, ...)\` strike inside the lock: it stops itself at a step point, which the
  head of each lock in \`lock-impl/\` names.
- \`stage.until(what, ...)\` and \`stage.event(what, ...)\` wait for what can be observed: a server is asked with
  \`node.command('EXISTS', key)\`, the history for an event. Never wait for a guess of time. \`stage.sleep\` is for work that is
  to take so long.
- \`stage.check(what, isTrue)\` is for what the claim says. What the checkers can see is left to them: \`expect\`.

A connection that dies with a question on its way leaves its answer in doubt. So after a server was killed use \`granted\` and
\`hasNoticed\` of \`scenarios/acts/asking.ts\`.`;

function table(all: readonly Scenario[]): string {
  const rows = all.map((scenario) => {
    const { name, claim, truth, lock, topology, expect } = scenario;
    const lacks = lacksInVirtualTime(scenario);
    const cells = [
      `[${name}](../scenarios/${name}.ts)`,
      claim,
      truth,
      `\`${lock}\` on \`${topology}\``,
      found(expect),
      lacks === undefined ? 'as there' : `needs ${lacks}`,
    ];
    return `| ${cells.map(markdownCell).join(' | ')} |`;
  });
  return [
    '| scenario | claim | truth | lock | found | in virtual time |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function found(expect: readonly ExpectedFinding[]): string {
  if (expect.length === 0) return 'it held';
  return expect.map((one) => [one.class, one.kind, one.cause].filter(Boolean).join(', ')).join('; ');
}
