/**
 * A schedule whose every step is chosen: who begins an operation, which message comes next, who is stopped, dies or loses a
 * message, and when a lease has passed. Between two choices time passes only as far as what was chosen needs; that is far
 * less than a lease, and so nothing expires that was not meant to.
 */
import { clientSlot, type Scene } from '../../../harness/run/run.js';
import type { SimWorld } from '../../../harness/runtimes/sim/world.js';
import type { FaultEffect } from '../../../harness/vocabulary/history.js';
import type { OperationOutcome } from '../../../harness/vocabulary/workload.js';
import { type NemesisByHand, nemesisByHand } from '../../../nemesis/index.js';
import type { ExhaustedFault, OrderAction } from './actions.js';
import { instructionFor, type OrderBound, type OrderOperation, programOf } from './bound.js';
import { OrderGate, type WaitingMessage } from './order-gate.js';
import type { GuidedClient, Possible } from './possible.js';

/** Chooses from what is possible; undefined: the course ends here, for another has what would follow. */
export type Choose = (possible: readonly OrderAction[]) => OrderAction | undefined;

/** That a course was not played to its end, since another has its end. */
export class CourseCutError extends Error {
  override name = 'CourseCutError';
}

/** Timers that are due at once fire within this, late ones included; answers of servers come in no time. */
const SETTLES_MS = 2.5;
/** A lease has certainly passed after this, in leases. */
const PASSED = 1.25;
/** Until the next timer of a client time may pass without a fault: together less than a lease. */
const TICKS_OF_A_LEASE = 0.7;
/** A step number that no plan has. */
const STEP = 1_000;
const MOST_STEPS = 400;

export async function playGuided(
  scene: Scene,
  world: SimWorld,
  { bound, workload, choose }: { bound: OrderBound; workload: string; choose: Choose },
): Promise<NemesisByHand> {
  const guided = new Guided(scene, world, bound, workload);
  try {
    await guided.prologue();
    await guided.play(choose);
  } finally {
    guided.end();
  }
  await guided.nemesis.stop();
  return guided.nemesis;
}

class Guided {
  readonly nemesis: NemesisByHand;
  private readonly key: string;
  private readonly gate: OrderGate;
  private readonly clients: GuidedClient[];
  private readonly program: readonly OrderOperation[];
  /** By name: the step of the record, and how often a lease had passed when it began. */
  private readonly late = new Map<string, { step: number; passings: number }>();
  /** Faults, and of these what may last for a lease. */
  private faults = 0;
  private struck = 0;
  private passings = 0;
  private tickedMs = 0;
  private records = 0;
  private steps = 0;

  constructor(
    private readonly scene: Scene,
    private readonly world: SimWorld,
    private readonly bound: OrderBound,
    workload: string,
  ) {
    this.program = programOf(workload);
    this.nemesis = nemesisByHand(scene.faults);
    this.key = scene.faults.keys[0]!;
    this.clients = scene.faults.clientHosts.map((_, n) => ({
      name: clientSlot(n),
      n,
      next: 0,
      isRunning: false,
      holds: [],
      isOver: false,
    }));
    this.gate = new OrderGate(new Set(this.clients.map(({ name }) => name)), this.key);
  }

  /** Each takes the lock once and gives it back: connections are up then, and servers know the scripts. */
  async prologue(): Promise<void> {
    this.world.watchTimers();
    const { scheduler } = this.scene;
    for (const { n } of this.clients) {
      const granted = await scheduler.perform(n, this.instruction(this.program[0]!, 0));
      if (granted.type === 'ok')
        await scheduler.perform(n, this.instruction('release', (granted as OperationOutcome).id));
    }
    await this.settle();
    this.world.network.gate = this.gate;
  }

  async play(choose: Choose): Promise<void> {
    for (let possible = this.possible(); possible.length > 0; possible = this.possible()) {
      if (++this.steps > MOST_STEPS)
        throw new Error(`a client's operation does not end: after ${MOST_STEPS} steps it is still going on`);
      const action = choose(possible.map((one) => one.action));
      if (!action) throw new CourseCutError('another course has what follows');
      const chosen = possible.find((one) => one.action.id === action.id);
      if (!chosen)
        throw new Error(`"${action.id}" is not possible here: ${possible.map((one) => one.action.id).join('; ')}`);
      await chosen.carryOut();
      await this.settle();
    }
  }

  end(): void {
    this.gate.open();
    this.world.network.gate = undefined;
    for (const { step } of this.late.values()) this.note(step, 'late message', 'heal', [], 'it comes');
  }

  private possible(): Possible[] {
    const waiting = this.gate.waiting();
    const free = [
      ...waiting.filter(({ name }) => !this.isLate(name)).map((one) => this.comes(one)),
      ...this.clients.flatMap((client) => this.nextOperation(client)),
      ...this.clients.flatMap((client) => this.goesOn(client)),
    ];
    const others = [...this.leasePasses(waiting), ...(this.faults < this.bound.faults ? this.strikes(waiting) : [])];
    const tick = this.timePasses(free.length + others.length === 0);
    return [...free, ...tick, ...others];
  }

  private comes({ name, client, isAnswer }: WaitingMessage): Possible {
    return {
      action: { id: `${name} comes`, client, ...(isAnswer ? { isVisible: true } : { isServers: true }) },
      carryOut: () => {
        const late = this.late.get(name);
        this.gate.letCome(name);
        if (!late) return;
        this.late.delete(name);
        this.note(late.step, 'late message', 'heal', [], 'it comes');
      },
    };
  }

  private nextOperation(client: GuidedClient): Possible[] {
    const { name, isRunning, stopped, isOver, holds } = client;
    if (isRunning || stopped || isOver) return [];
    const next = () => this.program[client.next % this.program.length]!;
    // What was not granted is not released.
    while (client.next < this.bound.operations && next() === 'release' && holds.length === 0) client.next++;
    if (client.next >= this.bound.operations) return [];
    const operation = next();
    const releases = operation === 'release';
    const id = `${name} begins operation ${client.next + 1} (${operation})`;
    return [
      {
        action: { id, client: name, ...(releases && { isVisible: true as const }) },
        carryOut: () => this.begin(client, operation),
      },
    ];
  }

  private begin(client: GuidedClient, operation: OrderOperation): void {
    client.isRunning = true;
    client.next++;
    const instruction = this.instruction(operation, operation === 'release' ? client.holds.pop()! : 0);
    this.scene.scheduler.perform(client.n, instruction).then(
      (outcome) => {
        client.isRunning = false;
        if (outcome.type === 'info') client.isOver = true;
        if (operation !== 'release' && outcome.type === 'ok') client.holds.push((outcome as OperationOutcome).id);
      },
      () => {
        client.isRunning = false;
        client.isOver = true;
      },
    );
  }

  /** Once a lease has passed: a shorter stop is as if what it does came a little later. */
  private goesOn(client: GuidedClient): Possible[] {
    const { name, stopped } = client;
    if (!stopped || this.passings === stopped.passings) return [];
    return [
      {
        action: { id: `${name} goes on`, client: name, isVisible: true },
        carryOut: () => {
          client.stopped = undefined;
          return stopped.heal();
        },
      },
    ];
  }

  /** Only where that is nobody's second misfortune: whoever is not struck has nothing under way, and holds nothing. */
  private leasePasses(waiting: readonly WaitingMessage[]): Possible[] {
    if (this.struck <= this.passings) return [];
    const isCalm = this.clients.every(
      ({ name, isRunning, stopped, isOver, holds }) =>
        stopped || isOver || (holds.length === 0 && (!isRunning || this.lateOf(name))),
    );
    if (!isCalm || waiting.some(({ name }) => !this.isLate(name))) return [];
    return [
      {
        action: { id: 'the lease passes' },
        carryOut: async () => {
          this.passings++;
          await this.sleep(PASSED * this.scene.faults.leaseMs);
        },
      },
    ];
  }

  /** Until a client's next timer. `isLast`: nothing else is possible. */
  private timePasses(isLast: boolean): Possible[] {
    const { leaseMs } = this.scene.faults;
    const awake = new Set(this.clients.filter(({ stopped, isOver }) => !stopped && !isOver).map(({ name }) => name));
    const dueMs = this.world.nextTimerMs(awake);
    if (dueMs === undefined) return [];
    const passes = async () => {
      this.tickedMs += dueMs;
      await this.sleep(dueMs);
    };
    const id = 'time passes to the next timer';
    // Where only a timer goes on, that is no misfortune.
    if (isLast && this.clients.some(({ isRunning, isOver, stopped }) => isRunning && !isOver && !stopped))
      return [{ action: { id }, carryOut: passes }];
    if (this.faults >= this.bound.faults || this.tickedMs + dueMs > TICKS_OF_A_LEASE * leaseMs) return [];
    return [
      {
        action: { id, fault: 'wait' },
        carryOut: () => {
          this.faults++;
          return passes();
        },
      },
    ];
  }

  private strikes(waiting: readonly WaitingMessage[]): Possible[] {
    const busy = this.clients.filter(
      ({ isRunning, stopped, isOver, holds, name }) =>
        !stopped && !isOver && (isRunning || holds.length > 0 || waiting.some(({ client }) => client === name)),
    );
    return [
      ...busy.map((client) =>
        this.strike('stop', { id: `${client.name} is stopped`, client: client.name }, async () => {
          const passings = this.passings;
          const struck = await this.nemesis.strike({ fault: 'pause', target: { names: [client.name] } });
          client.stopped = { heal: () => struck.heal(), passings };
        }),
      ),
      ...busy.map((client) =>
        this.strike(
          'crash',
          { id: `${client.name} dies`, client: client.name, isServers: true, isVisible: true },
          async () => {
            client.isOver = true;
            client.holds.length = 0;
            await this.nemesis.strike({ fault: 'kill', target: { names: [client.name] } });
          },
        ),
      ),
      ...waiting.filter(({ name }) => !this.isLate(name)).flatMap((one) => this.messageFaults(one)),
    ];
  }

  private messageFaults({ name, client, isAnswer, from, to }: WaitingMessage): Possible[] {
    const { leaseMs } = this.scene.faults;
    const lost = isAnswer ? 'lost answer' : 'lost request';
    return [
      this.strike(lost, { id: `${name} is lost`, client, isServers: true, isVisible: true }, () => {
        const step = STEP + this.records++;
        const effect: FaultEffect = {
          kind: 'connections-reset',
          pairs: [
            [from, to],
            [to, from],
          ],
        };
        this.note(step, lost, 'strike', [effect], `lost ${name} with its connection`);
        this.note(step, lost, 'heal', [], 'nothing is lost any more');
        this.gate.lose(name);
      }),
      this.strike('late message', { id: `${name} is late`, client }, () => {
        const step = STEP + this.records++;
        this.late.set(name, { step, passings: this.passings });
        const degraded = {
          delayMs: PASSED * leaseMs,
          jitterMs: 0,
          lossPpm: 0,
          duplicatePpm: 0,
          reorderPpm: 0,
          rateKbps: 0,
        };
        this.note(
          step,
          'late message',
          'strike',
          [{ kind: 'degraded', pairs: [[from, to]], ...degraded }],
          `holds back ${name}`,
        );
      }),
    ];
  }

  private strike(fault: ExhaustedFault, action: OrderAction, strike: () => Promise<void> | void): Possible {
    return {
      action: { ...action, fault },
      carryOut: async () => {
        this.faults++;
        this.struck++;
        await strike();
      },
    };
  }

  private note(step: number, fault: string, state: 'strike' | 'heal', effects: FaultEffect[], did: string): void {
    const targets = effects.flatMap((effect) => ('pairs' in effect ? [...new Set(effect.pairs.flat())] : []));
    this.scene.faults.note({ step, fault, state, targets, did, effects });
  }

  /** Of what is late nothing comes before a lease has passed. */
  private isLate(name: string): boolean {
    return this.late.get(name)?.passings === this.passings;
  }

  private lateOf(client: string): boolean {
    return this.gate.waiting().some((one) => one.client === client && this.isLate(one.name));
  }

  private instruction(operation: OrderOperation, hold: number) {
    return instructionFor(operation, { key: this.key, leaseMs: this.scene.faults.leaseMs, hold });
  }

  private settle(): Promise<void> {
    return this.sleep(SETTLES_MS);
  }

  private sleep(ms: number): Promise<void> {
    return this.scene.faults.clock.sleep(ms);
  }
}
