/** `docs/results.schema.json`, the JSON Schema of results.json, from the schema by which the tool reads it. */
import * as z from 'zod';
import { resultsSchema } from '../../harness/record/schemas/results.js';

/** The whole file. */
export function resultsSchemaPage(): string {
  const { $schema, title, description, ...rest } = z.toJSONSchema(resultsSchema, {
    // What the file holds, not what it is read as: null for a time without end.
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties) jsonSchema.additionalProperties = false;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return `${JSON.stringify({ $schema, title, description, ...rest }, null, 2)}\n`;
}
