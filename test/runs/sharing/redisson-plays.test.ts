/** What plays show of Redisson's watchdog, closed instances and waits, of each version of which results are published. */
import { describe, expect, it } from 'vitest';
import { externalLocks } from '../../../lock-impl/external/index.js';
import { skipWhere, withoutTool } from '../../support/needs.js';
import { freshFolder, torture } from '../../support/torture.js';

const BUILD_MS = 900_000;
const lacking = ['java', 'mvn'].flatMap((tool) => withoutTool(tool) ?? [])[0];

/** The verdict of the play with a lock that it is not written for; a play that did not come to its end cannot tell. */
async function played(scenario: string, lock: string): Promise<[went: string, why: string]> {
  const flags = [scenario, '--lock', lock, '--json', '--out', freshFolder()];
  const { output } = await torture(flags, { command: 'scenario' });
  const rows = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, string>);
  const { went, why } = rows.find(({ type }) => type === 'run') ?? {};
  return [String(went), String(why)];
}

describe.each(externalLocks['redisson/rlock']!.versions.alsoPinned)('Redisson %s', { tags: ['night'] }, (version) => {
  it.each([
    ['an unlock that failed stops the watchdog', 'redisson-failed-unlock', 'watchdog', 'held', 'never two at once'],
    ['a renewal that failed is the last one', 'redisson-failed-renewal', 'watchdog', 'violated', 'Stale holder'],
    ['a closed instance renews nothing', 'redisson-closed-while-held', 'shutdown', 'held', 'never two at once'],
    ['a wait ends by the wall clock', 'redisson-wait-by-the-wall-clock', 'rlock', 'held', 'never two at once'],
    ['lock() waits on when it is interrupted', 'redisson-interrupted-lock', 'rlock:lock', 'held', 'never two at once'],
    ['a lease stays in the object', 'redisson-kept-object', 'kept-object', 'violated', 'asked for a shorter lease'],
    ['100 ms are too short', 'redisson-watchdog-of-100-ms', 'watchdog', 'violated', 'Stale holder'],
  ])('%s', { timeout: BUILD_MS, ...skipWhere(lacking) }, async (_, scenario, lock, went, why) => {
    const [variant, form] = lock.split(':');
    const spec = `redisson/${variant}@${version}${form === undefined ? '' : `:${form}`}`;
    const told = await played(scenario, spec);
    expect(told, told.join(': ')).toEqual([went, expect.stringContaining(why)]);
  });
});
