import { Duplex } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { EVICTION, monitor, parseMonitorLine } from '../../../../harness/topologies/monitor.js';
import type { MonitoredCommand } from '../../../../harness/vocabulary/topology.js';

describe('a line of MONITOR', () => {
  test('a client, a script and a unix socket', () => {
    expect(parseMonitorLine('+1339518083.107412 [0 127.0.0.1:60866] "SET" "lock:0" "a b" "NX"')).toEqual({
      serverWallMs: 1339518083107.412,
      source: '127.0.0.1:60866',
      argv: ['SET', 'lock:0', 'a b', 'NX'],
    });
    expect(parseMonitorLine('+1.5 [0 lua] "del" "k"')?.source).toBe('lua');
    expect(parseMonitorLine('+1.5 [3 unix:redis.sock] "PING"')?.source).toBe('unix:redis.sock');
  });

  test('quotes, backslashes, control characters and UTF-8 come back as they were', () => {
    const line = String.raw`+1.0 [0 lua] "set" "a\"b\\c" "\r\n\x00" "\xc3\xa9" ""`;
    expect(parseMonitorLine(line)?.argv).toEqual(['set', 'a"b\\c', '\r\n\u0000', 'é', '']);
  });

  test('bytes that are no UTF-8 keep their values, and two that differ stay different', () => {
    const argvOf = (value: string) => parseMonitorLine(`+1.0 [0 lua] "set" "k" "${value}"`)?.argv[2];
    expect(argvOf(String.raw`\xffa\xc3`)).toBe(String.raw`\xffa\xc3`);
    expect(argvOf(String.raw`\xfea\xc3`)).not.toBe(argvOf(String.raw`\xffa\xc3`));
  });

  test('a database that is not the first', () => {
    expect(parseMonitorLine('+1.5 [3 lua] "del" "k"')?.db).toBe(3);
    expect(parseMonitorLine('+1.5 [0 lua] "del" "k"')).not.toHaveProperty('db');
  });

  test('quotes that Valkey 8.1 leaves as they are: in a script only, where they do no harm', () => {
    const line = '+1.5 [0 10.0.0.1:7] "EVAL" "return "x"" "1" "lock:0"';
    expect(parseMonitorLine(line)?.argv).toEqual(['EVAL', 'return "x"', '1', 'lock:0']);
    expect(parseMonitorLine('+1.5 [0 10.0.0.1:7] "SET" "lock:0" "{"a":1}"')).toBeUndefined();
  });

  test.each(['+OK', '', '+1.0 [0 lua]', '+1.0 [0 lua] "set', '+1.0 [0 lua] set', ':1'])('not one: %s', (line) =>
    expect(parseMonitorLine(line)).toBeUndefined(),
  );
});

/** A connection whose other end the test plays. */
function connection(): Duplex {
  return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
}

describe('following', () => {
  test('commands that arrive with the OK, and lines cut anywhere', async () => {
    const stream = connection();
    const seen: MonitoredCommand[] = [];
    const following = monitor(stream, (command) => seen.push(command));
    stream.push('+OK\r\n+1.0 [0 lua] "a"\r\n+2.0 [0 l');
    stream.push('ua] "b" "c"\r');
    stream.push('\n');
    const { closed, close } = await following;
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    close();
    expect(await closed).toBe('the connection was closed');
    expect(seen.map(({ argv }) => argv)).toEqual([['a'], ['b', 'c']]);
  });

  test('evictions come in their place among the commands, whatever the key and however the bytes are cut', async () => {
    const event = (key: string, channel = '__keyevent@0__:evicted') =>
      `*3\r\n$7\r\nmessage\r\n$${channel.length}\r\n${channel}\r\n$${Buffer.byteLength(key)}\r\n${key}\r\n`;
    const keys = ['lock:0', 'two\r\nlines\r\n', 'é', ''];
    const text = [
      '+OK\r\n+1.0 [0 lua] "before"\r\n',
      '*3\r\n$9\r\nsubscribe\r\n$22\r\n__keyevent@0__:evicted\r\n:1\r\n',
      ...keys.map((key) => `+2.0 [0 lua] "get"\r\n${event(key)}`),
      '+3.0 [0 lua] "after"\r\n',
    ].join('');
    for (const size of [1, 7, 1_000]) {
      const stream = connection();
      const seen: MonitoredCommand[] = [];
      const following = monitor(stream, (command) => seen.push(command), { evictions: true });
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) stream.push(bytes.subarray(at, at + size));
      await following;
      await vi.waitFor(() => expect(seen.at(-1)?.argv).toEqual(['after']));
      expect(seen.filter(({ source }) => source === EVICTION)).toEqual(
        keys.map((key) => ({ serverWallMs: 2_000, source: EVICTION, argv: [key] })),
      );
      expect(seen.map(({ argv }) => argv[0])).toEqual(['before', ...keys.flatMap((key) => ['get', key]), 'after']);
    }
  });

  test('asks for evictions after MONITOR, and rejects when they are refused', async () => {
    const asked: string[] = [];
    const stream = new Duplex({
      read() {},
      write: (chunk, _encoding, done) => {
        asked.push(String(chunk));
        done();
      },
    });
    const following = monitor(stream, () => {}, { password: 'secret', evictions: true });
    stream.push('+OK\r\n+OK\r\n-NOPERM no\r\n');
    await expect(following).rejects.toThrow('SUBSCRIBE was answered with -NOPERM no');
    expect(asked.join('')).toBe('AUTH secret\r\nMONITOR\r\nSUBSCRIBE __keyevent@0__:evicted\r\n');
  });

  test('a refusal rejects, garbage ends it with the reason', async () => {
    const refused = connection();
    const answer = monitor(refused, () => {});
    refused.push('-NOPERM no\r\n');
    await expect(answer).rejects.toThrow('MONITOR was answered with -NOPERM no');

    const babbling = connection();
    const following = monitor(babbling, () => {});
    babbling.push('+OK\r\nwhat?\r\n');
    expect(await (await following).closed).toContain('not a line of MONITOR');
  });
});
