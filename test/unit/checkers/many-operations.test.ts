/**
 * Every checker here grows as n log n, on histories that are sound and on such as are wrong from end to end. The bound is a
 * ratio of two times measured in one run, so that a busy machine does not matter.
 */
import { expect, it } from 'vitest';
import { ownership } from '../../../checkers/exclusion/ownership.js';
import { permits } from '../../../checkers/exclusion/permits.js';
import { fencing } from '../../../checkers/harm/fencing.js';
import { lostUpdates } from '../../../checkers/harm/lost-updates.js';
import { staleWrites } from '../../../checkers/harm/stale-writes.js';
import { fifo } from '../../../checkers/liveness/fifo.js';
import { waiting } from '../../../checkers/liveness/waiting.js';
import { availability } from '../../../checkers/measures/availability.js';
import { latency } from '../../../checkers/measures/latency.js';
import { lossToNotice } from '../../../checkers/measures/loss-to-notice.js';
import { turnover } from '../../../checkers/measures/turnover.js';
import { historyOf } from '../../../harness/record/history-table.js';
import type { History, HistoryBody, HistoryEvent } from '../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { Checker } from '../../../harness/vocabulary/run.js';
import { growth, LARGEST_GROWTH } from './growth.js';
import { checkInput, KEY, LEASE_MS } from './literal.js';

const checkers: Record<string, [check: Checker, model: LockModel]> = {
  fencing: [fencing, { kind: 'fenced' }],
  'lost-updates': [lostUpdates, { kind: 'mutex' }],
  'stale-writes': [staleWrites, { kind: 'mutex' }],
  fifo: [fifo, { kind: 'fair' }],
  permits: [permits, { kind: 'semaphore', permits: 2 }],
  availability: [availability, { kind: 'mutex' }],
  latency: [latency, { kind: 'mutex' }],
  'loss-to-notice': [lossToNotice, { kind: 'mutex' }],
  turnover: [turnover, { kind: 'mutex' }],
  ownership: [ownership, { kind: 'mutex' }],
  waiting: [waiting, { kind: 'mutex' }],
};

const TURN_NS = 1e6;
const CLIENTS = 10;

/**
 * Turns of 1 ms, one client after the other. Where it is wrong, the counter of tokens began anew half-way, all clients read
 * in pairs what the other is about to overwrite, and a client that asks later than the queued one gets the lock first.
 */
function turns(count: number, wrong: boolean): History {
  const events: HistoryEvent[] = [];
  const at = (ns: number, body: HistoryBody) => events.push({ i: 0, atNs: Math.round(ns), ...body });
  for (let n = 0; n < count; n++) {
    const pair = wrong ? n - (n % 2) : n;
    const startNs = pair * TURN_NS + (wrong && n % 2 === 1 ? 0.1 * TURN_NS : 0);
    const about = { client: `c${n % CLIENTS}`, key: KEY };
    const [id, turnNs] = [4 * n, (part: number) => startNs + part * TURN_NS];
    const operation = (
      place: number,
      op: 'acquire' | 'read' | 'write' | 'release',
      from: number,
      until: number,
      told: object,
    ) => {
      const common = { ...about, id: id + place, op, ...(place > 0 && { hold: id }) };
      const stamps = { beganNs: turnNs(from), endedNs: turnNs(until) };
      at(turnNs(from), { type: 'invoke', ...common, leaseMs: LEASE_MS, ...(op === 'write' && told) });
      at(turnNs(until), { type: 'ok', ...common, ...stamps, ...told });
    };
    const had = wrong && n % 2 === 0 ? 0.4 : 0.2;
    const token = (wrong && n > count / 2 ? n - Math.floor(count / 2) : n) + 1;
    operation(0, 'acquire', 0, had, { token, grantSentNs: turnNs(had - 0.01) });
    at(turnNs(0.05), { type: 'step', client: about.client, name: 'queued', clientNs: turnNs(0.05), hold: id });
    operation(1, 'read', had + 0.05, had + 0.06, { value: wrong ? pair / 2 : n, version: pair });
    const version = wrong ? pair + (n % 2 === 0 ? 2 : 1) : n + 1;
    operation(2, 'write', had + 0.3, had + 0.31, { value: (wrong ? pair / 2 : n) + 1, version });
    operation(3, 'release', had + 0.4, had + 0.41, {});
  }
  return historyOf(events.sort((a, b) => a.atNs - b.atNs).map((event, i) => ({ ...event, i })));
}

const SOUND = { few: turns(2_500, false), many: turns(20_000, false) };
const WRONG = { few: turns(2_500, true), many: turns(20_000, true) };

function growthOf({ check }: Checker, model: LockModel, { few, many }: { few: History; many: History }): number {
  const run = (history: History) => () => void check({ ...checkInput([], model), history });
  return growth(run(few), run(many));
}

it.each(Object.entries(checkers))('%s', (_, [checker, model]) => {
  expect(growthOf(checker, model, SOUND)).toBeLessThan(LARGEST_GROWTH);
  expect(growthOf(checker, model, WRONG)).toBeLessThan(LARGEST_GROWTH);
});

it('the sound history holds, and the wrong one is violated from end to end', () => {
  const judged = (name: string, history: History) => {
    const [{ check }, model] = checkers[name]!;
    return check({ ...checkInput([], model), history });
  };
  for (const name of ['fencing', 'lost-updates', 'stale-writes', 'fifo']) {
    expect(judged(name, SOUND.few).verdict).toBe('valid');
    expect(judged(name, WRONG.few).verdict).toBe('invalid');
  }
  expect(judged('fencing', WRONG.few).stats.fencesNotRisen).toBeGreaterThan(1_000);
  expect(judged('lost-updates', WRONG.few).stats.lostUpdates).toBeGreaterThan(1_000);
  expect(judged('stale-writes', WRONG.few).stats.staleWrites).toBeGreaterThan(1_000);
  expect(judged('fifo', WRONG.few).stats.fifoOvertaken).toBeGreaterThan(1_000);
});
