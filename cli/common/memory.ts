/**
 * Gives back what is not used any more. V8 waits until some 64 MB of typed arrays are garbage, since to it they weigh next
 * to nothing; a step of judging a run of a million operations leaves about as much, and after some steps that is most of
 * what the process takes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Some 20 ms with a small heap: for between the steps of large work. */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
