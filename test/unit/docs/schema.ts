/** The published schema of results.json, and what of some results does not fit it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

export const SCHEMA = resolve(import.meta.dirname, '../../../docs/results.schema.json');
const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'));
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

/** As a file has them; empty where everything fits. */
export function schemaTroubles(results: unknown): string[] {
  validate(JSON.parse(JSON.stringify(results)));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
