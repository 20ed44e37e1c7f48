/**
 * `replay`: runs again what a run did, with its seed, plan and options, against the lock as its file is now, and counts
 * how many replays find what the original had found.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findRun } from '../../harness/record/store.js';
import { topologies } from '../../harness/topologies/index.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { commandLine } from '../common/again.js';
import type { Where } from '../judge/judge-commands.js';
import type { ReplayFlags } from '../run/flags.js';
import type { Asked, Machine } from '../run/machine.js';
import { readPlanFile } from '../run/plan-file.js';
import {
  BUNDLE,
  checkPair,
  createPreparer,
  type PreparedRun,
  planTopology,
  type RunRequest,
} from '../run/prepare-run.js';
import { probeMachine } from '../run/probe-machine.js';
import { saying } from '../run/run-command.js';
import { runSeries, timesOf } from '../run/series.js';
import { type OriginalRun, readOriginal } from './original.js';

/** Resolves with the exit status. Rejects with an error for the user when nothing could be replayed. */
export async function replayCommand(run: string, flags: ReplayFlags, where: Where): Promise<number> {
  const say = saying(flags);
  const original = await readOriginal(findRun(run, where.base, where.cwd));
  const { config, folder } = original;
  const kind = topologies[config.topology]!;
  checkPair(config.lock, kind);

  const machine = await probeMachine(askedOf(flags, config, where), say);
  const planFile = join(folder, 'plan.json');
  const deployment = planTopology(kind, config.topologyOptions, config.clients);
  const plan = readPlanFile(planFile, planFile, deployment, machine.unavailable);
  say(introduction(original, flags));
  const redis = redisNote(config, machine);
  if (redis) say(redis);

  const base = resolve(where.cwd, flags.out);
  const prepare = createPreparer(machine, base, say);
  const again = againOf(original, flags, where);
  return runSeries({
    repetition: flags,
    base,
    json: flags.json,
    original: original.findings,
    prepare: async (n) => {
      const prepared = await prepare(requestOf(config, again), plan);
      const changed = n === 0 && lockChanged(original, prepared);
      if (changed) say(`note: ${config.lock} has changed since the original ran; the lock is taken as it is now`);
      return prepared;
    },
  });
}

/** The original's decisions; what the machine brings and what names a run are made anew. */
function requestOf(config: RunConfig, again: string): RunRequest {
  const { password, ...options } = config.topologyOptions;
  return {
    seed: config.seed,
    topology: config.topology,
    topologyOptions: { ...options, ...(password !== undefined && { password: randomBytes(16).toString('hex') }) },
    lock: config.lock,
    // The lock's path is relative to where the user of the original stood.
    cwd: config.cwd,
    replayOf: config.runId,
    workload: config.workload,
    clients: config.clients,
    keys: config.keys,
    leaseMs: config.leaseMs,
    waitMs: config.waitMs,
    hold: config.hold,
    careless: config.careless,
    timeLimitMs: config.timeLimitMs,
    nemesis: config.nemesis,
    nemesisIntervalMs: config.nemesisIntervalMs,
    failOn: config.failOn,
    again,
  };
}

/** The same runtime; images are part of what ran, and named anew only by the user. */
function askedOf(flags: ReplayFlags, config: RunConfig, where: Where): Asked {
  const redis = redisOf(flags, config, where);
  const image = flags.image ?? config.containers?.image;
  const clientImage = flags.clientImage ?? config.containers?.clientImage;
  return { runtime: config.runtime, redis, image, clientImage };
}

/** A Redis that the user chose is part of what ran; one that was found is whatever this machine has. */
function redisOf(flags: ReplayFlags, config: RunConfig, where: Where): string | undefined {
  if (flags.redis !== undefined) return resolve(where.cwd, flags.redis);
  return config.redis.origin === '--redis' ? config.redis.path : undefined;
}

function redisNote(config: RunConfig, machine: Machine): string | undefined {
  const [then, now] = [config.redis.version, machine.redis.version];
  return then === now ? undefined : `note: this is Redis ${now}; the original ran on ${then}`;
}

function introduction({ findings }: OriginalRun, flags: ReplayFlags): string {
  const times = timesOf(flags);
  const found = findings.findings.map((one) => `${one.class} × ${one.times} [${one.cause}]`).join(', ');
  const often = times === undefined ? 'until it is found again' : times === 1 ? 'once' : `${times} times`;
  return `replaying ${findings.runId} ${often}; it was ${findings.verdict}${found === '' ? '' : `: ${found}`}`;
}

function lockChanged({ folder }: OriginalRun, prepared: PreparedRun): boolean {
  const [then, now] = [join(folder, BUNDLE), join(prepared.folder, BUNDLE)];
  return existsSync(then) && existsSync(now) && !readFileSync(then).equals(readFileSync(now));
}

/** One more replay of the original. By its id where that is enough: what `latest` means has changed by then. */
function againOf({ folder, config }: OriginalRun, flags: ReplayFlags, where: Where): string {
  const named = dirname(folder) === where.base ? config.runId : folder;
  return commandLine([
    'replay',
    named,
    ...(flags.redis === undefined ? [] : ['--redis', flags.redis]),
    ...(flags.image === undefined ? [] : ['--image', flags.image]),
    ...(flags.clientImage === undefined ? [] : ['--client-image', flags.clientImage]),
    ...(flags.out === where.base ? [] : ['--out', flags.out]),
    ...(flags.json ? ['--json'] : []),
  ]);
}
