/**
 * What lines of recorded files must look like, as tables: for each field a check that says what is wrong with its value.
 */
import { shown, shownAsJson, visible } from './schemas/foreign-text.js';

/** Of a problem that names several values. */
const PROBLEM_LENGTH_MAX = 1_000;
const NAME_LENGTH_MAX = 300;

/** What is wrong with a value, or undefined. */
export type Check = (value: unknown) => string | undefined;
export type Fields = Record<string, Check>;
export type JsonObject = Record<string, unknown>;

/** A recorded file that cannot be relied on. The message is one line: the file, the 1-based line, and what is wrong. */
export class DamagedHistory extends Error {
  override name = 'DamagedHistory';

  constructor(
    readonly file: string,
    readonly line: number,
    readonly problem: string,
  ) {
    super(`${visible(file)}, line ${line}: ${shown(problem, PROBLEM_LENGTH_MAX)}`);
  }
}

export const text: Check = (value) => (typeof value === 'string' ? undefined : 'not a string');
/** Whom or what it is about: names are distinguished by every character, so none may have to be cut to be shown. */
export const nameText: Check = (value) =>
  text(value) ?? ((value as string).length > NAME_LENGTH_MAX ? `longer than ${NAME_LENGTH_MAX} characters` : undefined);
export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'not true or false');
export const number: Check = (value) => (Number.isFinite(value) ? undefined : 'not a number');
export const whole: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'not a whole number from 0';
/** What is said only where it is so. */
export const yes: Check = (value) => (value === true ? undefined : 'not true');
/** The harness's own stamps: never before its epoch. */
export const stamp: Check = (value) => number(value) ?? ((value as number) >= 0 ? undefined : 'negative');
export const object: Check = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'not an object';

export function oneOf(...values: readonly unknown[]): Check {
  return (value) =>
    values.includes(value)
      ? undefined
      : `${shownAsJson(value)}, not one of ${values.map((v) => JSON.stringify(v)).join(', ')}`;
}

export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value));
}

export function listOf(check: Check): Check {
  return (value) => (Array.isArray(value) ? value.map(check).find((problem) => problem !== undefined) : 'not a list');
}

/** The object that a line is; a text that says what is wrong with it instead. */
export function parseObject(line: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(line);
    return object(value) === undefined ? (value as JsonObject) : 'not a JSON object';
  } catch (error) {
    return `${NOT_JSON} (${shown((error as Error).message)})`;
  }
}

/** How the problem of a line begins that may just not have been written to its end. */
export const NOT_JSON = 'not JSON';

/** What is wrong with a line whose fields depend on its `type`. */
export function problemOf(value: JsonObject, shapes: Record<string, Fields>, common: Fields): string | undefined {
  const { type } = value;
  if (typeof type !== 'string' || !Object.hasOwn(shapes, type)) {
    return type === undefined ? '"type" is missing' : `unknown type ${shownAsJson(type)}`;
  }
  return fieldProblem(value, common) ?? fieldProblem(value, shapes[type]!);
}

/** What is wrong with the first field that is not as its check wants it. */
export function fieldProblem(value: JsonObject, fields: Fields): string | undefined {
  for (const name in fields) {
    const problem = fields[name]!(value[name]);
    if (problem) return value[name] === undefined ? `"${name}" is missing` : `"${name}" is ${problem}`;
  }
  return undefined;
}
