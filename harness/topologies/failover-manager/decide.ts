/**
 * What a failover manager does about what it sees: pure functions, from views of the servers to actions.
 *
 * They promise that no server is promoted that never had any of the primary's data; that none is promoted because the manager
 * itself was cut off or asleep; and that there is one primary in its eyes at any time: a server that comes back and takes
 * itself for one is made to follow. Where a primary has handed over to a replica (`FAILOVER TO`), the manager follows
 * suit. They exclude a second opinion: as with keepalived, one observer who has lost the
 * primary replaces it, though clients may still reach it.
 */

/** One server as the manager sees it. */
export interface ServerView {
  readonly name: string;
  readonly address: string;
  /** Whether the last check got its PONG. A server that loads its data or runs a long script gives none. */
  readonly answers: boolean;
  /** When the last PONG came; absent: there never was one. */
  readonly answeredNs?: number;
  /** When the check that it answered last was sent. */
  readonly askedNs?: number;
  /** When it first said that it has the role that it has now. */
  readonly roleSinceNs?: number;
  /** What it last said of itself; absent: it never said anything. */
  readonly said?: Saying;
}

export interface Saying {
  readonly role: 'primary' | 'replica';
  /** Address of the primary that a replica follows. */
  readonly follows?: string;
  /** How much of the replication stream it has. */
  readonly offset: number;
  /** Which stream that is a part of: two servers with the same one have the same data up to the lower offset. */
  readonly stream: string;
  /** The stream that it was a part of before it was promoted. */
  readonly formerStream?: string;
  /** It was told to let a replica take its place (`FAILOVER`), and is about it. */
  readonly handsOver?: true;
}

export interface Memory {
  readonly primary: string;
  /** Streams of this primary and those before it, latest last. */
  readonly streams: readonly string[];
  /** Since when the manager has been awake and has heard of somebody: silence before that says nothing of a server. */
  readonly attentiveNs: number;
}

/** One look at all servers. */
export interface Survey {
  readonly atNs: number;
  /** How much later it is than it should be: the manager itself got no processor for so long. */
  readonly lateMs: number;
  readonly servers: readonly ServerView[];
}

export type Action =
  /** Becomes the primary. */
  | { do: 'promote'; server: string; why: string }
  /** Is the primary already, in agreement with the one before it: an operator let it take over. */
  | { do: 'adopt'; server: string; why: string }
  /** Becomes a replica of the primary, whatever it was. */
  | { do: 'follow'; server: string; was: 'primary' | 'replica' }
  /** There is something to do, and no server with which it can be done. */
  | { do: 'wait'; why: string };

/**
 * Learns from a look what the next decision needs: whether the manager could have heard an answer, and the streams of the
 * primary's data (a server that has a part of none has none of the data).
 */
export function remember(memory: Memory, look: Survey, downAfterMs: number): Memory {
  // When a cut is healed around it, one server is heard again before another: the primary gets its full time from there.
  const deaf = look.servers.every(({ answers }) => !answers);
  const attentive = !deaf && look.lateMs < downAfterMs / 2;
  return {
    ...memory,
    attentiveNs: attentive ? memory.attentiveNs : look.atNs,
    streams: streamsNow(memory, primaryOf(memory, look)),
  };
}

/** What to do now, all of it at once. */
export function actionsFor(memory: Memory, look: Survey, downAfterMs: number): Action[] {
  const primary = primaryOf(memory, look);
  const others = look.servers.filter((server) => server !== primary);
  if (primary.answers) return keepTogether(memory, primary, others);
  const silentMs = (look.atNs - Math.max(primary.answeredNs ?? 0, memory.attentiveNs)) / 1e6;
  if (silentMs < downAfterMs) return [];
  const successor = bestOf(memory, others);
  if (!successor) return [{ do: 'wait', why: `${primary.name} does not answer, and ${whyNoSuccessor(others)}` }];
  const why = `${primary.name} has not answered for ${Math.round(silentMs)} ms; ${whyThis(successor, memory, others)}`;
  return [{ do: 'promote', server: successor.name, why }];
}

function primaryOf(memory: Memory, { servers }: Survey): ServerView {
  const primary = servers.find(({ name }) => name === memory.primary);
  if (!primary) throw new Error(`the manager was not told of its primary ${memory.primary}`);
  return primary;
}

function streamsNow({ streams }: Memory, { answers, said }: ServerView): readonly string[] {
  if (!answers || said?.role !== 'primary') return streams;
  const { formerStream, stream } = said;
  const known = streams.filter((one) => one !== stream);
  const former = formerStream !== undefined && !known.includes(formerStream) ? [formerStream] : [];
  return [...known, ...former, stream];
}

function keepTogether(memory: Memory, primary: ServerView, others: readonly ServerView[]): Action[] {
  if (primary.said?.handsOver) return [];
  if (primary.said?.role !== 'primary') {
    const heir = others.find(({ answers, address }) => answers && address === primary.said?.follows);
    // What it last said may be older than what happened to the primary.
    if (heir && !wasAskedSince(heir, primary)) return [];
    if (heir?.said?.role === 'primary' && rankOf(heir, memory) >= 0) {
      return [{ do: 'adopt', server: heir.name, why: `${primary.name} has handed over to it` }];
    }
    return [{ do: 'promote', server: primary.name, why: 'the primary itself says that it is a replica' }];
  }
  return others.flatMap((other): Action[] => {
    const { answers, said, name } = other;
    if (!answers || !said || (said.role === 'replica' && said.follows === primary.address)) return [];
    // The primary may be about to say that it has handed over to this one.
    if (said.role === 'primary' && !wasAskedSince(primary, other)) return [];
    return [{ do: 'follow', server: name, was: said.role }];
  });
}

/** Whether what `one` last said is not older than the present role of the other. */
function wasAskedSince(one: ServerView, other: ServerView): boolean {
  return one.askedNs! > other.roleSinceNs!;
}

/** Who answers and has most of the latest stream. A promotion that was done but not confirmed leaves a primary: also fine. */
function bestOf(memory: Memory, others: readonly ServerView[]): ServerView | undefined {
  const rank = (server: ServerView) => rankOf(server, memory);
  return others
    .filter((server) => server.answers && rank(server) >= 0)
    .sort((a, b) => rank(b) - rank(a) || b.said!.offset - a.said!.offset || (a.name < b.name ? -1 : 1))[0];
}

/** The later the stream that it has a part of, the higher; -1: it has a part of none. */
function rankOf({ said }: ServerView, { streams }: Memory): number {
  if (!said) return -1;
  return Math.max(streams.lastIndexOf(said.stream), said.formerStream ? streams.lastIndexOf(said.formerStream) : -1);
}

function whyNoSuccessor(others: readonly ServerView[]): string {
  const reachable = others.filter(({ answers }) => answers);
  if (reachable.length === 0) return 'no other server is reachable';
  return `no reachable server ever had its data (${reachable.map(({ name }) => name).join(', ')})`;
}

function whyThis(chosen: ServerView, memory: Memory, others: readonly ServerView[]): string {
  const reachable = others.filter((server) => server.answers && rankOf(server, memory) >= 0);
  const offset = chosen.said!.offset;
  if (reachable.length === 1) return `${chosen.name} is the only one reachable (offset ${offset})`;
  const rest = reachable.filter((server) => server !== chosen).map(({ name, said }) => `${name} ${said!.offset}`);
  return `${chosen.name} has the greatest replication offset, ${offset} (${rest.join(', ')})`;
}
