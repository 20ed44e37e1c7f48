/**
 * A violation of a simulated run told as what clients and servers said to each other: every message that the two holds and their
 * cause are made of, with what the server carried out, what came late and what never came.
 *
 * Excludes tries that were refused at once and changed nothing: of those there are thousands, and they are counted.
 */

import { className } from '../../harness/record/facts/classes.js';
import { type Exchange, exchangesOf } from '../../harness/record/facts/exchanges.js';
import { duration, plural } from '../../harness/record/facts/words.js';
import type { Message } from '../../harness/record/messages.js';
import type { Hold, Violation } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import type { Story } from '../story/story.js';
import type { Entry, Way } from './entry.js';
import { endsOf, expiriesOf, notesOf } from './notes.js';
import { exchangeEndNs, grantsOf, operationsOn, REACH_BACK_NS, selected, type ToldSpan } from './selection.js';
import {
  answerInWords,
  argumentsInWords,
  listOfAtMost,
  namesOfOwners,
  type OwnerNames,
  scriptInWords,
  scriptsIn,
} from './words.js';

export interface Sequence {
  /** Columns: clients first. */
  hosts: string[];
  entries: Entry[];
  /** When two held at once, or what was wrong began and ended. */
  wrong: { fromNs: number; untilNs: number; text: string };
  /** Of the violation's key, by those hosts, in that time. */
  holds: { host: string; hold: Hold }[];
  fromNs: number;
  untilNs: number;
  /** Of stopped, dead or cut-off hosts. */
  struck: { host: string; fromNs: number; untilNs: number; text: string }[];
  /** What is not told, in words. */
  leftOut?: string;
}

const MS = 1e6;
/** What follows at once is told, too: the answer that a release got. */
const AFTERWARDS_NS = 5 * MS;
/** A message that is on its way for longer than this has been delayed by something. */
const USUAL_NS = MS;
/** More would not be read. */
const MOST_ENTRIES = 120;

/** Undefined where the run has no messages, or none of them is about the violation. */
export function sequenceOf(input: ReportInput, story: Story, violation: Violation): Sequence | undefined {
  const { messages } = input;
  if (messages === undefined) return undefined;
  const hostOf = hostsOfClients(input);
  const clientHosts = new Set(hostOf.values());
  const exchanges = exchangesOf(messages, (host) => clientHosts.has(host));
  const owners = namesOfOwners(exchanges);
  const scripts = scriptsIn(exchanges);
  const about = exchanges.filter(({ argv }) => argv.some((arg) => arg.includes(violation.key)));
  const operations = operationsOn(input, violation.key, hostOf);
  const window = windowOf(violation);
  const { kept, refused } = selected(about, operations, window);
  if (kept.length === 0) return undefined;
  const grants = grantsOf(violation, operations, hostOf);
  const told = new Set([...kept.flatMap(({ operation }) => operation ?? []), ...grants]);
  const fromNs = Math.min(
    window.fromNs,
    ...kept.map(({ exchange }) => exchange.request.sentNs),
    ...grants.map(({ untilNs }) => untilNs),
  );
  const untilNs = Math.max(window.untilNs, ...kept.map(({ exchange }) => exchangeEndNs(exchange, window.untilNs)));
  const clients = [
    ...new Set([
      ...kept.map(({ exchange }) => exchange.client),
      ...violation.holds.map((one) => hostOf.get(one.client) ?? one.client),
    ]),
  ];
  const servers = [...new Set(kept.map(({ exchange }) => exchange.server))];
  const hosts = [...clients.sort(byName), ...servers.sort(byName)];
  const inside = (ns: number) => ns >= fromNs && ns <= untilNs;
  const entries = [
    ...kept.flatMap(({ exchange }) => messagesOf(exchange, input, owners, scripts)),
    ...[...told].flatMap((operation) => notesOf(operation, violation)),
    ...expiriesOf(story, violation, servers, { fromNs, untilNs }, owners),
    ...faultNotes(story, hosts, hostOf).filter(({ atNs }) => inside(atNs)),
    ...endsOf(violation, hostOf).filter(({ atNs }) => inside(atNs)),
  ];
  const sorted = entries.sort((a, b) => a.atNs - b.atNs);
  // However much is said in between, both grants stand in it.
  const isGrant = (entry: Entry) => entry.kind === 'note' && entry.tone === 'hold';
  const untold = sorted.slice(0, -MOST_ENTRIES).filter((entry) => !isGrant(entry)).length;
  const cut = sorted.filter((entry, n) => n >= sorted.length - MOST_ENTRIES || isGrant(entry));
  const leftOut = [
    refused > 0
      ? `${plural(refused, 'try', 'tries')} that ${refused === 1 ? 'was' : 'were'} refused at once`
      : undefined,
    untold > 0 ? `the first ${plural(untold, 'line')}` : undefined,
  ].filter((one) => one !== undefined);
  return {
    hosts,
    entries: cut,
    wrong: { fromNs: violation.fromNs, untilNs: violation.untilNs, text: wrongInWords(violation) },
    holds: holdsWithin(input, violation.key, hostOf, hosts, { fromNs, untilNs }),
    fromNs: Math.min(fromNs, cut[0]!.atNs),
    untilNs: Math.max(untilNs, cut.at(-1)!.atNs),
    struck: struckHosts(story, hosts, hostOf, { fromNs, untilNs }),
    ...(leftOut.length > 0 && { leftOut: leftOut.join(', and ') }),
  };
}

function wrongInWords({ kind, class: name, key, holds }: Violation): string {
  const [one, other] = holds;
  if (kind !== 'overlap' || !one || !other) return `${className(name)}: ${kind}`;
  return holds.length > 2
    ? `${holds.length} hold ${key} at once`
    : `${one.client} and ${other.client} both hold ${key}`;
}

function windowOf(violation: Violation): ToldSpan {
  const moments = [
    violation.fromNs,
    ...violation.holds.map((hold) => hold.grantSentNs),
    ...violation.cause.chain.map(({ atNs }) => atNs),
  ].filter((ns) => Number.isFinite(ns) && ns >= violation.fromNs - REACH_BACK_NS);
  const endNs = Number.isFinite(violation.untilNs) ? violation.untilNs : violation.fromNs;
  return { fromNs: Math.min(...moments), untilNs: endNs + AFTERWARDS_NS };
}

function messagesOf(
  exchange: Exchange,
  input: ReportInput,
  owners: OwnerNames,
  scripts: ReadonlyMap<string, string>,
): Entry[] {
  const { client, server, argv, request, answer } = exchange;
  const ran = commandsOfScript(exchange, input);
  const there: Entry = {
    kind: 'message',
    atNs: request.sentNs,
    from: client,
    to: server,
    text: argumentsInWords(argv, owners, scriptInWords(argv, ran, scripts)),
    way: wayOf(request),
  };
  if (!answer) return [there];
  const text = answerInWords(answer.value, owners);
  return [
    there,
    {
      kind: 'message',
      atNs: answer.message.sentNs,
      from: server,
      to: client,
      text:
        ran.length > 0
          ? `${text}  (ran ${listOfAtMost(
              ran.map((command) => argumentsInWords(command, owners)),
              '; ',
            )})`
          : text,
      way: wayOf(answer.message),
    },
  ];
}

function wayOf({ sentNs, arrivedNs, heldNs, resentNs, isLost }: Message): Way {
  if (arrivedNs === undefined) {
    const why = isLost
      ? 'lost, and its connection with it'
      : heldNs === undefined
        ? 'never arrives: its connection was closed or reset'
        : 'never arrives: a cut stops it';
    return { trouble: why };
  }
  const longNs = arrivedNs - sentNs;
  if (heldNs !== undefined) return { arrivedNs, trouble: `${duration(longNs)} on its way: it met a cut` };
  if (resentNs !== undefined)
    return { arrivedNs, trouble: `${duration(longNs)} on its way: it was lost, and sent again` };
  return longNs > USUAL_NS ? { arrivedNs, trouble: `${duration(longNs)} on its way` } : { arrivedNs };
}

/** A server's clock, in which its commands are stamped, is told to a fraction of a microsecond. */
const STAMP_ERROR_NS = 2e3;

/** What a script called, as the server itself tells. */
function commandsOfScript({ server, answer }: Exchange, { observations, history }: ReportInput): (readonly string[])[] {
  const run = history.rare.find((event) => event.type === 'run');
  if (!answer || run === undefined) return [];
  const atNs = answer.message.sentNs;
  const found: (readonly string[])[] = [];
  for (const [, one] of observations.commands(atNs - MS, atNs + 50 * MS)) {
    const ranNs = (one.serverWallMs - run.epochWallMs) * MS;
    if (one.node === server && one.source === 'lua' && Math.abs(ranNs - atNs) <= STAMP_ERROR_NS) found.push(one.argv);
  }
  return found;
}

function touchesOf(story: Story, hosts: readonly string[], hostOf: ReadonlyMap<string, string>) {
  return story.faults
    .flatMap(({ fault, spans }) =>
      spans.flatMap(({ touches }) =>
        touches.map(({ target, kinds, fromNs, untilNs }) => ({
          host: hostOf.get(target) ?? target,
          text: kinds.length > 0 && kinds[0] !== 'struck' ? `${fault}: ${kinds.join(', ')}` : fault,
          fault,
          fromNs,
          untilNs,
        })),
      ),
    )
    .filter(({ host }) => hosts.includes(host));
}

function faultNotes(story: Story, hosts: readonly string[], hostOf: ReadonlyMap<string, string>): Entry[] {
  return touchesOf(story, hosts, hostOf).flatMap(({ host, text, fault, fromNs, untilNs }): Entry[] => [
    { kind: 'note', atNs: fromNs, host, text, tone: 'fault' },
    { kind: 'note', atNs: untilNs, host, text: `${fault} is over`, tone: 'fault' },
  ]);
}

function struckHosts(
  story: Story,
  hosts: readonly string[],
  hostOf: ReadonlyMap<string, string>,
  window: ToldSpan,
): Sequence['struck'] {
  return touchesOf(story, hosts, hostOf).filter(
    ({ fromNs, untilNs }) => fromNs <= window.untilNs && untilNs >= window.fromNs,
  );
}

function holdsWithin(
  { holds, history }: ReportInput,
  key: string,
  hostOf: ReadonlyMap<string, string>,
  hosts: readonly string[],
  { fromNs, untilNs }: ToldSpan,
): Sequence['holds'] {
  const found: Sequence['holds'] = [];
  for (let k = 0; k < holds.count; k++) {
    if (history.operations.keys[holds.key[k]!] !== key || holds.fromNs[k]! > untilNs || holds.untilNs[k]! < fromNs)
      continue;
    const hold = holds.hold(k);
    const host = hostOf.get(hold.client) ?? hold.client;
    if (hosts.includes(host)) found.push({ host, hold });
  }
  return found;
}

/** Client processes by their names: one that was killed has a successor on the same host. */
function hostsOfClients({ history }: ReportInput): Map<string, string> {
  return new Map(history.rare.flatMap((event) => (event.type === 'client-up' ? [[event.client, event.host]] : [])));
}

function byName(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
