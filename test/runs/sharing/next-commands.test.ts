/** Whatever a command prints as the next one is typed as it stands, from where the user stood. */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsIn, typed } from '../../support/next-commands.js';
import { freshFolder, ROOT } from '../../support/torture.js';

const TOOL = `node ${join(ROOT, 'bin/torture.mjs')}`;
/** Of two clients that each acquire once, every order: the fewest schedules that there can be, and nothing to shrink. */
const SMALLEST = '--exhaustive --ops 1 --faults 0 --workers 1';

/** A project with a lock that excludes nobody, which takes the file beside it and a package. */
function projectWithLock(): string {
  // A path that a shell would take apart.
  const project = join(freshFolder(), "it's a project");
  const put = (path: string, text: string) => {
    mkdirSync(join(project, path, '..'), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  put('package.json', '{"type":"module"}');
  put('node_modules/a-package/package.json', '{"type":"module","exports":"./index.js"}');
  put('node_modules/a-package/index.js', "export const asked = 'get';\n");
  put('locks/ask.ts', "export { asked } from 'a-package';\n");
  put(
    'locks/my lock.ts',
    `import { defineLock } from 'lock-torture';
import { asked } from './ask';

export default defineLock({
  name: 'mine',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key: string) {
        await redis.call(asked, key);
        return { release: async () => true };
      },
    };
  },
});
`,
  );
  put(
    'locks/my lock.mjs',
    `import { asked } from './ask.mjs';

export default {
  name: 'mine',
  async connect(topology) {
    const redis = await topology.redis();
    return { acquire: async (key) => ({ release: async () => (await redis.call(asked, key)) !== 1 }) };
  },
};
`,
  );
  put('locks/ask.mjs', "export { asked } from 'a-package';\n");
  put('locks/my lock.js', "export { default } from './my lock.mjs';\n");
  put(
    'locks/my lock.py',
    `import json, sys, time

for line in sys.stdin:
    asked = json.loads(line)
    began = time.monotonic_ns()
    value = {"lock": "mine", "features": [], "topologies": ["single"]} if asked["op"] == "init" else {}
    answer = {"id": asked["id"], "type": "ok", "began": began, "ended": time.monotonic_ns(), "value": value}
    print(json.dumps(answer), flush=True)
`,
  );
  return project;
}

/** Of each kind of lock that a user brings, and how little is played of it. */
const LOCKS = {
  'a module of JavaScript': ["--lock './locks/my lock.mjs'", '--runtime sim'],
  'a file of JavaScript': ["--lock './locks/my lock.js'", '--runtime sim'],
  'a file of TypeScript': ["--lock './locks/my lock.ts'", '--runtime sim'],
  'a program': [`--lock 'cmd:python3 "locks/my lock.py"'`, '--runtime netns'],
} as const;
const SHORT = '--time-limit 2s --clients 3 --keys 1';

/** JavaScript is loaded as what TypeScript becomes. */
const AT_NIGHT: ReadonlySet<string> = new Set(['a module of JavaScript', 'a file of JavaScript']);

describe.concurrent.each(Object.entries(LOCKS))('%s', (name, [lock, runtime]) => {
  const tags = ['namespaces' as const, 'python' as const, ...(AT_NIGHT.has(name) ? ['night' as const] : [])];
  it('all that its run prints', { tags }, async () => {
    const project = projectWithLock();
    const run = await typed(`${TOOL} ${lock} ${runtime} ${SHORT} --nemesis none --out 'my runs'`, project);
    expect(run.status, run.output).toBe(1);
    // What is played in real time is not the same each time.
    const ends = ['run 1', 'check 1', ...(runtime === '--runtime sim' ? [] : ['replay 1'])];
    await allTyped(commandsOf(run.output, join(project, 'my runs')), project, ends);
  });
});

it.concurrent('all that a campaign prints, of runs and of hunts', async () => {
  const project = projectWithLock();
  const asked = "--topologies single --locks './locks/my lock.mjs'";
  const runs = await typed(`${TOOL} campaign --runs 1 ${asked} --runtime sim --out 'my runs' -- ${SHORT}`, project);
  expect(runs.status, runs.output).toBe(1);
  await allTyped(commandsOf(runs.output, join(project, 'my runs')), project, ['run 1', 'check 1']);
  const hunts = await typed(`${TOOL} campaign --hunt --runs 2 ${asked} --out 'my hunts'`, project);
  expect(hunts.status, hunts.output).toBe(1);
  // Of each finding; how many two schedules of a drawn seed have is a matter of chance.
  const [, folder] = /^Report: (.*)\/report\.html$/m.exec(hunts.output)!;
  const found = readdirSync(join(folder!, 'known')).filter((name) => name.endsWith('.json'));
  const ends = found.flatMap(() => ['replay 1', 'replay 1', 'check 1']);
  await allTyped(commandsOf(hunts.output, join(project, 'my hunts')), project, ends);
});

it.concurrent('all that the runs of a matrix print', { tags: ['night'] }, () =>
  batchTyped('matrix --topologies single --faults client-paused --locks set-nx-px', ['run 1', 'run 1', 'check 1']),
);

it.concurrent('all that the runs of a self-test print: of a canary, and of its twin', () =>
  batchTyped('selftest --only blind-del', ['run 1', 'check 1', 'run 0', 'check 0']));

async function batchTyped(batch: string, ends: readonly string[]): Promise<void> {
  const project = projectWithLock();
  const made = await typed(`${TOOL} ${batch} --runtime sim --out 'my runs'`, project);
  expect(made.status, made.output).toBe(0);
  await allTyped(commandsOf(made.output, join(project, 'my runs')), project, ends);
}

/** Of a command's output, and of every page and text in the folder where it put its runs. */
function commandsOf(output: string, folder: string): string[] {
  const told = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.(html|md)$/.test(path));
  return [...new Set([output, ...told.map((path) => readFileSync(join(folder, path), 'utf8'))].flatMap(commandsIn))];
}

/** `ends` says of each what it is and its exit status. What a run makes where runs go otherwise is taken away. */
async function allTyped(commands: readonly string[], project: string, ends: readonly string[]): Promise<void> {
  const came: string[] = [];
  let all = '';
  for (const command of commands) {
    const [kind = 'run'] = /(?<=torture\.mjs'? )(?:replay|check|hunt)(?= )/.exec(command) ?? [];
    // Of many runs, one.
    const { status, output } = await typed(command.replace(/ --times \d+$/, ' --times 1'), project);
    const [, report] = /^Report: (.*)$/m.exec(output) ?? [];
    if (report?.startsWith(join(ROOT, 'runs'))) rmSync(dirname(report), { recursive: true });
    came.push(`${kind} ${status}`);
    all += `$ ${command}\n${output}`;
  }
  expect([...came].sort(), all).toEqual([...ends].sort());
}

it('a run in virtual time leads to what repeats it, which is the same, and to what judges it again', async () => {
  const project = projectWithLock();
  const named = "--lock './locks/my lock.ts' --runtime sim --seed 3 --jobs 1";
  const play = await typed(`${TOOL} scenario only-the-owner-releases ${named} --out 'my runs'`, project);
  expect(play.status, play.output).toBe(1);
  const report = join(project, 'my runs/latest/report.html');
  const [repeat, check, ...others] = commandsIn(readFileSync(report, 'utf8'));
  expect(others).toEqual([]);
  const judged = await typed(check!, project);
  expect(commandsIn(judged.output)).toEqual([repeat]);
  expect(judged.output).toContain(`\nReport: ${report.replace('latest', idOf(report))}\n`);
  const again = await typed(repeat!, project);
  const [, table] = /^Table: (.*)$/m.exec(again.output)!;
  const made = folderOfRun(table!);
  try {
    expect([again.status, judged.status]).toEqual([1, 1]);
    expect(eventsIn(made)).toEqual(eventsIn(join(report, '..')));
  } finally {
    // It says nothing of where runs go, so it went where they go.
    for (const folder of [made, join(table!, '..')]) rmSync(folder, { recursive: true });
  }
});

/** All but the first, which says what the run is called. */
function eventsIn(folder: string): string[] {
  return readFileSync(join(folder, 'history.jsonl'), 'utf8').split('\n').slice(1);
}

/** The id of the run whose report that is, through `latest`. */
function idOf(report: string): string {
  return readlinkSync(join(report, '..'));
}

/** Of the one run that a table leads to. */
function folderOfRun(table: string): string {
  const [, id] = /href="\.\.\/([^/"]+)\/report\.html"/.exec(readFileSync(table, 'utf8'))!;
  return join(table, '../..', id!);
}

it('a hunt of a lock in a file prints the replay of what it found, which is the same byte by byte until the lock is another', async () => {
  const project = projectWithLock();
  const hunt = await typed(`${TOOL} hunt --lock './locks/my lock.ts' ${SMALLEST} --out 'my hunts'`, project);
  expect(hunt.status, hunt.output).toBe(1);
  const [replay, ...others] = commandsIn(hunt.output);
  expect([others, hunt.output]).toEqual([[], expect.stringContaining(`\nReproduce: ${TOOL} replay 'my hunts/`)]);
  const place = join(project, /replay '(.*)'$/.exec(replay!)![1]!);

  // What has changed and changes nothing is not named, be it of a version that keeps more, or less.
  const path = join(place, 'finding.json');
  const finding = JSON.parse(readFileSync(path, 'utf8'));
  const { shim: _, ...pins } = finding.pins;
  writeFileSync(path, JSON.stringify({ ...finding, later: 1, pins: { ...pins, shim: 'another', harness: 'another' } }));
  const same = /^found again, every byte at the same time: exclusion: [^\n]*\n$/;
  expect(await typed(replay!, project)).toMatchObject({ status: 1, output: expect.stringMatching(same) });

  // Another course of events.
  writeFileSync(join(project, 'node_modules/a-package/index.js'), "export const asked = 'pttl';\n");
  const mended = await typed(replay!, project);
  expect(mended.output).toMatch(/^found again, another course of events from [\d,]+\.\d+ ms on: exclusion: /);
  expect(mended.output).toMatch(
    /\n {2}then: c\d → r1 "\*2 \$3 get \$6 lock:0", sent at .*\n {2}now: {2}c\d → r1 "\*2 \$4 pttl /,
  );
  expect(mended.output).toMatch(/\n {2}not as it was when this was found: lock \(\w+, now \w+\), shim .*, harness /);
  expect(mended.status).toBe(1);

  rmSync(join(project, 'locks'), { recursive: true });
  const gone = await typed(replay!, project);
  expect(gone.output).toMatch(
    /^note: .*my lock\.ts is not there any more; the lock is played as it was [^\n]*\nfound again, every byte at/,
  );
  expect(gone.status).toBe(1);
});
