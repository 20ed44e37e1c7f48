/** Parsers for what users type: durations, counts, ranges, lists. Each throws one clear line. */

import { InvalidArgumentError } from 'commander';
import { FAIL_ON } from '../../harness/record/schemas/blame.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import type { FailOn } from '../../harness/vocabulary/verdict.js';
import type { HoldTimes, ResourceMode } from '../../harness/vocabulary/workload.js';

const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `1.5s`, `2m` to milliseconds. A bare number is refused: its unit is unknown. */
export function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const ms = match ? Number(match[1]) * UNITS_MS[match[2]!]! : Number.NaN;
  if (!Number.isFinite(ms)) {
    const like = /^\d+(\.\d+)?$/.test(text) ? `${text}ms, ${text}s or ${text}m` : '500ms, 30s or 2m';
    throw new InvalidArgumentError(`"${text}" is not a duration; write ${like}.`);
  }
  return Math.round(ms);
}

/** As `duration`, but more than nothing. */
export function positiveDurationMs(text: string): number {
  const ms = durationMs(text);
  if (ms <= 0) throw new InvalidArgumentError(`"${text}" must be more than nothing.`);
  return ms;
}

/** A whole number within bounds, both included. */
export function wholeNumberIn(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`"${text}" is not a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** One part of what several machines share. `index`: from 1 on. */
export interface WorkShard {
  index: number;
  of: number;
}

/** `2/8`: the second of eight. */
export function workShard(text: string): WorkShard {
  const [, index, of] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (index === undefined || of === undefined || index < 1 || index > of)
    throw new InvalidArgumentError(`"${text}" is no shard; write 2/8 for the second of eight.`);
  return { index, of };
}

/** Of things in an order that everybody has them in, those of this part: every `of`th. All of them where there are no parts. */
export function ofShard<T>(all: readonly T[], shard: WorkShard | undefined): T[] {
  return all.filter((_, n) => shard === undefined || n % shard.of === shard.index - 1);
}

/** A setting's name as its flag has it: `timeLimit` is `time-limit`. */
export function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `0.1x..0.7x` or `0.5x`: parts of the lease. */
export function holdRange(text: string): HoldTimes {
  const match = /^(\d+(?:\.\d+)?)x(?:\.\.(\d+(?:\.\d+)?)x)?$/.exec(text);
  const min = Number(match?.[1]);
  const max = match?.[2] === undefined ? min : Number(match[2]);
  if (!match || min > max || max > 100) {
    throw new InvalidArgumentError(`"${text}" is not a part of the lease; write 0.5x, or 0.1x..1.5x for a range.`);
  }
  return { min, max };
}

export const RESOURCE_MODES: ResourceMode[] = ['trusting', 'checking'];

/** `exclusion,stale`, `lock`: which findings fail a run, by their class or by whose mistake they are; `none` for none of them. */
export function failOn(text: string): FailOn[] {
  if (text === 'none') return [];
  return text.split(',').map((name) => {
    const found = FAIL_ON.find((known) => known === name.trim());
    if (!found)
      throw new InvalidArgumentError(
        `"${name}" is neither a class of findings nor "lock"; ${insteadOf(name.trim(), [...FAIL_ON, 'none'])}.`,
      );
    return found;
  });
}

/** `KEY=VALUE` of redis.conf, collected over repeated flags. */
export function keyValue(text: string, before: [string, string][]): [string, string][] {
  const at = text.indexOf('=');
  const key = text.slice(0, at);
  // A directive ends at the end of its line: a newline would smuggle in another.
  if (at <= 0 || !/^[a-zA-Z0-9-]+$/.test(key) || /[\r\n]/.test(text)) {
    throw new InvalidArgumentError(`"${text}" is not KEY=VALUE, as in maxmemory=10mb.`);
  }
  return [...before, [key, text.slice(at + 1)]];
}

/** One of the names given, or a line with the nearest and those that are `shown`, which are all unless given. */
export function nameAmong<T extends string>(names: readonly T[], shown: readonly T[] = names): (text: string) => T {
  return (text) => {
    const found = names.find((name) => name === text);
    if (!found) throw new InvalidArgumentError(`"${text}" is not known; ${insteadOf(text, names, { shown })}.`);
    return found;
  };
}

/** An argument as it can be pasted into a shell. For display only: nothing here is ever given to a shell. */
export function quote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
