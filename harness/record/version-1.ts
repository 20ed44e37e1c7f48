/**
 * Reads what version 1 recorded. Fault records of its histories did not tell their effects, nor deployments what a lock takes
 * to be held: both followed from names. Its files of JSON called the command that repeats a run `again`. This is the only
 * place that knows these names. Everything else is the same in both versions.
 *
 * It promises that what it makes of a record is true of it. When a fault began to undo something was not recorded: where
 * that takes no time (a process is continued, a route removed) it is taken for the time of the record. A server that is
 * started again may have answered long before the record of the heal, so it counts as certainly dead only when that was
 * read back.
 */
import type { FaultEffect, HistoryBody } from '../vocabulary/history.js';
import type { Quorum } from '../vocabulary/topology.js';
import { type Check, type Fields, type JsonObject, listOf, number, object, oneOf, optional, text } from './shapes.js';

type FaultBody = Extract<HistoryBody, { type: 'fault' }>;

interface OldFault {
  atNs: number;
  step: number;
  fault: string;
  state: FaultBody['state'];
  targets: string[];
  did: string;
  proof?: string;
  offsetMs?: number;
  ratePpm?: number;
  cut?: [from: string, to: string][];
  forgot?: string[];
}

const pair: Check = (value) =>
  Array.isArray(value) && value.length === 2 ? listOf(text)(value) : 'not a list of pairs';

/** What is to be checked of the records that look different, before they are translated. */
export const version1Fields: Partial<Record<HistoryBody['type'], Fields>> = {
  fault: {
    step: number,
    fault: text,
    state: oneOf('strike', 'phase', 'heal', 'refused', 'failed'),
    targets: listOf(text),
    did: text,
    proof: optional(text),
    offsetMs: optional(number),
    ratePpm: optional(number),
    cut: optional(listOf(pair)),
    forgot: optional(listOf(text)),
  },
  deployment: { topology: text },
};

/** Faults that kill servers, which come back only some time after their heal began. */
const KILLING = new Set(['kill', 'amnesia', 'failover', 'reload', 'forget-granted']);
/** Those that let a cut go before they are healed: their strike says so. */
const CUT_HEALED = '; cut healed; ';
/** How phases begin to tell that nothing more was done. */
const NOTHING_DONE = ['no further cycle', 'went no further', 'a jump was not seen'];

/** Translates the records of one history of version 1, in order. */
export class Version1 {
  /** By step: when something of it was recorded last, and the cut that it has made for the time being. */
  private readonly lastNs = new Map<number, number>();
  private readonly passing = new Map<number, FaultEffect>();

  /** `nodes`: how many nodes the run's configuration asked for, if that is known. */
  constructor(private readonly nodes: number | undefined) {}

  /** The record as it would be written today. Its fields have been checked. */
  translate(event: JsonObject): JsonObject {
    switch (event.type) {
      case 'run':
        return { ...event, version: 2 };
      case 'deployment': {
        const quorum = this.quorum(String(event.topology));
        return { ...event, ...(quorum && { quorum }) };
      }
      case 'fault':
        return this.fault(event as unknown as OldFault);
      default:
        return event;
    }
  }

  private quorum(topology: string): Quorum | undefined {
    if (topology !== 'redlock') return { kind: 'primary' };
    if (this.nodes === undefined) return undefined;
    const nodes = Array.from({ length: this.nodes }, (_, n) => `r${n + 1}`);
    return { kind: 'majority', nodes, majority: Math.floor(nodes.length / 2) + 1 };
  }

  private fault(old: OldFault): JsonObject {
    const { offsetMs, ratePpm, cut, forgot, ...kept } = old;
    const { step, fault, state, atNs } = old;
    const beforeNs = this.lastNs.get(step) ?? atNs;
    this.lastNs.set(step, atNs);
    if (step < 0) return { ...kept, effects: mishapEffects(old), mishap: fault === 'heal' ? 'unhealed' : fault };
    if (state !== 'strike' && state !== 'phase') {
      const undoneAtOnce = state === 'heal' && !KILLING.has(fault);
      return { ...kept, beganNs: undoneAtOnce ? atNs : beforeNs, effects: [] };
    }
    return { ...kept, effects: this.effects(old) };
  }

  private effects(old: OldFault): FaultEffect[] {
    const { step, fault, atNs, did, cut = [], forgot = [] } = old;
    if (NOTHING_DONE.some((words) => did === words)) return [];
    const effects = [...processEffects(old), ...clockEffects(old), ...otherEffects(old)];
    if (cut.length > 0) {
      const effect: FaultEffect = { kind: 'cut', pairs: cut, sinceNs: atNs };
      effects.push(effect);
      if (fault.endsWith('-granted')) this.passing.set(step, effect);
    }
    const passing = this.passing.get(step);
    if (passing && did.includes(CUT_HEALED)) {
      effects.push({ ...passing, untilNs: passing.sinceNs! });
      this.passing.delete(step);
    }
    if (forgot.length > 0) effects.push({ kind: 'forgot', who: forgot });
    return effects;
  }
}

function processEffects({ fault, state, targets: who, did, atNs }: OldFault): FaultEffect[] {
  const struck = state === 'strike';
  switch (fault) {
    case 'pause':
      return struck ? [{ kind: 'stopped', who }] : [];
    case 'slow': {
      const [, stopMs, everyMs] = /for (\d+) ms, every (\d+) ms/.exec(did) ?? [];
      return struck ? [{ kind: 'slowed', who, stopMs: Number(stopMs ?? 0), everyMs: Number(everyMs ?? 0) }] : [];
    }
    case 'kill':
    case 'amnesia':
      return struck ? [{ kind: 'killed', who }] : [];
    case 'failover':
      return struck && did.includes('SIGKILL') ? [{ kind: 'killed', who }] : [];
    case 'reload':
    case 'forget-granted':
      // Killed and started again before it was recorded.
      return /^restarted |SIGKILL/.test(did) ? [{ kind: 'killed', who, sinceNs: atNs, untilNs: atNs }] : [];
    default:
      return [];
  }
}

function clockEffects({ fault, targets, offsetMs, ratePpm }: OldFault): FaultEffect[] {
  // A clock is its host's; c1.2 is the second process on the host c1.
  const who = targets.map((name) => name.replace(/\.\d+$/, ''));
  if (ratePpm !== undefined) return [{ kind: 'clock-drifts', who, ratePpm, gainedMs: offsetMs ?? 0 }];
  if (offsetMs === undefined) return [];
  return [{ kind: fault === 'strobe' ? 'clock-strobes' : 'clock-jumped', who, offsetMs }];
}

function otherEffects({ fault, targets: who, did, state }: OldFault): FaultEffect[] {
  if (fault === 'failover') {
    const [, by] = /^(\S+) replaced \S+$/.exec(did) ?? [];
    if (by !== undefined) return [{ kind: 'replaced', who, by }];
    return state === 'strike' ? [{ kind: 'replaced', who }] : [];
  }
  if (fault !== 'evict') return [];
  const evicted = [...did.matchAll(/(?:: |, )(\S+) evicted (\S+) of /g)];
  return [
    { kind: 'short-of-memory', who },
    ...evicted.map(([, node, key]): FaultEffect => ({ kind: 'evicted', who: [node!], keys: [key!] })),
  ];
}

/** A server that ended by itself is dead from then on. */
function mishapEffects({ fault, targets }: OldFault): FaultEffect[] {
  return fault === 'server' ? [{ kind: 'killed', who: targets }] : [];
}

/** What `config.json`, `results.json` or `matrix.json` holds, as version 2 would have written it. Anything else as it is. */
export function inVersion2(file: unknown): unknown {
  if (!isObject(file) || file.version !== 1) return file;
  // Of a matrix: the runs of each of its rows.
  const rows = listed(file.rows, (row) => ({ ...row, runs: listed(row.runs, renamed) }));
  return { ...renamed(file), version: 2, ...(rows !== undefined && { rows }) };
}

function renamed({ again, ...rest }: JsonObject): JsonObject {
  return again === undefined ? rest : { ...rest, reproduce: again };
}

/** The objects of a list, each changed; what is no list, or no object in it, is left to the schema. */
function listed(value: unknown, change: (item: JsonObject) => JsonObject): unknown {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? change(item) : item)) : value;
}

const isObject = (value: unknown): value is JsonObject => object(value) === undefined;
