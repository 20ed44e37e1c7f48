import { Command } from 'commander';
import { expect, test } from 'vitest';
import { caseId, powerCases, showsMistake, tellsCause } from '../../../bench/power-cases.js';
import { addHuntFlags } from '../../../cli/hunt/flags.js';
import { SEARCHED_BY_DEFAULT } from '../../../nemesis/index.js';
import { trials } from '../../../selftest/index.js';

const overlap = { checker: 'mutual-exclusion', class: 'exclusion' } as const;
const found = { ...overlap, kind: 'overlap', cause: 'released-by-other', blame: 'lock' } as const;

test('every canary whose mistake is a finding has its case, and its twin another with the same flags', () => {
  const named = trials.filter(({ caught }) => !('counted' in caught)).map(({ canary }) => `broken/${canary}`);
  const canaries = powerCases(['canary']);
  const twins = powerCases(['twin']);
  expect(canaries.map(({ lock }) => lock)).toEqual(named);
  expect(twins.map(({ lock, argv }) => [lock, argv])).toEqual(
    canaries.map(({ lock, argv }) => [`${lock}-mended`, argv]),
  );
});

test('what the clients do is what the trial says; what happens to them is left to the search', () => {
  const flagsFor = (lock: string) => powerCases(['canary']).find((one) => one.lock === `broken/${lock}`)!.argv;
  expect(flagsFor('blind-del')).toEqual([
    '--topology',
    'single',
    '--lease',
    '1s',
    '--hold',
    '0.5x..1.5x',
    '--careless',
  ]);
  expect(flagsFor('taken-over-by-clock')).toContain([...SEARCHED_BY_DEFAULT, 'clock'].join(','));
});

test('what needs commands that not every server has is hunted on one that has them, as it is deployed', () => {
  const of = (name: string) => powerCases(['canary']).find(({ lock }) => lock === `broken/${name}`)!;
  expect(of('waitaof-in-multi')).toMatchObject({ server: 'redis@8.0' });
  expect(of('waitaof-in-multi').argv).toContain('aof-everysec');
  expect(of('blind-del')).not.toHaveProperty('server');
});

test('a lock that is sound under some faults only is hunted with these', () => {
  const [semaphore, ...others] = powerCases(['sound']).filter(({ lock }) => lock === 'semaphore');
  expect(others).toEqual([]);
  expect(semaphore!.argv.slice(-2)).toEqual(['--faults', 'clock,drift']);
});

test('on another topology those are hunted that can be used there, each once', () => {
  const moved = powerCases(['sound'], 'sentinel');
  expect(new Set(moved.map(({ argv }) => argv.slice(0, 2).join(' ')))).toEqual(new Set(['--topology sentinel']));
  const locks = moved.map(({ lock }) => lock);
  expect(locks).toContain('watchdog');
  expect(locks).not.toContain('redlock');
  expect(new Set(moved.map(caseId)).size).toBe(moved.length);
  expect(powerCases(['twin'], 'redlock').map(({ lock }) => lock)).toContain('broken/half-quorum-mended');
});

test('no case has a flag that a hunt does not know', () => {
  const known = addHuntFlags(new Command()).options.map(({ long }) => long);
  const used = powerCases(['canary', 'twin', 'sound']).flatMap(({ argv }) =>
    argv.filter((one) => one.startsWith('--')),
  );
  expect(used.filter((flag) => !known.includes(flag))).toEqual([]);
});

test('what breaks every lock shows nothing of a mistake, unless it is what the mistake is known by', () => {
  expect(showsMistake(found, overlap)).toBe(true);
  expect(showsMistake({ ...found, cause: 'unexplained', blame: 'unexplained' }, overlap)).toBe(true);
  const forgot = { ...found, cause: 'node-forgot', blame: 'deployment' } as const;
  expect(showsMistake(forgot, overlap)).toBe(false);
  expect(showsMistake(forgot, { ...overlap, cause: 'node-forgot' })).toBe(true);
});

test('its cause is the one by which the mistake is known, or else one that proves it to be the mistake of the lock', () => {
  expect(tellsCause({ blame: 'deployment' }, { ...overlap, cause: 'node-forgot' })).toBe(true);
  expect(tellsCause({ blame: 'unexplained' }, overlap)).toBe(false);
  expect(tellsCause({ blame: 'lock' }, overlap)).toBe(true);
});

test('another checker, class, kind or cause is another finding', () => {
  expect(showsMistake({ ...found, checker: 'never-granted' }, overlap)).toBe(false);
  expect(showsMistake({ ...found, class: 'stale' }, overlap)).toBe(false);
  expect(showsMistake(found, { ...overlap, kind: 'revived' })).toBe(false);
  expect(showsMistake(found, { ...overlap, cause: 'shared-owner' })).toBe(false);
});
