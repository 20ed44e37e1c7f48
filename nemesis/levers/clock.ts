/**
 * Wall clocks moved away from the machine's: jumps, drifts, and clocks that go to and fro. What overlapping faults do to
 * one host adds up, whatever its kind, and each takes back its own: a jump during a drift keeps what the drift has gained,
 * and a drift that ends takes back all that it gained. So a clock is right again when the last of them is healed.
 *
 * Proved by asking the program for the time: a clock file that is not read moves nothing. A reading is believed only as
 * far as it is exact: an answer that took long says little.
 */
import type { Host } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { Interrupted, message, Refusal } from './basics.js';
import { type EffectSeen, type Grip, healOnce } from './network.js';
import { Serial } from './serial.js';

/** What a program says the time is; undefined where it cannot tell. */
export type ReadWallMs = () => Promise<number | undefined>;

/** A clock that can be sent to and fro between where it was and its offset. */
export interface StrobeHold extends Grip {
  /** To the other end; resolves with what the program says there, rejects when it does not say it. */
  flip(): Promise<string>;
}

/** Programs read the time in whole milliseconds, and servers remember it for the length of a command. */
const SLACK_MS = 5;
const READ_TRIES = 10;
const READ_PAUSE_MS = 20;
/** A drift shows within a second or two; longer only where answers take long. */
const RATE_TIMEOUT_MS = 5_000;
const RATE_POLL_MS = 25;
/** What the machine's own clock may be slewed by meanwhile. */
const SLEW_PPM = 1_000;
const WHOLE_PPM = 1_000_000;

/** What one fault does to one clock. */
interface Move {
  offsetMs: number;
  ratePpm: number;
  sinceNs: number;
}

export interface MeasuredOffset {
  /** How far the program's clock is ahead of the machine's. */
  offsetMs: number;
  /** Within this, either way. */
  errorMs: number;
  atNs: number;
}

export class ClockLever {
  private readonly serial = new Serial();
  private readonly moves = new Map<string, Set<Move>>();

  constructor(private readonly clock: Clock) {}

  /** What the host's clock is meant to be off by now, milliseconds. */
  offsetMs(host: Host): number {
    return Math.round(this.aheadMs(host, this.clock.nowNs()));
  }

  /** Hosts whose clock was ever moved. */
  moved(): readonly string[] {
    return [...this.moves.keys()];
  }

  /** Adds `offsetMs` to the host's clock; resolves when the program on it says the new time. */
  async skew(host: Host, offsetMs: number, read: ReadWallMs): Promise<Grip> {
    const move: Move = { offsetMs, ratePpm: 0, sinceNs: this.clock.nowNs() };
    const proof = await this.begin(host, move, () => this.proveOffset(host, offsetMs, read));
    const effect: EffectSeen = { kind: 'clock-jumped', who: [host.name], offsetMs, sinceNs: this.clock.nowNs() };
    return { proof, effects: [effect], heal: this.healing(host, move, () => this.proveOffset(host, offsetMs, read)) };
  }

  /** Lets the host's clock gain (or lose) `ratePpm`; resolves when two readings of its program show that rate. */
  async drift(host: Host, ratePpm: number, read: ReadWallMs, signal: AbortSignal): Promise<Grip> {
    const move: Move = { offsetMs: 0, ratePpm, sinceNs: this.clock.nowNs() };
    const prove = (until?: AbortSignal) => this.proveRate(host, ratePpm, read, until);
    const proof = await this.begin(host, move, () => prove(signal));
    const sinceNs = this.clock.nowNs();
    const gainedMs = Math.round(gain(move, sinceNs) * 1e3) / 1e3;
    const effect: EffectSeen = { kind: 'clock-drifts', who: [host.name], ratePpm, gainedMs, sinceNs };
    return { proof, effects: [effect], heal: this.healing(host, move, () => prove()) };
  }

  /** A clock to send to and fro; it has not moved yet. */
  strobe(host: Host, offsetMs: number, read: ReadWallMs): StrobeHold {
    const move: Move = { offsetMs: 0, ratePpm: 0, sinceNs: this.clock.nowNs() };
    const prove = () => this.proveOffset(host, offsetMs, read);
    const flip = () =>
      this.serial.run(host.name, async () => {
        this.of(host).add(move);
        move.offsetMs = move.offsetMs === 0 ? offsetMs : 0;
        await this.apply(host);
        return prove();
      });
    const effect: EffectSeen = { kind: 'clock-strobes', who: [host.name], offsetMs, sinceNs: move.sinceNs };
    return { proof: '', effects: [effect], flip, heal: this.healing(host, move, prove) };
  }

  private begin(host: Host, move: Move, prove: () => Promise<string>): Promise<string> {
    return this.serial.run(host.name, async () => {
      const moves = this.of(host);
      // Two that slow it down by half would stop it, three would send it backwards.
      const slowed = [...moves, move].reduce((sum, { ratePpm }) => sum + Math.min(0, ratePpm), 0);
      if (slowed <= -WHOLE_PPM) throw new Refusal(`${host.name}'s clock would stand still, with what slows it already`);
      move.sinceNs = this.clock.nowNs();
      moves.add(move);
      try {
        await this.apply(host);
        return await prove();
      } catch (error) {
        moves.delete(move);
        await this.apply(host);
        throw error;
      }
    });
  }

  private healing(host: Host, move: Move, prove: () => Promise<string>): () => Promise<string> {
    return healOnce([host], () =>
      this.serial.run(host.name, async () => {
        this.of(host).delete(move);
        await this.apply(host);
        try {
          return await prove();
        } catch (error) {
          if (!(error instanceof Silent)) throw error;
          // Killed, stopped, or its client replaced meanwhile: at the end of the run all are asked again.
          return `${host.name}'s clock is set to ${signed(this.offsetMs(host))} ms; no program there can be asked (${error.message})`;
        }
      }),
    );
  }

  private of(host: Host): Set<Move> {
    const known = this.moves.get(host.name) ?? new Set();
    this.moves.set(host.name, known);
    return known;
  }

  private aheadMs(host: Host, atNs: number): number {
    return [...(this.moves.get(host.name) ?? [])].reduce((sum, move) => sum + gain(move, atNs), 0);
  }

  /** Always from where each move began, so that nothing is lost or gained by doing it often. */
  private apply(host: Host): Promise<void> {
    const ratePpm = [...this.of(host)].reduce((sum, move) => sum + move.ratePpm, 0);
    return host.setClock({ offsetMs: this.aheadMs(host, this.clock.nowNs()), ratePpm });
  }

  /** The program's clock is where it should be, read exactly enough to tell that from where it was `byMs` ago. */
  private async proveOffset(host: Host, byMs: number, read: ReadWallMs): Promise<string> {
    let told = '';
    for (let left = READ_TRIES; left > 0; left--) {
      const seen = await this.read(read);
      const wantedMs = this.aheadMs(host, seen.atNs);
      const toleranceMs = seen.errorMs + SLACK_MS;
      const off = `its program is ${signed(Math.round(seen.offsetMs))} ms off`;
      const exact = toleranceMs < Math.abs(byMs) / 2;
      if (exact && Math.abs(seen.offsetMs - wantedMs) <= toleranceMs) {
        return `${host.name}'s program says it is ${signed(Math.round(seen.offsetMs))} ms off the machine's clock`;
      }
      told = exact
        ? off
        : `${off}, give or take ${Math.ceil(toleranceMs)} ms, which does not tell a move of ${byMs} ms`;
      await this.clock.sleep(READ_PAUSE_MS);
    }
    throw new Error(`${host.name}: its clock was set to ${signed(this.offsetMs(host))} ms, but ${told}`);
  }

  /** Two readings so far apart that they tell a clock at the rate set from one without `byPpm`. */
  private async proveRate(host: Host, byPpm: number, read: ReadWallMs, signal?: AbortSignal): Promise<string> {
    const first = await this.read(read);
    const giveUpNs = first.atNs + RATE_TIMEOUT_MS * 1e6;
    for (;;) {
      await this.clock.sleep(RATE_POLL_MS, signal);
      if (signal?.aborted) throw new Interrupted('before its clock could be seen to drift');
      const second = await this.read(read);
      const passedNs = second.atNs - first.atNs;
      const ppm = (ms: number) => (ms / passedNs) * 1e12;
      const errorPpm = ppm(first.errorMs + second.errorMs + SLACK_MS);
      const seenPpm = ppm(second.offsetMs - first.offsetMs);
      const wantedPpm = ppm(this.aheadMs(host, second.atNs) - this.aheadMs(host, first.atNs));
      const between = `${signed(Math.round(first.offsetMs))} and then ${signed(Math.round(second.offsetMs))} ms off the machine's clock, ${Math.round(passedNs / 1e6)} ms later`;
      if (errorPpm > Math.abs(byPpm) / 4 && second.atNs < giveUpNs) continue;
      const right = Math.abs(seenPpm - wantedPpm) <= errorPpm + SLEW_PPM && errorPpm <= Math.abs(byPpm) / 4;
      if (right) return `${host.name}'s program was ${between}: ${percent(seenPpm)} of drift`;
      throw new Error(
        `${host.name}: its clock was set to drift by ${percent(wantedPpm)}, but its program was ${between}: ${percent(seenPpm)}, give or take ${percent(errorPpm)}`,
      );
    }
  }

  private async read(read: ReadWallMs): Promise<MeasuredOffset> {
    const seen = await readOffset(read, this.clock).catch((error) => {
      throw new Silent(message(error));
    });
    if (!seen) throw new Silent('its program cannot tell the time, so nothing shows what its clock does');
    return seen;
  }
}

/** No program answers the question for the time. */
class Silent extends Error {
  override name = 'Silent';
}

/** A program's clock against the machine's; read again until it is exact, or for as long as that makes sense. */
export async function exactOffsetOf(
  read: ReadWallMs,
  clock: Clock,
  withinMs: number,
): Promise<MeasuredOffset | undefined> {
  for (let left = READ_TRIES; ; left--) {
    const reading = await readOffset(read, clock);
    if (!reading || reading.errorMs <= withinMs || left === 1) return reading;
    await clock.sleep(READ_PAUSE_MS);
  }
}

async function readOffset(read: ReadWallMs, clock: Clock): Promise<MeasuredOffset | undefined> {
  const beganNs = clock.nowNs();
  const before = clock.wallMs();
  const told = await read();
  const after = clock.wallMs();
  const endedNs = clock.nowNs();
  if (told === undefined) return undefined;
  return {
    offsetMs: told - (before + after) / 2,
    errorMs: (endedNs - beganNs) / 2e6 + 1,
    atNs: (beganNs + endedNs) / 2,
  };
}

export function signed(ms: number): string {
  return ms > 0 ? `+${ms}` : String(ms);
}

/** "+30 %", of a rate in parts per million. */
export function percent(ppm: number): string {
  return `${signed(Math.round(ppm / 1_000) / 10)} %`;
}

function gain({ offsetMs, ratePpm, sinceNs }: Move, atNs: number): number {
  return offsetMs + (ratePpm * (atNs - sinceNs)) / 1e12;
}
