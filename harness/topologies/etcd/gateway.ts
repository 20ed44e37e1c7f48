/**
 * etcd's own HTTP gateway (`/v3/…`, JSON), spoken over a stream that is already open. Keys and values are base64, 64-bit
 * numbers are strings, as the gateway has it.
 */
import { type RequestOptions, request } from 'node:http';
import type { Duplex } from 'node:stream';

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

/** One question; the stream is of no use after it. */
function ask(stream: Duplex, path: string, body: object, timeoutMs: number): Promise<unknown> {
  const options: RequestOptions = {
    method: 'POST',
    path: `/v3/${path}`,
    headers: { 'content-type': 'application/json', host: 'etcd', connection: 'close' },
    createConnection: () => stream,
    signal: AbortSignal.timeout(timeoutMs),
  };
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
