/** Porcupine, built from its published sources where Go is installed: a judge that nobody here wrote. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { print } from './print.js';

export interface PorcupineAnswer {
  verdict: string;
  /** Of the check alone: the history was read before. */
  ms: number;
  maxRssKb: number;
}

export interface Porcupine {
  /** Where the history is written that is to be decided, as `bench/porcupine/main.go` reads one. */
  file: string;
  decide(): Promise<PorcupineAnswer>;
}

/** `folder`: where the program and the history are. Undefined where it cannot be built, which is said in one line. */
export async function buildPorcupine(
  folder: string,
  seconds: number,
  megabytes: number,
): Promise<Porcupine | undefined> {
  const sources = fileURLToPath(new URL('../../bench/porcupine', import.meta.url));
  const binary = join(folder, 'porcupine');
  const built = await execa('go', ['build', '-buildvcs=false', '-o', binary, '.'], { cwd: sources, reject: false });
  if (built.failed) {
    const why = built.code === 'ENOENT' ? 'Go is not installed' : built.stderr || built.shortMessage || '';
    print(`without Porcupine: ${why.split('\n', 1)[0]}`);
    return undefined;
  }
  print(`Porcupine gives up after ${seconds} s or ${megabytes} MB`);
  const file = join(folder, 'history.txt');
  return {
    file,
    async decide() {
      const { stdout } = await execa(binary, [file, String(seconds), String(megabytes)]);
      return JSON.parse(stdout) as PorcupineAnswer;
    },
  };
}
