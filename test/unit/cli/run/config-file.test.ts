/** Where a config file is looked for, when it is refused, and what comes of its settings. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HUNT, type HuntFlags } from '../../../../cli/hunt/flags.js';
import { ignoringConfig, readConfigFile, withConfig } from '../../../../cli/run/config-file.js';
import { parseFlags, parseRunFlags } from '../../../../cli/run/flags.js';
import { configuredRun } from '../../../../cli/run/run-command.js';

const NAME = 'lock-torture.config.ts';
let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'lock-torture-config-test-')));
  mkdirSync(join(root, 'repo/packages/mine/src'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (path: string, text: string) => writeFileSync(join(root, path), text);
const read = (from: string, named?: string | false) => readConfigFile(named, join(root, from));

describe('is looked for', () => {
  test('from where the user stands up to the root of the repository, and no further', async () => {
    write(NAME, "export default { lock: 'redlock' };\n");
    mkdirSync(join(root, 'repo/.git'));
    write('repo/packages/mine/package.json', '{}');
    expect(await read('repo/packages/mine/src')).toBeUndefined();
    write(`repo/${NAME}`, "export default { lock: 'fenced' };\n");
    expect((await read('repo/packages/mine/src'))?.path).toBe(join(root, 'repo', NAME));
    write(`repo/packages/mine/${NAME}`, "export default { lock: 'fair' };\n");
    expect((await read('repo/packages/mine/src'))?.settings).toEqual({ lock: 'fair' });
  });

  test('up to the root of a workspace; up to the package where there is neither; else nowhere above', async () => {
    write(`repo/${NAME}`, "export default { lock: 'fenced' };\n");
    expect(await read('repo/packages/mine')).toBeUndefined();
    write('repo/packages/mine/package.json', '{}');
    expect(await read('repo/packages/mine')).toBeUndefined();
    write('repo/package.json', '{"workspaces": ["packages/*"]}');
    expect((await read('repo/packages/mine/src'))?.path).toBe(join(root, 'repo', NAME));
  });

  test('not with --no-config; where it is named, wherever it is', async () => {
    write(`repo/${NAME}`, "export default { lock: 'fenced' };\n");
    expect(await read('repo', false)).toBeUndefined();
    expect((await read('repo/packages', `../${NAME}`))?.settings).toEqual({ lock: 'fenced' });
    await expect(read('repo', 'other.ts')).rejects.toThrow(/^--config other\.ts: .*\/repo\/other\.ts is no file$/);
  });
});

test('a command that is to have nothing but its own flags says so where there is a config, or the environment has settings', () => {
  expect(ignoringConfig(join(root, 'repo'), {})).toEqual([]);
  expect(ignoringConfig(join(root, 'repo'), { LOCK_TORTURE_LEASE: '9s' })).toEqual(['--no-config']);
  expect(ignoringConfig(join(root, 'repo'), { LOCK_TORTURE_LEES: '9s' })).toEqual(['--no-config']);
  write(`repo/${NAME}`, "export default { lock: 'fenced' };\n");
  expect(ignoringConfig(join(root, 'repo'), {})).toEqual(['--no-config']);
});

describe('is refused', () => {
  test('where everybody may write it, unless it is named', async () => {
    write(`repo/${NAME}`, "export default { lock: 'fenced' };\n");
    chmodSync(join(root, 'repo', NAME), 0o666);
    await expect(read('repo')).rejects.toThrow(
      /may be written by everybody \(chmod o-w\): mend that, name it with --config/,
    );
    expect(await read('repo', NAME)).toBeDefined();
  });

  test('where it is another user’s', { tags: ['root'] }, async () => {
    write(`repo/${NAME}`, "export default { lock: 'fenced' };\n");
    chownSync(join(root, 'repo', NAME), 54_323, 54_323);
    await expect(read('repo')).rejects.toThrow(/lock-torture\.config\.ts belongs to another user: /);
  });

  test.each([
    ["export const lock = 'fenced';\n", /: expected `export default defineConfig\(\{ \.\.\. \}\)`$/],
    ["throw new Error('no such thing');\n", /lock-torture\.config\.ts: no such thing$/],
    ['export default {', /lock-torture\.config\.ts:1:\d+: Expected /],
  ])('with one line: %s', async (text, line) => {
    write(`repo/${NAME}`, text);
    await expect(read('repo')).rejects.toThrow(line);
  });
});

describe('what it says', () => {
  const run = (...argv: string[]) => {
    const { flags, given } = parseRunFlags(argv);
    return configuredRun(flags, { argv, cwd: join(root, 'repo'), given });
  };

  test('comes before what is typed, and its paths start from its folder', async () => {
    write('repo/of-others.ts', "export const lease = '2500ms';\n");
    write(
      `repo/${NAME}`,
      "import { lease } from './of-others';\nexport default { lock: './mine.ts', lease, nemesis: ['kill'], timeLimit: '9s', out: 'kept', known: 'known' };\n",
    );
    const { flags, invocation, origin } = await run('--time-limit', '4s');
    expect(origin).toEqual([`config ${join(root, 'repo', NAME)}`]);
    const out = join(root, 'repo/kept');
    expect(flags).toMatchObject({
      lock: join(root, 'repo/mine.ts'),
      lease: 2_500,
      nemesis: 'kill',
      timeLimit: 4_000,
      out,
      known: join(root, 'repo/known'),
    });
    // Otherwise a workload would put its own in their place.
    expect(invocation.given('lease')).toBe(true);
    expect(invocation.argv).toContain('--no-config');
    expect(parseRunFlags(invocation.argv).flags).toEqual(flags);
    // Once each: what repeats the run is read by people, too.
    expect(invocation.argv.filter((flag) => flag.startsWith('--time-limit'))).toEqual(['--time-limit']);
    expect((await run('--plan', 'plan.json')).flags).toMatchObject({ plan: 'plan.json', nemesis: 'default' });
  });

  test('directives of both count', async () => {
    write(`repo/${NAME}`, "export default { redisConf: { maxmemory: '10mb' } };\n");
    const { flags } = await run('--redis-conf', 'appendonly=yes');
    expect(flags.redisConf).toEqual([
      ['maxmemory', '10mb'],
      ['appendonly', 'yes'],
    ]);
  });

  test('what it prints goes to standard error, where no program reads a verdict', async () => {
    const printed = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      vi.spyOn(process[stream], 'write').mockImplementation((text) => {
        printed[stream] += text;
        return true;
      });
    try {
      write(`repo/${NAME}`, "process.stdout.write('held\\n');\nexport default { lock: 'fenced' };\n");
      expect((await read('repo'))?.settings).toEqual({ lock: 'fenced' });
      process.stdout.write('after\n');
    } finally {
      vi.restoreAllMocks();
    }
    expect(printed).toEqual({ stdout: 'after\n', stderr: 'held\n' });
  });

  test('a command that shares only some of it leaves out the rest, but not what nobody knows', async () => {
    const hunt = (...argv: string[]) => {
      const { flags, given } = parseFlags<HuntFlags>(HUNT.add, argv);
      const invocation = { argv: ['hunt', ...argv], cwd: join(root, 'repo'), given };
      return withConfig(HUNT, flags, invocation);
    };
    write(
      `repo/${NAME}`,
      "export default { lock: './mine.ts', topology: 'sentinel', lease: '9s', timeLimit: '30s', out: 'kept' };\n",
    );
    const { flags, invocation } = await hunt('--runs', '3');
    expect(flags).toMatchObject({
      lock: join(root, 'repo/mine.ts'),
      topology: 'sentinel',
      lease: 470,
      timeLimit: 3_500,
    });
    expect(flags.out).not.toBe(join(root, 'repo/kept'));
    expect(invocation.given('lease')).toBe(false);
    expect(invocation.argv).toEqual([
      'hunt',
      `--lock=${join(root, 'repo/mine.ts')}`,
      '--topology=sentinel',
      ...['--runs', '3', '--no-config'],
    ]);
    expect((await hunt('--topology', 'single')).flags.topology).toBe('single');
    write(`repo/${NAME}`, "export default { lok: 'fenced' };\n");
    await expect(hunt()).rejects.toThrow(/lock-torture\.config\.ts: "lok" is no setting/);
  });

  test.each([
    ["{ lok: 'fenced' }", /lock-torture\.config\.ts: "lok" is no setting; did you mean lock\?/],
    ["{ topology: 'ring' }", /lock-torture\.config\.ts: .*--topology.* /],
    ['{ minStrikes: 0 }', /lock-torture\.config\.ts: .*--min-strikes.* "0" is not a whole number from 1 to /],
    ['{ minStruckHolds: 59 }', /lock-torture\.config\.ts: minStruckHolds is now minStrikes: it counts strikes/],
    ['{ minHolds: true }', /lock-torture\.config\.ts: minHolds: expected a string or a number, got true/],
    ["{ knownOk: 'yes' }", /lock-torture\.config\.ts: knownOk: expected true or false, got "yes"/],
    ["{ known: ['a'] }", /lock-torture\.config\.ts: known: expected a path or a file URL, got /],
    ['{ clients: 0 }', /lock-torture\.config\.ts: .*"0" is not a whole number from 1 to 200/],
  ])('is refused in one line: %s', async (settings, line) => {
    write(`repo/${NAME}`, `export default ${settings};\n`);
    await expect(run()).rejects.toThrow(
      expect.objectContaining({ name: 'UsageError', message: expect.stringMatching(line) }),
    );
  });
});
