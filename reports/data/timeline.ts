/** Everything that the page's script draws, from a run as a reader sees it. Pure; decides nothing. */
import type { ReportInput } from '../input.js';
import { clipped, visible } from '../markup.js';
import type { NodeBelief, OwnerSpan } from '../story/beliefs.js';
import { type FaultStory, faultNumber } from '../story/faults.js';
import type { Mark, Story } from '../story/story.js';
import { windowOf } from '../story/window.js';
import { whatHappened } from '../words.js';
import { type Keeping, keepingOf } from './keeping.js';
import { differences } from './pack.js';
import type { FaultBand, NodeLane, OwnerList, PageData, ViolationMark } from './page-data.js';
import { plotsOf } from './plots.js';
import { lengthUs, SlotLists, wholeUs } from './slots.js';

const LONGEST_TEXT = 300;
/** Values of keys name nobody to a reader; their beginning is enough to tell them apart. */
const LONGEST_VALUE = 24;
/** Marks on the timeline: of more, the tables and results.json tell. */
const MOST_MARKS = 5_000;

export interface Timeline {
  data: PageData;
  /** What is drawn together or left out, for people. */
  notes: string[];
}

export function timelineOf(input: ReportInput, story: Story, marks: readonly Mark[], mostSingly?: number): Timeline {
  const keeping: Keeping = keepingOf(input, mostSingly);
  const lists = new SlotLists(input, story, keeping);
  const text = (words: string) => visible(clipped(words, LONGEST_TEXT));
  const { nodes, note } = story.beliefs;
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
    nodes: nodes.map((node) => nodeLane(node, story.keys)),
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
  const unmarked = marks.length - data.violations.length;
  return {
    data,
    notes: [keeping.note, note, unmarked > 0 ? `${unmarked} further violations have no mark` : undefined].filter(
      (one) => one !== undefined,
    ),
  };
}

function violationMark({ number, violation }: Mark, story: Story): ViolationMark {
  const { fromNs, untilNs } = windowOf(violation, story);
  const slots = violation.holds.map((hold) => story.slotOf.get(hold.client)?.name ?? hold.client);
  const endNs = Number.isFinite(violation.untilNs) ? violation.untilNs : story.untilNs;
  return {
    number,
    class: violation.class,
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
