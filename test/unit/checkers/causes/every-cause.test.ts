/** No cause can be named that is judged by nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAUSES } from '../../../../checkers/causes/descriptions.js';
import { ORACLES, WITHOUT_ORACLE } from './every-cause.js';

const FOLDER = join(import.meta.dirname, '..');

it('each is judged by an oracle, or says why by none', () => {
  const judged = [...Object.values(ORACLES).flat(), ...Object.keys(WITHOUT_ORACLE), 'unexplained'];
  expect(judged.sort()).toEqual([...CAUSES].sort());
});

it.each(Object.entries(WITHOUT_ORACLE))('%s has literal tests', (cause, { tests }) => {
  expect(readFileSync(join(FOLDER, tests), 'utf8')).toContain(`'${cause}'`);
});

it.each(Object.keys(ORACLES))('%s demands what it is to name', (oracle) => {
  expect(readFileSync(join(FOLDER, 'causes', oracle), 'utf8')).toContain(`ORACLES['${oracle}']`);
});
