/** How the course of events of a replay differs from the one that was found: where first, and what may be why. */
import { exactMoment, listed } from '../../harness/record/facts/words.js';
import { type Message, readMessages } from '../../harness/record/messages.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import { StoreError } from '../../harness/record/store.js';
import { changedSince, type Pins } from './finding.js';

/**
 * `same`: every byte at the same time. `clients`: so is every message to and from a server, and only what the tool and its clients
 * said to each other is not. `messages`: one message is another one, or comes at another time. `unknown`: it is another course,
 * and there are no messages that could say where.
 */
export type SameOrNot =
  | { is: 'same' }
  | { is: 'clients' }
  | { is: 'unknown' }
  | { is: 'messages'; atNs: number; before: string; after: string };

/** What is kept of a play: a digest of everything that was said, and the messages. */
export interface KeptPlay {
  digest: string;
  messages: readonly Message[] | undefined;
}

/** Undefined where `folder` has none that can be read: less is said then, and the schedule is played all the same. */
export function messagesOfPlay(folder: string): Message[] | undefined {
  try {
    return readMessages(folder);
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

/** `then`: as it was found. */
export function comparePlays(then: KeptPlay, now: KeptPlay): SameOrNot {
  if (then.digest === now.digest) return { is: 'same' };
  if (!then.messages || !now.messages) return { is: 'unknown' };
  const most = Math.max(then.messages.length, now.messages.length);
  for (let n = 0; n < most; n++) {
    const [old, other] = [then.messages[n], now.messages[n]];
    if (old && other && isSame(old, other)) continue;
    const atNs = Math.min(...[old, other].map((one) => one?.sentNs ?? Number.POSITIVE_INFINITY));
    return { is: 'messages', atNs, before: words(old), after: words(other) };
  }
  return { is: 'clients' };
}

/** What decides a course. Other fields of a message follow from these, or are a later version's. */
function isSame(a: Message, b: Message): boolean {
  return (
    a.sentNs === b.sentNs &&
    a.arrivedNs === b.arrivedNs &&
    a.connection === b.connection &&
    a.from === b.from &&
    a.to === b.to &&
    a.bytes === b.bytes
  );
}

const LONGEST_BYTES = 60;

/** `c1 → r1 "*3 $3 SET ..." sent at 1,234.567 ms` */
function words(message: Message | undefined): string {
  if (!message) return 'nothing more';
  const { from, to, bytes, sentNs, arrivedNs } = message;
  const said = bytes === undefined ? 'closes its end' : shortened(bytes);
  const comes = arrivedNs === undefined ? 'never comes' : `comes at ${exactMoment(arrivedNs)}`;
  return `${from} → ${to} ${said}, sent at ${exactMoment(sentNs)}, ${comes}`;
}

function shortened(bytes: string): string {
  const line = bytes.trimEnd().replaceAll('\r\n', ' ');
  return `"${visible(line.length > LONGEST_BYTES ? `${line.slice(0, LONGEST_BYTES - 1)}…` : line)}"`;
}

/** In a few words, for a line that says more. */
export function courseWords(course: SameOrNot): string {
  switch (course.is) {
    case 'same':
      return 'every byte at the same time';
    case 'clients':
      return 'every message to and from a server at the same time';
    case 'unknown':
      return 'another course of events';
    case 'messages':
      return `another course of events from ${exactMoment(course.atNs)} on`;
  }
}

/** The same in one line, without hashes, which may be others on another machine for the folder that a lock lies in. */
export function differenceWords(course: SameOrNot, changed: readonly string[]): string {
  if (course.is === 'same') return courseWords(course);
  const since = changed.length > 0 ? `, with another ${listed(changed)}` : '';
  return `${courseWords(course)}${since}`;
}

/** Lines about how it differs, and what of what decides it has changed; none where every byte is the same. */
export function differenceLines(course: SameOrNot, then: Pins, now: Pins): string[] {
  if (course.is === 'same') return [];
  const isRandom = [then, now].some(({ addressing }) => addressing === 'random');
  return [...whereLines(course), whyLine(changedSince(then, now)), ...(isRandom ? [RANDOM_ADDRESSES] : [])];
}

const RANDOM_ADDRESSES =
  'servers have other addresses in each start where a machine refuses to fix them: what a script makes of the order of a table whose keys are objects may be another';

function whereLines(course: Exclude<SameOrNot, { is: 'same' }>): string[] {
  switch (course.is) {
    case 'clients':
      return ['only what lock clients and this tool said to each other is not the same'];
    case 'unknown':
      return ['where it differs first is not known: the finding has no messages that can be read'];
    case 'messages':
      return [`then: ${course.before}`, `now:  ${course.after}`];
  }
}

function whyLine(changed: readonly string[]): string {
  return changed.length > 0
    ? `not as it was when this was found: ${changed.join(', ')}`
    : 'nothing that is pinned has changed: Node, ioredis, lock, server, shim and this tool are what they were';
}
