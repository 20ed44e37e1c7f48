/** No cause can be named that is judged by nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAUSES } from '../../../../checkers/causes/descriptions.js';
import { NEVER_PROBED, ORACLES, PROBED, WITHOUT_ORACLE } from './every-cause.js';

const FOLDER = join(import.meta.dirname, '..');

it('each is judged by an oracle, or says why by none', () => {
  const judged = new Set([...Object.values(ORACLES).flat(), ...Object.keys(WITHOUT_ORACLE), 'unexplained']);
  expect([...judged].sort()).toEqual([...CAUSES].sort());
});

it.each(Object.entries(WITHOUT_ORACLE))('%s has literal tests', (cause, { tests }) => {
  expect(readFileSync(join(FOLDER, tests), 'utf8')).toContain(`'${cause}'`);
});

it.each(Object.keys(ORACLES))('%s demands what it is to name', (oracle) => {
  expect(readFileSync(join(FOLDER, 'causes', oracle), 'utf8')).toContain(`ORACLES['${oracle}']`);
});

it('what the model of a queue judges may be in the way of the probe, or says why not', () => {
  const told = [...Object.keys(PROBED), ...Object.keys(NEVER_PROBED)];
  expect(told.sort()).toEqual([...ORACLES['queue-oracle.test.ts']].sort());
  expect(readFileSync(join(FOLDER, 'causes', 'probe-oracle.test.ts'), 'utf8')).toContain('Object.entries(PROBED)');
});
