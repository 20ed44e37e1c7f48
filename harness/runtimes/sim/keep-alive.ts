/**
 * Probes by which a kernel learns that who has an address now knows nothing of a connection on which nothing is said. Only those are
 * sent that find an address moved: any other is answered, and nobody hears of it.
 */
import type { Timeline } from './timeline.js';
import type { WireConnection } from './wire.js';

/** One that was not answered is sent again after so long (TCP_KEEPINTVL, as Node has it). */
const AGAIN_AFTER_NS = 1e9;

/** What becomes of one: `lost` at a cut; `answered` by whom it was meant for, or by another host, which resets the connection. */
export type KeepAliveProbe = (connection: WireConnection) => 'answered' | 'lost';

export class KeepAlive {
  constructor(
    private readonly timeline: Timeline,
    private readonly probe: KeepAliveProbe,
  ) {}

  /** The address that it was made to has moved. */
  moved(connection: WireConnection): void {
    const { keepAliveNs, heardNs } = connection;
    if (keepAliveNs === undefined) return;
    const periods = Math.ceil((this.timeline.nowNs - heardNs) / keepAliveNs);
    this.probeAt(heardNs + Math.max(1, periods) * keepAliveNs, connection);
  }

  private probeAt(atNs: number, connection: WireConnection): void {
    this.timeline.at(atNs, () => {
      if (this.probe(connection) === 'lost') this.probeAt(atNs + AGAIN_AFTER_NS, connection);
    });
  }
}
