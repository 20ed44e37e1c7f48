/** A violation told step by step: what its clients did and what the cause's evidence shows, in the order of time. */

import { durationOfMs, moment } from '../../harness/record/facts/words.js';
import type { Hold, Violation } from '../../harness/vocabulary/verdict.js';
import { holdName } from '../words.js';
import type { NodeBelief } from './beliefs.js';

export interface Step {
  atNs: number;
  text: string;
  /** `client`: of the holds themselves; `cause`: a link of the cause's chain; `wrong`: from here (or until here) two held. */
  kind: 'client' | 'cause' | 'wrong';
  history?: number;
  observation?: number;
}

/** Steps of a cause that are listed; results.json has all. */
const MOST_LINKS = 40;

export function stepsOf(violation: Violation): Step[] {
  const { holds, cause } = violation;
  const steps = [
    ...holds.slice(0, 8).flatMap((hold) => holdSteps(hold, violation)),
    ...cause.chain.slice(0, MOST_LINKS).map(({ atNs, text, history, observation }): Step => {
      return { atNs, text, kind: 'cause', history, observation };
    }),
  ].filter(({ atNs }) => Number.isFinite(atNs));
  // What happened at the same instant stays in the order in which it was recorded.
  return steps
    .map((step, at) => ({ step, at }))
    .sort((a, b) => a.step.atNs - b.step.atNs || a.at - b.at)
    .map(({ step }) => step);
}

function holdSteps(hold: Hold, violation: Violation): Step[] {
  const { client, key, leaseMs, leaseEndNs, token } = hold;
  const named = token === undefined ? '' : ` with token ${token}`;
  const lease = Number.isFinite(leaseEndNs)
    ? `; its lease of ${durationOfMs(leaseMs)} runs until ${moment(leaseEndNs)}`
    : '';
  const begins = hold.fromNs === violation.fromNs && violation.kind === 'overlap';
  const other = violation.holds.find((one) => one !== hold);
  const wrong = begins && other !== undefined ? `, which ${other.client} still holds` : '';
  const steps: Step[] = [
    {
      atNs: hold.fromNs,
      kind: begins ? 'wrong' : 'client',
      text: `${holdName(hold)} is granted ${key}${named}${wrong}${lease}`,
      history: hold.evidence[1],
    },
  ];
  const last = hold.evidence.at(-1);
  const ends = hold.untilNs === violation.untilNs && violation.kind === 'overlap';
  if (hold.endedBy !== 'history-end')
    steps.push({
      atNs: hold.untilNs,
      kind: ends ? 'wrong' : 'client',
      text: `${client} ${ENDINGS[hold.endedBy]}${ends ? ': the overlap ends' : ''}${answerWords(hold)}`,
      history: last,
    });
  // Where it ended in time, that its lease went on says nothing.
  const told = violation.cause.chain.some((link) => Math.abs(link.atNs - leaseEndNs) < 1e3);
  if (!told && leaseEndNs < hold.untilNs)
    steps.push({ atNs: leaseEndNs, kind: 'client', text: `${client}’s lease of ${key} ends, and it goes on` });
  return steps;
}

const ENDINGS: Record<Exclude<Hold['endedBy'], 'history-end'>, string> = {
  release: 'begins to release it',
  'client-down': 'is gone',
  lost: 'learns that it has lost it',
};

function answerWords({ endedBy, released }: Hold): string {
  if (endedBy !== 'release' || released === undefined || released === 'ok') return '';
  return released === 'fail' ? ' (answered: it was not its own any more)' : ' (the answer never came)';
}

/** What a node believed at one moment. */
export interface Believed {
  node: string;
  role: string;
  /** Whom it took for the owner of the key; undefined: none. */
  owner?: string;
  /** Milliseconds until the key was to expire; undefined: never. */
  leaseLeftMs?: number;
}

export function believedAt(nodes: readonly NodeBelief[], key: string, atNs: number): Believed[] {
  return nodes.map(({ node, roles, owners }) => {
    const role = roles.find(({ fromNs, untilNs }) => fromNs <= atNs && atNs < untilNs);
    const span = (owners.get(key) ?? []).find(({ fromNs, untilNs }) => fromNs <= atNs && atNs < untilNs);
    return {
      node,
      role: role === undefined ? 'unknown' : (ROLES[role.state] ?? role.state),
      ...(span !== undefined && { owner: span.client ?? `somebody who stored ${span.value.slice(0, 40)}` }),
      ...(span !== undefined && Number.isFinite(span.expiresNs) && { leaseLeftMs: (span.expiresNs - atNs) / 1e6 }),
    };
  });
}

const ROLES: Record<string, string> = {
  primary: 'primary',
  replica: 'replica',
  'replica-cut': 'replica, cut off from its primary',
  unwatched: 'down or stopped: it could not be observed',
};
