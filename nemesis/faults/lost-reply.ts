/**
 * What the node sends to the clients is lost, and nothing else: commands arrive and are carried out, their answers never
 * come. TCP notices nothing for a while: the node's kernel sends again and again, and so does the client's, which gets no
 * acknowledgement. New connections cannot be made, so the fault is about those that exist when it strikes, and is over
 * for a client as soon as that gives its connection up.
 *
 * So it must strike while commands flow, and proves that it did: a command that ran after the cut, and its answer, still
 * unacknowledged in the node's kernel.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import { Refusal, waitFor, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { oneWay } from '../levers/network.js';
import { connectionsOf, endName } from '../striking/connections.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { slotNamed } from '../striking/step-watch.js';
import { isNode, namesOf, resolveTarget, type StruckNode } from '../striking/targets.js';
import { requireOneWay } from './one-way.js';

const POLL_MS = 10;
const MARKER_TIMEOUT_MS = 1_000;
/** More of them tell no more. */
const MOST_ENDINGS = 12;

export const lostReply: NemesisFault = {
  name: 'lost-reply',
  summary: 'what a node answers to clients is lost, while their commands arrive and are carried out',
  explained: {
    does: "Everything that the node sends to the clients' hosts is dropped, nothing that they send to it: commands on existing connections are carried out and never answered. New connections cannot be made, so a client that gives its connection up is cut off until the heal.",
    proof:
      "The blackhole routes are read back from the node's routing table. Then a command on one of the run's locks must run on the node after the cut (MONITOR, in the node's own order), and its answer must be found unacknowledged in the node's kernel (`/proc/net/tcp`); if none comes while the step lasts, the strike is recorded as failed. The heal says how many commands went unanswered and how the clients' operations ended.",
    breaks:
      'Locks that take a time-out for "not acquired" leave an orphaned key that refuses everybody for a lease; a careful lock says that it cannot tell, and the key stands just as long. A release that is carried out and not answered is no harm. No exclusion is broken by it alone.',
  },
  effects: ['cut'],
  targets: ['primary', 'one', 'minority', 'majority', 'all'],
  strikes: ['node'],
  needs: ['network', 'redis'],
  args: {},
  unfit: () => undefined,
  // Once every client has given its connection up there are no answers left that could be lost.
  shape: () => ({ lane: 'servers', forMs: { min: 1_000, max: 2_500 }, leastMs: 800, settleMs: 1_500 }),
  async strike(step, context) {
    const struck = (await resolveTarget(step, context)).filter(isNode);
    const data = struck.filter(({ node }) => node.kind === 'redis');
    if (data.length === 0) throw new Refusal('only data nodes are sent commands');
    const pairs = oneWay(
      data.map(({ host }) => host),
      context.clientHosts,
    );
    await requireOneWay(pairs, context);
    return InForce.strike(async (inForce) => {
      const endings = await inForce.add(new Endings(context));
      const watches = await inForce.addAll(data.map((one) => Unanswered.watch(one, endings, context)));
      const sinceNs = context.clock.nowNs();
      const cut = await inForce.add(context.levers.network.cut(pairs));
      const shown = await Promise.all(watches.map((watch) => watch.firstLoss(step)));
      return {
        sinceNs,
        record: {
          targets: namesOf(data),
          did: `cut what ${words(namesOf(data))} answer${data.length === 1 ? 's' : ''} to clients`,
          proof: [cut.proof, ...shown].join('; '),
          effects: [...cut.effects],
        },
        heal: () => inForce.heal(),
      };
    });
  },
};

interface Lost {
  /** The client's end of the connection. */
  source: string;
  client: Host;
  command: string;
}

/** Commands of clients that one node ran since its answers have been cut off. */
class Unanswered {
  private readonly lost: Lost[] = [];
  private marker: string | undefined;
  private cut = false;
  private close: () => void = () => {};

  /** What the run's keys are called on the servers. */
  private readonly names: readonly string[];

  private constructor(
    private readonly struck: StruckNode,
    private readonly endings: Endings,
    private readonly context: NemesisContext,
  ) {
    this.names = context.keys.map((key) => context.keyName(key));
  }

  static async watch(struck: StruckNode, endings: Endings, context: NemesisContext): Promise<Unanswered> {
    const watch = new Unanswered(struck, endings, context);
    const monitoring = await struck.node.monitor(({ source, argv }) => watch.ran(source, argv));
    watch.close = () => monitoring.close();
    return watch;
  }

  /** Resolves with the proof that an answer was lost; rejects when no command came in time. */
  async firstLoss(step: PlanStep): Promise<string> {
    const { name } = this.struck;
    await this.mark();
    const found = await waitFor(() => this.unacknowledged(), {
      timeoutMs: step.forMs,
      pollMs: POLL_MS,
      doing: `before a command of a client ran on ${name}`,
      context: this.context,
    });
    if (found) return found;
    throw new Error(
      this.lost.length === 0
        ? `no command on ${words(this.context.keys)} arrived at ${name} within ${step.forMs} ms of the cut`
        : `${counted(this.lost.length)} ran on ${name} after the cut (${this.lost[0]!.command} of ${this.lost[0]!.client.name} first), but no answer was found unacknowledged`,
    );
  }

  async heal(): Promise<string> {
    this.close();
    const by = words([...new Set(this.lost.map(({ client }) => client.name))]);
    return `${this.struck.name} ran ${counted(this.lost.length)} of ${by} unanswered`;
  }

  /** What comes after this in the node's own order ran after the cut, whatever any clock says. */
  private async mark(): Promise<void> {
    const { node, name } = this.struck;
    const marker = `cut ${this.context.clock.nowNs()}`;
    this.marker = marker;
    await node.command('ECHO', marker);
    const seen = await waitFor(() => this.cut || undefined, {
      timeoutMs: MARKER_TIMEOUT_MS,
      pollMs: 1,
      doing: `before ${name} could be watched`,
      context: this.context,
    });
    if (!seen) throw new Error(`${name} does not show the commands that it runs`);
  }

  private ran(source: string, argv: readonly string[]): void {
    if (!this.cut) {
      this.cut = this.marker !== undefined && argv[0]?.toUpperCase() === 'ECHO' && argv[1] === this.marker;
      return;
    }
    const address = source.slice(0, source.lastIndexOf(':'));
    const client = this.context.clientHosts.find((host) => host.address === address);
    if (!client || !argv.some((argument) => this.names.includes(argument))) return;
    this.lost.push({ source, client, command: argv[0]!.toUpperCase() });
    this.endings.concern(client);
  }

  /** The answer to one of the commands, unacknowledged: the client's kernel does not have it. */
  private async unacknowledged(): Promise<string | undefined> {
    if (this.lost.length === 0) return undefined;
    const { name, host } = this.struck;
    const connections = await connectionsOf(host);
    for (const { source, client, command } of this.lost) {
      const bytes = connections.find(({ peer }) => endName(peer) === source)?.unacknowledged ?? 0;
      if (bytes > 0) {
        return `${name} ran ${command} of ${client.name} after the cut, and ${bytes} bytes for ${source} lie unacknowledged in its kernel`;
      }
    }
    return undefined;
  }
}

/** How the operations of those clients end whose answers are lost. */
class Endings {
  private readonly slots = new Set<string>();
  private readonly told: string[] = [];
  private readonly unsubscribe: () => void;

  constructor(context: NemesisContext) {
    this.unsubscribe = context.subscribe((event) => this.heard(event));
  }

  concern(client: Host): void {
    this.slots.add(client.name);
  }

  async heal(): Promise<string> {
    this.unsubscribe();
    return this.told.length > 0 ? `meanwhile ${this.told.join(', ')}` : '';
  }

  private heard(event: HistoryEvent): void {
    if (event.type !== 'ok' && event.type !== 'fail' && event.type !== 'info') return;
    if (!this.slots.has(slotNamed(event.client)) || this.told.length >= MOST_ENDINGS) return;
    this.told.push(`${event.op} of ${event.client} ended ${event.type}`);
  }
}

function counted(commands: number): string {
  return commands === 1 ? 'one command' : `${commands} commands`;
}
