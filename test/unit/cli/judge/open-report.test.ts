import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCommand, openReport } from '../../../../cli/judge/open-report.js';

const told = { out: '', errors: '' };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-report-test-'));
  Object.assign(told, { out: '', errors: '' });
  const taking = (name: keyof typeof told) => (text: string | Uint8Array) => {
    told[name] += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(taking('out'));
  vi.spyOn(process.stderr, 'write').mockImplementation(taking('errors'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** A program in a folder of its own, which keeps what it was called with. */
function opener(name: string, status = 0): { PATH: string; calls(): string } {
  writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s|' "$@" >>"${folder}/calls"\nexit ${status}\n`, {
    mode: 0o755,
  });
  return { PATH: `${folder}:/usr/bin:/bin`, calls: () => readFileSync(join(folder, 'calls'), 'utf8') };
}
const NOTHING = { PATH: '/nowhere' };
const REPORT = `/home/you/my runs/$(x)/report.html`;

describe('a report is opened', () => {
  it.each([
    ['linux', 'xdg-open', { DISPLAY: ':0' }],
    ['linux', 'xdg-open', { WAYLAND_DISPLAY: 'wayland-0', CI: 'false' }],
    ['darwin', 'open', {}],
  ] as const)('on %s by %s, whatever is in its path', async (platform, name, more) => {
    const { PATH, calls } = opener(name);
    await openReport(REPORT, { isTTY: true, env: { ...more, PATH }, platform });
    expect(calls()).toBe(`${REPORT}|`);
    expect(told).toEqual({ out: '', errors: '' });
  });

  it.each([
    ['in a pipe', { isTTY: false, env: { DISPLAY: ':0' } }, 'standard output is no terminal'],
    ['in a CI', { isTTY: true, env: { DISPLAY: ':0', CI: 'true' } }, 'this is a CI'],
    [
      'without a screen',
      { isTTY: true, env: {} },
      'there is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set)',
    ],
  ])('not %s: and it says why', async (_, { isTTY, env }, why) => {
    const { PATH, calls } = opener('xdg-open');
    await openReport(REPORT, { isTTY, env: { ...env, PATH }, platform: 'linux' });
    expect(calls).toThrow('ENOENT');
    expect(told).toEqual({ out: '', errors: `lock-torture: not opened in a browser: ${why}\n` });
  });

  it('not where no program opens files, or it fails', async () => {
    await openReport(REPORT, { isTTY: true, env: { ...NOTHING, DISPLAY: ':0' }, platform: 'linux' });
    expect(told.errors).toBe('lock-torture: not opened in a browser: xdg-open is not installed\n');
    const { PATH } = opener('open', 3);
    await openReport(REPORT, { isTTY: true, env: { PATH }, platform: 'darwin' });
    expect(told.errors).toContain('not opened in a browser: open failed (status 3)\n');
  });
});

describe('`open`', () => {
  const where = () => ({ base: folder, cwd: '/' });

  it('says where the report of a run is', async () => {
    mkdirSync(join(folder, 'run-1'));
    for (const name of ['config.json', 'report.html']) writeFileSync(join(folder, 'run-1', name), '{}');
    vi.stubEnv('CI', 'true');
    expect(await openCommand('run-1', where())).toBe(0);
    vi.unstubAllEnvs();
    expect(told.out).toBe(`${join(folder, 'run-1', 'report.html')}\n`);
    expect(told.errors).toBe('lock-torture: not opened in a browser: this is a CI\n');
  });

  it('says in one line what to do where there is no run, or none with a report', async () => {
    await expect(openCommand('latest', where())).rejects.toThrow(
      /^there is no run in .* yet; this makes one: (npx lock-torture|npm run torture --)$/,
    );
    await expect(openCommand('run-1', where())).rejects.toThrow(/^no run at run-1 \(looked for config\.json in /);
    mkdirSync(join(folder, 'run-1'));
    writeFileSync(join(folder, 'run-1', 'config.json'), '{}');
    await expect(openCommand('run-1', where())).rejects.toThrow(
      /^no report\.html in run run-1; this writes it: (npx lock-torture|npm run torture --) report run-1$/,
    );
  });
});
