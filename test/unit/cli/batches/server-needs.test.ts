/** What is not tried for want of something that no server has. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BatchOptions } from '../../../../cli/batches/batch.js';
import { type Asked, runWhereItCan } from '../../../../cli/batches/server-needs.js';
import { findLibrary } from '../../../../cli/run/published-library.js';
import { nodeTooOld } from '../../../../lock-impl/third-party/library.js';

const UNIVERSAL = 'third-party/redlock-universal';

async function tried(machine: Partial<BatchOptions['machine']>, cwd = '/') {
  const [ran, lacking] = [[] as string[], [] as string[]];
  await runWhereItCan(
    [{ lock: 'set-nx-px' }, { lock: UNIVERSAL }],
    { machine, stop: { asked: false } } as unknown as BatchOptions,
    { cwd } as Asked,
    {
      run: async (some) => void ran.push(...some.map(({ lock }) => lock)),
      lacks: ({ lock }, why) => void lacking.push(`${lock}: ${why}`),
    },
  );
  return { ran, lacking };
}

test('a library that needs a newer Node than this is not tried, in one line', async () => {
  const old = nodeTooOld({ installedAs: 'redlock-universal', nodeMajorMin: 22 });
  const here = await tried({});
  expect(here.ran).toEqual(old === undefined ? ['set-nx-px', UNIVERSAL] : ['set-nx-px']);
  expect(here.lacking).toEqual(old === undefined ? [] : [`${UNIVERSAL}: ${old}`]);
});

test('in containers, which have a Node of their own, it is tried where npm installed it', async () => {
  const containers = {} as NonNullable<BatchOptions['machine']['containers']>;
  const project = mkdtempSync(join(tmpdir(), 'server-needs-'));
  const folder = join(project, 'node_modules/redlock-universal');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'redlock-universal', version: '0.8.5' }));
  try {
    expect(await tried({ containers }, project)).toEqual({ ran: ['set-nx-px', UNIVERSAL], lacking: [] });
  } finally {
    rmSync(project, { recursive: true });
  }
  const isThere = typeof findLibrary({ installedAs: 'redlock-universal', version: '0.8.5' }, '/') !== 'string';
  expect((await tried({ containers })).ran).toEqual(isThere ? ['set-nx-px', UNIVERSAL] : (await tried({})).ran);
});

test.each([
  ['v20.20.2', 'it needs Node.js 22 or newer, and this is v20.20.2'],
  ['v22.0.0', undefined],
  ['v26.1.0', undefined],
])('on %s', (node, says) => {
  expect(nodeTooOld({ installedAs: 'redlock-universal', nodeMajorMin: 22 }, node)).toBe(says);
});
