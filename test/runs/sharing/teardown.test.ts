/** A teardown that does not come to its end is one line, after one verdict, and does not change the exit status. */
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder, QUIET, torture } from '../../support/torture.js';

test('an `ip` that hangs when links are deleted', async () => {
  const tools = freshFolder();
  const real = execFileSync('sh', ['-c', 'command -v ip'], { encoding: 'utf8' }).trim();
  // It is told what to do by its standard input.
  const script = `#!/bin/sh
if [ "$1" != -batch ]; then exec ${real} "$@"; fi
asked=$(cat)
case "$asked" in *"link del "*) exec sleep 600 ;; esac
printf '%s\\n' "$asked" | exec ${real} "$@"
`;
  writeFileSync(join(tools, 'ip'), script);
  chmodSync(join(tools, 'ip'), 0o755);
  const run = await torture([...QUIET, '--time-limit', '5s', '--seed', '1'], {
    env: { PATH: `${tools}:${process.env.PATH}` },
  });
  expect(run.output.match(/^(HELD|PASSED|VIOLATED|CANNOT TELL)\b.* \(exit status/gm)).toHaveLength(1);
  expect(run.errors).not.toMatch(/\n\s+at /);
  expect(`${run.output}${run.errors}`.match(/could not be taken down: .*/g)).toHaveLength(1);
  expect(run.status).toBe(run.results.exitStatus);
});
