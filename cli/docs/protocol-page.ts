/**
 * `docs/protocol.md`: prose by hand, and tables of fields between markers, `<!-- fields of requests -->` to
 * `<!-- end of fields -->`, from the schemas by which lines are read.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import {
  acquireValueSchema,
  clockValueSchema,
  deadlinesSchema,
  extendValueSchema,
  handshakeSchema,
  noticeSchema,
  optionsSchema,
  readValueSchema,
  requestSchema,
  startingSchema,
  writeValueSchema,
} from '../../harness/record/schemas/protocol.js';

/** The page with its tables made anew. Throws where a marker names no table, or a table has no marker. */
export function protocolPage(path: string): string {
  const tables = new Map(Object.entries(TABLES));
  const page = readFileSync(path, 'utf8').replace(MARKED, (_, name: string) => {
    const table = tables.get(name);
    if (!table) throw new Error(`${path} marks a table of "${name}", which there is not, or twice`);
    tables.delete(name);
    return `<!-- fields of ${name} -->\n\n${table()}\n\n<!-- end of fields -->`;
  });
  if (tables.size > 0) throw new Error(`${path} has no marker for fields of ${[...tables.keys()].join(', ')}`);
  return page;
}

const MARKED = /<!-- fields of (\w+) -->[\s\S]*?<!-- end of fields -->/g;

const TABLES: Record<string, () => string> = {
  starting: () => messages('type', 'says', [startingSchema]),
  requests: () => messages('op', 'wanted', requestSchema.options),
  options: () => table(['field of `options`', 'type', 'says'], fieldRows(optionsSchema)),
  values: () =>
    table(
      ['answer to', 'field of `value`', 'type', 'says'],
      Object.entries({
        init: handshakeSchema,
        acquire: acquireValueSchema,
        extend: extendValueSchema,
        read: readValueSchema,
        write: writeValueSchema,
        clock: clockValueSchema,
      }).flatMap(([op, schema]) => fieldRows(schema).map((row, n) => [n === 0 ? `\`${op}\`` : '', ...row])),
    ),
  deadlines: () => table(['field of `deadlines`', 'type', 'when it ends'], fieldRows(deadlinesSchema)),
  notices: () => messages('type', 'says', noticeSchema.options),
};

/** One row for each message, by the field that tells it from the others, and below it one for each other field. */
function messages(by: string, head: string, schemas: readonly z.ZodObject[]): string {
  const rows = schemas.flatMap((schema) => {
    const name = (schema.shape[by] as z.ZodLiteral<string>).value;
    return [
      [`\`${name}\``, '', '', schema.description ?? ''],
      ...fieldRows(schema, ['id', by]).map((row) => ['', ...row]),
    ];
  });
  return table([`\`${by}\``, 'field', 'type', head], rows);
}

interface Described {
  type?: string | string[];
  enum?: unknown[];
  items?: Described;
  anyOf?: Described[];
  oneOf?: Described[];
  description?: string;
}

function fieldRows(schema: z.ZodObject, but: readonly string[] = []): string[][] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties as Record<string, Described>)
    .filter(([name]) => !but.includes(name))
    .map(([name, field]) => [
      `\`${name}\``,
      `${typeOf(field)}${required.includes(name) ? '' : ', optional'}`,
      field.description ?? '',
    ]);
}

function typeOf({ type, enum: choices, items, anyOf, oneOf }: Described): string {
  const forms = (anyOf ?? oneOf)?.filter((one) => one.type !== 'null').map(typeOf);
  if (forms?.length) return [...new Set(forms)].join(' or ');
  if (choices) return choices.map((choice) => `\`${choice}\``).join(' or ');
  const [plain] = [type].flat().filter((one) => one !== 'null');
  return plain === 'array' ? `array of ${typeOf(items ?? {})}s` : (plain ?? 'object');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replace(/ {2,}/g, ' ');
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
