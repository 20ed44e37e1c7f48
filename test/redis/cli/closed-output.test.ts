/** Output and its reader, in processes of their own: what a pipe does depends on the other end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const MODULE = join(import.meta.dirname, '../../../dist/cli/common/closed-output.js');
const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
const BYTES = 1_000_000;

/** Prints a megabyte into a pipe that takes 64 KiB at a time, and exits. */
function printing(beforeExit: string) {
  const script = `
    import { drained, surviveLostOutput } from ${JSON.stringify(MODULE)};
    surviveLostOutput();
    process.stdout._handle.setBlocking(false);
    process.stdout.write('x'.repeat(${BYTES}));
    ${beforeExit}
    process.exit(7);
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function readSlowly(child: ReturnType<typeof printing>): Promise<number> {
  let bytes = 0;
  for await (const chunk of child.stdout!) bytes += (chunk as Buffer).length;
  return bytes;
}

it('a slow reader gets all that was printed before the exit, and the exit status', async () => {
  const child = printing('await drained();');
  const exited = once(child, 'exit');
  expect(await readSlowly(child)).toBe(BYTES);
  expect(await exited).toEqual([7, null]);
});

it('every command waits for it before it ends', async () => {
  const child = printing(`
    const { main } = await import(${JSON.stringify(MAIN)});
    process.stdout.write('x'.repeat(${BYTES}));
    process.exit(await main(['--help']));`);
  const exited = once(child, 'exit');
  expect(await readSlowly(child)).toBeGreaterThan(2 * BYTES);
  expect(await exited).toEqual([0, null]);
});

it('an exit that does not wait cuts it off', async () => {
  expect(await readSlowly(printing(''))).toBeLessThan(BYTES);
});

it('a reader that goes away does not keep it from ending', async () => {
  const child = printing('await drained();');
  child.stdout!.destroy();
  expect(await once(child, 'exit')).toEqual([7, null]);
});
