/** Progress for people, a line at a time. */
export type Say = (line: string) => void;

/** Prints each line of progress: as text, or as a JSON object. */
export function saying({ json }: { json: boolean }): Say {
  return (line) => process.stdout.write(`${json ? JSON.stringify({ type: 'progress', line }) : line}\n`);
}

/** Says the same thing only once, however many runs it is true of. */
export function sayingOnce(say: Say): Say {
  const said = new Set<string>();
  return (line) => {
    if (!said.has(line)) say(line);
    said.add(line);
  };
}
