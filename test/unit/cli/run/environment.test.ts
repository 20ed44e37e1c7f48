/** Which settings the environment gives, what comes before and after them, and what is refused. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HUNT, type HuntFlags } from '../../../../cli/hunt/flags.js';
import { withConfig } from '../../../../cli/run/config-file.js';
import { settingsOfEnvironment, variableOf } from '../../../../cli/run/environment.js';
import { addRunFlags, parseFlags, parseRunFlags } from '../../../../cli/run/flags.js';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'lock-torture-environment-test-')));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const run = (env: NodeJS.ProcessEnv, ...argv: string[]) => {
  const { flags, given } = parseRunFlags(argv);
  return withConfig({ name: 'run', add: addRunFlags }, flags, { argv, cwd, given }, env);
};
const config = (settings: string) =>
  writeFileSync(join(cwd, 'lock-torture.config.mjs'), `export default ${settings};\n`);

describe('the environment', () => {
  test('names a setting as its flag does', () => {
    expect(variableOf('minStrikes')).toBe('LOCK_TORTURE_MIN_STRIKES');
    expect(settingsOfEnvironment({ LOCK_TORTURE_TIME_LIMIT: '9s', PATH: '/bin', LOCK_TORTURE_LEASE: '' })).toEqual({
      timeLimit: '9s',
    });
  });

  test('says what a setting that was renamed is called now', () => {
    expect(() => settingsOfEnvironment({ LOCK_TORTURE_MIN_STRUCK_HOLDS: '59' })).toThrow(
      /^LOCK_TORTURE_MIN_STRUCK_HOLDS is now LOCK_TORTURE_MIN_STRIKES: it counts strikes/,
    );
  });

  test('comes before the config and after what is typed; what repeats the run has it written out', async () => {
    config("{ lock: 'fenced', lease: '2s', wait: '3s' }");
    const env = { LOCK_TORTURE_LEASE: '5s', LOCK_TORTURE_WAIT: '6s', LOCK_TORTURE_AUTH: 'true' };
    const { flags, invocation, origin, settings } = await run(env, '--wait', '7s');
    expect(flags).toMatchObject({ lock: 'fenced', lease: 5_000, wait: 7_000, auth: true });
    expect(invocation.given('lease')).toBe(true);
    expect(origin).toEqual([
      `config ${join(cwd, 'lock-torture.config.mjs')}`,
      'environment LOCK_TORTURE_LEASE, LOCK_TORTURE_WAIT, LOCK_TORTURE_AUTH',
    ]);
    expect(settings).toEqual({ lock: 'fenced', lease: '5s', wait: '6s', auth: true });
    expect(parseRunFlags(invocation.argv).flags).toEqual(flags);
    // Once each, and not again where the command is repeated.
    expect(invocation.argv).toEqual(['--lock=fenced', '--lease=5s', '--auth', '--wait', '7s', '--no-config']);
    expect((await run(env, ...invocation.argv)).invocation.argv).toEqual(invocation.argv);
  });

  test('counts where there is no config, and not with --no-config', async () => {
    const env = { LOCK_TORTURE_TOPOLOGY: 'sentinel' };
    expect((await run(env)).flags.topology).toBe('sentinel');
    expect(await run(env, '--no-config')).toMatchObject({ flags: { topology: 'single' }, origin: [] });
    expect((await run({ ...env, LOCK_TORTURE_CACHE: '/tmp', LOCK_TORTURE_TEST_X: '1' })).origin).toHaveLength(1);
  });

  test('a plan takes the place of faults, wherever either is said', async () => {
    config("{ nemesis: 'kill' }");
    expect((await run({ LOCK_TORTURE_PLAN: 'plan.json' })).flags).toMatchObject({
      plan: 'plan.json',
      nemesis: 'default',
    });
    expect((await run({ LOCK_TORTURE_PLAN: 'plan.json' }, '--nemesis', 'pause')).flags).toMatchObject({
      nemesis: 'pause',
    });
    expect((await run({ LOCK_TORTURE_PLAN: 'plan.json' }, '--nemesis', 'pause')).flags.plan).toBeUndefined();
  });

  test('directives add up, a line each', async () => {
    config("{ redisConf: { maxmemory: '10mb' } }");
    const { flags } = await run({ LOCK_TORTURE_REDIS_CONF: 'hz=50\nsave=60 1' }, '--redis-conf', 'appendonly=yes');
    expect(flags.redisConf).toEqual([
      ['maxmemory', '10mb'],
      ['hz', '50'],
      ['save', '60 1'],
      ['appendonly', 'yes'],
    ]);
  });

  test('a command that shares some settings leaves out the rest', async () => {
    const { flags, given } = parseFlags<HuntFlags>(HUNT.add, []);
    const env = { LOCK_TORTURE_TOPOLOGY: 'sentinel', LOCK_TORTURE_LEASE: '9s' };
    const { invocation } = await withConfig(HUNT, flags, { argv: ['hunt'], cwd, given }, env);
    expect(invocation.argv).toEqual(['hunt', '--topology=sentinel', '--no-config']);
  });

  test.each([
    [{ LOCK_TORTURE_TOPLOGY: 'single' }, /^LOCK_TORTURE_TOPLOGY is no setting; did you mean LOCK_TORTURE_TOPOLOGY\?$/],
    [{ LOCK_TORTURE_TOPOLOGY: 'ring' }, /^LOCK_TORTURE_TOPOLOGY: .*--topology/],
    [{ LOCK_TORTURE_CLIENTS: '0' }, /^LOCK_TORTURE_CLIENTS: .*"0" is not a whole number from 1 to 200/],
    [{ LOCK_TORTURE_AUTH: 'yes' }, /^LOCK_TORTURE_AUTH is "yes": expected true or false$/],
    [{ LOCK_TORTURE_REDIS_CONF: 'hz' }, /^LOCK_TORTURE_REDIS_CONF: expected key=value on each line, got "hz"$/],
  ])('is refused in one line: %j', async (env, line) => {
    await expect(run(env)).rejects.toThrow(
      expect.objectContaining({ name: 'UsageError', message: expect.stringMatching(line) }),
    );
  });
});
