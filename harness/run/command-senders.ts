/**
 * Which client process sent a command that a server was seen to run.
 *
 * A server names the address and port that a command came from. The address is the host's, where one client process follows
 * another; the port is the connection's. What a dead process had sent may be carried out when its successor is up: say c1 sends
 * SET to a server that is stopped, and is killed; c1.2 comes up in its place, and then the server goes on. So a connection is
 * that process's who had it when it was seen first.
 *
 * One that is seen first when a successor is there may still be the dead one's. It is not where the server had answered a look
 * that was asked after that one had died: by then it had carried out all that had come before. Until then nobody can say whose
 * it is.
 *
 * Excludes the first command of a connection that the network held up for longer than that.
 */

/** The process that has a host now, dead or alive. */
export interface HostsClient {
  readonly name: string;
  /** When its predecessor was known to be dead, ns since the epoch; undefined: it is the host's first. */
  readonly predecessorDeadNs?: number;
}

/** `doubt`: the command may be this process's, or its predecessor's. */
export type Sender = { client: string } | { doubt: string } | undefined;

/** Of one server. */
export class CommandSenders {
  /** By address and port. */
  private readonly known = new Map<string, string>();
  private answeredNs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clientAt: (address: string) => HostsClient | undefined) {}

  /** The server answered a look that was asked then. */
  answered(askedNs: number): void {
    this.answeredNs = askedNs;
  }

  /** `source`: as MONITOR prints it; undefined: nobody's on a client's host. */
  of(source: string): Sender {
    const known = this.known.get(source);
    if (known !== undefined) return { client: known };
    const client = this.clientAt(source.slice(0, source.lastIndexOf(':')));
    if (!client) return undefined;
    if (client.predecessorDeadNs !== undefined && client.predecessorDeadNs >= this.answeredNs)
      return { doubt: client.name };
    this.known.set(source, client.name);
    return { client: client.name };
  }
}
