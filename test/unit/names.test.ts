/**
 * Whatever judges or shows a run knows no fault and no topology by its name: it asks what was done, and what a lock takes to
 * be held. So a new fault is explained at once. Only the file that reads records of version 1 knows the names of that time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { topologies } from '../../harness/topologies/index.js';
import { faults } from '../../nemesis/faults/index.js';

const JUDGING = ['checkers', 'harness/record', 'reports'];
const KNOWS_OLD_NAMES = 'harness/record/version-1.ts';
/** Says what lock clients are told of the deployment; no verdict depends on it. */
const SCHEMAS = 'harness/record/schemas/';
/** Also the names of an operation of clients, of a role of servers, of whom a plan may strike, and of a plot. */
const OF_OTHERS = ['clock', 'rate', 'replica', 'sentinel'];

const names = [...Object.keys(faults), ...Object.keys(topologies)].filter((name) => !OF_OTHERS.includes(name));

const files = JUDGING.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
).filter((path) => path !== KNOWS_OLD_NAMES && !path.startsWith(SCHEMAS));

it('no fault and no topology is known by its name', () => {
  const known = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const found = names.filter((name) => new RegExp(`['"\`]${name}['"\`]`).test(text));
    const asked = /\b(?:fault|topology)\b\)? *[!=]==? *['"`]/.test(text) ? ['(a comparison)'] : [];
    return [...found, ...asked].map((name) => `${path}: ${name}`);
  });
  expect(known).toEqual([]);
});

it('such a name would be found', () => {
  expect(files.length).toBeGreaterThan(100);
  expect(names).toContain('redlock');
});
