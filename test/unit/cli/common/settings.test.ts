/** Settings of programs and config files become flags, and only what a command line can say. */
import { Command } from 'commander';
import { describe, expect, it, test } from 'vitest';
import { addCampaignFlags } from '../../../../cli/campaign/campaign-command.js';
import { flagsOf, SETTINGS } from '../../../../cli/common/settings.js';
import { addRunFlags, parseFlags, parseRunFlags } from '../../../../cli/run/flags.js';
import type { Settings } from '../../../../harness/vocabulary/settings.js';
import { defineLock } from '../../../../lock-impl/define-lock.js';

test('there is one for every flag of run, but for how often and when, how it is printed and opened, where settings are, and the older name of --server', () => {
  const flags = addRunFlags(new Command()).options.map((option) => option.attributeName());
  const others = ['times', 'untilViolation', 'shard', 'json', 'redis', 'minStruckHolds', 'config', 'watch', 'open'];
  const settings = new Set(flags.filter((name) => !others.includes(name)));
  expect(Object.keys(SETTINGS).toSorted()).toEqual([...settings].toSorted());
});

test('what they say is what the flags say', () => {
  const settings: Settings = {
    lock: new URL('file:///home/you/my%20lock.ts'),
    topology: 'sentinel',
    lease: '1500ms',
    timeLimit: '8s',
    nemesis: ['kill', 'pause:client'],
    careless: true,
    auth: false,
    seed: 7,
    redisConf: { appendonly: 'yes', save: '' },
    failOn: ['lock'],
    workload: undefined,
  };
  const { flags } = parseRunFlags(flagsOf(settings));
  expect(flags).toMatchObject({
    lock: '/home/you/my lock.ts',
    topology: 'sentinel',
    lease: 1_500,
    timeLimit: 8_000,
    nemesis: 'kill,pause:client',
    careless: true,
    auth: false,
    seed: 7,
    redisConf: [
      ['appendonly', 'yes'],
      ['save', ''],
    ],
    failOn: ['lock'],
    workload: 'mutex',
  });
});

test.each(['careless', 'auth', 'knownOk', 'stopAtFirst'] as const)(
  '%s that is said to be off is off, whatever was said before',
  (name) => {
    const { flags, given } = parseRunFlags([...flagsOf({ [name]: true }), ...flagsOf({ [name]: false })]);
    expect(flags[name]).toBe(false);
    expect(given(name)).toBe(true);
  },
);

test.each([
  [{ lok: 'x' }, /^"lok" is no setting; did you mean lock\?$/],
  [{ shards: 3 }, /^"shards" is no setting; there are lock, topology, /],
  [{ lease: 2 }, /^lease: expected a duration with its unit, such as "2ms" or "2s", got 2$/],
  [
    { lock: { name: 'mine' } },
    /^lock: expected a file, because every client is a process of its own .*, got an object$/,
  ],
  [{ lock: () => 1 }, /^lock: expected a file, .*, got a function$/],
  [{ lock: new URL('https://example.org/lock.ts') }, /^lock: expected a file, .*, got https:\/\/example.org\/lock.ts$/],
  [{ careless: 'yes' }, /^careless: expected true or false, got "yes"$/],
  [{ topology: ['single'] }, /^topology: expected a string or a number, got \["single"\]$/],
  [{ redisConf: ['a'] }, /^redisConf: expected an object of strings, got \["a"\]$/],
])('one line: %j', (settings, line) => {
  expect(() => flagsOf(settings as Settings)).toThrow(line);
});

describe('a lock', () => {
  const connect = () => Promise.reject(new Error('not here'));

  it('may be a definition that carries its file', () => {
    const lock = defineLock({ url: 'file:///home/me/my-lock.ts' }, { name: 'mine', connect });
    expect(flagsOf({ lock })).toEqual(['--lock=/home/me/my-lock.ts']);
    expect(Object.keys(lock)).toEqual(['name', 'connect']);
  });

  it('is refused in one line where it carries none', () => {
    const line =
      /^lock: expected a file, because every client is a process of its own \(.*defineLock\(import\.meta, .*\), got an object$/;
    expect(() => flagsOf({ lock: defineLock({ name: 'mine', connect }) })).toThrow(line);
    expect(() => flagsOf({ lock: defineLock({ url: 'data:text/javascript,1' }, { name: 'mine', connect }) })).toThrow(
      line,
    );
  });
});

describe('what was called otherwise before', () => {
  test.each([
    ['--min-struck-holds', '59'],
    ['--min-struck-holds=59'],
    ['--min-struck-holds'],
    ['--min-struck-holds', '0'],
  ])('is refused in one line that names it: %s %s', (...argv) => {
    const line = /^--min-struck-holds is now --min-strikes: it counts strikes .*, not the holds that they met$/;
    for (const add of [addRunFlags, addCampaignFlags])
      expect(() => parseFlags(add, argv)).toThrow(
        expect.objectContaining({ name: 'UsageError', message: expect.stringMatching(line) }),
      );
  });

  test('so is the setting', () => {
    expect(() => flagsOf({ minStruckHolds: 59 } as Settings)).toThrow(/^minStruckHolds is now minStrikes: /);
  });
});
