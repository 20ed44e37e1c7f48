/**
 * Probes by which a kernel learns that who has an address now knows nothing of a connection on which nothing is said. Only those are
 * sent that find an address moved: any other is answered, and nobody hears of it.
 */
import type { Timeline } from './timeline.js';
import type { WireConnection } from './wire.js';

/** One that was not answered is sent again after so long (TCP_KEEPINTVL, as Node has it). */
const AGAIN_AFTER_NS = 1e9;

export class KeepAlive {
  /** `probe`: whether it came there; where the address is another host's, that one has reset the connection then. */
  constructor(
    private readonly timeline: Timeline,
    private readonly open: ReadonlySet<WireConnection>,
    private readonly probe: (connection: WireConnection) => boolean,
  ) {}

  /** Who dialed asks so often while nothing is said. */
  ask(connection: WireConnection, everyMs: number): void {
    connection.keepAliveNs = everyMs * 1e6;
  }

  moved(address: string): void {
    for (const connection of this.open) {
      const { listener, keepAliveNs, heardNs } = connection;
      if (listener.address !== address || keepAliveNs === undefined) continue;
      const periods = Math.ceil((this.timeline.nowNs - heardNs) / keepAliveNs);
      this.probeAt(heardNs + Math.max(1, periods) * keepAliveNs, connection);
    }
  }

  private probeAt(atNs: number, connection: WireConnection): void {
    this.timeline.at(atNs, () => {
      if (this.open.has(connection) && !this.probe(connection)) this.probeAt(atNs + AGAIN_AFTER_NS, connection);
    });
  }
}
