/**
 * What harness and lock client say to each other, line by line: the forms by which answers and notices are read, and from
 * which the tables of `docs/protocol.md` are made (`npm run docs`).
 *
 * A field that a client does not know it may leave out or, where it is part of a `value`, send as null.
 */
import * as z from 'zod';
import type {
  AccessValue,
  AcquireValue,
  ClientOptions,
  Deadline,
  Deadlines,
  ExtendValue,
  HandshakeValue,
  LeaseKind,
  LockModel,
  Notice,
  Request,
  Response,
  Starting,
} from '../../vocabulary/protocol.js';
import type { TrustedAuthority } from '../../vocabulary/tls.js';
import type { TopologyDescription } from '../../vocabulary/topology.js';
import { describes } from './describes.js';
import { OTHER_SERVICES } from './other-services.js';

/** What the harness speaks: version 2 only adds to version 1, whose clients are as good as ever. */
export const PROTOCOL_VERSION = 2;

const whole = z.int().min(0);
/** Not `int`: nanoseconds since a machine was started are above 2^53 after 104 days. */
const stamp = z
  .number()
  .min(0)
  .refine(Number.isInteger, 'expected whole nanoseconds')
  .describe('raw CLOCK_MONOTONIC nanoseconds')
  .meta({ type: 'integer' });

/** Left out or null. */
function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();
}

// ------------------------------------------------------------------------------------------------------------ requests

const endpoint = z.object({ name: z.string(), host: z.string(), port: whole });
const password = z.string().optional();
const tls = describes<TrustedAuthority>()(z.object({ ca: z.string(), caFile: z.string().optional() })).optional();

export const topologySchema = describes<TopologyDescription>()(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('single'), node: endpoint, password, tls }),
    z.object({ kind: z.literal('replica'), node: endpoint, password, tls }),
    z.object({ kind: z.literal('sentinel'), masterName: z.string(), sentinels: z.array(endpoint), password, tls }),
    z.object({ kind: z.literal('cluster'), nodes: z.array(endpoint), password, tls }),
    z.object({ kind: z.literal('redlock'), nodes: z.array(endpoint), password, tls }),
    z.object({
      kind: z.literal('redlock-sentinel'),
      nodes: z.array(z.object({ masterName: z.string(), sentinels: z.array(endpoint) })),
      password,
      tls,
    }),
    z.object({
      kind: z.enum(OTHER_SERVICES),
      nodes: z.array(endpoint),
      primary: endpoint.optional(),
      user: z.string().optional(),
      password,
      tls,
    }),
  ]),
);

export const optionsSchema = describes<ClientOptions>()(
  z.object({
    client: z.string().describe('the name of this process, unlike any other of the run'),
    callers: z
      .int()
      .optional()
      .describe('how many callers will ask at the same time, where it is more than one (see [callers](#callers))'),
    leaseMs: z.number().describe("the run's usual lease"),
    commandTimeoutMs: z
      .number()
      .describe('the longest that one Redis command may take before the lock should give up on it'),
    seed: z
      .int()
      .describe(
        "made from the run's seed and the client's name. Seed pauses and choices with it, and a repeated run draws the same. Never draw owner values from it: those must differ between processes, and between runs",
      ),
    resource: endpoint.optional().describe('the server of what the lock protects, in workloads that have one'),
  }),
);

const stopAt = z
  .string()
  .optional()
  .describe(
    'a step: the first time that this operation reaches it, and has said so, the program stops itself with SIGSTOP, before its next command (only sent if `features` has `stop-at`)',
  );
const hold = whole.describe('the `id` of the acquire that granted it');
const caller = z
  .string()
  .optional()
  .describe('which caller of this process asks (only sent if `features` has `callers`; see [callers](#callers))');
const id = whole.describe('unique in the life of the process');

const requests = {
  init: z
    .object({
      id,
      op: z.literal('init'),
      protocol: z
        .literal(PROTOCOL_VERSION)
        .optional()
        .describe('the version of this page, which adds to version 1: a client of that one is as good'),
      topology: topologySchema.describe('where the servers are, see below'),
      options: optionsSchema.describe('see below'),
    })
    .describe('connect to Redis, ready to work'),
  acquire: z
    .object({
      id,
      op: z.literal('acquire'),
      key: z.string().describe('the name of the lock'),
      leaseMs: z.number().describe('for how long it is wanted'),
      waitMs: z.number().describe('for how long to try while another client holds it; 0: one try'),
      mode: z.enum(['read', 'write']).optional().describe('only sent if `features` has `shared`'),
      stopAt,
      caller,
    })
    .describe('take the lock'),
  extend: z
    .object({ id, op: z.literal('extend'), hold, leaseMs: z.number().describe('the new lease'), stopAt, caller })
    .describe('a new lease for a lock that is held'),
  release: z.object({ id, op: z.literal('release'), hold, stopAt, caller }).describe('give it back'),
  cancel: z
    .object({ id, op: z.literal('cancel'), acquire: whole.describe('the `id` of an acquire that is not answered') })
    .describe('whoever waits for it waits no more (only sent if `features` has `cancel`; see [cancel](#cancel))'),
  read: z
    .object({ id, op: z.literal('read'), hold, caller })
    .describe(
      "read the number that the lock protects, under the hold's key, at `options.resource` (only sent if `features` has `resource`)",
    ),
  write: z
    .object({ id, op: z.literal('write'), hold, value: z.number().describe('what is to be stored'), caller })
    .describe('write it (only sent if `features` has `resource`)'),
  clock: z
    .object({ id, op: z.literal('clock') })
    .describe("the program's own wall clock (only sent if `features` has `clock`)"),
};

export const requestSchema = describes<Request>()(
  z.discriminatedUnion('op', [
    requests.init,
    requests.acquire,
    requests.extend,
    requests.release,
    requests.cancel,
    requests.read,
    requests.write,
    requests.clock,
  ]),
);

// ------------------------------------------------------------------------------------------------------------- answers

const stamps = { began: stamp.optional(), ended: stamp.optional() };

export const responseSchema = describes<Response>()(
  z.discriminatedUnion('type', [
    z.object({ id: whole, type: z.literal('ok'), ...stamps, value: z.unknown().optional() }),
    z.object({ id: whole, type: z.literal('fail'), ...stamps, reason: z.string() }),
    z.object({ id: whole, type: z.literal('info'), ...stamps, reason: z.string() }),
  ]),
);

const count = z.int().min(1);

export const lockModelSchema = describes<LockModel>()(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('mutex') }),
    z.object({ kind: z.literal('reentrant'), depth: count }),
    z.object({ kind: z.literal('read-write') }),
    z.object({ kind: z.literal('semaphore'), permits: count }),
    z.object({ kind: z.literal('fenced') }),
    z.object({ kind: z.literal('fair') }),
    z.object({ kind: z.literal('latch'), count }),
  ]),
);

export const LEASE_KINDS = ['timed', 'session', 'none'] as const satisfies readonly LeaseKind[];

const deadline = orNull(describes<Deadline>()(z.union([z.number().positive(), z.literal(['lease', 'never'])])));

export const deadlinesSchema = describes<Deadlines>()(
  z.object({
    place: deadline.describe('a place in the queue, counted from when its client last showed that it waits'),
    permit: deadline.describe('one of several permits, counted from its grant or its last renewal'),
  }),
);

/** The longest that a lock may ask for, to answer. */
const LONGEST_ANSWER_MS = 60_000;

/** What stands for the key in a name that a lock declares. */
export const KEY_PLACE = '{key}';

export const keyNamesSchema = z
  .array(
    z
      .string()
      .max(200)
      .refine((name) => name.split(KEY_PLACE).length === 2, `not a name with ${KEY_PLACE} in it once`),
  )
  .min(1)
  .max(8);

export const handshakeSchema = describes<HandshakeValue>()(
  z.object({
    lock: z.string().describe("the lock's name"),
    features: z
      .array(z.string())
      .nullish()
      .transform((features) => features ?? [])
      .describe('what it can, see below'),
    topologies: orNull(z.array(z.string())).describe('the kinds on which it makes sense; absent: any'),
    model: orNull(lockModelSchema).describe(
      'what it promises: of `kind` `mutex` (if absent), `reentrant` (with `depth`), `read-write`, `semaphore` (with `permits`), `fenced` or `fair`',
    ),
    lease: orNull(z.enum(LEASE_KINDS)).describe(
      'what ends a hold if its holder never does: `timed` (if absent), the lease that was asked for; `session`, the end of its session, which the service ends when it has heard nothing of the client for that long; `none`, nothing, see below',
    ),
    deadlines: orNull(deadlinesSchema).describe(
      'when what a client keeps on the servers ends if nothing more is heard of the client, see below',
    ),
    answersWithinMs: orNull(z.number().positive().max(LONGEST_ANSWER_MS)).describe(
      'for how long an operation may be without an answer on top of its wait, 60000 at most; absent: 4000. For a library that tries on by itself where a server does not answer',
    ),
    keys: orNull(keyNamesSchema).describe(
      'under which names it keeps a key on the servers, see below; absent: under the key itself',
    ),
  }),
);

/** An answer to `init`, for what is said of one that does not fit. */
export const helloSchema = z.object({ value: handshakeSchema });

const validForMs = orNull(z.number()).describe('for how long from `ended` the lock says the grant is good');

export const acquireValueSchema = describes<AcquireValue>()(
  z.object({
    token: orNull(z.number()).describe('a fencing token'),
    validForMs,
    grantSent: orNull(stamp).describe('when the attempt that was granted left the client, see below'),
  }),
);

export const extendValueSchema = describes<ExtendValue>()(
  z.object({ validForMs, sent: orNull(stamp).describe('when the extension left the client') }),
);

const version = whole.describe('how many writes of the key the resource has taken by then, this one included');

export const readValueSchema = describes<Required<AccessValue>>()(
  z.object({ value: z.int().describe('what was stored; 0 before the first write'), version }),
);

export const writeValueSchema = describes<Omit<AccessValue, 'value'>>()(z.object({ version }));

export const clockValueSchema = z.object({ wallMs: z.number().describe('milliseconds since 1970') });

// ------------------------------------------------------------------------------------------------------------- notices

export const noticeSchema = describes<Notice>()(
  z.discriminatedUnion('type', [
    z
      .object({
        type: z.literal('renewed'),
        hold,
        at: stamp.describe('when the renewal was sent'),
        leaseMs: z.number().positive().optional().describe("the new lease; absent: the run's usual one"),
      })
      .describe('a background renewal succeeded; the lease runs anew'),
    z
      .object({
        type: z.literal('lost'),
        hold,
        at: stamp.describe('when it noticed'),
        reason: z.string().optional().describe('why'),
      })
      .describe("the lock's own code has noticed that it no longer holds; the hold ends here"),
    z
      .object({
        type: z.literal('step'),
        name: z.string().describe('its name'),
        at: stamp.describe('when'),
        hold: hold.optional(),
      })
      .describe("a named point in the lock's code was reached, at which a plan can strike"),
  ]),
);

/** What a program may say before it answers `init`. */
export const startingSchema = describes<Starting>()(
  z
    .object({
      type: z.literal('starting'),
      withinMs: z.number().positive().describe('it will have answered `init` so many milliseconds from now'),
    })
    .describe('the program takes long to start'),
);

/** The types of unsolicited lines. */
export const NOTICE_TYPES: readonly unknown[] = noticeSchema.options.map((notice) => notice.shape.type.value);
