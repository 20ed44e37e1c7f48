/** One run of the model, from what was drawn to its record and its truth. */
import type { LockModel } from '../../../../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../../../../harness/vocabulary/run.js';
import { LockClient, type Program } from './client.js';
import { type Fault, newestPrimary, type Stage, strikeAfter } from './faults.js';
import type { LivedHold } from './grants.js';
import { Node } from './node.js';
import { type Gaps, OPENING, Recording } from './recording.js';
import { MS, Simulation } from './simulation.js';
import type { Lived } from './truth.js';

export interface Setup {
  /** `replicated`: one logical server of so many nodes; `independent`: a majority of them. */
  kind: 'replicated' | 'independent';
  nodes: number;
  clients: number;
  program: Program;
  /** What the first client's program does otherwise: every deployment has an older version somewhere. */
  older: Partial<Program>;
  faults: Fault[];
  gaps: Gaps;
  /** A snapshot is written every so often; 0: never. */
  savesEveryMs: number;
  lengthMs: number;
  noise: number;
}

/** What a server does shows within a second. */
const WATCHED_ON_MS = 1_200;

export interface Run {
  input: CheckInput;
  lived: Lived;
  /** The hold of a client by the id of its acquire. */
  hold(client: string, id: number): LivedHold;
}

export function play(setup: Setup): Run {
  const sim = new Simulation(setup.noise);
  const recording = new Recording(sim, setup.gaps);
  const nodes = Array.from(
    { length: setup.nodes },
    (_, n) => new Node(`r${n + 1}`, `10.77.0.${n + 1}`, sim, recording),
  );
  const isReplicated = setup.kind === 'replicated';
  const model = modelOf(setup);
  const majority = isReplicated ? undefined : Math.floor(setup.nodes / 2) + 1;
  if (isReplicated) for (const node of nodes.slice(1)) node.follow(nodes[0]!);
  recording.event(OPENING);
  recording.event({
    type: 'deployment',
    topology: setup.kind,
    runtime: 'netns',
    serverVersion: '7.0.15',
    settings: [],
    quorum:
      majority === undefined
        ? { kind: 'primary' }
        : { kind: 'majority', nodes: nodes.map(({ name }) => name), majority },
  });

  const views = new Map<LockClient, Node>();
  const waiting = [...setup.faults];
  let grants = 0;
  const clients: LockClient[] = [];
  const stage: Stage = { sim, recording, nodes, clients, isReplicated, isFailingOver: false, views };
  const around = {
    sim,
    recording,
    untilNs: setup.lengthMs * MS,
    nodesFor(client: LockClient): readonly Node[] {
      if (!isReplicated) return nodes;
      const view = views.get(client)!;
      if (!view.alive || client.cutFrom.has(view.name) || view.primary) views.set(client, newestPrimary(nodes));
      return [views.get(client)!];
    },
    granted(hold: LivedHold) {
      grants++;
      for (const fault of waiting) if (fault.afterGrants === grants) strikeAfter(fault, hold, stage);
    },
  };
  for (let n = 1; n <= setup.clients; n++) {
    const drawn = { ...setup.program, ...(n === 1 ? setup.older : {}) };
    const program = { ...drawn, asksAgain: drawn.asksAgain && model.kind === 'reentrant' };
    const client = new LockClient(`c${n}`, `10.77.0.${20 + n}`, program, around);
    clients.push(client);
    views.set(client, nodes[0]!);
    const features = program.renews === 'never' ? [] : ['renews'];
    const slot = { slot: client.name, host: client.name, address: client.address, lock: 'oracle', features };
    recording.event({ type: 'client-up', client: client.name, ...slot });
  }
  recording.begin(nodes);
  for (const client of clients) client.later(sim.between(20, 60), () => client.acquire());
  const save = () => {
    for (const node of nodes) if (node.alive) node.save();
    if (setup.savesEveryMs > 0) sim.after(setup.savesEveryMs, save);
  };
  if (setup.savesEveryMs > 0) sim.after(setup.savesEveryMs, save);
  sim.run((setup.lengthMs + WATCHED_ON_MS) * MS);

  return {
    input: recording.input(model, setup.program.leaseMs),
    lived: { nodes, clients, leaseMs: setup.program.leaseMs, majority },
    hold(client, id) {
      const found = clients.find(({ name }) => name === client)?.holds.find((one) => one.id === id);
      if (!found) throw new Error(`the model knows nothing of hold ${id} of ${client}`);
      return found;
    },
  };
}

function modelOf({ program, older }: Setup): LockModel {
  if (program.form.startsWith('counted')) return { kind: 'fenced' };
  return program.asksAgain || older.asksAgain ? { kind: 'reentrant', depth: 2 } : { kind: 'mutex' };
}
