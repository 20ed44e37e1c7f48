/**
 * Calls the command line in the test's own process: for what starts nothing, where a process for each case would mostly load
 * the same program again. What is called is compiled, as for a user; `bin/torture.mjs` adds set-up, and the exit.
 */
import { join } from 'node:path';
import { vi } from 'vitest';
import { freshFolder, ROOT } from './torture.js';

export interface Said {
  status: number;
  output: string;
  errors: string;
}

/** `lock-torture run`, or another command, with these flags, to its end. Not for what ends its process. */
export function tortureHere(args: readonly string[], command: 'run' | 'hunt' = 'run'): Promise<Said> {
  const runtime = command === 'run' ? ['--runtime', 'netns'] : [];
  return mainHere([command, '--out', freshFolder(), ...runtime, ...args]);
}

/** What a user types behind `lock-torture`, to its end. Not for what ends its process. */
export async function mainHere(argv: readonly string[]): Promise<Said> {
  const { main } = (await import(join(ROOT, 'dist/cli/main.js'))) as typeof import('../../cli/main.js');
  const streams = [process.stdout, process.stderr];
  const listening = streams.map((stream) => stream.listeners('error'));
  const said = ['', ''];
  const spies = streams.map((stream, at) =>
    vi.spyOn(stream, 'write').mockImplementation(((text: string, ...rest: unknown[]) => {
      said[at] += text;
      const written = rest.at(-1);
      if (typeof written === 'function') setImmediate(written as () => void);
      return true;
    }) as typeof stream.write),
  );
  try {
    const status = await main(argv);
    return { status, output: said[0]!, errors: said[1]! };
  } finally {
    for (const spy of spies) spy.mockRestore();
    // Each call listens for a reader that has gone away; a process makes but one.
    for (const [at, stream] of streams.entries())
      for (const listener of stream.listeners('error'))
        if (!listening[at]!.includes(listener)) stream.off('error', listener as () => void);
  }
}
