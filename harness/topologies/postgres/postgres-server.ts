/**
 * One PostgreSQL server. It refuses to run as root, which here it would be, on every host: it and its programs run as nobody. The
 * harness asks it through its unix socket, which no network fault reaches.
 *
 * One that is told to replicate takes a copy of its primary (`pg_basebackup`) before it starts, and again when another took its
 * place meanwhile: what it alone had committed is gone then, as with every operator who rebuilds a server.
 */
import { dirname, join } from 'node:path';
import type { SpawnOptions } from '../../vocabulary/host.js';
import type { Monitoring, ServerRole, ServiceNews } from '../../vocabulary/topology.js';
import { DeploymentError } from '../ready.js';
import { ServiceServer, type ServiceServerOptions } from '../service-server.js';
import { PgAdmin, USER } from './admin.js';
import { followPostgresLocks, LEFT_MS } from './follow.js';
import { ROLE, roleIn, SCHEMA, settingsOf } from './sql.js';

export interface PostgresServerOptions extends ServiceServerOptions {
  password: string;
  /** Whether a commit waits for the replica. */
  synchronous: boolean;
  /** Whom it is to replicate from now; undefined: it is the primary, or nobody is. */
  primary(): PostgresServer | undefined;
}

export const POSTGRES_PORT = 5432;
const DATA = 'data';
/** Beside its data, which are its own alone to look into. */
const SOCKET = `.s.PGSQL.${POSTGRES_PORT}`;
const ACCESS = 'pg_hba.conf';
const ANSWER_TIMEOUT_MS = 1_000;
const COPY_TIMEOUT_MS = 15_000;
/** Seconds on a quiet machine, and as long as this where seventy processes share two cores. */
const PROGRAM_TIMEOUT_MS = 60_000;
const AGAIN_MS = 200;
/** The children of a server that was killed are gone by then. */
const ENDED_WITHIN_MS = 5_000;
const ANYBODY_WITH_PASSWORD = `local all all trust
local replication all trust
host all all 0.0.0.0/0 scram-sha-256
host replication all 0.0.0.0/0 scram-sha-256
`;

export class PostgresServer extends ServiceServer {
  readonly kind = 'postgres';
  readonly port = POSTGRES_PORT;
  private readonly admin = new PgAdmin(() => this.host.dial(SOCKET), ANSWER_TIMEOUT_MS);
  /** What its data are a copy of: of what that server had then, for it may have been built anew since. */
  private copyOf: object | undefined;
  /** Another one whenever it is built anew. */
  private build = {};
  private hasData = false;

  constructor(protected override readonly options: PostgresServerOptions) {
    super(options);
  }

  async ping(): Promise<void> {
    await this.admin.ask('SELECT 1');
  }

  async clockMs(): Promise<number> {
    const [row] = await this.admin.ask('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms');
    return Number(row!.ms);
  }

  async version(): Promise<string> {
    const [row] = await this.admin.ask('SHOW server_version');
    return String(row!.server_version).split(' ')[0]!;
  }

  async roleNow(): Promise<ServerRole> {
    const [row] = await this.admin.ask(ROLE);
    return { ...roleIn(row!), runId: String(this.process.pid) };
  }

  /** How long it will have the key, milliseconds: below 0 if it has none, Infinity if until somebody's session ends. */
  async lifetimeMs(key: string): Promise<number> {
    const [row] = await this.admin.ask(LEFT_MS, [key]);
    return row!.is_locked === true ? Number.POSITIVE_INFINITY : Number(row!.left_ms ?? -1);
  }

  /** Whom it receives from, and how that goes; undefined: from nobody. */
  async receivesFrom(): Promise<string | undefined> {
    const [row] = await this.admin.ask("SELECT sender_host FROM pg_stat_wal_receiver WHERE status = 'streaming'");
    return row && String(row.sender_host);
  }

  /** Why a commit would wait for ever, or not wait at all, for want of a replica that it waits for. */
  async notSynchronous(): Promise<string | undefined> {
    if (!this.options.synchronous) return undefined;
    const sql = "SELECT count(*) AS n FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
    const [row] = await this.admin.ask(sql);
    return Number(row!.n) > 0 ? undefined : `${this.name} has no synchronous replica`;
  }

  follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring> {
    const own = new PgAdmin(() => this.host.dial(SOCKET), ANSWER_TIMEOUT_MS);
    const look = followPostgresLocks(own, {
      node: this.name,
      runId: String(this.process.pid),
      keys,
      heard,
      clock: this.options.clock,
    });
    return this.followByAsking(look, () => own.close());
  }

  /** Makes a table for locks, on the primary. */
  async prepareDatabase(): Promise<void> {
    const patient = new PgAdmin(() => this.host.dial(SOCKET), COPY_TIMEOUT_MS);
    try {
      // There is no replica yet that a commit could wait for.
      for (const statement of ['SET synchronous_commit TO local', ...SCHEMA]) await patient.ask(statement);
    } catch (error) {
      throw new DeploymentError(`${this.name}: the table for locks could not be made: ${(error as Error).message}`);
    } finally {
      patient.close();
    }
  }

  /** Whoever is primary later may be the one that it was a copy of before. */
  promoted(): void {
    this.copyOf = undefined;
  }

  /** Becomes a replica of whoever is primary, with nothing of its own. */
  async rebuild(): Promise<void> {
    this.process.signal('SIGKILL');
    await this.process.exited;
    this.promoted();
    await this.start();
  }

  protected override async prepare(): Promise<void> {
    this.admin.close();
    const primary = this.options.primary();
    if (!this.hasData || (primary && primary.build !== this.copyOf)) {
      if (primary) await this.copy(primary);
      else await this.initialize();
      this.copyOf = primary?.build;
      this.build = {};
      this.hasData = true;
    }
    await this.removeSocket();
  }

  protected override spawnOptions(): SpawnOptions {
    return { ...super.spawnOptions(), family: true };
  }

  protected override argv(): readonly string[] {
    return [...this.host.asNobody, ...super.argv()];
  }

  protected flags(): string[] {
    const settings = settingsOf(this.options.synchronous).flatMap(({ name, value }) => ['-c', `${name}=${value}`]);
    return ['-D', DATA, '-p', String(POSTGRES_PORT), ...settings];
  }

  protected async wipe(): Promise<void> {
    this.hasData = false;
    // Children of a server that was killed notice it a moment later, and write until then.
    await this.untilDone(ENDED_WITHIN_MS, () => this.run(['rm', '-rf', DATA]));
  }

  private async initialize(): Promise<void> {
    await this.wipe();
    const file = await this.host.writeFile('password', this.options.password);
    await this.run([
      ...[this.program('initdb'), '-D', DATA, '-U', USER, `--pwfile=${file}`],
      ...['--no-sync', '--no-instructions', '--encoding=UTF8', '--locale=C'],
      ...['--auth-local=trust', '--auth-host=scram-sha-256'],
    ]);
    const access = await this.host.writeFile(ACCESS, ANYBODY_WITH_PASSWORD);
    await this.run(['cp', access, `${DATA}/${ACCESS}`]);
  }

  /** Tries again while the primary cannot be reached: what heals a cut may come a moment later. */
  private async copy(primary: PostgresServer): Promise<void> {
    const { address } = primary.host;
    const written = await this.host.writeFile('passwords', `*:*:*:*:${this.options.password}\n`);
    // It is believed only where it is whoever reads it who has it, and nobody else may.
    const passwords = `${written}.own`;
    await this.run(['install', '-m', '600', written, passwords]);
    const where = `host=${address} port=${POSTGRES_PORT} user=${USER} passfile=${passwords} connect_timeout=2 application_name=${this.name}`;
    await this.untilDone(COPY_TIMEOUT_MS, async () => {
      await this.wipe();
      await this.run([
        ...[this.program('pg_basebackup'), '-D', DATA, '-d', where],
        ...['--write-recovery-conf', '--checkpoint=fast', '--no-sync', '--wal-method=stream'],
      ]);
    });
  }

  /** Again and again; throws why it failed last when so much time has passed. */
  private async untilDone(withinMs: number, attempt: () => Promise<unknown>): Promise<void> {
    const { clock } = this.options;
    const giveUpNs = clock.nowNs() + withinMs * 1e6;
    for (;;) {
      try {
        await attempt();
        return;
      } catch (error) {
        if (clock.nowNs() > giveUpNs) throw error;
        await clock.sleep(AGAIN_MS);
      }
    }
  }

  /** A killed server leaves them, a copy of one has them, and the process that they name may be another by now. */
  private async removeSocket(): Promise<void> {
    await this.run(['rm', '-f', SOCKET, `${SOCKET}.lock`, `${DATA}/postmaster.pid`]);
  }

  private program(name: string): string {
    return join(dirname(this.options.binary.path), name);
  }

  private async run(argv: readonly string[]): Promise<void> {
    const { env } = this.options.binary;
    const withEnv = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const result = await this.host.exec(['env', ...withEnv, ...this.host.asNobody, ...argv], {
      timeoutMs: PROGRAM_TIMEOUT_MS,
    });
    if (result.exitCode !== 0)
      throw new DeploymentError(
        `${this.name}: ${argv.find((word) => word.includes('/bin/')) ?? argv[0]}: ${result.stderr.trim().slice(-300)}`,
      );
  }
}
