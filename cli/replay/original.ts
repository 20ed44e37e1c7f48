/**
 * A run of the past as something to run again. Its `config.json` decides what a run does, so every field is looked at:
 * one that is damaged, missing, or written by a version that knows more than this one is refused in one line, rather
 * than replayed as something else.
 */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readWholeConfig, StoreError } from '../../harness/record/store.js';
import { topologies } from '../../harness/topologies/index.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { workloads } from '../../workloads/index.js';
import { readRun } from '../judge/judge.js';
import { findingsOf, type Original } from '../judge/reproduction.js';
import { LEAST_TIME_LIMIT_MS } from '../run/flags.js';
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
  const config = readWholeConfig(folder);
  if (config.scenario !== undefined)
    throw new StoreError(`${folder} is a play, which is the same each time; play it again: ${config.reproduce}`);
  const problem = configProblem(config);
  if (problem) throw new StoreError(`${join(folder, 'config.json')}: ${problem}; it cannot be replayed`);
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

/** What of a well-formed config this version cannot run, in words; undefined if nothing is. */
export function configProblem(config: RunConfig): string | undefined {
  const { topology, runtime, workload, timeLimitMs } = config;
  return (
    unknown('topology', topology, Object.keys(topologies)) ??
    unknown('runtime', runtime, runtimeNames) ??
    unknown('workload', workload, Object.keys(workloads)) ??
    (timeLimitMs < LEAST_TIME_LIMIT_MS
      ? `timeLimitMs: expected a number from ${LEAST_TIME_LIMIT_MS}, got ${timeLimitMs}`
      : undefined)
  );
}

function unknown(field: string, name: string, names: readonly string[]): string | undefined {
  return names.includes(name)
    ? undefined
    : `${field}: expected one of ${names.join(', ')}, got ${JSON.stringify(name)}`;
}
