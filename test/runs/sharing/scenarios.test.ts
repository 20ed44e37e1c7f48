/** Scenarios as a user plays them: what goes as written, and that what is written could be found to be wrong. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unexpected } from '../../../cli/batches/scenario-command.js';
import { cacheFolder, findRedis } from '../../../harness/machine/redis-binary.js';
import { inspectServer } from '../../../harness/machine/server-commands.js';
import type { Results, Violation } from '../../../harness/vocabulary/verdict.js';
import type { Scenario } from '../../../harness/vocabulary/workload.js';
import { scenarios } from '../../../scenarios/index.js';
import { isNight } from '../../support/needs.js';
import { isAtNight, notInVirtualTime } from '../../support/scenarios.js';
import { freshFolder, torture } from '../../support/torture.js';

const QUICK = ['negative-expiry', 'only-one-holds', 'pause-between-grant-and-write', 'pause-between-get-and-del'];

/** What `--json` says of each play. */
function playedIn(output: string): Record<string, string>[] {
  return output
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, string>)
    .filter(({ type }) => type === 'run');
}

describe('played', () => {
  test('by name: each goes as written, and its run says what was found', { timeout: 120_000 }, async () => {
    const out = freshFolder();
    const { status, output, errors } = await torture([...QUICK, '--json', '--out', out, '--jobs', '1'], {
      command: 'scenario',
    });
    expect({ status, errors: errors.includes('Error') }).toEqual({ status: 0, errors: false });
    const rows = playedIn(output);
    expect(rows.map(({ scenario, went }) => [scenario, went])).toEqual(QUICK.map((name) => [name, 'as-written']));

    const table = readdirSync(out).find((name) => name.includes('-scenarios-'))!;
    expect(readFileSync(join(out, table, 'scenarios.md'), 'utf8')).toContain('4 of 4 went as written');
    for (const { run, scenario } of rows) {
      const results = JSON.parse(readFileSync(join(out, run!, 'results.json'), 'utf8')) as Results;
      const { expect: written } = scenarios[scenario!]!;
      expect(unexpected({ expect: written }, results)).toBeUndefined();
      // Had something else been written, it would have been found to be wrong.
      const wrong = written.length > 0 ? [] : [{ class: 'exclusion' as const }];
      expect(unexpected({ expect: wrong }, results)).toMatch(/was to/);
    }
  });
});

/** Of those that a busy machine kept from being judged: a play stands on what happens within a lease. */
const MOST_UNTOLD = 3;
/** A busy machine lets a client stand so long. */
const STOOD_NS = 100e6;

/**
 * Whether a play that went otherwise may have done so for the machine alone: nothing can be told of it, or nothing worse was found than what
 * is written, without the reason, which was seen too late, or a holder that stood beyond its lease for a moment.
 */
function isUntold({ expect: written }: Pick<Scenario, 'expect'>, { verdict, violations }: Results): boolean {
  const isMade = (one: Violation) =>
    (one.class === 'stale' && one.untilNs - one.fromNs < STOOD_NS) ||
    written.some(
      ({ class: name, kind, cause }) =>
        name === one.class &&
        (kind ?? one.kind) === one.kind &&
        [cause ?? one.cause.name, 'unexplained'].includes(one.cause.name),
    );
  return verdict === 'unknown' || (violations.length > 0 && violations.every(isMade));
}

test('what went otherwise for more than the machine is told from it', () => {
  const found = (one: string, cause: string, lastedMs: number) =>
    ({ class: one, kind: 'overlap', cause: { name: cause }, fromNs: 0, untilNs: lastedMs * 1e6 }) as Violation;
  const of = (...violations: Violation[]) => ({ verdict: 'violated', violations }) as unknown as Results;
  const written = { expect: [{ class: 'exclusion', kind: 'overlap', cause: 'node-forgot' }] as const };
  expect(isUntold(written, of(found('exclusion', 'unexplained', 900)))).toBe(true);
  expect(isUntold({ expect: [] }, of(found('stale', 'client-slow', 50)))).toBe(true);
  for (const other of [
    of(),
    of(found('exclusion', 'evicted', 900)),
    of(found('stale', 'unexplained', 900)),
    of(found('exclusion', 'unexplained', 900), found('harm', 'unexplained', 0)),
  ])
    expect(isUntold(written, other)).toBe(false);
  expect(isUntold({ expect: [] }, of(found('exclusion', 'unexplained', 1)))).toBe(false);
});

/** Those that virtual time does not play, but for the longest, and of the others every third: at night all. */
const PLAYED = Object.values(scenarios)
  .filter((one, n) => isNight || (!isAtNight(one) && (n % 3 === 0 || notInVirtualTime(one) !== undefined)))
  .map(({ name }) => name)
  .sort();

test('each of them goes as written, on the server that is here', { timeout: 1_200_000 }, async () => {
  const out = freshFolder();
  const asked = isNight ? ['--all'] : PLAYED;
  const { output, errors } = await torture([...asked, '--json', '--out', out], { command: 'scenario' });
  const rows = playedIn(output);
  expect(rows.map(({ scenario }) => scenario).sort(), errors).toEqual(PLAYED);
  const other = rows.filter(({ went }) => went !== 'as-written' && went !== 'not-tried');
  const resultsOf = (run: string) => JSON.parse(readFileSync(join(out, run, 'results.json'), 'utf8')) as Results;
  const worse = other.filter(
    ({ scenario, run }) => run === undefined || !isUntold(scenarios[scenario!]!, resultsOf(run)),
  );
  const told = other.map(({ scenario, why }) => `${scenario}: ${why}`).join('\n');
  expect(worse.length, told).toBe(0);
  expect(other.length, told).toBeLessThanOrEqual(MOST_UNTOLD);
  expect(rows.filter(({ went }) => went === 'as-written').length).toBeGreaterThan(rows.length / 2);
});

describe('on several servers', () => {
  test('one after the other: side by side, and each run says how to repeat it', { timeout: 120_000 }, async () => {
    // Two names of the server that is here, so that nothing need be fetched.
    const { version } = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
    const servers = [`redis@${version}`, `redis@${version.split('.')[0]}`];
    const out = freshFolder();
    const asked = ['negative-expiry', '--servers', servers.join(','), '--out', out];
    const { status, output } = await torture(asked, { command: 'scenario' });
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('2 of 2 went as written') });

    const played = readdirSync(out).flatMap((name) => {
      const path = join(out, name, 'results.json');
      return name !== 'latest' && existsSync(path)
        ? [(JSON.parse(readFileSync(path, 'utf8')) as Results).reproduce]
        : [];
    });
    const repeated = (server: string) => `npm run torture -- scenario negative-expiry --server ${server}`;
    expect(played.sort()).toEqual(servers.map(repeated).sort());

    const table = readdirSync(out).find((name) => name.includes('-scenarios-'))!;
    const page = readFileSync(join(out, table, 'scenarios.md'), 'utf8').replaceAll('\\@', '@');
    expect(page).toContain(`| scenario | ${servers.join(' | ')} |`);
    for (const server of servers) expect(page).toContain(`## Claims, and what is true of them, on ${server}`);
  });
});

describe('what the server has no commands for', () => {
  test('is not tried, which is not passed: exit status 2', { timeout: 60_000 }, async ({ skip }) => {
    const redis = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
    const { commands } = await inspectServer(redis, ['DELEX']);
    if (commands.length > 0) skip('this server has them all');
    const play = ['only-one-holds', '--lock', 'broken/ifne-extends', '--server', `redis@${redis.version}`];
    const { status, output } = await torture([...play, '--out', freshFolder()], { command: 'scenario' });
    expect(output).toContain(`not tried: it needs DELEX, which redis@${redis.version} has not`);
    expect(output).toContain('1 not tried, for want of a server');
    expect(status).toBe(2);
  });

  test('is named, also where it is no command by itself', { timeout: 60_000 }, async ({ skip }) => {
    const redis = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
    const { commands } = await inspectServer(redis, ['DELIFEQ']);
    if (commands.length > 0) skip('this server has it');
    const play = ['coordinated-failover-keeps-the-lock', '--server', `redis@${redis.version}`];
    const { output } = await torture([...play, '--out', freshFolder()], { command: 'scenario' });
    expect(output).toContain(`it needs SENTINEL FAILOVER COORDINATED, which redis@${redis.version} has not`);
  });

  test('is played on one that has them', { timeout: 300_000 }, async ({ skip }) => {
    const plays = [
      'migrated-slot-keeps-the-lock',
      'coordinated-failover-keeps-the-lock',
      'waitaof-one-replica-is-not-enough',
    ];
    const { status, output } = await torture([...plays, '--out', freshFolder()], { command: 'scenario' });
    if (output.includes('not tried')) skip('no such server can be fetched here');
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('3 of 3 went as written') });
  });
});

describe('with another lock than it is written for', () => {
  test('says what was found, and the command that repeats it', { timeout: 120_000 }, async () => {
    const out = freshFolder();
    const play = ['crashed-holder-frees-it', 'only-the-owner-releases', '--lock', 'set-nx-px-del'];
    const { status, output } = await torture([...play, '--out', out], { command: 'scenario' });
    expect(status).toBe(1);
    expect(output).toMatch(/crashed-holder-frees-it +held: HELD in this play\. The lock held/);
    expect(output).toMatch(/only-the-owner-releases +violated: VIOLATED by the lock\. .*Exclusion broken/);
    expect(output).toContain('violated in 1 of 2, held in 1 of 2');
    const reproduce = readdirSync(out)
      .filter((name) => !name.includes('-scenarios-') && name !== 'latest')
      .flatMap((name) => {
        const path = join(out, name, 'results.json');
        return existsSync(path) ? [(JSON.parse(readFileSync(path, 'utf8')) as Results).reproduce] : [];
      });
    expect(reproduce).toContain('npm run torture -- scenario only-the-owner-releases --lock set-nx-px-del');

    const replayed = await torture([join(out, 'latest')], { command: 'replay' });
    expect(replayed.status).toBe(3);
    expect(replayed.errors).toMatch(
      /is a play, which is the same each time; play it again: npm run torture -- scenario /,
    );
  });

  test('that cannot play it: cannot tell, exit status 2', { timeout: 60_000 }, async () => {
    const play = ['crash-between-setnx-and-expire', '--lock', 'set-nx-px', '--out', freshFolder()];
    const { status, output } = await torture(play, { command: 'scenario' });
    expect(status).toBe(2);
    expect(output).toContain('cannot tell: the play could not be played to its end: c1 was to stop at "after-setnx"');
  });

  test('that makes no sense there: one line, exit status 3', { timeout: 60_000 }, async () => {
    const play = ['only-one-holds', '--lock', 'redlock', '--out', freshFolder()];
    const { status, output } = await torture(play, { command: 'scenario' });
    expect(status).toBe(3);
    expect(output).toContain('could not run: lock redlock makes no sense on topology single');
    const unknown = await torture(['only-one-holds', '--topology', 'nowhere'], { command: 'scenario' });
    expect(unknown.status).toBe(3);
    expect(unknown.errors).toContain('"nowhere" is not known; there are single');
  });
});

describe('asking for scenarios', () => {
  test('an unknown one: one line, exit status 3', async () => {
    const { status, errors } = await torture(['no-such-play'], { command: 'scenario' });
    expect(status).toBe(3);
    expect(errors).toContain(`no scenario "no-such-play"; 'scenario --list' shows all that there are`);
    expect(errors).not.toContain('    at ');
  });

  test('--list: every claim, and whether it is true', async () => {
    const { status, output } = await torture(['--list'], { command: 'scenario' });
    expect(status).toBe(0);
    for (const { name, claim, truth } of Object.values(scenarios)) {
      expect(output).toContain(`${name}  (`);
      expect(output).toContain(`claim: ${claim}`);
      expect(output).toContain(`truth: ${truth}`);
    }
  });
});
