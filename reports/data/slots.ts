/** The lanes of the clients as lists of numbers. */

import { OP, OUTCOME } from '../../harness/record/history-table.js';
import { clipped, visible } from '../../harness/record/schemas/foreign-text.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import type { Slot } from '../story/slots.js';
import type { Story } from '../story/story.js';
import type { Keeping } from './keeping.js';
import { differences } from './pack.js';
import type { HoldList, SlotLane, TryList } from './page-data.js';
import { HOLD_ENDS, TRY_OPS, TRY_OUTCOMES } from './page-data.js';

const LONGEST_REASON = 300;

/** Whole microseconds; -1: no end. */
export function wholeUs(ns: number): number {
  return Number.isFinite(ns) ? Math.round(ns / 1e3) : -1;
}

/** The difference of two moments that are both rounded, so that adding it up again gives the second one. */
export function lengthUs(fromNs: number, untilNs: number): number {
  return Number.isFinite(untilNs) ? wholeUs(untilNs) - wholeUs(fromNs) : -1;
}

export class SlotLists {
  readonly reasons: string[] = [];
  private readonly reasonNumbers = new Map<number, number>();
  private readonly tryRows: Map<Slot, number[]>;

  constructor(
    private readonly input: ReportInput,
    private readonly story: Story,
    private readonly keeping: Keeping,
  ) {
    this.tryRows = triesBySlot(input, story);
  }

  lane(slot: Slot): SlotLane {
    const lives = slot.lives.map((life) => ({
      client: visible(life.client),
      fromUs: wholeUs(life.fromNs),
      untilUs: life.down === undefined ? -1 : wholeUs(life.down.atNs),
      reason: visible(clipped(life.down?.reason ?? '', LONGEST_REASON)),
    }));
    return { name: visible(slot.name), lives, holds: this.holds(slot), tries: this.tries(slot) };
  }

  private holds(slot: Slot): HoldList {
    const { holds, history } = this.input;
    const keys = history.operations.keys;
    const out: HoldList = lists(HOLD_LISTS);
    let open: Crowd | undefined;
    const close = () => {
      if (open === undefined) return;
      const length = open.untilNs - open.fromNs;
      put(out, {
        ...open.first,
        lengthUs: lengthUs(open.fromNs, open.untilNs),
        key: open.key,
        count: open.count,
        full: length > 0 ? Math.round((100 * open.heldNs) / length) : 100,
      });
      open = undefined;
    };
    for (const k of slot.holds) {
      const [fromNs, untilNs] = [holds.fromNs[k]!, holds.untilNs[k]!];
      const alone = this.keeping.keeps(fromNs, untilNs) || !Number.isFinite(untilNs);
      if (alone) {
        close();
        put(out, this.hold(slot, holds.hold(k)));
        continue;
      }
      if (open === undefined) {
        const first = this.hold(slot, holds.hold(k));
        open = { first, fromNs, untilNs, heldNs: 0, count: 0, key: first.key! };
      }
      open.untilNs = Math.max(open.untilNs, untilNs);
      open.heldNs += untilNs - fromNs;
      open.count++;
      if (this.story.keys.indexOf(keys[holds.key[k]!]!) !== open.key) open.key = -1;
      if (open.count === this.keeping.together) close();
    }
    close();
    out.fromUs = differences(out.fromUs);
    return out;
  }

  private hold(slot: Slot, hold: Hold): Row {
    const [line] = hold.evidence;
    const asked = line === undefined ? undefined : this.input.history.event(line);
    return {
      fromUs: wholeUs(hold.fromNs),
      waitUs: asked === undefined ? 0 : lengthUs(asked.atNs, hold.fromNs),
      lengthUs: lengthUs(hold.fromNs, hold.untilNs),
      leaseUs: typeof hold.leaseEndNs === 'number' ? lengthUs(hold.fromNs, hold.leaseEndNs) : -1,
      key: this.story.keys.indexOf(hold.key),
      life: slot.lives.findIndex((life) => life.client === hold.client),
      id: hold.id,
      token: hold.token ?? -1,
      end: HOLD_ENDS.indexOf(hold.endedBy),
      line: line ?? -1,
      count: 1,
      full: 100,
    };
  }

  private tries(slot: Slot): TryList {
    const { operations: ops } = this.input.history;
    const out: TryList = lists(TRY_LISTS);
    let together = 0;
    for (const row of this.tryRows.get(slot) ?? []) {
      const [fromNs, untilNs] = [beganNs(ops, row), this.endedNs(slot, row)];
      const last = out.fromUs.length - 1;
      const outcome = outcomeOf(ops.outcome[row]!);
      // Tries of unknown outcome are never drawn together with refused ones.
      if (!this.keeping.keeps(fromNs, untilNs) && together > 0 && together < this.keeping.together) {
        if (out.outcome[last] === outcome) {
          out.count[last]!++;
          out.lengthUs[last] = Math.max(out.lengthUs[last]!, wholeUs(untilNs) - out.fromUs[last]!);
          together++;
          continue;
        }
      }
      together = this.keeping.keeps(fromNs, untilNs) ? 0 : 1;
      put(out, {
        fromUs: wholeUs(fromNs),
        lengthUs: lengthUs(fromNs, untilNs),
        op: TRY_OPS.indexOf(OP_NAMES[ops.op[row]!]!),
        outcome,
        key: this.story.keys.indexOf(ops.keys[ops.key[row]!]!),
        life: slot.lives.findIndex((life) => life.client === ops.clients[ops.client[row]!]),
        reason: this.reason(ops.reason[row]!),
        line: ops.invokeLine[row]!,
        count: 1,
      });
    }
    out.fromUs = differences(out.fromUs);
    return out;
  }

  /** One that was never answered lasted until its process was gone, as far as anybody knows. */
  private endedNs(slot: Slot, row: number): number {
    const { operations: ops } = this.input.history;
    if (!Number.isNaN(ops.endedNs[row]!)) return ops.endedNs[row]!;
    if (!Number.isNaN(ops.readNs[row]!)) return ops.readNs[row]!;
    const life = slot.lives.find((one) => one.client === ops.clients[ops.client[row]!]);
    return life?.down?.atNs ?? this.story.untilNs;
  }

  private reason(reason: number): number {
    if (reason < 0) return -1;
    const known = this.reasonNumbers.get(reason);
    if (known !== undefined) return known;
    const text = this.input.history.operations.reasons[reason]!;
    const number = this.reasons.push(visible(clipped(text, LONGEST_REASON))) - 1;
    this.reasonNumbers.set(reason, number);
    return number;
  }
}

const OP_NAMES = Object.keys(OP) as (keyof typeof OP)[];

interface Crowd {
  first: Row;
  fromNs: number;
  untilNs: number;
  heldNs: number;
  count: number;
  key: number;
}

type Row = Record<string, number>;
const HOLD_LISTS = 'fromUs waitUs lengthUs leaseUs key life id token end line count full'.split(' ');
const TRY_LISTS = 'fromUs lengthUs op outcome key life reason line count'.split(' ');

function lists<Lists>(names: readonly string[]): Lists {
  return Object.fromEntries(names.map((name) => [name, []])) as Lists;
}

function put(out: object, row: Row): void {
  for (const [name, list] of Object.entries(out as Record<string, number[]>)) list.push(row[name]!);
}

function outcomeOf(outcome: number): number {
  const name = outcome === OUTCOME.fail ? 'refused' : outcome === OUTCOME.info ? 'cannot tell' : 'unanswered';
  return TRY_OUTCOMES.indexOf(name);
}

function beganNs(ops: ReportInput['history']['operations'], row: number): number {
  const began = ops.beganNs[row]!;
  return Number.isNaN(began) ? ops.sentNs[row]! : began;
}

function triesBySlot({ history }: ReportInput, story: Story): Map<Slot, number[]> {
  const { operations: ops } = history;
  const bySlot = new Map<Slot, number[]>();
  for (let row = 0; row < ops.count; row++) {
    if (ops.outcome[row] === OUTCOME.ok || ops.op[row] === OP.clock) continue;
    const slot = story.slotOf.get(ops.clients[ops.client[row]!]!);
    if (slot === undefined) continue;
    const rows = bySlot.get(slot);
    if (rows) rows.push(row);
    else bySlot.set(slot, [row]);
  }
  for (const rows of bySlot.values()) rows.sort((a, b) => beganNs(ops, a) - beganNs(ops, b));
  return bySlot;
}
