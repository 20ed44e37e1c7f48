/** What is left of a folder, from records as the durable shim writes them, each a few files long. */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskRecordTrouble, losePower } from '../../../../harness/runtimes/power-cut.js';
import type { PowerCut } from '../../../../harness/vocabulary/host.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'power-cut-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A server's folder and what was recorded of it; names change in the order in which this is called. */
class Recorded {
  private readonly slots: [ino: number, durableBytes: number, inPlace: number][] = [];
  private names = '';
  private durableNames = 0;

  constructor(readonly pid = 4711) {
    for (const part of ['durable/files', 'durable/copies']) mkdirSync(join(folder, part), { recursive: true });
  }

  /** A file with this content, of which so much was synced, and its number. */
  file(name: string, content: string, durableBytes: number, { copy }: { copy?: string } = {}): number {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const { ino } = statSync(path);
    linkSync(path, join(folder, 'durable/files', String(ino)));
    if (copy !== undefined) writeFileSync(join(folder, 'durable/copies', String(ino)), copy);
    this.slots.push([ino, durableBytes, copy === undefined ? 0 : 1]);
    return ino;
  }

  said(op: string, ino: number, path: string, to = '', other = 0): this {
    this.names += `${op} ${ino} ${other}\t${path}\t${to}\n`;
    return this;
  }

  /** All names that were changed until now are durable. */
  synced(): this {
    this.durableNames = this.names.length;
    return this;
  }

  write(troubles = 0): void {
    const head = [0x3130656c62617264n, BigInt(this.pid), BigInt(troubles), 0n, BigInt(this.durableNames), 0n, 0n, 0n];
    const slots = this.slots.flatMap((slot) => [...slot.map(BigInt), 0n]);
    writeFileSync(join(folder, 'durable/table'), Buffer.from(BigUint64Array.from([...head, ...slots]).buffer));
    writeFileSync(join(folder, 'durable/names'), this.names);
  }
}

const cut = (mode: PowerCut['mode'] = 'exact', seed = 1) => losePower(folder, { mode, seed });
const text = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('a power cut', () => {
  it('leaves of a file what was synced, and begins a new record', async () => {
    const record = new Recorded();
    const log = record.file('log', 'synced, not synced', 6);
    record.said('create', log, 'log').synced().write();
    expect(await cut()).toEqual([{ name: 'log', writtenBytes: 18, durableBytes: 6, leftBytes: 6 }]);
    expect(text('log')).toBe('synced');
    expect(readdirSync(folder)).toEqual(['log']);
  });

  it('leaves what its server never touched', async () => {
    writeFileSync(join(folder, 'redis.conf'), 'port 1');
    new Recorded().write();
    expect(await cut()).toEqual([]);
    expect(text('redis.conf')).toBe('port 1');
  });

  it('takes a file away whose name was not synced, and the folder that it was in', async () => {
    const record = new Recorded();
    const log = record.file('logs/log', 'synced', 6);
    record.said('mkdir', 0, 'logs').said('create', log, 'logs/log').write();
    expect(await cut()).toEqual([{ name: 'logs/log', writtenBytes: 6, durableBytes: 0, leftBytes: 0, became: 'gone' }]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('undoes a rename that was not synced: both files have their names again', async () => {
    const record = new Recorded();
    const old = record.file('dump', 'old', 3);
    rmSync(join(folder, 'dump'));
    const fresh = record.file('dump', 'fresh', 5);
    record.said('create', old, 'dump').said('create', fresh, 'temp').synced();
    record.said('rename', fresh, 'temp', 'dump', old).write();
    expect(await cut()).toEqual([
      { name: 'dump', writtenBytes: 5, durableBytes: 3, leftBytes: 3, became: 'back' },
      { name: 'temp', writtenBytes: 0, durableBytes: 5, leftBytes: 5, became: 'back' },
    ]);
    expect([text('dump'), text('temp')]).toEqual(['old', 'fresh']);
  });

  it('keeps a rename that was synced, of a file that nobody had mentioned', async () => {
    const record = new Recorded();
    const fresh = record.file('redis.conf', 'fresh', 5);
    record.said('create', fresh, 'temp').said('rename', fresh, 'temp', 'redis.conf', 99).synced().write();
    expect(await cut()).toEqual([{ name: 'redis.conf', writtenBytes: 5, durableBytes: 5, leftBytes: 5 }]);
  });

  it('gives back what was removed, unless that was synced or did not come about', async () => {
    const record = new Recorded();
    const inos = ['gone', 'back', 'stayed'].map((name) => record.file(name, name, name.length));
    for (const name of ['gone', 'back']) rmSync(join(folder, name));
    record.said('found', inos[0]!, 'gone').said('found', inos[1]!, 'back').said('unlink', inos[0]!, 'gone').synced();
    record
      .said('unlink', inos[1]!, 'back')
      .said('unlink', inos[2]!, 'stayed')
      .said('!unlink', inos[2]!, 'stayed')
      .write();
    expect(await cut()).toEqual([{ name: 'back', writtenBytes: 0, durableBytes: 4, leftBytes: 4, became: 'back' }]);
    expect(readdirSync(folder).sort()).toEqual(['back', 'stayed']);
  });

  it('puts back what a file that is written over in place held when it was synced', async () => {
    const record = new Recorded();
    const nodes = record.file('nodes.conf', 'epoch 2', 7, { copy: 'epoch 1' });
    record.said('create', nodes, 'nodes.conf').synced().write();
    expect(await cut()).toEqual([{ name: 'nodes.conf', writtenBytes: 7, durableBytes: 7, leftBytes: 7 }]);
    expect(text('nodes.conf')).toBe('epoch 1');
  });

  it('tears files somewhere between what was synced and what was written, by the seed', async () => {
    const left = new Set<number>();
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const record = new Recorded();
      const log = record.file('log', '0123456789', 4);
      record.said('create', log, 'log').synced().write();
      const [file] = await cut('torn', seed);
      expect(text('log')).toBe('0123456789'.slice(0, file!.leftBytes));
      expect(file!.leftBytes).toBeGreaterThanOrEqual(4);
      left.add(file!.leftBytes);
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
    }
    expect(left.size).toBeGreaterThan(2);
  });

  it('leaves zeros in place of pages that were not synced, and touches nothing that was', async () => {
    const record = new Recorded();
    const log = record.file('log', 'x'.repeat(20_000), 5_000);
    record.said('create', log, 'log').synced().write();
    const [file] = await cut('zeros');
    expect(file).toMatchObject({ writtenBytes: 20_000, durableBytes: 5_000, leftBytes: 20_000 });
    expect(text('log').slice(0, 5_000)).toBe('x'.repeat(5_000));
    expect([...text('log')].filter((char) => char === '\0')).toHaveLength(file!.zeroedBytes!);
    expect(file!.zeroedBytes).toBeGreaterThan(0);
  });

  it('zeroes at least one page where any is not synced, and says nothing of zeros where all is', async () => {
    const record = new Recorded();
    const [log, all] = [record.file('log', 'xy', 1), record.file('all', 'xy', 2)];
    record.said('create', log, 'log').said('create', all, 'all').synced().write();
    expect(await cut('zeros')).toEqual([
      { name: 'all', writtenBytes: 2, durableBytes: 2, leftBytes: 2 },
      { name: 'log', writtenBytes: 2, durableBytes: 1, leftBytes: 2, zeroedBytes: 1 },
    ]);
  });

  it('is impossible where nothing was recorded', async () => {
    await expect(cut()).rejects.toThrow('nothing is recorded');
  });
});

describe('why nothing is known of what a process synced', () => {
  const NOT_LOADED = /did not load the library that records/;

  it('has no record, or that of another process', () => {
    expect(diskRecordTrouble(folder, 4711)).toMatch(NOT_LOADED);
    new Recorded(4712).write();
    expect(diskRecordTrouble(folder, 4711)).toMatch(NOT_LOADED);
  });

  it('is nothing where its record is whole, and in words where it is not', () => {
    const record = new Recorded();
    record.write();
    expect(diskRecordTrouble(folder, 4711)).toBeUndefined();
    record.write(2);
    expect(diskRecordTrouble(folder, 4711)).toBe('its file system has no hard links');
  });

  it('is a file that is no record', () => {
    mkdirSync(join(folder, 'durable'));
    writeFileSync(join(folder, 'durable/table'), 'something else altogether');
    expect(diskRecordTrouble(folder, 4711)).toMatch(NOT_LOADED);
  });
});
