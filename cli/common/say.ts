import { type SignsOfLife, signsOfLife } from '../../harness/machine/signs-of-life.js';
import { wrappedFor } from '../../reports/wrap.js';

/** Progress for people, a line at a time. One that ends in `…` announces what takes a while and says nothing by itself. */
export type Say = (line: string) => void;

/** Of the line that was said last; standard error, where they are shown, is one for the whole process. */
let signs: SignsOfLife | undefined;

/** Prints each line of progress: as text, or as a JSON object. What takes a while shows that it goes on. */
export function saying({ json }: { json: boolean }): Say {
  if (json) return (line) => process.stdout.write(`${JSON.stringify({ type: 'progress', line })}\n`);
  return (line) => {
    announcedIsOver();
    process.stdout.write(`${wrappedFor(process.stdout, line)}\n`);
    if (line.endsWith('…')) signs = signsOfLife();
  };
}

/** To be called before anything else than a line of progress is printed: what was announced has come to its end. */
export function announcedIsOver(): void {
  signs?.stop();
  signs = undefined;
}

/** Says the same thing only once, however many runs it is true of. */
export function sayingOnce(say: Say): Say {
  const said = new Set<string>();
  return (line) => {
    if (!said.has(line)) say(line);
    said.add(line);
  };
}
