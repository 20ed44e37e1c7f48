/** One server that speaks MongoDB's protocol. The harness asks it through its unix socket, which no network fault reaches. */
import type { SpawnOptions } from '../../vocabulary/host.js';
import type { Monitoring, ServerRole, ServiceNews, Setting } from '../../vocabulary/topology.js';
import { followDatabase } from '../follow-database.js';
import { DeploymentError } from '../ready.js';
import { ServiceServer } from '../service-server.js';
import { MongoAdmin, MongoAnswerError } from './admin.js';
import { isFerretDb } from './program.js';

const PORT = 27017;
const DATA = 'data';
const CACHE_GB = '0.25';
/** As `mongod` names it. Relative, because the path of a unix socket may be no longer than 107 bytes. */
const SOCKET = `mongodb-${PORT}.sock`;
const ANSWER_TIMEOUT_MS = 1_000;
/** Some milliseconds on a quiet machine, and as long as this where seventy processes share two cores. */
const PROGRAM_TIMEOUT_MS = 60_000;
/** Where locks keep a document for each key (`lock-impl/mongodb/documents.ts`), or for each term of one (`terms.ts`). */
const DATABASE = 'locks';
const COLLECTION = 'lock_documents';
/** The code of a collection that is there already. */
const NAMESPACE_EXISTS = 48;
/** More than there are documents. */
const MANY = 10_000;

export class MongoServer extends ServiceServer {
  readonly kind = 'mongodb';
  readonly port = PORT;
  private readonly admin = this.newAdmin();

  /** What it is told that touches what it answers; for people. */
  get settings(): readonly Setting[] {
    const where = this.kind;
    if (isFerretDb(this.options.binary))
      return [{ where, name: 'handler', value: 'sqlite', why: 'the store that is built into FerretDB' }];
    return [{ where, name: 'wiredTigerCacheSizeGB', value: CACHE_GB, why: 'a run has little data' }];
  }

  async ping(): Promise<void> {
    await this.admin.ask({ ping: 1 });
  }

  /** Makes the collection for locks as well: clients that all made it at once would be in each other's way. */
  override async start(): Promise<void> {
    await super.start();
    const patient = this.newAdmin(PROGRAM_TIMEOUT_MS);
    try {
      await patient.ask({ create: COLLECTION }, DATABASE);
    } catch (error) {
      if (error instanceof MongoAnswerError && error.code === NAMESPACE_EXISTS) return;
      throw new DeploymentError(`${this.name}: no collection for locks could be made: ${(error as Error).message}`);
    } finally {
      patient.close();
    }
  }

  async clockMs(): Promise<number> {
    const { localTime } = await this.admin.ask({ hello: 1 });
    return (localTime as Date).getTime();
  }

  /** FerretDB says its own beside that of the MongoDB which it stands for. */
  async version(): Promise<string> {
    const { version, ferretdbVersion } = await this.admin.ask({ buildInfo: 1 });
    return ferretdbVersion === undefined ? String(version) : `(FerretDB ${String(ferretdbVersion).replace(/^v/, '')})`;
  }

  async roleNow(): Promise<ServerRole> {
    const { isWritablePrimary } = await this.admin.ask({ hello: 1 });
    return { role: isWritablePrimary === true ? 'primary' : 'unknown', term: 0, runId: String(this.process.pid) };
  }

  /** How long it will have the key, milliseconds: below 0 if it has none. */
  async lifetimeMs(key: string): Promise<number> {
    const [documents, nowMs] = await Promise.all([this.documents(this.admin, [key]), this.clockMs()]);
    const { owner, leaseEnd } = documents.at(-1) ?? {};
    return owner === undefined || owner === '' || !(leaseEnd instanceof Date) ? -1 : leaseEnd.getTime() - nowMs;
  }

  /** Asks again and again: a server by itself has no record of what it changed. */
  follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring> {
    const own = this.newAdmin();
    const look = followDatabase(
      {
        changes: async () => [],
        sessions: async () => {
          const documents = await this.documents(own, keys);
          const owners = new Map(documents.map(({ _id, key, owner }) => [String(key ?? _id), String(owner ?? '')]));
          return keys.map((key) => ({ key, session: owners.get(key) || undefined }));
        },
      },
      { node: this.name, runId: String(this.process.pid), keys, heard, clock: this.options.clock },
    );
    return this.followByAsking(look, () => own.close());
  }

  protected override async prepare(): Promise<void> {
    this.admin.close();
    await this.run(['mkdir', '-p', DATA]);
    // One that was killed leaves it behind.
    await this.run(['rm', '-f', SOCKET]);
  }

  protected override spawnOptions(): SpawnOptions {
    return { ...super.spawnOptions(), cwd: this.host.folder };
  }

  protected flags(): string[] {
    return isFerretDb(this.options.binary) ? this.flagsOfFerretDb() : this.flagsOfMongod();
  }

  protected wipe(): Promise<void> {
    return this.run(['rm', '-rf', DATA]);
  }

  private flagsOfMongod(): string[] {
    return [
      ...['--dbpath', DATA, '--bind_ip', this.host.address, '--port', String(PORT)],
      ...['--unixSocketPrefix', '.', '--wiredTigerCacheSizeGB', CACHE_GB],
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ];
  }

  private flagsOfFerretDb(): string[] {
    return [
      ...['--handler=sqlite', `--sqlite-url=file:${DATA}/`, '--state-dir=-', '--log-level=warn'],
      ...[`--listen-addr=${this.host.address}:${PORT}`, `--listen-unix=${SOCKET}`],
      // It would tell its makers of itself, and has a page of its own.
      ...['--telemetry=disable', '--debug-addr=-'],
    ];
  }

  private newAdmin(timeoutMs = ANSWER_TIMEOUT_MS): MongoAdmin {
    return new MongoAdmin(() => this.host.dial(SOCKET), timeoutMs);
  }

  /** Those of a key one after the other, the newest term last. */
  private async documents(admin: MongoAdmin, keys: readonly string[]): Promise<Record<string, unknown>[]> {
    const filter = { $or: [{ _id: { $in: keys } }, { key: { $in: keys } }] };
    const { cursor } = await admin.ask(
      { find: COLLECTION, filter, sort: { token: 1 }, batchSize: MANY, singleBatch: true },
      DATABASE,
    );
    return cursor.firstBatch;
  }

  private async run(argv: readonly string[]): Promise<void> {
    const { exitCode, stderr } = await this.host.exec(argv);
    if (exitCode !== 0) throw new DeploymentError(`${this.name}: ${argv[0]}: ${stderr.trim().slice(-300)}`);
  }
}
