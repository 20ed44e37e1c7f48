/**
 * Wall clocks moved away from the machine's. Offsets of overlapping faults on one host add up, and each takes back its
 * own. Proved by asking the program for the time: a clock file that nobody reads moves nothing.
 */
import type { Clock, Host, RedisNode } from '../../harness/api.js';
import { type Hold, healOnce } from './network.js';
import { Serial } from './serial.js';

/** What a program says the time is; undefined where it cannot tell. */
export type ReadWallMs = () => Promise<number | undefined>;

/** A program answers within its own scheduling delay, and the shim changes between two of its readings. */
const TOLERANCE_MS = 250;
const READ_TRIES = 10;
const READ_PAUSE_MS = 20;

export class ClockLever {
  private readonly serial = new Serial();
  private readonly offsets = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** What the host's clock is meant to be off by now, milliseconds. */
  offsetMs(host: Host): number {
    return this.offsets.get(host.name) ?? 0;
  }

  /** Hosts whose clock was ever moved. */
  moved(): readonly string[] {
    return [...this.offsets.keys()];
  }

  /** Adds `offsetMs` to the host's clock; resolves when the program on it says the new time. */
  async skew(host: Host, offsetMs: number, read: ReadWallMs): Promise<Hold> {
    const proof = await this.serial.run(host.name, async () => {
      const before = this.offsetMs(host);
      try {
        return await this.set(host, before + offsetMs, read);
      } catch (error) {
        await this.set(host, before, undefined);
        throw error;
      }
    });
    // A client that was killed meanwhile cannot be asked; the clock of its host is set back all the same.
    const back = () =>
      this.serial.run(host.name, () => this.set(host, this.offsetMs(host) - offsetMs, read, 'may be silent'));
    return { proof, heal: healOnce([host], back) };
  }

  private async set(
    host: Host,
    offsetMs: number,
    read: ReadWallMs | undefined,
    silence?: 'may be silent',
  ): Promise<string> {
    await host.setClock({ offsetMs, ratePpm: 0 });
    this.offsets.set(host.name, offsetMs);
    if (!read) return '';
    const seen = await this.readOffset(read, offsetMs);
    if (seen === undefined) {
      if (silence) return `${host.name}'s clock is set to ${signed(offsetMs)} ms; nobody there can be asked`;
      throw new Error(`${host.name}: its program cannot tell the time, so nothing shows that its clock moved`);
    }
    if (Math.abs(seen - offsetMs) > TOLERANCE_MS) {
      throw new Error(
        `${host.name}: its clock was set to ${signed(offsetMs)} ms, but its program is ${signed(seen)} ms off`,
      );
    }
    return `${host.name}'s program says it is ${signed(seen)} ms off the machine's clock`;
  }

  private async readOffset(read: ReadWallMs, wantedMs: number): Promise<number | undefined> {
    let seen: number | undefined;
    for (let left = READ_TRIES; left > 0; left--) {
      seen = await offsetOf(read, this.clock);
      if (seen === undefined || Math.abs(seen - wantedMs) <= TOLERANCE_MS) return seen;
      await this.clock.sleep(READ_PAUSE_MS);
    }
    return seen;
  }
}

/** How far a program's clock is from the machine's, milliseconds. */
export async function offsetOf(read: ReadWallMs, clock: Clock): Promise<number | undefined> {
  const before = clock.wallMs();
  const told = await read();
  return told === undefined ? undefined : Math.round(told - (before + clock.wallMs()) / 2);
}

/** A server's own wall clock, asked through the channel that no fault cuts. */
export function redisWallMs(node: RedisNode): ReadWallMs {
  return async () => {
    // Sentinels do not know TIME; INFO tells microseconds, too.
    const info = String(await node.command('INFO', 'server'));
    const [, usec] = /server_time_usec:(\d+)/.exec(info) ?? [];
    return usec === undefined ? undefined : Number(usec) / 1_000;
  };
}

export function signed(ms: number): string {
  return ms > 0 ? `+${ms}` : String(ms);
}
