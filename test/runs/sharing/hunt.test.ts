/** Hunts in virtual time, by the command line. */
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPlan, readResults } from '../../../harness/record/store.js';
import { namedServerHere } from '../../support/named-server.js';
import { freshFolder, processesOf, start, until } from '../../support/torture.js';
import { tortureHere } from '../../support/torture-here.js';

interface Hunted {
  status: number | null;
  output: string;
  errors: string;
  /** The hunt's own folder. */
  folder: string;
}

async function hunted(args: readonly string[], options: Parameters<typeof start>[1] = {}): Promise<Hunted> {
  const out = freshFolder();
  const run = start([...args, '--out', out], { ...options, command: 'hunt' });
  const { code } = await run.ended;
  const [id = ''] = existsSync(out) ? readdirSync(out) : [];
  return { status: code, output: run.output(), errors: run.errors(), folder: join(out, id) };
}

/** Schedules of which many are soon played: nothing is written before the first sixteen are over. */
const SMALL = ['--clients', '2', '--time-limit', '2s'];
/** On a machine with much else to do; on a quiet one it is seconds. */
const PLAYED_WITHIN_MS = 200_000;

const lines = (path: string): string[] => readFileSync(path, 'utf8').trim().split('\n');

test('schedules are the same, every byte at the same time, in other processes, folders and environments, and in shards', async () => {
  const args = ['--lock', 'set-nx-px', '--faults', 'delay,partition,reset', '--runs', '11', '--seed', '11'];
  const elsewhere = { cwd: freshFolder(), env: { TZ: 'Asia/Tokyo', SOMETHING: 'else', LANG: 'C' } };
  const hunts = await Promise.all([
    hunted([...args, '--workers', '1']),
    hunted([...args, '--workers', '3', '--shard', '1/2'], elsewhere),
    hunted([...args, '--workers', '1', '--shard', '2/2'], elsewhere),
  ]);
  const [whole, ...shards] = hunts.map(({ folder }) => lines(join(folder, 'schedules.jsonl')));
  expect(whole).toHaveLength(11);
  expect(new Set(whole!.map((line) => JSON.parse(line).digest)).size).toBe(11);
  expect(shards.map(({ length }) => length)).toEqual([6, 5]);
  const inOrder = (played: string[]) => played.toSorted((a, b) => JSON.parse(a).schedule - JSON.parse(b).schedule);
  expect(inOrder(shards.flat())).toEqual(inOrder(whole!));
});

test('a server whose log is synced every second forgets in a power cut what it granted, and one that always syncs does not', {
  tags: ['night'],
}, async () => {
  const cuts = ['--lock', 'set-nx-px', '--faults', 'power-cut', '--runs', '6', '--seed', '2', ...SMALL];
  const elsewhere = { cwd: freshFolder(), env: { TZ: 'Asia/Tokyo' } };
  const everysec = await hunted([...cuts, '--persistence', 'aof-everysec', '--workers', '1']);
  const again = await hunted([...cuts, '--persistence', 'aof-everysec', '--workers', '2'], elsewhere);
  const always = await hunted([...cuts, '--persistence', 'aof-always']);
  expect(everysec.output).toContain('also found, as with every lock here');
  expect(everysec.status).toBe(1);
  const [violation] = readResults(join(everysec.folder, '1'))!.violations;
  expect(violation!.cause!.name).toBe('node-forgot');
  // What is lost and what is left is the same, too, in copies of servers and in the first of them.
  const played = ({ folder }: Hunted) => lines(join(folder, 'schedules.jsonl'));
  expect(played(again)).toEqual(played(everysec));
  expect(always.output).toContain('nothing was found');
  expect(played(always).map((line) => JSON.parse(line).digest)).not.toEqual(
    played(everysec).map((line) => JSON.parse(line).digest),
  );
});

test('WAITAOF of Redis 8 outlives a power cut of a log that is synced every second, and that of Valkey 9 does not, which answers before', {
  tags: ['night'],
}, async ({ skip }) => {
  const servers = ['redis@8.0', 'valkey@9'];
  for (const server of servers) if (!(await namedServerHere(server))) skip(`no ${server} here`);
  // Redis answers when the second is over, which takes a lease that is longer.
  const cuts = ['--lock', 'waitaof', '--lease', '3s', '--wait', '2s', '--clients', '2', '--faults', 'power-cut'];
  const flags = [...cuts, '--persistence', 'aof-everysec', '--runs', '3', '--seed', '2'];
  const [redis, valkey] = await Promise.all(servers.map((server) => hunted([...flags, '--server', server])));
  expect(redis!.output).toContain('nothing was found');
  expect(redis!.output).toMatch(/0 of [1-9]\d* strikes? violated/);
  expect(valkey!.output).toMatch(/^hunting .* valkey-server 9\./m);
  expect(valkey!.status, valkey!.output).toBe(1);
  expect(readResults(join(valkey!.folder, '1'))!.violations[0]!.cause!.name).toBe('node-forgot');
});

test('a cluster of Valkey 9 is the same as copies and alone, whose servers keep a file open that another has taken the name of', async ({
  skip,
}) => {
  if (!(await namedServerHere('valkey@9'))) skip('Valkey 9 cannot be had here');
  const flags = ['--topology', 'cluster', '--server', 'valkey@9', '--runs', '2', '--seed', '1'];
  const [one, two] = await Promise.all(['1', '2'].map((workers) => hunted([...flags, '--workers', workers])));
  expect(one!.output, one!.errors).toContain('2 schedules in');
  const played = ({ folder }: Hunted) => lines(join(folder, 'schedules.jsonl'));
  expect(played(two!)).toEqual(played(one!));
});

test('a race is found, shrunk, kept with its report, and comes out again', async () => {
  const { status, output, folder } = await hunted([
    '--lock',
    'set-nx-px-get-del',
    '--faults',
    'delay',
    '--runs',
    '3',
    '--seed',
    '1',
  ]);
  expect(output).toContain("the lock's mistake, after 3 schedules");
  expect(status).toBe(1);
  const places = readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(folder, name));
  const place = places.find((one) => readResults(one)!.violations.some(({ blame }) => blame!.on === 'lock'))!;
  expect(output.match(/replayed 3 of 3$/gm)).toHaveLength(places.length);
  expect(readPlan(place).steps.length).toBeLessThanOrEqual(2);
  expect(readResults(place)!.violations[0]!.class).toBe('exclusion');
  expect(readFileSync(join(place, 'report.html'), 'utf8')).toContain('<h4>Message by message</h4>');
  // Which of its messages was late, the reply to its GET or its DEL, is the schedule's affair.
  expect(output).toMatch(/^ +[\d,]+\.\d+ c\d → r1 {2}DEL lock:0( |$)/m);
  expect(output).toMatch(/^ +[\d,]+\.\d+ (c\d → r1|r1 → c\d) {2}.*\[[\d.]+ ms on its way\]$/m);
  expect(lines(join(place, 'messages.txt')).filter((line) => / r1 → c\d {2}OK$/.test(line)).length).toBeGreaterThan(2);

  const replay = start([place], { command: 'replay' });
  expect((await replay.ended).code).toBe(1);
  expect(replay.output()).toContain('found again, every byte at the same time: exclusion');

  const twice = start([place, '--times', '2', '--json'], { command: 'replay' });
  expect((await twice.ended).code).toBe(1);
  const told = twice
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told.map(({ type, index, found, identical }) => [type, index ?? found, identical])).toEqual([
    ['run', 1, true],
    ['run', 2, true],
    ['summary', 2, 2],
  ]);
});

test('a race that takes a request at its moment is found by priorities alone, shrunk to what it takes, and comes out again', async () => {
  const small = ['--clients', '3', '--time-limit', '2s', '--fail-on', 'lock'];
  const tenth = ['--seed', '1', '--runs', '16', '--shard', '10/16'];
  const lock = ['--lock', 'set-nx-px-get-del', '--faults', 'priorities,preempt'];
  const { status, output, folder } = await hunted([...lock, ...small, ...tenth]);
  expect(output).toMatch(/^the lock's mistake, after 10 schedules .*; replayed 3 of 3$/m);
  expect(output).toMatch(/c\d(\.\d)? removed c\d(\.\d)?'s lock:0 from r1 \(DEL\)/);
  expect(status).toBe(1);
  const place = readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(folder, name))
    .find((one) => readResults(one)!.violations.some(({ blame }) => blame!.on === 'lock'))!;
  // One request is held back until the lock has expired; who is heard first does not matter.
  expect(readPlan(place).steps.map(({ fault }) => fault)).toEqual(['preempt']);
  const replay = start([place], { command: 'replay' });
  expect((await replay.ended).code).toBe(1);
  expect(replay.output()).toContain('found again, every byte at the same time: exclusion');
});

test('what breaks without any fault is confirmed on real servers', async () => {
  const { status, output, folder } = await hunted([
    '--lock',
    'broken/shared-owner',
    '--faults',
    'none',
    '--runs',
    '1',
    '--confirm',
    '1',
  ]);
  expect(status).toBe(1);
  expect(output).toMatch(/^the lock's mistake, after 1 schedule .*; replayed 3 of 3; on real servers 1 of 1$/m);
  const [run] = readdirSync(join(folder, '1', 'real')).filter((name) => name !== 'latest');
  expect(readResults(join(folder, '1', 'real', run!))!.violations[0]!.blame!.on).toBe('lock');
});

test.each([
  ['redis-semaphore-mutex', 'single'],
  ['redis-semaphore-redlock-mutex', 'redlock'],
  ['redlock-4', 'redlock'],
  ['redlock-5', 'redlock'],
  ['redlock-5-using', 'redlock'],
  ['sesamecare-redlock', 'redlock'],
])('%s, as it was published, takes and gives back its lock on %s', async (library, topology) => {
  const flags = ['--topology', topology, '--faults', 'none', '--runs', '1', '--seed', '1', '--lease', '1s', ...SMALL];
  const { output, errors, folder } = await hunted(['--lock', `third-party/${library}`, ...flags]);
  expect(errors).toBe('');
  const [played] = lines(join(folder, 'schedules.jsonl'));
  // One with few holds would be "unknown".
  expect(JSON.parse(played!).verdict, output).toBe('held');
});

test('independent nodes are simulated too, and a lock that is sound there is not accused', async () => {
  const { status, output } = await hunted([
    '--topology',
    'redlock',
    '--faults',
    'delay,kill',
    '--runs',
    '4',
    '--seed',
    '3',
    '--fail-on',
    'lock',
  ]);
  expect(output).not.toContain("the lock's mistake");
  expect([0, 2]).toContain(status);
});

test.each(['replica', 'sentinel', 'cluster'])('%s is simulated too, the same in another process', async (topology) => {
  const args = ['--topology', topology, '--faults', 'kill,partition', '--lease', '470ms', '--runs', '2', '--seed', '5'];
  const [one, other] = await Promise.all([
    hunted([...args, '--workers', '1']),
    hunted(args, { cwd: freshFolder(), env: { TZ: 'UTC' } }),
  ]);
  const played = lines(join(one!.folder, 'schedules.jsonl'));
  expect(played).toHaveLength(2);
  expect(lines(join(other!.folder, 'schedules.jsonl'))).toEqual(played);
});

test('on a replicated server, a lock that a failover lost is found, the same in other processes', async () => {
  const args = ['--topology', 'replica', '--lock', 'set-nx-px', '--faults', 'failover', '--runs', '1', '--seed', '2'];
  const { status, output } = await hunted(args);
  expect(output).toContain('also found, as with every lock here, after 1 schedule ');
  expect(output).toMatch(/ replaced r1 as primary without c\d's lock:0, and granted it to c\d/);
  expect(output).toMatch(/replayed 3 of 3$/m);
  expect(status).toBe(1);
});

test('an answer that is lost with its connection: what is sent again takes a lock from its next holder', async () => {
  const args = ['--lock', 'broken/resent-del', '--faults', 'reset-on-reply', '--runs', '1', '--seed', '3'];
  const { status, output } = await hunted(args);
  expect(output).toMatch(/^the lock's mistake, after 1 schedule .*; replayed 3 of 3$/m);
  expect(output).toMatch(/c\d removed c\d's lock:0 from r1 \(DEL\), which let c\d have it\./);
  expect(status).toBe(1);
});

test('a server whose memory is full evicts a lock that is held, and grants it again', async () => {
  const args = ['--faults', 'evict', '--maxmemory-policy', 'volatile-ttl', '--runs', '1', '--seed', '3'];
  const { status, output } = await hunted(args);
  expect(output).toContain('also found, as with every lock here, after 1 schedule ');
  expect(output).toMatch(/r1 evicted c\d's lock:0 because its memory was full, and granted it to c\d\./);
  expect(output).toMatch(/replayed 3 of 3$/m);
  expect(status).toBe(1);
});

test('a stop between a look at the clock and what is sent then shows whose release trusts its clock; others do not', {
  tags: ['night'],
}, async () => {
  const lock = ['--lock', 'test/fixtures/locks/trusts-its-clock.mjs', '--runs', '1', '--seed', '35'];
  const within = await hunted([...lock, '--faults', 'gc']);
  expect(within.output).toMatch(/^the lock's mistake, after 1 schedule .*; replayed 3 of 3$/m);
  expect(within.output).toMatch(/c\d(\.\d)? removed c\d(\.\d)?'s lock:0 from r1 \(DEL\)/);
  expect(within.status).toBe(1);
  const between = await hunted([...lock, '--runs', '8', '--faults', 'pause']);
  expect(between.output).not.toContain("the lock's mistake");
});

test('what a lock protects is simulated too: a stale holder harms a resource that trusts it', async () => {
  const resource = ['--workload', 'fenced-resource', '--resource', 'trusting', '--lease', '470ms', '--wait', '300ms'];
  const { status, output } = await hunted([...resource, '--faults', 'pause', '--runs', '1', '--seed', '3']);
  expect(output).toContain('also found, as with every lease, after 1 schedule ');
  expect(output).toMatch(/replayed 3 of 3\n {2}harm \(stale-write\): c\d was paused when its lease ended/);
  expect(status).toBe(1);
});

test('a hunt that is killed leaves no process, and the next start removes what it left', async () => {
  const [out, TMPDIR] = [freshFolder(), freshFolder()];
  const hunt = { command: 'hunt', env: { TMPDIR } };
  const run = start(['--lock', 'set-nx-px', '--for', '600s', ...SMALL, '--out', out], hunt);
  const schedules = () =>
    readdirSync(out)
      .map((id) => join(out, id, 'schedules.jsonl'))
      .filter((path) => existsSync(path));
  await until('a schedule was played', () => schedules().length > 0, PLAYED_WITHIN_MS);
  const world = () => processesOf(run.mark).find(({ command }) => command.includes('world-main.js'));
  expect(world()).toBeDefined();
  run.child.kill('SIGKILL');
  await until('the world is gone', () => world() === undefined);
  await until('its servers are gone', () => processesIn(TMPDIR).length === 0);
  const [id] = readdirSync(out);
  expect(readdirSync(join(out, id!))).toEqual(['schedules.jsonl']);
  const left = readdirSync(TMPDIR);
  expect(left).toHaveLength(1);
  // Of this seed the first schedule finds nothing, which would be shrunk.
  const next = start(['--lock', 'set-nx-px', '--runs', '1', '--seed', '1', '--out', out], hunt);
  await next.ended;
  expect(readdirSync(TMPDIR)).toEqual([]);
  expect(existsSync(schedules()[0]!)).toBe(true);
});

test('Ctrl-C, which a terminal sends to all of a hunt, ends it in order', async () => {
  const out = freshFolder();
  const run = start(['--lock', 'set-nx-px', '--for', '600s', ...SMALL, '--out', out], { command: 'hunt', group: true });
  const hasPlayed = () => readdirSync(out).some((id) => existsSync(join(out, id, 'schedules.jsonl')));
  await until('a schedule was played', hasPlayed, PLAYED_WITHIN_MS);
  process.kill(-run.child.pid!, 'SIGINT');
  const { signal } = await run.ended;
  expect(signal).toBeNull();
  expect(run.errors()).not.toContain('ended by itself');
  expect(run.output()).toContain('stopped after ');
  await until('nothing of it is left', () => processesOf(run.mark).length === 0);
});

/** Numbers of processes whose working folder is below `folder`. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

describe('every order within a bound', () => {
  const exhausted = (...args: string[]) => hunted(['--exhaustive', ...args]);
  const courses = (folder: string) =>
    lines(join(folder, 'schedules.jsonl')).map((line) => JSON.parse(line) as { course: string[]; shape: string });

  test('is played, each course of events once: the reduction loses nothing, and counts what it saves', async () => {
    const args = ['--lock', 'set-nx-px', '--ops', '2', '--faults', '0'];
    const [reduced, whole] = await Promise.all([exhausted(...args), exhausted(...args, '--no-reduction')]);
    expect([reduced!.output, whole!.output]).toEqual([
      expect.stringMatching(/^exhausted: /m),
      expect.stringMatching(/^exhausted: /m),
    ]);
    expect([reduced!.status, whole!.status]).toEqual([0, 0]);
    const [some, all] = [courses(reduced!.folder), courses(whole!.folder)];
    expect(all.length).toBeGreaterThan(2 * some.length);
    expect(new Set(all.map(({ course }) => course.join('; '))).size).toBe(all.length);
    const shapes = (of: typeof all) => [...new Set(of.map(({ shape }) => shape))].sort();
    expect(shapes(some)).toEqual(shapes(all));
    const [, saved = ''] = /the reduction saved ([\d,]+)$/m.exec(reduced!.output)!;
    expect(some.length + Number(saved.replaceAll(',', ''))).toBe(all.length);
  });

  test('a crash between two commands is found, kept, and replayed step by step', async () => {
    const { status, output, folder } = await exhausted('--lock', 'setnx-expire', '--faults', '1', '--for', '15s');
    expect(output).toMatch(
      /liveness \(deadlock\): lock:0 stands on r1 with c\d's \w+, which has no expiry; c\d was gone/,
    );
    expect(output).toMatch(/in this order: .*; c\d dies; /);
    expect(status).toBe(1);
    const replay = start([join(folder, '1')], { command: 'replay' });
    expect((await replay.ended).code).toBe(1);
    expect(replay.output()).toContain('found again, every byte at the same time');
  });

  test('readers that upgrade at once are found without any fault', async () => {
    const upgrade = ['--lock', 'broken/upgrade-beside-readers', '--workload', 'read-write', '--faults', '0'];
    const { status, output } = await exhausted(...upgrade);
    expect(output).toMatch(/exclusion \(overlap\)/);
    expect(output).toMatch(/^exhausted: /m);
    expect(output).not.toContain('store the same value as owner');
    expect(status).toBe(1);
  });

  test.each([
    [['--faults', 'delay'], '--faults delay: with --exhaustive say how many there may be, from 0 to 3'],
    [['--topology', 'redlock'], '--exhaustive: only single can be exhausted, not redlock'],
    [['--runs', '3'], '--exhaustive has no use for --runs'],
  ])('%s', async (args, said) => {
    const { status, errors } = await tortureHere(['--exhaustive', ...args], 'hunt');
    expect(errors).toContain(said);
    expect(status).toBe(3);
  });
});

/** As it connects. */
function lockThat(does: string, imports = ''): string {
  const path = join(freshFolder(), 'lock.ts');
  writeFileSync(
    path,
    `${imports}
     import { defineLock } from 'lock-torture';
     export default defineLock({ name: 'odd', async connect() { ${does}; return { acquire: async () => null }; } });`,
  );
  return path;
}

test('the promised timers of Node run in virtual time, and are called off as by Node', async () => {
  const waits = `
    const sinceMs = performance.now();
    await scheduler.wait(2_000);
    for await (const _ of setInterval(2_000)) break;
    await scheduler.yield();
    if (performance.now() - sinceMs < 4_000) throw new Error('it was too soon');
    const beganMs = performance.now();
    const ticks = [];
    for await (const _ of setInterval(1_000)) {
      ticks.push(Math.floor((performance.now() - beganMs) / 1e3));
      if (ticks.length === 1) await scheduler.wait(2_500);
      if (ticks.length === 4) break;
    }
    if (String(ticks) !== '1,3,3,4') throw new Error('it ticked at ' + ticks);
    const often = new AbortController();
    const ticking = async () => {
      for await (const _ of setInterval(1_000, undefined, { signal: often.signal })) often.abort('too often');
    };
    const off = await ticking().catch((error) => error);
    if (off?.code !== 'ABORT_ERR' || off.cause !== 'too often') throw new Error('it ticked on: ' + off);
    const late = new AbortController();
    const waiting = setTimeout(2_000, undefined, { signal: late.signal }).catch((error) => error);
    late.abort('of its own');
    const { name, code, cause } = await waiting;
    throw new Error([name, code, cause].join(' '))`;
  const lock = lockThat(waits, "import { scheduler, setInterval, setTimeout } from 'node:timers/promises';");
  const { errors } = await hunted(['--lock', lock, '--runs', '1', '--faults', 'none']);
  expect(errors).toContain('AbortError ABORT_ERR of its own');
});

describe('what cannot be simulated is one line, and status 3', () => {
  test.each([
    [['--lock', 'cmd:cat'], 'a program cannot be played in virtual time'],
    [['--no-reduction'], '--no-reduction is for --exhaustive: other schedules are drawn'],
    [['--time-limit', '1s'], '--time-limit must be at least 2s: a fault and what comes of it take some time'],
    [['--faults', 'migrate-slots'], `--faults: "migrate-slots" is not simulated; 'list faults' shows all`],
    [['--topology', 'etcd'], 'replica'],
    [['--faults', 'failover'], '--faults failover: single has nothing that could replace a node'],
    [['--shard', '3/2'], '"3/2" is no shard; write 2/8 for the second of eight.'],
    [['--lock', './nowhere.ts'], 'does not exist'],
  ])('%s', async (args, said) => {
    const { status, errors } = await tortureHere(args, 'hunt');
    expect(errors).toContain(said);
    expect(status).toBe(3);
  });

  test('a lock that reads a file', async () => {
    const { status, errors } = await hunted([
      '--lock',
      lockThat("readFileSync('/etc/hostname')", "import { readFileSync } from 'node:fs';"),
      '--runs',
      '1',
    ]);
    expect(errors).toMatch(
      /^lock-torture: .*the simulated world does not have fs\.readFileSync, which this lock wants\n$/,
    );
    expect(status).toBe(3);
  });

  test('a lock that fetches', async () => {
    const { status, errors } = await hunted(['--lock', lockThat("await fetch('http://10.0.0.1/')"), '--runs', '1']);
    expect(errors).toContain('lock-torture: ');
    expect(status).toBe(3);
  });
});
