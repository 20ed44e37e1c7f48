/**
 * `config.json`: its form. Which topologies, runtimes and workloads there are is known to those who start runs; a field
 * that this version does not know is left out.
 */
import * as z from 'zod';
import type { RunConfig } from '../../vocabulary/run.js';
import { FAIL_ON } from './blame.js';
import { describes } from './describes.js';
import { OTHER_SERVICES } from './other-services.js';

const text = z.string().min(1);
const name = text.max(300);
/** A path, or a command. */
const line = text.max(20_000);
const duration = z.number().min(0);
const positive = z.number().positive();

const least = z.int().min(1);

const topologyOptions = z.object({
  nodes: z.int().min(1).max(25),
  persistence: z.enum(['none', 'rdb', 'aof-everysec', 'aof-always']),
  minReplicasToWrite: z.int().min(0),
  maxmemoryPolicy: text.optional(),
  password: text.optional(),
  tls: z.literal(true).optional(),
  redisConf: z.array(z.tuple([z.string(), z.string()])),
});

const bounds = z.object({ min: duration, max: duration });

const part = z.number().min(0).max(1);

const holdHabits = z.object({
  keptOn: part,
  kept: bounds,
  releasedLate: part,
  extended: part,
  besideAnother: part,
  patient: part,
  cancelled: part.optional(),
});

const mixedHolds = z.object({
  briefMs: z.object({ min: positive, max: positive }),
  long: bounds,
  longShare: positive.max(1),
  longOn: positive.max(1).optional(),
  briefWaitMs: z.object({ min: positive, max: positive }).optional(),
  briefTries: part.optional(),
  pauseMs: bounds,
  habits: holdHabits.optional(),
  opening: z.object({ heldMs: positive, waitMs: positive, waiterLeaseMs: positive }).optional(),
});

export const runConfigSchema = describes<RunConfig>()(
  z.object({
    version: z.literal(2),
    runId: name,
    startedAt: text,
    seed: z.int().min(0),
    topology: name,
    service: z.enum(OTHER_SERVICES).optional(),
    topologyOptions,
    runtime: name,
    lock: line,
    cwd: line,
    replayOf: text.optional(),

    workload: name,
    clients: z.int().min(1).max(200),
    callers: z.int().min(2).max(26).optional(),
    keys: z.array(name).min(1).max(1_000),
    turns: z.record(name, z.int().min(0)).optional(),
    startsWithinMs: positive.optional(),
    leaseMs: positive,
    waitMs: duration,
    hold: z.union([bounds, mixedHolds]),
    careless: z.boolean(),
    resource: z.enum(['trusting', 'checking']).optional(),
    timeLimitMs: duration,
    cut: text.optional(),
    nemesis: z.array(name),
    nemesisIntervalMs: positive,
    failOn: z.array(z.enum(FAIL_ON)),
    known: z.object({ fingerprints: z.array(text), allowed: z.boolean() }).optional(),
    atLeast: z.object({ holds: least.optional(), strikes: least.optional(), struckHolds: least.optional() }).optional(),
    stopAtFirst: z.literal(true).optional(),
    scenario: text.optional(),
    redis: z.object({
      path: text,
      loader: z.array(text).optional(),
      env: z.record(z.string(), z.string()),
      version: text,
      origin: text,
      asked: text.optional(),
    }),
    clockShim: text.optional(),
    durableShim: text.optional(),
    linkShaper: text.optional(),
    simShim: text.optional(),
    virtualTime: z.object({ why: text, remedy: text.optional() }).optional(),
    containers: z
      .object({ image: text, clientImage: text, built: z.object({ server: text, client: text }) })
      .optional(),
    toolImage: z.object({ base: text, image: text, command: text, rootless: z.boolean() }).optional(),
    clientArgv: z.array(z.string()),
    unavailable: z.partialRecord(
      z.enum([
        'clock',
        'disk',
        'link',
        'network',
        'process',
        'sync-time',
        'turns',
        'redis',
        'slots-at-once',
        'roles',
        'holds',
        'answers',
      ]),
      z.string(),
    ),
    reproduce: line,
  }),
);
