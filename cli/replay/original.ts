/**
 * A run of the past as something to run again. Its `config.json` decides what a run does, so every field is looked at:
 * one that is damaged, missing, or written by a version that knows more than this one is refused in one line, rather
 * than replayed as something else.
 */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, StoreError } from '../../harness/record/store.js';
import { topologies } from '../../harness/topologies/index.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { workloads } from '../../workloads/index.js';
import { CLASSES, RESOURCE_MODES } from '../common/values.js';
import { readRun } from '../judge/judge.js';
import { findingsOf, type Original } from '../judge/reproduction.js';
import { LEAST_TIME_LIMIT_MS } from '../run/run-command.js';
import { runtimeNames } from '../run/runtimes.js';

export interface OriginalRun {
  /** Not through `latest`, which will mean another run soon. */
  folder: string;
  config: RunConfig;
  findings: Original;
}

/** Reads a run and judges it as today's checkers do, so that its findings compare with those of its replays. */
export async function readOriginal(found: string): Promise<OriginalRun> {
  const folder = realpathSync(found);
  const config = readConfig(folder);
  const problem = configProblem(config as unknown as Json);
  if (problem) {
    throw new StoreError(
      `${join(folder, 'config.json')}: ${problem}; it is damaged or of another version, and cannot be replayed`,
    );
  }
  if (config.scenario !== undefined)
    throw new StoreError(`${folder} is a play, which is the same each time; play it again: ${config.again}`);
  const { results } = await readRun(folder).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    throw new StoreError(`${folder} cannot be replayed: it recorded nothing that a replay could be compared with`);
  });
  const { verdict, violations } = results;
  return {
    folder,
    config,
    findings: { runId: config.runId, verdict, findings: findingsOf(violations), failOn: config.failOn },
  };
}

// -------------------------------------------------------------------------------------------------- what a config holds

type Json = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string' && value !== '';
const flag: Check = (value) => typeof value === 'boolean';
const number: Check = (value) => typeof value === 'number' && value >= 0;
const whole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const positive: Check = (value) => number(value) && value !== 0;
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (names: readonly unknown[]): Check =>
  (value) =>
    names.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const object =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isObject(value) && problemIn(value, fields) === undefined;
const texts: Check = (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string');

/** The compiler sees to it that a new field of a config is told apart from damage. */
const FIELDS: Record<keyof RunConfig, Check> = {
  version: oneOf([1]),
  runId: text,
  startedAt: text,
  seed: whole,
  topology: oneOf(Object.keys(topologies)),
  topologyOptions: object({
    nodes: positive,
    persistence: oneOf(['none', 'rdb', 'aof-everysec', 'aof-always']),
    minReplicasToWrite: whole,
    maxmemoryPolicy: optional(text),
    password: optional(text),
    redisConf: list((pair) => list((one) => typeof one === 'string')(pair) && (pair as unknown[]).length === 2),
  }),
  runtime: oneOf(runtimeNames),
  lock: text,
  cwd: text,
  replayOf: optional(text),
  workload: oneOf(Object.keys(workloads)),
  clients: (value) => whole(value) && value !== 0,
  keys: (value) => list(text)(value) && (value as unknown[]).length > 0,
  leaseMs: positive,
  waitMs: number,
  hold: object({ min: number, max: number }),
  careless: flag,
  resource: optional(oneOf(RESOURCE_MODES)),
  timeLimitMs: (value) => number(value) && (value as number) >= LEAST_TIME_LIMIT_MS,
  nemesis: list(text),
  nemesisIntervalMs: positive,
  failOn: list(oneOf(CLASSES)),
  stopAtFirst: optional(oneOf([true])),
  scenario: optional(text),
  redis: object({ path: text, env: texts, version: text, origin: text }),
  clockShim: optional(text),
  containers: optional(object({ image: text, clientImage: text, built: object({ server: text, client: text }) })),
  clientArgv: list((one) => typeof one === 'string'),
  unavailable: texts,
  again: text,
};

/** What is wrong with a config, in words; undefined if nothing is. */
export function configProblem(config: Json): string | undefined {
  return problemIn(config, FIELDS);
}

function problemIn(value: Json, fields: Record<string, Check>): string | undefined {
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) return `it has a field "${unknown}" that this version does not know`;
  const wrong = Object.keys(fields).find((name) => !fields[name]!(value[name]));
  if (wrong === undefined) return undefined;
  if (value[wrong] === undefined) return `"${wrong}" is missing`;
  const shown = JSON.stringify(value[wrong]);
  return `"${wrong}" cannot be ${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}`;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
