/**
 * One server of MySQL or MariaDB. The harness asks it through its unix socket, which no network fault reaches.
 *
 * One that is told to replicate begins with nothing and gets all that was ever written from its primary's log, and again when
 * another took its place meanwhile: what it alone had committed is gone then, as with every operator who rebuilds a server.
 */
import { dirname, join } from 'node:path';
import type { SpawnOptions } from '../../vocabulary/host.js';
import type { Monitoring, ServerRole, ServiceNews } from '../../vocabulary/topology.js';
import { DeploymentError } from '../ready.js';
import { ServiceServer, type ServiceServerOptions } from '../service-server.js';
import { MysqlAdmin, OPERATOR } from './admin.js';
import type { Flavour } from './flavour.js';
import { followMysqlLocks, MYSQL_LEFT_MS } from './follow.js';
import { LOCK_SCHEMA, mysqlSettings, SMALL, serverFlags } from './sql.js';

export interface MysqlServerOptions extends ServiceServerOptions {
  flavour: Flavour;
  password: string;
  /** Whether a commit waits for the replica. */
  synchronous: boolean;
  /** Whom it is to replicate from now; undefined: it is the primary, or nobody is. */
  primary(): MysqlServer | undefined;
  /** A number that no server of the run had before: rises. */
  nextNumber(): number;
}

export const PORT = 3306;
const DATA = 'data';
/** As its system tables were made: what every server begins with. */
const EMPTY = 'empty';
const SOCKET = 'admin.sock';
const FIRST_WORDS = 'first-words.sql';
const ANSWER_TIMEOUT_MS = 1_000;

/** A second on a quiet machine, and as long as this where seventy processes share two cores. */
const PROGRAM_TIMEOUT_MS = 60_000;

export class MysqlServer extends ServiceServer {
  readonly kind: Flavour['name'];
  readonly port = PORT;
  private readonly admin = new MysqlAdmin(() => this.dialed(), ANSWER_TIMEOUT_MS);
  /** The number of whom its data come from: of what that was then, for it may have been built anew since. */
  private copyOf: number | undefined;
  private hasData = false;
  /** Whether it has the table for locks, or will have it from its primary. */
  private isPrepared = false;
  private number = 0;
  /** Where messages and the statements that make system tables lie. */
  private shared = '';

  constructor(protected override readonly options: MysqlServerOptions) {
    super(options);
    this.kind = options.flavour.name;
  }

  async ping(): Promise<void> {
    await this.admin.ask('SELECT 1');
  }

  async clockMs(): Promise<number> {
    const [row] = await this.admin.ask('SELECT UNIX_TIMESTAMP(SYSDATE(6)) * 1000 AS ms');
    return Number(row!.ms);
  }

  async version(): Promise<string> {
    const [row] = await this.admin.ask('SELECT VERSION() AS version');
    return String(row!.version).split('-')[0]!;
  }

  async roleNow(): Promise<ServerRole> {
    const { flavour } = this.options;
    const [row] = await this.admin.ask(flavour.state);
    const { role, term } = flavour.stateIn(row!);
    return { role, term, runId: String(this.process.pid) };
  }

  /** How long it will have the key, milliseconds: below 0 if it has none, Infinity if until somebody's session ends. */
  async lifetimeMs(key: string): Promise<number> {
    const [row] = await this.admin.ask(MYSQL_LEFT_MS, [key, key]);
    return row!.id !== null ? Number.POSITIVE_INFINITY : Number(row!.left_ms ?? -1);
  }

  async receivesFrom(): Promise<string | undefined> {
    const { status, running, source } = this.options.flavour.replication;
    const [row] = await this.admin.ask(status);
    return row && running.every((name) => row[name] === 'Yes') ? String(row[source]) : undefined;
  }

  async notSynchronous(): Promise<string | undefined> {
    const { synchronous, flavour } = this.options;
    if (!synchronous) return undefined;
    const { source } = flavour.semiSync;
    const rows = await this.admin.ask(`SHOW STATUS LIKE '${source}_%'`);
    const status = new Map(
      rows.map(({ Variable_name, Value }) => [String(Variable_name).toLowerCase(), String(Value)]),
    );
    const waits = status.get(`${source}_status`) === 'ON' && Number(status.get(`${source}_clients`)) > 0;
    return waits ? undefined : `${this.name} has no replica that its commits wait for`;
  }

  follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring> {
    const own = new MysqlAdmin(() => this.dialed(), ANSWER_TIMEOUT_MS);
    const { name: node, process } = this;
    const look = followMysqlLocks(own, { node, runId: String(process.pid), keys, heard, clock: this.options.clock });
    return this.followByAsking(look, () => own.close());
  }

  /** Makes a table for locks and who may use it, on the primary. */
  async prepareDatabase(): Promise<void> {
    const patient = new MysqlAdmin(() => this.dialed(), PROGRAM_TIMEOUT_MS);
    try {
      for (const statement of LOCK_SCHEMA)
        await patient.ask(statement, statement.includes('?') ? [this.options.password] : []);
      // Before, there was no replica yet that a commit could wait for.
      const { synchronous, flavour } = this.options;
      if (synchronous) await patient.ask(`SET GLOBAL ${flavour.semiSync.source}_enabled = ON`);
      this.isPrepared = true;
    } catch (error) {
      throw new DeploymentError(`${this.name}: the table for locks could not be made: ${(error as Error).message}`);
    } finally {
      patient.close();
    }
  }

  /** Becomes a replica of whoever is primary, with nothing of its own. */
  async rebuild(): Promise<void> {
    this.process.signal('SIGKILL');
    await this.process.exited;
    this.promoted();
    this.hasData = false;
    await this.start();
  }

  /** Whoever is primary later may be the one that it was a copy of before. */
  promoted(): void {
    this.copyOf = undefined;
  }

  protected override async prepare(): Promise<void> {
    this.admin.close();
    this.shared ||= await this.findShared();
    const primary = this.options.primary();
    if (!this.hasData || (primary && primary.number !== this.copyOf)) {
      await this.wipe();
      await this.beginAnew();
      this.number = this.options.nextNumber();
      const files = Object.entries(this.options.flavour.files(this.number));
      for (const [name, text] of files) await this.host.writeFile(join(DATA, name), text);
      this.copyOf = primary?.number;
      this.hasData = true;
      if (primary) this.isPrepared = true;
    }
    await this.host.writeFile(FIRST_WORDS, primary ? this.toFollow(primary) : '');
  }

  protected override spawnOptions(): SpawnOptions {
    return { ...super.spawnOptions(), cwd: this.host.folder };
  }

  protected flags(): string[] {
    const { flavour, synchronous, primary } = this.options;
    const isReplica = primary() !== undefined;
    const { source } = flavour.semiSync;
    return [
      ...this.common(DATA),
      // From its data folder, where it goes to: the path of a unix socket may be no longer than 107 bytes.
      `--socket=../${SOCKET}`,
      `--port=${PORT}`,
      `--server-id=${this.number}`,
      '--log-bin=log',
      '--relay-log=relay',
      '--skip-name-resolve',
      `--init-file=${join(this.host.folder, FIRST_WORDS)}`,
      `--read-only=${isReplica ? 'ON' : 'OFF'}`,
      ...flavour.flags(this.usr),
      // A replica's own commits would wait for one of its own.
      ...(synchronous
        ? [`--${source.replaceAll('_', '-')}-enabled=${!isReplica && this.isPrepared ? 'ON' : 'OFF'}`]
        : []),
      ...serverFlags(mysqlSettings(flavour, synchronous)),
      ...this.small(),
    ];
  }

  protected async wipe(): Promise<void> {
    this.hasData = false;
    await this.run(['rm', '-rf', DATA]);
  }

  private common(folder: string): string[] {
    return [
      '--no-defaults',
      `--datadir=${join(this.host.folder, folder)}`,
      `--tmpdir=${this.host.folder}`,
      `--lc-messages-dir=${this.shared}`,
      // Here it is root, whoever started the run; without a word it would refuse to be.
      '--user=root',
    ];
  }

  /** System tables are made once for each host: of MariaDB it takes a second, of MySQL five. */
  private async beginAnew(): Promise<void> {
    if (!(await this.host.listFolder('.')).includes(EMPTY)) await this.makeSystemTables();
    await this.run(['cp', '-r', EMPTY, DATA]);
  }

  private small(): readonly string[] {
    return [...SMALL, ...this.options.flavour.small];
  }

  private async makeSystemTables(): Promise<void> {
    const { binary, flavour } = this.options;
    const { flags, input } = await flavour.systemTables((name) => this.statementsOf(name));
    const unfinished = `${EMPTY}.unfinished`;
    await this.run(['mkdir', unfinished]);
    const settings = mysqlSettings(flavour, false).filter(({ name }) => name.startsWith('innodb'));
    const process = this.host.spawn(
      [
        ...[...(binary.loader ?? []), binary.path, ...this.common(unfinished), ...flags, '--skip-log-bin'],
        ...[...serverFlags(settings), ...this.small()],
      ],
      this.spawnOptions(),
    );
    process.stdin.end(input);
    const exit = await process.exited;
    if (exit.code !== 0)
      throw new DeploymentError(`${this.name}: system tables could not be made: ${await this.obituary(exit)}`);
    await this.run(['mv', unfinished, EMPTY]);
  }

  /** One statement a line, which a server carries out before it lets anybody in. */
  private toFollow(primary: MysqlServer): string {
    const { flavour, password } = this.options;
    return flavour.toFollow({ host: primary.host.address, port: PORT, user: OPERATOR, password });
  }

  private get usr(): string {
    return join(dirname(this.options.binary.path), '..');
  }

  private async findShared(): Promise<string> {
    const { shared } = this.options.flavour;
    for (const folder of shared)
      if ((await this.host.listFolder(join(this.usr, folder))).length > 0) return join(this.usr, folder);
    const { path } = this.options.binary;
    throw new DeploymentError(`${path} is not where its own files are: no ${join(this.usr, shared[0]!)}`);
  }

  private async statementsOf(name: string): Promise<string> {
    for (const file of [`mysql_${name}.sql`, `mariadb_${name}.sql`]) {
      const found = await this.host.readFile(join(this.shared, file));
      if (found) return found.data.toString();
    }
    throw new DeploymentError(`${this.shared} has no ${name}`);
  }

  private async run(argv: readonly string[]): Promise<void> {
    const { exitCode, stderr } = await this.host.exec(argv, { timeoutMs: PROGRAM_TIMEOUT_MS });
    if (exitCode !== 0) throw new DeploymentError(`${this.name}: ${argv[0]}: ${stderr.trim().slice(-300)}`);
  }

  private dialed() {
    return this.host.dial(SOCKET);
  }
}
