/**
 * One MariaDB server. The harness asks it through its unix socket, which no network fault reaches.
 *
 * One that is told to replicate begins with nothing and gets all that was ever written from its primary's log, and again when
 * another took its place meanwhile: what it alone had committed is gone then, as with every operator who rebuilds a server.
 */
import { dirname, join } from 'node:path';
import type { SpawnOptions } from '../../vocabulary/host.js';
import type { Monitoring, ServerRole, ServiceNews } from '../../vocabulary/topology.js';
import { DeploymentError } from '../ready.js';
import { ServiceServer, type ServiceServerOptions } from '../service-server.js';
import { MariaAdmin, OPERATOR } from './admin.js';
import { followMariadbLocks, MARIADB_LEFT_MS } from './follow.js';
import { MARIADB_ROLE, MARIADB_SCHEMA, mariadbRoleIn, mariadbSettings, SMALL } from './sql.js';

export interface MariaServerOptions extends ServiceServerOptions {
  password: string;
  /** Whether a commit waits for the replica. */
  synchronous: boolean;
  /** Whom it is to replicate from now; undefined: it is the primary, or nobody is. */
  primary(): MariaServer | undefined;
  /** A number that no server of the run had before: rises. */
  nextNumber(): number;
}

export const MARIADB_PORT = 3306;
const DATA = 'data';
/** As its system tables were made: what every server begins with. */
const EMPTY = 'empty';
const SOCKET = 'admin.sock';
const FIRST_WORDS = 'first-words.sql';
const ANSWER_TIMEOUT_MS = 1_000;

/** A second on a quiet machine, and as long as this where seventy processes share two cores. */
const PROGRAM_TIMEOUT_MS = 60_000;
const SYSTEM_TABLES = ['system_tables', 'performance_tables', 'system_tables_data'];

export class MariaServer extends ServiceServer {
  readonly kind = 'mariadb';
  readonly port = MARIADB_PORT;
  private readonly admin = new MariaAdmin(() => this.dialed(), ANSWER_TIMEOUT_MS);
  /** The number of whom its data come from: of what that was then, for it may have been built anew since. */
  private copyOf: number | undefined;
  private hasData = false;
  /** Whether it has the table for locks, or will have it from its primary. */
  private isPrepared = false;
  private number = 0;
  /** Where messages and the statements that make system tables lie. */
  private shared = '';

  constructor(protected override readonly options: MariaServerOptions) {
    super(options);
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
    const [row] = await this.admin.ask(MARIADB_ROLE);
    return { ...mariadbRoleIn(row!), runId: String(this.process.pid) };
  }

  /** How long it will have the key, milliseconds: below 0 if it has none, Infinity if until somebody's session ends. */
  async lifetimeMs(key: string): Promise<number> {
    const [row] = await this.admin.ask(MARIADB_LEFT_MS, [key, key]);
    return row!.id !== null ? Number.POSITIVE_INFINITY : Number(row!.left_ms ?? -1);
  }

  async receivesFrom(): Promise<string | undefined> {
    const [row] = await this.admin.ask('SHOW SLAVE STATUS');
    const receives = row?.Slave_IO_Running === 'Yes' && row.Slave_SQL_Running === 'Yes';
    return receives ? String(row.Master_Host) : undefined;
  }

  async notSynchronous(): Promise<string | undefined> {
    if (!this.options.synchronous) return undefined;
    const rows = await this.admin.ask("SHOW STATUS LIKE 'Rpl_semi_sync_master_%'");
    const status = new Map(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]));
    const isOn = status.get('Rpl_semi_sync_master_status') === 'ON';
    const waits = isOn && Number(status.get('Rpl_semi_sync_master_clients')) > 0;
    return waits ? undefined : `${this.name} has no replica that its commits wait for`;
  }

  follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring> {
    const own = new MariaAdmin(() => this.dialed(), ANSWER_TIMEOUT_MS);
    const { name: node, process } = this;
    const look = followMariadbLocks(own, { node, runId: String(process.pid), keys, heard, clock: this.options.clock });
    return this.followByAsking(look, () => own.close());
  }

  /** Makes a table for locks and who may use it, on the primary. */
  async prepareDatabase(): Promise<void> {
    const patient = new MariaAdmin(() => this.dialed(), PROGRAM_TIMEOUT_MS);
    try {
      for (const statement of MARIADB_SCHEMA)
        await patient.ask(statement, statement.includes('?') ? [this.options.password] : []);
      // Before, there was no replica yet that a commit could wait for.
      if (this.options.synchronous) await patient.ask('SET GLOBAL rpl_semi_sync_master_enabled = ON');
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
    const isReplica = this.options.primary() !== undefined;
    const settings = mariadbSettings(this.options.synchronous).map(
      ({ name, value }) => `--${name.replaceAll('_', '-')}=${value}`,
    );
    return [
      ...this.common(DATA),
      // From its data folder, where it goes to: the path of a unix socket may be no longer than 107 bytes.
      `--socket=../${SOCKET}`,
      `--port=${MARIADB_PORT}`,
      `--server-id=${this.number}`,
      '--log-bin=log',
      '--relay-log=relay',
      '--skip-name-resolve',
      '--skip-slave-start',
      `--init-file=${join(this.host.folder, FIRST_WORDS)}`,
      `--read-only=${isReplica ? 'ON' : 'OFF'}`,
      // A replica's own commits would wait for one of its own.
      ...(this.options.synchronous
        ? [`--rpl-semi-sync-master-enabled=${!isReplica && this.isPrepared ? 'ON' : 'OFF'}`]
        : []),
      ...settings,
      ...SMALL,
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

  /** System tables are made once for each host: it takes a second. */
  private async beginAnew(): Promise<void> {
    if (!(await this.host.listFolder('.')).includes(EMPTY)) await this.makeSystemTables();
    await this.run(['cp', '-r', EMPTY, DATA]);
  }

  private async makeSystemTables(): Promise<void> {
    const { binary } = this.options;
    const statements = await this.systemTables();
    const unfinished = `${EMPTY}.unfinished`;
    await this.run(['mkdir', unfinished]);
    const program = [...(binary.loader ?? []), binary.path];
    const settings = mariadbSettings(false)
      .filter(({ name }) => /^(innodb|debug)/.test(name))
      .map(({ name, value }) => `--${name.replaceAll('_', '-')}=${value}`);
    const process = this.host.spawn(
      [...program, ...this.common(unfinished), '--bootstrap', '--skip-log-bin', ...settings, ...SMALL],
      this.spawnOptions(),
    );
    process.stdin.end(statements);
    const exit = await process.exited;
    if (exit.code !== 0)
      throw new DeploymentError(`${this.name}: system tables could not be made: ${await this.obituary(exit)}`);
    await this.run(['mv', unfinished, EMPTY]);
  }

  /** One statement a line, which a server carries out before it lets anybody in. */
  private toFollow(primary: MariaServer): string {
    const master = {
      MASTER_HOST: `'${primary.host.address}'`,
      MASTER_PORT: MARIADB_PORT,
      MASTER_USER: `'${OPERATOR}'`,
      MASTER_PASSWORD: `'${this.options.password}'`,
      MASTER_USE_GTID: 'slave_pos',
      MASTER_CONNECT_RETRY: 1,
      MASTER_HEARTBEAT_PERIOD: 0.3,
    };
    const settings = Object.entries(master).map(([name, value]) => `${name} = ${value}`);
    return `CHANGE MASTER TO ${settings.join(', ')};\nSTART SLAVE;\n`;
  }

  private async findShared(): Promise<string> {
    const usr = join(dirname(this.options.binary.path), '..');
    for (const folder of ['share/mysql', 'share/mariadb'])
      if ((await this.host.listFolder(join(usr, folder))).length > 0) return join(usr, folder);
    throw new DeploymentError(`${this.options.binary.path} is not where its own files are: no ${usr}/share/mysql`);
  }

  /** As `mariadb-install-db` has it, without help texts, and without users that have no password but the one of the socket. */
  private async systemTables(): Promise<string> {
    const files = await Promise.all(SYSTEM_TABLES.map((name) => this.statementsOf(name)));
    return [
      'CREATE DATABASE IF NOT EXISTS mysql;',
      'USE mysql;',
      'SET @auth_root_socket = NULL;',
      'SET @skip_auth_anonymous = 1;',
      ...files,
    ].join('\n');
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
