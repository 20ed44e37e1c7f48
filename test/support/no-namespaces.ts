/** What a machine is like whose kernel allows no namespaces, for whoever looks programs up on PATH. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A PATH that begins with an `unshare` that is refused; gone when the file's tests have ended. */
export function pathWithoutNamespaces(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const refused = join(folder, 'unshare');
  writeFileSync(refused, '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n');
  chmodSync(refused, 0o755);
  return `${folder}:${process.env.PATH}`;
}
