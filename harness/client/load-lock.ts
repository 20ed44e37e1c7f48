/** Finds the lock in a module that a user wrote, and says in one line what is wrong with it if there is none. */
import { listed } from '../record/facts/words.js';
import type { LockDefinition } from '../vocabulary/lock.js';

/** Asks the client program for no more than whether a module can be loaded, and is a lock. */
export const LOAD_ONLY = '--load-only';

/** The module is there but holds no lock, or one that does not fit. */
export class BadLockError extends Error {
  override readonly name = 'BadLockError';
}

/** The lock that `module` exports by default. `path` is for the message only. */
export function lockOf(module: Record<string, unknown>, path: string): LockDefinition {
  // A CommonJS module compiled from `export default` arrives as { default: { default: lock } }.
  const exported = module.default;
  const candidate = hasDefault(exported) && !hasConnect(exported) ? exported.default : exported;
  const wrong = whatIsWrong(candidate, module);
  if (wrong) throw new BadLockError(`${path}: ${wrong}; a lock module ends in \`export default defineLock({ ... })\``);
  return candidate as LockDefinition;
}

function whatIsWrong(candidate: unknown, module: Record<string, unknown>): string | undefined {
  if (candidate === undefined) {
    const others = Object.keys(module).filter((name) => name !== 'default' && name !== 'module.exports');
    return `there is no default export${others.length > 0 ? `, only ${listed(others)}` : ''}`;
  }
  if (typeof candidate === 'function') return `the default export is ${functionInWords(candidate)}, not a lock`;
  if (typeof candidate !== 'object' || candidate === null) {
    return `the default export is ${candidate === null ? 'null' : `a ${typeof candidate}`}, not a lock`;
  }
  if (candidate instanceof Promise) return 'the default export is a promise, not a lock: await it';
  if (!hasConnect(candidate)) return 'the default export has no function `connect`';
  const { name, topologies, features } = candidate as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') return 'the lock has no `name`';
  if (topologies !== undefined && !isTexts(topologies)) return '`topologies` is not an array of strings';
  if (features !== undefined && !isTexts(features)) return '`features` is not an array of strings';
  return undefined;
}

function functionInWords(candidate: object): string {
  const { name } = candidate as { name?: string };
  // Of a default export without a name.
  const called = name && !/default$/.test(name) ? ` ${name}` : '';
  return /^class\b/.test(Function.prototype.toString.call(candidate)) ? `the class${called}` : `a function${called}`;
}

function hasDefault(value: unknown): value is { default: unknown } {
  return typeof value === 'object' && value !== null && 'default' in value;
}

function hasConnect(value: unknown): boolean {
  return typeof (value as { connect?: unknown } | null)?.connect === 'function';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
