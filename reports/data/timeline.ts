/** Everything that the page's script draws, from a run as a reader sees it. Pure; decides nothing. */

import { className } from '../../harness/record/facts/classes.js';
import { count, plural } from '../../harness/record/facts/words.js';
import { clipped, visible } from '../../harness/record/schemas/foreign-text.js';
import type { ReportInput } from '../input.js';
import type { NodeBelief } from '../story/beliefs.js';
import { type FaultStory, faultNumber } from '../story/faults.js';
import type { OwnerSpan } from '../story/owners.js';
import type { Mark, Story } from '../story/story.js';
import { windowOf } from '../story/window.js';
import { whatHappened } from '../words.js';
import { type Keeping, keepingOf } from './keeping.js';
import { differences } from './pack.js';
import {
  type FaultBand,
  MOST_KEY_ROWS,
  type NodeLane,
  type OwnerList,
  type PageData,
  type ViolationMark,
} from './page-data.js';
import { plotsOf } from './plots.js';
import { lengthUs, SlotLists, wholeUs } from './slots.js';

const LONGEST_TEXT = 300;
/** The values of keys mean nothing to a reader; their beginning is enough to distinguish them. */
const LONGEST_VALUE = 24;
/** Marks on the timeline: of more, the tables and results.json tell. */
const MOST_MARKS = 5_000;
/** Violations around which the servers' commands are read: as many as have a drawing. */
const MOST_LOOKED_AT = 12;

export interface TimelineData {
  data: PageData;
  /** What is drawn together or left out, for people. */
  notes: string[];
}

export function timelineOf(
  input: ReportInput,
  story: Story,
  marks: readonly Mark[],
  mostSingly?: number,
): TimelineData {
  const keeping: Keeping = keepingOf(input, mostSingly);
  const lists = new SlotLists(input, story, keeping);
  const text = (words: string) => visible(clipped(words, LONGEST_TEXT));
  const { nodes, note } = story.beliefs;
  const owners = ownersAround(marks, story);
  const slots = story.slots.map((slot) => lists.lane(slot));
  const data: PageData = {
    version: 1,
    fromUs: wholeUs(story.fromNs),
    untilUs: wholeUs(story.untilNs),
    leaseMs: input.config.leaseMs,
    epochWallMs: story.epochWallMs,
    keys: story.keys.map(text),
    reasons: lists.reasons,
    slots,
    nodes: nodes.map((node) => nodeLane({ ...node, owners: owners(node) }, story.keys)),
    hosts: story.otherHosts.map(text),
    phases: story.phases.map(({ phase, fromNs, untilNs }) => ({
      name: text(phase),
      fromUs: wholeUs(fromNs),
      untilUs: wholeUs(untilNs),
    })),
    faults: story.faults.flatMap(faultBands),
    promotions: nodes.flatMap(promotionsOf).sort((a, b) => a.atUs - b.atUs),
    violations: marks.slice(0, MOST_MARKS).map((mark) => violationMark(mark, story)),
    plots: plotsOf(input, story),
  };
  const rowless = nodes.length === 0 ? 0 : Math.max(0, story.keys.length - MOST_KEY_ROWS);
  const unmarked = marks.length - data.violations.length;
  return {
    data,
    notes: [
      keeping.note,
      note,
      unmarked > 0 ? `${count(unmarked)} further violations have no mark` : undefined,
      rowless > 0
        ? `${plural(rowless, 'key')} of ${count(story.keys.length)} have no row in the servers’ lanes`
        : undefined,
    ].filter((one) => one !== undefined),
  };
}

/** Of a long run owners are read from samples; around the first violations, where a reader looks closely, from commands too. */
function ownersAround(marks: readonly Mark[], story: Story): (node: NodeBelief) => NodeBelief['owners'] {
  if (story.beliefs.whole) return ({ owners }) => owners;
  const close = marks.slice(0, MOST_LOOKED_AT).map(({ violation }) => {
    const window = windowOf(violation, story);
    return { ...window, nodes: story.beliefs.within(window.fromNs, window.untilNs) };
  });
  return ({ node, owners }) => {
    let all = owners;
    for (const { fromNs, untilNs, nodes } of close) {
      const there = nodes.find((one) => one.node === node)?.owners ?? new Map<string, OwnerSpan[]>();
      const inside = (spans: OwnerSpan[] = []) =>
        spans
          .filter((span) => span.untilNs > fromNs && span.fromNs < untilNs)
          .map((span) => ({
            ...span,
            fromNs: Math.max(span.fromNs, fromNs),
            untilNs: Math.min(span.untilNs, untilNs),
          }));
      const outside = (spans: OwnerSpan[] = []) =>
        spans.flatMap((span) => [
          ...(span.fromNs < fromNs ? [{ ...span, untilNs: Math.min(span.untilNs, fromNs) }] : []),
          ...(span.untilNs > untilNs ? [{ ...span, fromNs: Math.max(span.fromNs, untilNs) }] : []),
        ]);
      all = new Map(
        [...new Set([...all.keys(), ...there.keys()])].map((key) => [
          key,
          [...outside(all.get(key)), ...inside(there.get(key))],
        ]),
      );
    }
    return all;
  };
}

function violationMark({ number, violation }: Mark, story: Story): ViolationMark {
  const { fromNs, untilNs } = windowOf(violation, story);
  const slots = violation.holds.map((hold) => story.slotOf.get(hold.client)?.name ?? hold.client);
  const endNs = Number.isFinite(violation.untilNs) ? violation.untilNs : story.untilNs;
  return {
    number,
    class: violation.class,
    name: className(violation.class),
    key: visible(clipped(violation.key, LONGEST_TEXT)),
    fromUs: wholeUs(violation.fromNs),
    untilUs: wholeUs(endNs),
    windowUs: [wholeUs(fromNs), wholeUs(untilNs)],
    slots: [...new Set(slots.map(visible))],
    what: visible(clipped(whatHappened(violation), LONGEST_TEXT)),
  };
}

function faultBands(fault: FaultStory): FaultBand[] {
  return fault.spans.map((span) => {
    const struck = span.moments.find(({ record }) => record.state === 'strike')?.record.targets;
    const targets = struck ?? [...new Set(span.touches.map(({ target }) => target))];
    return {
      number: faultNumber(fault.step),
      name: visible(clipped(fault.fault, LONGEST_TEXT)),
      targets: targets.map(visible),
      fromUs: wholeUs(span.fromNs),
      untilUs: wholeUs(span.untilNs),
      open: span.ended === 'open',
      did: span.moments.map(({ atNs, record }) => ({
        atUs: wholeUs(atNs),
        text: visible(clipped(`${record.state}: ${record.did}`, LONGEST_TEXT)),
      })),
      touches: span.touches.map(({ target, kinds, fromNs, untilNs }) => ({
        host: visible(target),
        kinds,
        fromUs: wholeUs(fromNs),
        untilUs: wholeUs(untilNs),
      })),
    };
  });
}

/** Each time that a node is seen as primary after it was seen as something else. */
function promotionsOf({ node, roles }: NodeBelief): PageData['promotions'] {
  const told = roles.filter(({ state }) => state === 'primary' || state.startsWith('replica'));
  return told.flatMap(({ state, fromNs }, at) =>
    state === 'primary' && told[at - 1]?.state.startsWith('replica')
      ? [{ node: visible(node), atUs: wholeUs(fromNs) }]
      : [],
  );
}

function nodeLane({ node, roles, owners, restarts, evictions }: NodeBelief, keys: readonly string[]): NodeLane {
  return {
    name: visible(node),
    roles: roles.map(({ state, fromNs, untilNs, skewMs, reason }) => ({
      state,
      fromUs: wholeUs(fromNs),
      untilUs: wholeUs(untilNs),
      skewMs: Math.round(skewMs),
      reason: visible(clipped(reason ?? '', LONGEST_TEXT)),
    })),
    owners: keys.map((key) => ownerList(owners.get(key) ?? [])),
    restartsUs: restarts.map(({ atNs }) => wholeUs(atNs)),
    evictions: evictions.map(({ atNs, key }) => ({ atUs: wholeUs(atNs), key: keys.indexOf(key) })),
  };
}

function ownerList(spans: readonly OwnerSpan[]): OwnerList {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (name: string) => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(visible(name)) - 1;
  };
  const sorted = [...spans].sort((a, b) => a.fromNs - b.fromNs);
  return {
    fromUs: differences(sorted.map(({ fromNs }) => wholeUs(fromNs))),
    lengthUs: sorted.map(({ fromNs, untilNs }) => lengthUs(fromNs, untilNs)),
    leaseUs: sorted.map(({ fromNs, expiresNs }) => lengthUs(fromNs, expiresNs)),
    owner: sorted.map(({ client, value }) => numberOf(client ?? `? ${value.slice(0, LONGEST_VALUE)}`)),
    names,
  };
}
