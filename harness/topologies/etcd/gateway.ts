/**
 * etcd's own HTTP gateway (`/v3/…`, JSON), spoken over a stream that is already open. Keys and values are base64, 64-bit
 * numbers are strings, as the gateway has it.
 */
import { type RequestOptions, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { LineSplitter } from '../../runtimes/lines.js';
import type { Monitoring, ServiceNews } from '../../vocabulary/topology.js';

/** Of an answer to `maintenance/status`. */
export interface MemberStatus {
  version: string;
  /** Its own id. */
  memberId: string;
  /** The id of whom it takes for the leader; '0': nobody. */
  leaderId: string;
  raftTerm: number;
}

/** What the member says of itself and of the others. Rejects where it does not answer within `timeoutMs`, or not with that. */
export async function memberStatus(open: () => Promise<Duplex>, timeoutMs: number): Promise<MemberStatus> {
  const told = await ask(await open(), 'maintenance/status', {}, timeoutMs);
  const {
    version,
    leader = '0',
    raftTerm,
    header,
  } = told as {
    version?: string;
    leader?: string;
    raftTerm?: string;
    header?: { member_id?: string };
  };
  if (version === undefined || header?.member_id === undefined) throw new Error('it does not tell its status');
  return { version, memberId: header.member_id, leaderId: leader, raftTerm: Number(raftTerm ?? 0) };
}

/**
 * Follows what is stored under these keys: what is there now, and from that revision on every change, in the order of revisions,
 * which is the cluster's own. Keys that begin with one of these and a `/` are followed as of it, for locks that queue there: the
 * first to be created holds.
 */
export async function watchKeys(
  open: () => Promise<Duplex>,
  keys: readonly string[],
  heard: (news: ServiceNews) => void,
  timeoutMs: number,
): Promise<Monitoring> {
  const queues = new Map(keys.map((key) => [key, new Queue(key, heard)]));
  let fromRevision = 0;
  for (const [key, queue] of queues) {
    const range = { key: base64(key), range_end: base64(`${key}0`) };
    const answer = (await ask(await open(), 'kv/range', range, timeoutMs)) as RangeAnswer;
    // Keys of other keys lie between: `lock:1` and `lock:10`.
    for (const kv of answer.kvs ?? []) if (belongs(text(kv.key), key)) queue.add(kv);
    queue.tell();
    fromRevision = Math.max(fromRevision, Number(answer.header.revision));
  }
  const creates = keys.map((key) => ({
    create_request: {
      key: base64(key),
      range_end: base64(`${key}0`),
      start_revision: String(fromRevision + 1),
    },
  }));
  const watches = await Promise.all(
    creates.map(async (create, n) => {
      const key = keys[n]!;
      const queue = queues.get(key)!;
      return listen(await open(), 'watch', create, (line) => {
        for (const { type, kv } of (line as WatchAnswer).result?.events ?? []) {
          if (!belongs(text(kv.key), key)) continue;
          if (type === 'DELETE') queue.remove(kv);
          else queue.add(kv);
          queue.tell();
        }
      });
    }),
  );
  return {
    closed: Promise.race(watches.map(({ closed }) => closed)),
    close: () => {
      for (const watch of watches) watch.close();
    },
  };
}

interface KeyValue {
  key: string;
  value?: string;
  create_revision?: string;
  mod_revision: string;
}

interface RangeAnswer {
  header: { revision: string };
  kvs?: KeyValue[];
}

interface WatchAnswer {
  result?: { events?: { type?: 'PUT' | 'DELETE'; kv: KeyValue }[] };
}

/** Who is stored under a key, or is the first below it. */
class Queue {
  private readonly entries = new Map<string, { created: number; owner: string }>();
  private position = 0;
  private told: string | undefined;

  constructor(
    private readonly key: string,
    private readonly heard: (news: ServiceNews) => void,
  ) {}

  add({ key, value = '', create_revision, mod_revision }: KeyValue): void {
    this.position = Number(mod_revision);
    const name = text(key);
    // In a queue the value need not say whose it is: the key does.
    this.entries.set(name, { created: Number(create_revision), owner: text(value) || name });
  }

  remove({ key, mod_revision }: KeyValue): void {
    this.position = Number(mod_revision);
    this.entries.delete(text(key));
  }

  tell(): void {
    const [first] = [...this.entries.values()].sort((a, b) => a.created - b.created);
    if (first?.owner === this.told) return;
    this.told = first?.owner;
    this.heard({
      key: this.key,
      position: this.position,
      log: 'etcd',
      ...(first !== undefined && { owner: first.owner }),
    });
  }
}

/** The key itself, or one below it. */
function belongs(name: string, key: string): boolean {
  return name === key || name.startsWith(`${key}/`);
}

const base64 = (plain: string) => Buffer.from(plain).toString('base64');
const text = (encoded: string) => Buffer.from(encoded, 'base64').toString();

/** A question whose answer goes on, one JSON object a line, until the stream ends. Resolves once the server has taken it. */
function listen(stream: Duplex, path: string, body: object, heard: (line: unknown) => void): Promise<Monitoring> {
  return new Promise((resolve, reject) => {
    let end: (why: string) => void = () => {};
    const closed = new Promise<string>((done) => {
      end = done;
    });
    const asked = request(optionsFor(stream, path), (response) => {
      const lines = new LineSplitter();
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        for (const line of lines.push(chunk)) {
          try {
            heard(JSON.parse(line));
          } catch {
            stream.destroy();
            end(`${path}: not JSON: ${line.slice(0, 200)}`);
          }
        }
      });
      for (const event of ['error', 'end', 'close']) response.on(event, () => end('the connection ended'));
      resolve({ closed, close: () => stream.destroy() });
    });
    asked.on('error', (error) => {
      end(error.message);
      reject(error);
    });
    asked.end(JSON.stringify(body));
  });
}

function optionsFor(stream: Duplex, path: string): RequestOptions {
  return {
    method: 'POST',
    path: `/v3/${path}`,
    headers: { 'content-type': 'application/json', host: 'etcd', connection: 'close' },
    createConnection: () => stream,
  };
}

/** One question; the stream is of no use after it. */
function ask(stream: Duplex, path: string, body: object, timeoutMs: number): Promise<unknown> {
  const options = { ...optionsFor(stream, path), signal: AbortSignal.timeout(timeoutMs) };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      stream.destroy();
      reject(error.name === 'AbortError' ? new Error(`no answer within ${timeoutMs} ms`) : error);
    };
    const asked = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', fail);
      response.on('end', () => {
        if (response.statusCode !== 200)
          return fail(new Error(`${path}: ${response.statusCode} ${text.slice(0, 200)}`));
        try {
          resolve(JSON.parse(text));
        } catch {
          fail(new Error(`${path}: not JSON: ${text.slice(0, 200)}`));
        }
      });
    });
    asked.on('error', fail);
    asked.end(JSON.stringify(body));
  });
}
