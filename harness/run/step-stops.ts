/**
 * At which steps of the lock the clients' next operations are to stop. The nemesis says it, so that it can strike there; the
 * operation carries it (`stopAt`), because only the client's own process is sure to stop before its next command.
 */
import type { Random } from '../vocabulary/time.js';

interface Stop {
  readonly step: string;
  /** Absent: any. */
  readonly slot: string | undefined;
}

export class StepStops {
  private readonly stops = new Set<Stop>();

  constructor(private readonly random: Random) {}

  /** Call the result to ask it no more. */
  ask(step: string, slot?: string): () => void {
    const stop = { step, slot };
    this.stops.add(stop);
    return () => this.stops.delete(stop);
  }

  /**
   * Where the slot's next operation is to stop, if anywhere. It can stop at one step only. Of several any may be picked: in a
   * fixed order, one that no operation reaches would keep the others from ever being asked.
   */
  next(slot: string): string | undefined {
    const steps = [...this.stops].flatMap((stop) => (stop.slot === undefined || stop.slot === slot ? [stop.step] : []));
    return steps.length > 1 ? this.random.pick(steps) : steps[0];
  }
}
