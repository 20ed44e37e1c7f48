/** What lies on a host, read by a program that sees it: the harness itself, or the agent in a container. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FilePiece } from '../vocabulary/host.js';

/** As `HostFiles`, of a host that has this folder. */
export function readHostFile(
  folder: string,
  path: string,
  piece?: { from: number; bytesMax: number },
): FilePiece | undefined {
  const fd = unlessMissing(() => openSync(resolve(folder, path), 'r'));
  if (fd === undefined) return undefined;
  try {
    const { ino, size } = fstatSync(fd);
    const from = piece?.from ?? 0;
    const data = Buffer.alloc(Math.max(0, Math.min(size - from, piece?.bytesMax ?? size)));
    const length = readSync(fd, data, 0, data.length, from);
    return { data: data.subarray(0, length), id: String(ino), sizeBytes: size };
  } finally {
    closeSync(fd);
  }
}

/** As `HostFiles`, of a host that has this folder. */
export function listHostFolder(folder: string, path: string): string[] {
  return unlessMissing(() => readdirSync(resolve(folder, path))) ?? [];
}

function unlessMissing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
