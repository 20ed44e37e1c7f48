/**
 * What one strike has done so far, so that a strike that fails half-way undoes it, and a heal undoes it in reverse.
 */
import { message } from './basics.js';
import type { EffectSeen, Grip } from './network.js';

/** Something to be undone; `effects`, if it is more than a matter of the harness. */
type Undoable = Pick<Grip, 'heal'> & Partial<Pick<Grip, 'effects'>>;

/** What strikes that failed had done by then, by what they threw. */
const doneBefore = new WeakMap<object, EffectSeen[]>();

/**
 * What a strike had done before it rejected with `error`. Of two servers that were to be killed one may have been, and has
 * come back without what it knew: that happened, whatever became of the strike.
 */
export function effectsBefore(error: unknown): EffectSeen[] {
  return doneBefore.get(error as object) ?? [];
}

/**
 * Heals all of them at once. Servers that need each other, as members of a quorum do, are ready only together: started one after the
 * other, the first waits in vain for the rest.
 */
export async function healTogether(grips: readonly Undoable[]): Promise<string> {
  const results = await Promise.allSettled(grips.map((grip) => grip.heal()));
  const failed = results.flatMap((result) => (result.status === 'rejected' ? [message(result.reason)] : []));
  if (failed.length > 0) throw new Error(failed.join('; '));
  return results.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : [])).join('; ');
}

/** A strike failed and could not be undone either: the runner keeps `heal` and tries it again. */
export class LeftInForce extends Error {
  override name = 'LeftInForce';
  constructor(
    text: string,
    readonly heal: () => Promise<string>,
  ) {
    super(text);
  }
}

export class InForce {
  private readonly grips: Undoable[] = [];

  /** Waits for something that takes force, and remembers how to undo it. */
  async add<T extends Undoable>(pending: Promise<T> | T): Promise<T> {
    const grip = await pending;
    this.grips.push(grip);
    return grip;
  }

  /** As `add`, for several at once: all are remembered that took force, even if another of them fails. */
  async addAll<T extends Undoable>(pending: readonly Promise<T>[]): Promise<T[]> {
    const results = await Promise.allSettled(pending.map((one) => this.add(one)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  /** Undoes everything, last first; resolves with what was read back. Rejects when a part cannot be undone, after trying all. */
  async heal(): Promise<string> {
    const said: string[] = [];
    const failed: string[] = [];
    for (const grip of [...this.grips].reverse()) {
      await grip.heal().then(
        (text) => text && said.push(text),
        (error) => failed.push(message(error)),
      );
    }
    if (failed.length > 0) throw new Error(failed.join('; '));
    return said.join('; ');
  }

  /** Runs a strike; undoes what it did if it fails. */
  static async strike<T>(act: (inForce: InForce) => Promise<T>): Promise<T> {
    const inForce = new InForce();
    try {
      return await act(inForce);
    } catch (error) {
      const effects = [...effectsBefore(error), ...inForce.grips.flatMap(({ effects = [] }) => effects)];
      try {
        await inForce.heal();
      } catch (left) {
        const failure = new LeftInForce(`${message(error)}; and it could not be undone: ${message(left)}`, () =>
          inForce.heal(),
        );
        doneBefore.set(failure, effects);
        throw failure;
      }
      // It certainly was in force when it was read back; how much longer is unknown.
      if (error instanceof Error)
        doneBefore.set(
          error,
          effects.map((effect) => ({ untilNs: effect.sinceNs, ...effect })),
        );
      throw error;
    }
  }
}
