/** Waits for a program's end; all that it printed, standard error last, and what it complained of. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export async function ended(child: ChildProcess): Promise<{ status: number | null; output: string; errors: string }> {
  let output = '';
  let errors = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    errors += chunk;
  });
  const [status] = await once(child, 'close');
  return { status, output: output + errors, errors };
}
