/** What a server, or a program of its kind, said last. */
const LAST_WORDS = 3;
const LONGEST_LAST_WORDS = 300;

/** The last lines of a server's log, without process ids and dates, in one. */
export function lastWords(log: string): string {
  const lines = log.split('\n').map((line) => line.replace(/^\d+:[A-Z] .{20,24}? [.*#-] /, '').trim());
  const words = lines.filter((line) => /[a-z]/i.test(line)).slice(-LAST_WORDS);
  return words.join(' | ').slice(-LONGEST_LAST_WORDS);
}
