/** The stage of a scenario: clients that are led by hand, faults that strike on command, and waits that are bounded. */

import { clientSlot, type Scene } from '../../harness/run/run.js';
import type { ClientTarget, FaultContext, Target } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Instruction, OperationOutcome, Stage, StageClient } from '../../harness/vocabulary/workload.js';
import type { NemesisByHand } from '../../nemesis/index.js';

/** Longest that a play waits for anything. */
const PATIENCE_MS = 12_000;
const POLL_MS = 5;

/** A play that did not go as it was written: nothing is known about the lock from it. */
export class PlayError extends Error {
  override name = 'PlayError';
}

export function createStage(scene: Scene, nemesis: NemesisByHand): Stage {
  const { faults, topology } = scene;
  const { clock } = faults;
  const events: HistoryEvent[] = [];
  faults.subscribe((event) => events.push(event));

  const until: Stage['until'] = async (what, happened) => {
    const giveUpNs = clock.nowNs() + PATIENCE_MS * 1e6;
    for (;;) {
      const now = await happened();
      if (now !== undefined && now !== false) return now;
      if (scene.interrupt.aborted) throw new PlayError(`the run was ended while the play waited: ${what}`);
      if (clock.nowNs() > giveUpNs) throw new PlayError(`waited ${PATIENCE_MS / 1e3} s in vain: ${what}`);
      await clock.sleep(POLL_MS);
    }
  };
  const strike = (fault: string, target: Target, args?: Record<string, number | string>) =>
    nemesis.strike({ fault, target, ...(args && { args }) }).catch((error: Error) => {
      throw new PlayError(error.message);
    });
  return {
    topology,
    leaseMs: faults.leaseMs,
    renews: scene.scheduler.lock?.features.includes('renews') === true,
    nowMs: () => clock.nowNs() / 1e6,
    client: (n) => new ManualClient(n, scene, { until, strike }),
    strike,
    until,
    event: (what, matches) => until(what, () => events.find(matches)),
    sleep: (ms) => clock.sleep(ms, scene.interrupt),
    check(what, isTrue) {
      if (!isTrue) throw new PlayError(`was to be true and is not: ${what}`);
    },
  };
}

class ManualClient implements StageClient {
  readonly name: string;

  constructor(
    private readonly n: number,
    private readonly scene: Scene,
    private readonly stage: Pick<Stage, 'until' | 'strike'>,
    /** At which step the next operation is to stop. */
    private readonly stopsAt?: string,
  ) {
    this.name = clientSlot(n - 1);
  }

  acquire(
    key: string,
    { leaseMs = this.faults.leaseMs, waitMs = 0, ...rest }: Parameters<StageClient['acquire']>[1] = {},
  ) {
    return this.perform({ do: 'acquire', key, leaseMs, waitMs, ...rest, ...this.stop });
  }

  extend({ id }: OperationOutcome, leaseMs = this.faults.leaseMs) {
    return this.perform({ do: 'extend', hold: id, leaseMs, ...this.stop });
  }

  release({ id }: OperationOutcome) {
    return this.perform({ do: 'release', hold: id, ...this.stop });
  }

  read({ id }: OperationOutcome) {
    return this.perform({ do: 'read', hold: id });
  }

  write({ id }: OperationOutcome, value: number) {
    return this.perform({ do: 'write', hold: id, value });
  }

  async abandon({ id }: OperationOutcome): Promise<void> {
    await this.scene.scheduler.perform(this.n - 1, { do: 'abandon', hold: id });
  }

  async stopAt(step: string, operation: (client: StageClient) => Promise<OperationOutcome>) {
    const { answer } = await this.reach(step, operation);
    // It has stopped itself; the fault takes that over, so that the record shows it and healing continues it.
    const paused = await this.stage.strike('pause', { names: [this.name] });
    return { answer, resume: () => paused.heal() };
  }

  async crashAt(step: string, operation: (client: StageClient) => Promise<OperationOutcome>): Promise<void> {
    const { answer } = await this.reach(step, operation);
    const killed = await this.stage.strike('kill', { names: [this.name] });
    await killed.heal();
    await answer;
  }

  get address(): string {
    return this.faults.clientHosts[this.n - 1]!.address;
  }

  private get faults(): FaultContext {
    return this.scene.faults;
  }

  private get stop(): { stopAt?: string } {
    return this.stopsAt === undefined ? {} : { stopAt: this.stopsAt };
  }

  /** Resolves when the process stands at `step`; with the answer that is still to come. */
  private async reach(
    step: string,
    operation: (client: StageClient) => Promise<OperationOutcome>,
  ): Promise<{ answer: Promise<OperationOutcome> }> {
    const answer = operation(new ManualClient(this.n, this.scene, this.stage, step));
    let early: OperationOutcome | undefined;
    answer.then(
      (what) => {
        early = what;
      },
      () => {},
    );
    await this.stage.until(`${this.name} stands at "${step}"`, async () => {
      if (early) throw new PlayError(`${this.name} was to stop at "${step}", and answered ${early.type} without`);
      return (await this.process()?.process.state()) === 'stopped';
    });
    return { answer };
  }

  private process(): ClientTarget | undefined {
    return this.faults.clients().find(({ slot }) => slot === this.name);
  }

  private perform(instruction: Instruction): Promise<OperationOutcome> {
    const answer = this.carryOut(instruction);
    // A play that fails elsewhere awaits it no more.
    answer.catch(() => {});
    return answer;
  }

  private async carryOut(instruction: Instruction): Promise<OperationOutcome> {
    const outcome = await this.scene.scheduler.perform(this.n - 1, instruction);
    if (outcome.type === 'woke') throw new PlayError(`${instruction.do} has no answer`);
    return outcome;
  }
}
