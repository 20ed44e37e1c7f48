/** One line of what a benchmark came to. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
