/**
 * Data from outside against a schema: the value, or one line that says where it does not fit and what was expected there.
 *
 * The line holds no line break and no control character, whatever the data holds: it goes to a terminal.
 */
import * as z from 'zod';
import { shownAsJson } from './foreign-text.js';
import { insteadOf, nearestName } from './names.js';

/** `problem`: one line, such as `steps[2].forMs: expected a number from 0, got "x"`. */
export type Conformed<Value> = { value: Value; problem?: undefined } | { value?: undefined; problem: string };

/** Holds `data` against `schema`. Never throws. */
export function conform<Schema extends z.ZodType>(schema: Schema, data: unknown): Conformed<z.output<Schema>> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return { value: parsed.data };
  // Words are asked for only now: with parameters a parse takes ten times as long, and a file may hold millions of values.
  const { error } = schema.safeParse(data, { error: expectedBy, reportInput: true });
  return { problem: oneLine(lineOf(error!.issues[0]!)) };
}

/** As `conform`, and a field that the schema does not name is a problem at any depth, where `conform` may leave it out. */
export function conformWhole<Schema extends z.ZodType>(schema: Schema, data: unknown): Conformed<z.output<Schema>> {
  const conformed = conform(schema, data);
  const leftOut = conformed.problem === undefined ? leftOutOf(data, conformed.value) : undefined;
  return leftOut === undefined
    ? conformed
    : { problem: oneLine(`unknown field ${shownAsJson(leftOut, SHOWN_LENGTH_MAX)}`) };
}

/** The name of the first field of `data` that `value` has not. */
function leftOutOf(data: unknown, value: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  for (const [name, given] of Object.entries(data)) {
    if (!Object.hasOwn(value as object, name)) return name;
    const deeper = leftOutOf(given, (value as Record<string, unknown>)[name]);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** JSON text, to be held against a schema by `conformed`. Never throws where that does not. */
export function conformText<Value>(text: string, conformed: (data: unknown) => Conformed<Value>): Conformed<Value> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return { problem: oneLine(`not JSON (${(error as Error).message})`) };
  }
  return conformed(data);
}

// ---------------------------------------------------------------------------------------------------- what was expected

type Raw = z.core.$ZodRawIssue;
type Issue = z.core.$ZodIssue;

/** What a schema wants, as a noun: "a whole number from 1". A refinement's own message is a whole sentence and goes first. */
function expectedBy(issue: Raw): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
    case 'too_small':
    case 'too_big':
      return isOf(issue, 'number') ? numberWords(issue) : sizeWords(issue);
    case 'invalid_value':
      return choice(issue.values);
    case 'unrecognized_keys':
      return unknownField(issue);
    case 'invalid_union':
      return issue.options === undefined ? undefined : choice(issue.options as z.core.util.Primitive[]);
    default:
      return undefined;
  }
}

const TYPE_WORDS: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
};

function isOf(issue: Raw, type: string): boolean {
  return schemaOf(issue)?._zod.def.type === type;
}

function schemaOf(issue: Raw): z.core.$ZodType | undefined {
  return (issue.schema ?? issue.inst) as z.core.$ZodType | undefined;
}

function numberWords(issue: Raw): string {
  const { type, minimum, exclusiveMinimum, maximum } = z.toJSONSchema(schemaOf(issue)!);
  return [
    type === 'integer' ? 'a whole number' : 'a number',
    exclusiveMinimum !== undefined ? ` above ${exclusiveMinimum}` : isChosen(minimum) ? ` from ${minimum}` : '',
    isChosen(maximum) ? ` to ${maximum}` : '',
  ].join('');
}

/** Not one of the bounds that every whole number has which a program can tell from its neighbours. */
function isChosen(bound: number | undefined): boolean {
  return bound !== undefined && Math.abs(bound) !== Number.MAX_SAFE_INTEGER;
}

function sizeWords(issue: Raw): string | undefined {
  const type = schemaOf(issue)?._zod.def.type ?? '';
  const words = TYPE_WORDS[type];
  if (issue.code === 'invalid_type') return words ?? TYPE_WORDS[String(issue.expected)];
  if (type === 'tuple') return `a list of ${issue.minimum ?? issue.maximum}`;
  return type === 'string' || type === 'array' ? `${words} that is not empty` : words;
}

function choice(values: readonly z.core.util.Primitive[]): string {
  const words = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return words.length === 1 ? JSON.stringify(values[0])! : `one of ${words.join(', ')}`;
}

function unknownField(issue: Raw): string {
  const known = Object.keys((schemaOf(issue)?._zod.def as { shape?: object } | undefined)?.shape ?? {});
  const [field] = issue.keys as string[];
  return `unknown field ${shownAsJson(field, SHOWN_LENGTH_MAX)}${known.length > 0 ? `; ${insteadOf(field!, known)}` : ''}`;
}

// -------------------------------------------------------------------------------------------------------------- the line

function lineOf(issue: Issue, above: readonly PropertyKey[] = []): string {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return unionLine(issue, path);
  const place = placeOf(path);
  return `${place}${place && ': '}${problemOf(issue)}`;
}

/** `values`: what may stand there, as far as they are listed. */
function problemOf(issue: Issue, values = valuesOf(issue)): string {
  const { code, message, input } = issue;
  if (code === 'custom' || code === 'unrecognized_keys') return message;
  const value = code === 'invalid_union' && 'discriminator' in issue ? inField(input, issue) : input;
  if (value === undefined) return `missing, expected ${message}`;
  const names = values.filter((one) => typeof one === 'string');
  const near = typeof value === 'string' ? nearestName(value, names) : undefined;
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  return `expected ${message}, got ${shownAsJson(value, SHOWN_LENGTH_MAX)}${meant}`;
}

function valuesOf(issue: Issue): readonly unknown[] {
  if (issue.code === 'invalid_value') return issue.values;
  return 'options' in issue ? (issue.options as unknown[]) : [];
}

/** Of a union discriminated by a field, what stands in that field. */
function inField(input: unknown, issue: Issue): unknown {
  return (input as Record<PropertyKey, unknown> | undefined)?.[issue.path.at(-1)!];
}

/** For data that is nearly one of several things: what it lacks to be that; else what it may be. */
function unionLine(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): string {
  const firsts = issue.errors.map(([first]) => first!);
  const near = firsts.find(({ path, code }) => path.length > 0 || code === 'unrecognized_keys');
  if (near) return lineOf(near, path);
  const message = firsts.map((first) => first.message).join(' or ');
  const place = placeOf(path);
  return `${place}${place && ': '}${problemOf({ ...issue, errors: [], message }, firsts.flatMap(valuesOf))}`;
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((place, part) => {
    if (typeof part === 'number') return `${place}[${part}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(String(part))) return `${place}[${shownAsJson(String(part), SHOWN_LENGTH_MAX)}]`;
    return place === '' ? String(part) : `${place}.${String(part)}`;
  }, '');
}

const SHOWN_LENGTH_MAX = 60;

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
