/**
 * What a simulated host's disk has of its files: what was synced, and which names were, as its servers tell it
 * (`harness/native/sim-shim.c`). So it can lose power as a host with the durable shim can, and by the same rules
 * (`harness/runtimes/power-cut.ts`): a sync keeps what was written of that file, and every change of a name until then.
 *
 * The files themselves lie in the host's folder, with all that was written. A sync takes no time but where it is told to (`syncMs`), and
 * never fails.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileAfterPowerCut, PowerCut } from '../../vocabulary/host.js';
import { type DiskRecord, type NameChange, rebuild } from '../power-cut.js';
import type { DiskNews } from './disk-news.js';

interface DiskFile {
  number: number;
  /** Absent: nobody has opened it to write since the disk was last looked at, so all of it is durable. */
  slot?: { durableBytes: number; inPlace: boolean };
  /** Of one that is written over in place: what it held when it was synced. */
  copy: Buffer;
  /** What it held when it lost its name. */
  held?: Buffer;
}

export class SimDisk {
  /** How long a sync takes. */
  syncMs = 0;
  /** How many there were. */
  syncs = 0;
  /** By the names that they have now. */
  private readonly files = new Map<string, DiskFile>();
  private readonly changes: Omit<NameChange, 'durable'>[] = [];
  /** How many of them are durable. */
  private durableChanges = 0;
  /** Those that have lost their names, for as long as these may come back. */
  private readonly nameless: DiskFile[] = [];
  private numbers = 0;

  constructor(private readonly folder: string) {}

  /** For a process that begins: the result hears what it says of its files. */
  begin(): (news: DiskNews) => void {
    const opened = new Map<number, DiskFile>();
    return (news) => this.hear(news, opened);
  }

  /** Makes the files what they are after a power cut, and knows of none then. Nobody may have them open. */
  losePower(cut: PowerCut): FileAfterPowerCut[] {
    const files = rebuild(this.folder, this.record(), cut);
    this.forget();
    return files;
  }

  /** The files are as they are, and all of what they hold is durable. */
  forget(): void {
    this.files.clear();
    this.changes.splice(0);
    this.durableChanges = 0;
    this.nameless.splice(0);
  }

  private hear(news: DiskNews, opened: Map<number, DiskFile>): void {
    switch (news.kind) {
      case 'opened':
        opened.set(news.id, this.open(news));
        break;
      case 'synced':
        this.sync(news, opened.get(news.id));
        break;
      case 'renamed':
        this.rename(news);
        break;
      case 'removed': {
        const file = this.of(news.name);
        this.files.delete(news.name);
        this.nameless.push(Object.assign(file, { held: news.held }));
        this.change({ op: 'unlink', ino: file.number, path: news.name });
        break;
      }
      case 'shortened': {
        const slot = this.files.get(news.name)?.slot;
        if (slot && !slot.inPlace) slot.durableBytes = Math.min(slot.durableBytes, news.sizeBytes);
        break;
      }
      case 'folder':
        this.change({ op: 'mkdir', ino: 0, path: news.name });
    }
  }

  private open({ name, isNew, isEmptied, inPlace, sizeBytes, held }: Extract<DiskNews, { kind: 'opened' }>): DiskFile {
    const file = isNew ? this.make(name) : this.of(name);
    if (!file.slot) this.change({ op: isNew ? 'create' : 'found', ino: file.number, path: name });
    file.slot ??= { durableBytes: sizeBytes, inPlace: false };
    if (isEmptied) Object.assign(file.slot, { durableBytes: 0, inPlace: false });
    else if (inPlace && !file.slot.inPlace) {
      // What it held until now is durable as far as it was.
      file.copy = held.subarray(0, file.slot.durableBytes);
      file.slot.inPlace = true;
    }
    return file;
  }

  private sync({ sizeBytes, held }: Extract<DiskNews, { kind: 'synced' }>, file: DiskFile | undefined): void {
    this.syncs++;
    if (file?.slot?.inPlace) file.copy = held;
    if (file?.slot)
      file.slot.durableBytes = file.slot.inPlace ? sizeBytes : Math.max(file.slot.durableBytes, sizeBytes);
    this.durableChanges = this.changes.length;
    this.nameless.splice(0);
  }

  private rename({ name, to, replaced }: Extract<DiskNews, { kind: 'renamed' }>): void {
    const file = this.of(name);
    const other = replaced && Object.assign(this.of(to), { held: replaced });
    if (other) this.nameless.push(other);
    this.files.delete(name);
    this.files.set(to, file);
    this.change({ op: 'rename', ino: file.number, other: other?.number, path: name, to });
  }

  private change({ other = 0, to = '', ...change }: Pick<NameChange, 'op' | 'ino' | 'path'> & Partial<NameChange>) {
    this.changes.push({ ...change, other, to });
  }

  /** The file that has the name; one that nobody has mentioned is there all the same. */
  private of(name: string): DiskFile {
    return this.files.get(name) ?? this.make(name);
  }

  private make(name: string): DiskFile {
    const file = { number: ++this.numbers, copy: Buffer.alloc(0) };
    this.files.set(name, file);
    return file;
  }

  private record(): DiskRecord {
    const named = [...this.files].map(([name, file]) => [join(this.folder, name), file] as const);
    // Read before any of them is touched: names change places.
    for (const [path, file] of named) if (existsSync(path)) file.held = readFileSync(path);
    const byPath = new Map(named);
    const byNumber = new Map([...byPath.values(), ...this.nameless].map((file) => [file.number, file]));
    return {
      changes: this.changes.map((change, n) => ({ ...change, durable: n < this.durableChanges })),
      slot: (number) => byNumber.get(number)!.slot,
      copy: (number) => byNumber.get(number)!.copy,
      has: (path) => byPath.get(path)?.number,
      giveName: (number, path) => writeFileSync(path, byNumber.get(number)!.held!),
    };
  }
}
