/**
 * A deployment without Redis: hosts that keep routes, links and clocks, processes that keep a state, and a clock that
 * jumps to the next sleeper when nothing else is to be done. It obeys, unless a test tells a part of it not to.
 */
import { type Duplex, PassThrough } from 'node:stream';
import { Ledger } from '../../../harness/record/facts/ledger.js';
import { createRandom } from '../../../harness/runtimes/random.js';
import { fieldsOf } from '../../../harness/topologies/reply-fields.js';
import type { ClientTarget, FaultContext } from '../../../harness/vocabulary/faults.js';
import type { FaultRecord, HistoryBody, HistoryEvent } from '../../../harness/vocabulary/history.js';
import type {
  ClockSkew,
  ExecResult,
  FileAfterPowerCut,
  Host,
  HostProcess,
  PowerCut,
  ProcessExit,
} from '../../../harness/vocabulary/host.js';
import type { Clock } from '../../../harness/vocabulary/time.js';
import type {
  MonitoredCommand,
  Monitoring,
  Persistence,
  ServerNode,
  Topology,
} from '../../../harness/vocabulary/topology.js';
import { createLevers, type Levers } from '../../../nemesis/levers/index.js';
import type { NemesisContext, PlanTopology } from '../../../nemesis/striking/context.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export class FakeClock implements Clock {
  private ns = 0;
  private sleepers: { atNs: number; wake(): void }[] = [];

  nowNs() {
    return this.ns;
  }

  wallMs() {
    return 1_000_000 + this.ns / 1e6;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.sleepers = this.sleepers.filter((sleeper) => sleeper.wake !== wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      if (signal?.aborted) return resolve();
      signal?.addEventListener('abort', wake, { once: true });
      this.sleepers.push({ atNs: this.ns + ms * 1e6, wake });
    });
  }

  /** Runs until the promise settles, jumping over all waiting. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (let idle = 0; !settled; ) {
      for (let turns = 0; turns < 4; turns++) await turn();
      const next = this.sleepers.sort((a, b) => a.atNs - b.atNs)[0];
      if (settled) break;
      if (!next && ++idle > 1_000) throw new Error('everybody waits for nothing');
      if (!next) continue;
      this.ns = Math.max(this.ns, next.atNs);
      next.wake();
    }
    return promise;
  }
}

export class FakeProcess implements HostProcess {
  static nextPid = 100;
  readonly pid = FakeProcess.nextPid++;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly exited: Promise<ProcessExit>;
  /** Signals that have no effect. */
  deafTo: NodeJS.Signals[] = [];
  private now: 'running' | 'stopped' | 'dead' = 'running';
  private exit: (exit: ProcessExit) => void = () => {};

  constructor() {
    this.exited = new Promise((resolve) => {
      this.exit = resolve;
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.deafTo.includes(signal) || this.now === 'dead') return;
    if (signal === 'SIGSTOP') this.now = 'stopped';
    if (signal === 'SIGCONT') this.now = 'running';
    if (signal === 'SIGKILL') {
      this.now = 'dead';
      this.exit({ code: null, signal });
    }
  }

  async state() {
    return this.now;
  }
}

export class FakeHost implements Host {
  readonly folder = '/nowhere';
  readonly asNobody = [];
  readonly routes = new Set<string>();
  /** By address, the device over which a link shaper is reached. */
  readonly led = new Map<string, string>();
  /** By device, what shapers that run are asked for, by address; and every command they had. */
  readonly shapers = new Map<string, Map<string, Record<string, number>>>();
  readonly asked: string[] = [];
  shaperProcess: FakeProcess | undefined;
  /** What is wrong with it. */
  shaperSays: string | undefined;
  shaperIsDeaf = false;
  /** The most that it says to have released something too late. */
  shaperLatestUs = 0;
  /** What it says to have done with packets, for each peer. */
  shaperCounts: Record<string, number> = {};
  /** By address: how many answers to it are to be lost, and of which of its ports connections were reset. */
  private readonly replies = new Map<string, number>();
  private readonly resets = new Map<string, number[]>();
  link = true;
  rpFilter = '0\n0';
  skew: ClockSkew = { offsetMs: 0, ratePpm: 0 };
  /** When that was set: a drift counts from then. */
  private skewedNs = 0;
  /** Clocks that were set, in order. */
  readonly skews: ClockSkew[] = [];
  /** What `/proc/net/tcp` says: bytes unacknowledged, by the other end's address and port. */
  readonly queues = new Map<string, number>();
  /** Who follows the commands of its server. */
  readonly watchers = new Set<(command: MonitoredCommand) => void>();
  /** Commands that are accepted and do nothing. */
  ignores: ('add' | 'del' | 'up' | 'down')[] = [];
  /** Addresses to which no route can be added. */
  refuses: string[] = [];
  /** Addresses to which packets go another way than the routing table says. */
  strays: string[] = [];

  constructor(
    readonly name: string,
    readonly address: string,
    private readonly clock: FakeClock,
  ) {}

  /** How far its clock is ahead now. */
  aheadMs(): number {
    return this.skew.offsetMs + (this.skew.ratePpm * (this.clock.nowNs() - this.skewedNs)) / 1e12;
  }

  async exec(argv: readonly string[]): Promise<ExecResult> {
    const [command, ...args] = argv;
    if (argv[3] === 'links') return this.changeLed(argv.slice(4));
    if (command === 'sh' && argv.length > 3) return this.changeRoutes(argv[4] as 'add' | 'del', argv.slice(5));
    if (command === 'sh') return said(this.rpFilter);
    if (command === 'cat') return said(this.connections());
    if (command !== 'ip') throw new Error(`the fake host does not know ${argv.join(' ')}`);
    if (args[0] === 'link') {
      const state = args[3] as 'up' | 'down';
      if (!this.ignores.includes(state)) this.link = state === 'up';
      return said('');
    }
    if (args[1] === 'link') return said(JSON.stringify([{ flags: this.link ? ['UP', 'LOWER_UP'] : [] }]));
    const connected = this.link ? [{ dst: '10.77.0.0/16', dev: 'eth0' }] : [];
    return said(
      JSON.stringify(args.includes('dev') ? connected : [...connected, ...this.blackholes(), ...this.ledRoutes()]),
    );
  }

  spawn(): HostProcess {
    return new FakeProcess();
  }

  async readFile(): Promise<undefined> {}

  async listFolder(): Promise<string[]> {
    return [];
  }

  async diskTrouble(): Promise<undefined> {}

  async losePower(): Promise<FileAfterPowerCut[]> {
    return [];
  }

  async startLinkShaper(near: string): Promise<HostProcess> {
    const process = new FakeProcess();
    if (this.shaperSays !== undefined) process.stdout.write(`${JSON.stringify({ error: this.shaperSays })}\n`);
    else process.stdout.write('{"ready":true,"device":"tun","first":false}\n');
    const shapes = new Map<string, Record<string, number>>();
    this.shapers.set(near, shapes);
    this.shaperProcess = process;
    process.stdin.on('data', (chunk) => {
      for (const line of String(chunk).trim().split('\n'))
        process.stdout.write(`${this.shaped(shapes, line.split(' '))}\n`);
    });
    // As the kernel does it: what leads to a shaper goes with it.
    const gone = () => {
      this.shapers.delete(near);
      for (const [address, over] of this.led) if (over === near) this.led.delete(address);
    };
    process.stdin.on('end', () => process.signal('SIGKILL'));
    void process.exited.then(gone);
    return process;
  }

  private shaped(shapes: Map<string, Record<string, number>>, [command, peer = '', ...rest]: string[]): string {
    this.asked.push([command, peer, ...rest].join(' '));
    const shape = shapes.get(peer) ?? {};
    shapes.set(peer, shape);
    if (command === 'shape')
      for (let at = 0; at < rest.length; at += 2) shape[rest[at]!] = this.shaperIsDeaf ? 0 : Number(rest[at + 1]);
    const { delay = 0, jitter = 0, loss = 0, duplicate = 0, reorder = 0, gap = 0, rate = 0 } = shape;
    const told = { delay_us: delay, jitter_us: jitter, loss_ppm: loss, duplicate_ppm: duplicate, reorder_ppm: reorder };
    if (command === 'reset-on-reply') this.replies.set(peer, Number(rest[1]));
    if (command === 'reset' && !this.shaperIsDeaf) this.endConnection(peer, Number(rest[2]));
    const ports = this.resets.get(peer) ?? [];
    const answers = { replies: this.replies.get(peer) ?? 0, resets: ports.length, reset_ports: ports };
    const counts = {
      ...answers,
      taken: 0,
      lost: 0,
      duplicated: 0,
      reordered: 0,
      overflowed: 0,
      errors: 0,
      latest_us: this.shaperLatestUs,
      ...this.shaperCounts,
    };
    return JSON.stringify({ ...told, gap_us: gap, rate_bytes: rate, ...counts });
  }

  /** An answer is on its way to that port of the peer: lost with its connection if its link shaper was asked to. */
  answer(peer: string, port: number): void {
    const left = this.replies.get(peer) ?? 0;
    if (left === 0) return;
    this.replies.set(peer, left - 1);
    this.endConnection(peer, port);
  }

  private endConnection(peer: string, port: number): void {
    this.queues.delete(`${peer}:${port}`);
    this.resets.set(peer, [...(this.resets.get(peer) ?? []), port]);
  }

  async writeFile(name: string) {
    return name;
  }

  async dial(): Promise<Duplex> {
    throw new Error('no process listens');
  }

  async setClock(skew: ClockSkew) {
    this.skew = skew;
    this.skewedNs = this.clock.nowNs();
    this.skews.push(skew);
  }

  private connections(): string {
    const lines = [...this.queues].map(([to, bytes], at) => {
      const [address = '', port] = to.split(':');
      const hex = Buffer.from(address.split('.').map(Number).reverse()).toString('hex').toUpperCase();
      const queue = bytes.toString(16).padStart(8, '0');
      return `${at}: 09004D0A:18EB ${hex}:${Number(port).toString(16).toUpperCase().padStart(4, '0')} 01 ${queue}:00000000 01:00000014`;
    });
    return ['  sl  local_address rem_address   st tx_queue rx_queue', ...lines].join('\n');
  }

  private ledRoutes() {
    return [...this.led].map(([dst, dev]) => ({ dst, dev, flags: [] }));
  }

  private changeLed([op, near = '', , ...addresses]: readonly string[]): ExecResult {
    for (const address of this.ignores.includes(op === 'del' ? 'del' : 'add') ? [] : addresses) {
      if (op === 'del') this.led.delete(address);
      else if (!this.refuses.includes(address)) this.led.set(address, near);
    }
    const ways = addresses.flatMap((dst) => {
      if (this.routes.has(dst)) return [];
      const dev = this.strays.includes(dst) ? 'eth0' : (this.led.get(dst) ?? 'eth0');
      return [JSON.stringify([{ dst, dev, flags: [] }])];
    });
    return said([JSON.stringify([...this.ledRoutes(), ...this.blackholes()]), ...ways].join('\n'));
  }

  private blackholes() {
    return [...this.routes].map((dst) => ({ type: 'blackhole', dst, flags: [] }));
  }

  private changeRoutes(op: 'add' | 'del', addresses: readonly string[]): ExecResult {
    for (const address of this.ignores.includes(op) ? [] : addresses) {
      if (op === 'del') this.routes.delete(address);
      else if (!this.refuses.includes(address)) this.routes.add(address);
    }
    return said(JSON.stringify(this.blackholes()));
  }
}

const said = (stdout: string): ExecResult => ({ exitCode: 0, stdout, stderr: '' });

export class FakeNode implements ServerNode {
  readonly port = 6379;
  process: FakeProcess = new FakeProcess();
  role = 'slave';
  runId = 'run0';
  forgotten = 0;
  readonly keys = new Set<string>();
  /** How long keys have yet to live; those that are not here live for ever. */
  readonly lifetimesMs = new Map<string, number>();
  readonly clientIds = new Map<string, string>();
  readonly commands: string[] = [];

  constructor(
    readonly name: string,
    readonly kind: 'redis' | 'sentinel',
    readonly host: FakeHost,
    private readonly clock: FakeClock,
    /** Whether the clock shim reaches the server. */
    public shimmed = true,
  ) {}

  async start() {
    if (this.refusesToStart) throw new Error(this.refusesToStart);
    this.process = new FakeProcess();
    this.runId = `run${this.process.pid}`;
  }

  /** What a power cut leaves of its files, and why nothing is known of them. */
  filesAfterPowerCut: FileAfterPowerCut[] = [];
  diskTroubled: string | undefined;
  readonly powerCuts: PowerCut[] = [];
  /** Why it does not start until its log is mended. */
  refusesToStart: string | undefined;

  async diskTrouble() {
    return this.diskTroubled;
  }

  async losePower(cut: PowerCut) {
    if ((await this.process.state()) !== 'dead') throw new Error(`${this.name} must be dead`);
    this.powerCuts.push(cut);
    return this.filesAfterPowerCut;
  }

  async mendLog() {
    this.refusesToStart = undefined;
    return 'Successfully truncated AOF';
  }

  async forget() {
    if ((await this.process.state()) !== 'dead') throw new Error(`${this.name} must be dead`);
    this.forgotten++;
    this.keys.clear();
  }

  async fields(...argv: (string | number)[]): Promise<ReadonlyMap<string, string>[]> {
    return fieldsOf(await this.command(...argv));
  }

  async command(...argv: (string | number)[]): Promise<unknown> {
    if ((await this.process.state()) === 'dead') throw new Error(`${this.name} does not answer`);
    const giveUpNs = this.clock.nowNs() + 1e9;
    while ((await this.process.state()) === 'stopped') {
      if (this.clock.nowNs() >= giveUpNs) throw new Error(`${this.name} does not answer`);
      await this.clock.sleep(1);
    }
    const [name, ...args] = argv.map(String);
    this.commands.push(argv.join(' '));
    for (const follow of this.host.watchers)
      follow({ serverWallMs: 0, source: 'unix:redis.sock', argv: argv.map(String) });
    if (name === 'PING') return 'PONG';
    if (name === 'ECHO') return args[0];
    if (name === 'ROLE') return [this.role];
    if (name === 'EXISTS') return this.keys.has(args[0]!) ? 1 : 0;
    if (name === 'PTTL') return this.keys.has(args[0]!) ? (this.lifetimesMs.get(args[0]!) ?? -1) : -2;
    if (name === 'DBSIZE') return this.keys.size;
    if (name === 'INFO') {
      return `# Server\r\nrun_id:${this.runId}\r\nserver_time_usec:${Math.round(this.wallMs() * 1_000)}\r\n`;
    }
    if (name === 'CLIENT' && args[0] === 'LIST') {
      return [...this.clientIds]
        .map(([id, address]) => `id=${id} addr=${address}:5000 laddr=10.77.0.9:6379 name=`)
        .join('\n');
    }
    if (name === 'CLIENT') return this.clientIds.delete(args[2]!) ? 1 : 0;
    throw new Error(`the fake node does not know ${argv.join(' ')}`);
  }

  async monitor(onCommand: (command: MonitoredCommand) => void): Promise<Monitoring> {
    this.host.watchers.add(onCommand);
    return { closed: new Promise(() => {}), close: () => this.host.watchers.delete(onCommand) };
  }

  async subscribe(): Promise<never> {
    throw new Error('not here');
  }

  async ping() {
    const answer = await this.command('PING');
    if (answer !== 'PONG') throw new Error(`${this.name} answers PING with ${String(answer)}`);
  }

  async clockMs() {
    const [, usec] = /server_time_usec:(\d+)/.exec(String(await this.command('INFO', 'server'))) ?? [];
    return usec === undefined ? undefined : Number(usec) / 1_000;
  }

  async version() {
    return 'fake';
  }

  private wallMs() {
    return this.clock.wallMs() + (this.shimmed ? this.host.aheadMs() : 0);
  }
}

export class FakeClient implements ClientTarget {
  process = new FakeProcess();
  holding: string[] = [];
  tellsTime = true;
  canStop = true;
  stopping: { step: string } | undefined;
  resumed = 0;

  get callers() {
    return [this.name];
  }

  constructor(
    readonly slot: string,
    readonly host: FakeHost,
    private readonly clock: FakeClock,
    public name = slot,
  ) {}

  async kill() {
    this.process.signal('SIGKILL');
  }

  resume() {
    this.resumed++;
    this.process = new FakeProcess();
    this.name = `${this.slot}.2`;
  }

  async wallMs() {
    return this.tellsTime ? this.clock.wallMs() + this.host.aheadMs() : undefined;
  }
}

export interface World {
  clock: FakeClock;
  nodes: FakeNode[];
  sentinels: FakeNode[];
  clients: FakeClient[];
  hosts: FakeHost[];
  /** Who the servers say is primary; changed by tests. */
  primary: FakeNode | undefined;
  topology: Topology;
  plan: PlanTopology;
  levers: Levers;
  notes: FaultRecord[];
  /** What clients are asked for now: at which step to stop. */
  stops: Set<{ step: string; slot: string | undefined }>;
  interrupt: AbortController;
  context: FaultContext;
  nemesis: NemesisContext;
  emit(body: HistoryBody): void;
  /** A client is granted a key, from invoke to ok, now. */
  grant(client: string, id: number, key: string): void;
  host(name: string): FakeHost;
  node(name: string): FakeNode;
  /** Everything in force on any host, in words. */
  inForce(): Promise<string[]>;
}

export function world(
  name: 'single' | 'sentinel' | 'redlock',
  options: {
    nodes?: number;
    clients?: number;
    persistence?: Persistence;
    leaseMs?: number;
    seed?: number;
    needsAllNodes?: boolean;
  } = {},
): World {
  const clock = new FakeClock();
  let next = 2;
  const hosts: FakeHost[] = [];
  const host = (hostName: string) => {
    const made = new FakeHost(hostName, `10.77.0.${next++}`, clock);
    hosts.push(made);
    return made;
  };
  const count = options.nodes ?? { single: 1, sentinel: 3, redlock: 5 }[name];
  const nodes = range(count).map((n) => new FakeNode(`r${n}`, 'redis', host(`r${n}`), clock));
  const sentinels = range(name === 'sentinel' ? 3 : 0).map(
    (n) => new FakeNode(`s${n}`, 'sentinel', host(`s${n}`), clock),
  );
  const clients = range(options.clients ?? 6).map((n) => new FakeClient(`c${n}`, host(`c${n}`), clock));
  const listeners = new Set<(event: HistoryEvent) => void>();
  const ledger = new Ledger();
  const interrupt = new AbortController();
  const notes: FaultRecord[] = [];
  const leaseMs = options.leaseMs ?? 5_000;
  if (name === 'sentinel') nodes[0]!.role = 'master';
  const made = {
    clock,
    nodes,
    sentinels,
    clients,
    hosts,
    primary: name === 'redlock' ? undefined : nodes[0],
    notes,
    stops: new Set(),
    interrupt,
    plan: {
      name,
      service: 'redis',
      replicated: name === 'sentinel',
      quorum: name === 'redlock' ? 'majority' : 'primary',
      ...(name === 'sentinel' && { plannedFailover: 'sentinel' as const }),
      nodes: nodes.map((node) => node.name),
      sentinels: sentinels.map((node) => node.name),
      clients: clients.map((client) => client.slot),
    },
    emit(body: HistoryBody) {
      const event = { i: 0, atNs: clock.nowNs(), ...body } as HistoryEvent;
      ledger.event(event);
      for (const listener of [...listeners]) listener(event);
    },
    grant(client: string, id: number, key: string) {
      const atNs = clock.nowNs();
      made.emit({ type: 'invoke', client, id, op: 'acquire', key });
      made.emit({ type: 'ok', client, id, op: 'acquire', key, beganNs: atNs, endedNs: atNs, grantSentNs: atNs });
    },
    host: (wanted: string) => hosts.find((one) => one.name === wanted)!,
    node: (wanted: string) => [...nodes, ...sentinels].find((one) => one.name === wanted)!,
    async inForce() {
      const servers = [...nodes, ...sentinels];
      const states = await Promise.all(
        [...servers, ...clients].map(async (one) => [one.name, await one.process.state()] as const),
      );
      return [
        ...hosts.flatMap((one) => [...one.routes].map((to) => `${one.name} cut from ${to}`)),
        ...hosts.flatMap((one) => [...one.led.keys()].map((to) => `${one.name} sends through a shaper to ${to}`)),
        ...hosts.flatMap((one) => (one.shapers.size === 0 ? [] : [`${one.name} has a shaper`])),
        ...hosts.flatMap((one) => (one.link ? [] : [`${one.name} is off`])),
        ...hosts.flatMap((one) => (one.skew.offsetMs === 0 ? [] : [`${one.name} is ${one.skew.offsetMs} ms off`])),
        ...hosts.flatMap((one) => (one.skew.ratePpm === 0 ? [] : [`${one.name} drifts by ${one.skew.ratePpm} ppm`])),
        ...hosts.flatMap((one) => (one.watchers.size === 0 ? [] : [`${one.name} is still followed`])),
        ...states.flatMap(([who, state]) => (state === 'running' ? [] : [`${who} is ${state}`])),
      ];
    },
  } as unknown as World;
  made.topology = {
    name,
    nodes,
    sentinels,
    watchers: sentinels.map((node) => node.host),
    settings: [],
    replicated: name === 'sentinel',
    quorum: { kind: 'primary' },
    replacedPrimary: 'keeps',
    describe: () => ({ kind: 'redlock', nodes: [] }),
    shards: async () => {
      const { primary } = made;
      if (!primary) return [];
      return [{ primary, replicas: nodes.filter((node) => node !== primary), serves: () => true }];
    },
    missing: async () => [],
    [Symbol.asyncDispose]: async () => {},
  };
  made.context = {
    clock,
    random: createRandom(options.seed ?? 1),
    runtime: {} as FaultContext['runtime'],
    topology: made.topology,
    hosts,
    clientHosts: clients.map((client) => client.host),
    keys: ['lock:0', 'lock:1'],
    keyName: (key) => key,
    needsAllNodes: options.needsAllNodes ?? false,
    leaseMs,
    persistence: options.persistence ?? 'none',
    clients: () => clients,
    holds: ledger,
    stopAtStep(step, slot) {
      const stop = { step, slot };
      made.stops.add(stop);
      return () => made.stops.delete(stop);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    note: (record) => notes.push(record),
    signal: interrupt.signal,
  };
  made.levers = createLevers(clock, made.topology, leaseMs, made.context.random);
  made.nemesis = {
    ...made.context,
    levers: made.levers,
    note: (record) => notes.push({ step: 0, fault: 'test', ...record }),
  };
  return made;
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}
