import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COULD_NOT_START, findOnPath, runProgram, TIMED_OUT } from '../../../../harness/machine/command.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'command-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('runCommand', () => {
  it('gives exit code and both outputs', async () => {
    const result = await runProgram(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(result).toEqual({ exitCode: 3, stdout: 'out', stderr: 'err' });
  });

  it('passes arguments without a shell', async () => {
    expect((await runProgram(['echo', '$HOME; *'])).stdout).toBe('$HOME; *');
  });

  it('adds to the environment', async () => {
    expect((await runProgram(['sh', '-c', 'echo $HELLO $HOME'], { env: { HELLO: 'hi' } })).stdout).toBe(
      `hi ${process.env.HOME}`,
    );
  });

  it('explains that there is no such command', async () => {
    const result = await runProgram(['no-such-command-here']);
    expect(result).toEqual({ exitCode: COULD_NOT_START, stdout: '', stderr: 'no-such-command-here was not found' });
  });

  it('ends a command that takes too long', async () => {
    const result = await runProgram(['sleep', '600'], { timeoutMs: 50 });
    expect(result.exitCode).toBe(TIMED_OUT);
    expect(result.stderr).toBe('sleep took longer than 50 ms');
  });

  it('reports a command that was killed', async () => {
    const result = await runProgram(['sh', '-c', 'kill -9 $$']);
    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).toBe('sh was ended by SIGKILL');
  });
});

describe('findOnPath', () => {
  it('takes the first executable file, and nothing else of that name', () => {
    for (const place of ['directory', 'plain', 'first', 'second']) mkdirSync(join(folder, place));
    mkdirSync(join(folder, 'directory', 'tool'));
    writeFileSync(join(folder, 'plain', 'tool'), '', { mode: 0o644 });
    writeFileSync(join(folder, 'first', 'tool'), '', { mode: 0o755 });
    writeFileSync(join(folder, 'second', 'tool'), '', { mode: 0o755 });
    const path = ['directory', 'missing', 'plain', 'first', 'second'].map((place) => join(folder, place)).join(':');
    expect(findOnPath('tool', path)).toBe(join(folder, 'first', 'tool'));
    expect(findOnPath('other', path)).toBeUndefined();
  });

  it('takes a path as it is', () => {
    expect(existsSync('/bin/sh')).toBe(true);
    expect(findOnPath('/bin/sh', '')).toBe('/bin/sh');
    expect(findOnPath(join(folder, 'nothing'), '/bin')).toBeUndefined();
  });
});
