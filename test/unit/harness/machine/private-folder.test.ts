import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { privateFolder, temporaryFolder } from '../../../../harness/machine/private-folder.js';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'private-folder-test-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const NAMESPACE = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];

function leaveFolder(name: string): string {
  mkdirSync(join(parent, name, 'deep'), { recursive: true });
  writeFileSync(join(parent, name, 'deep', 'half-a-download'), '');
  return name;
}

async function deadPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid!;
}

describe('privateFolder', () => {
  it('is gone when disposed', () => {
    {
      using folder = privateFolder(parent);
      writeFileSync(join(folder.path, 'file'), '');
      expect(readdirSync(parent)).toHaveLength(1);
    }
    expect(readdirSync(parent)).toEqual([]);
  });

  it("leaves another user's alone, in a folder that all share", { tags: ['root'] }, async () => {
    const theirs = leaveFolder(`tmp-${NAMESPACE}-${await deadPid()}-1-abc`);
    chownSync(join(parent, theirs), 12_345, 12_345);
    privateFolder(parent)[Symbol.dispose]();
    expect(readdirSync(parent)).toEqual([theirs]);
  });

  it.each(['/proc/none/of/these', '/dev/null/x'])('says in one line that nothing can be kept in %s', (folder) => {
    expect(() => privateFolder(folder)).toThrow(
      /^nothing can be kept in the cache folder \S+ \(E[A-Z]+\): set LOCK_TORTURE_CACHE to a folder that you can write to$/,
    );
  });

  it('makes its parent', () => {
    using folder = privateFolder(join(parent, 'a', 'b'));
    expect(readdirSync(join(parent, 'a', 'b'))).toEqual([folder.path.split('/').at(-1)]);
  });

  it('removes what a dead process left behind', async () => {
    leaveFolder(`tmp-${NAMESPACE}-${await deadPid()}-77-abc`);
    using folder = privateFolder(parent);
    expect(readdirSync(parent)).toEqual([folder.path.split('/').at(-1)]);
  });

  it('removes what was left by a process whose number has been reused', () => {
    leaveFolder(`tmp-${NAMESPACE}-${process.pid}-1-abc`);
    using folder = privateFolder(parent);
    expect(readdirSync(parent)).toEqual([folder.path.split('/').at(-1)]);
  });

  it('leaves alone what a living process works in', () => {
    using first = privateFolder(parent);
    using second = privateFolder(parent);
    expect(readdirSync(parent).sort()).toEqual([first, second].map(({ path }) => path.split('/').at(-1)).sort());
  });

  it('leaves alone the folder of another container, until it is a day old', () => {
    const fresh = leaveFolder('tmp-1-1-1-fresh');
    const old = leaveFolder('tmp-1-1-1-old');
    const yesterday = Date.now() / 1000 - 25 * 3600;
    utimesSync(join(parent, old), yesterday, yesterday);
    using folder = privateFolder(parent);
    expect(readdirSync(parent).sort()).toEqual([fresh, folder.path.split('/').at(-1)].sort());
  });

  it('leaves alone what is of another kind', () => {
    const others = ['redis', 'tmp-notes', 'clock-shim-1234.so'].map(leaveFolder);
    using folder = privateFolder(parent);
    expect(readdirSync(parent).sort()).toEqual([...others, folder.path.split('/').at(-1)].sort());
  });
});

describe('temporaryFolder', () => {
  it('is gone when disposed, and what a dead process left behind with the next', async () => {
    const pid = await deadPid();
    leaveFolder(`lock-torture-tmp-${NAMESPACE}-${pid}-77-abc`);
    const living = leaveFolder(temporaryFolder(parent).path.split('/').at(-1)!);
    {
      using folder = temporaryFolder(parent);
      expect(readdirSync(parent).sort()).toEqual([living, folder.path.split('/').at(-1)].sort());
    }
    expect(readdirSync(parent)).toEqual([living]);
  });

  it('says in one line that none can be made', () => {
    expect(() => temporaryFolder('/proc/none/of/these')).toThrow(
      /^no temporary folder can be made in \S+ \(E[A-Z]+\): set TMPDIR to a folder that you can write to$/,
    );
  });
});
