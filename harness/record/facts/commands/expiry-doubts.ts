/**
 * A key's time was over to within a few milliseconds when a command asked for it: whether it was there still no line tells. What
 * follows may: all commands on it since are read twice, as if it had been there and as if it had not, and a look at the server
 * contradicts one of the two.
 *
 * Example: permits are counted in a number that may have expired when c2 added one. Three more are added and two are given back,
 * and a look finds 2: by what was there it would be 3, so it had expired.
 *
 * Promises: it decides only where nothing but commands of which all is known concerned the key since, and where the look leaves
 * one of the two.
 */
import type { Change } from './changes.js';
import type { Execution } from './execution.js';
import { RunningCommand, type Touched } from './running-command.js';
import { contradicts, type SampleLine } from './samples.js';
import type { ServerClock } from './server-clock.js';
import { ServerKeys } from './server-keys.js';
import { ABSENT, type Origin, type StoredState, type Times, UNKNOWN } from './state.js';

/** A command on the key, as it is read again. */
export interface Ran {
  readonly by: Origin;
  readonly args: readonly string[];
  readonly now: Times;
  readonly ranFromNs: number;
}

/** What became of the key if it was gone, or if it was there. */
interface Course {
  readonly isGone: boolean;
  readonly keys: ServerKeys;
  /** How many commands were read: a look that leaves both courses is followed by others, and by more commands. */
  read: number;
}

interface Doubt {
  /** Since the first one came it is not known. */
  readonly ran: Ran[];
  readonly courses: readonly Course[];
}

/** As a rule a look comes sooner than after so many. */
const MOST_COMMANDS = 256;
/** The database that is looked at. */
const DB = 0;

export class ExpiryDoubts {
  private readonly doubts = new Map<string, Doubt>();

  constructor(
    private readonly clock: ServerClock,
    private readonly read: (execution: Execution) => void,
    /** As of `ServerKeys`. */
    private readonly isExact: boolean,
  ) {}

  /** What a command did to a key. */
  ran({ name, db, before, mayHaveExpired }: Touched, command: Ran): void {
    if (db !== DB) return;
    const doubt = this.doubts.get(name);
    if (doubt && doubt.ran.push(command) > MOST_COMMANDS) this.doubts.delete(name);
    else if (!doubt && mayHaveExpired && before.exists === 'yes')
      this.doubts.set(name, { ran: [command], courses: this.coursesOf(name, before, command) });
  }

  /** Rewrites the changes since by what the look leaves, and tells the state after them; undefined: it leaves both, or none. */
  decide(name: string, changes: Change[], sample: SampleLine, fieldsExpire: boolean): StoredState | undefined {
    const doubt = this.doubts.get(name);
    if (!doubt) return undefined;
    const { line } = doubt.ran[0]!.by;
    const since = changes.findLastIndex((change) => change.line < line) + 1;
    const isKnown = ({ how, clockMs }: Change) => (how === 'command' || how === 'expired') && clockMs === undefined;
    if (changes[since]?.line !== line || !changes.slice(since).every(isKnown)) {
      this.doubts.delete(name);
      return undefined;
    }
    for (const course of doubt.courses) this.readOn(course, doubt.ran);
    const left = doubt.courses
      .map(({ keys }) => keys)
      .filter((keys) => !contradicts(keys.by(keys.key(name, DB).state, sample.wall), name, sample, fieldsExpire));
    const [one, both] = left;
    if (!one || both) return undefined;
    this.doubts.delete(name);
    const { state, changes: replayed } = one.key(name, DB);
    changes.splice(since, changes.length, ...replayed.list);
    return state;
  }

  private coursesOf(name: string, before: StoredState, { by, now, ranFromNs }: Ran): Course[] {
    return [true, false].map((isGone) => {
      const keys = new ServerKeys(this.clock, (other) => other === name, UNKNOWN, this.isExact);
      const { fromMs, untilMs } = before.expires;
      keys.key(name, DB).state = isGone
        ? before
        : { ...before, expires: { fromMs: Math.max(fromMs, now.fromMs), untilMs } };
      keys.ranFromNs = ranFromNs;
      if (isGone) keys.put(name, DB, ABSENT, { how: 'expired', line: by.line, atNs: by.atNs, applied: 'yes' });
      return { isGone, keys, read: 0 };
    });
  }

  private readOn(course: Course, ran: readonly Ran[]): void {
    const { isGone, keys } = course;
    const [first] = ran;
    for (const command of ran.slice(course.read)) {
      keys.ranFromNs = command.ranFromNs;
      // It was there at that instant, which is that of all that the same script did.
      keys.isReplica = !isGone && (command === first || isOfOneScript(command.by, first!.by));
      const execution = new RunningCommand(keys, command.by, command.args, DB, command.now);
      this.read(execution);
      execution.finish();
    }
    keys.isReplica = false;
    course.read = ran.length;
  }
}

function isOfOneScript({ script }: Origin, other: Origin): boolean {
  return script !== undefined && script === other.script;
}
