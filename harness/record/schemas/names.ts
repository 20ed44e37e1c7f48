/** What is said where somebody has typed a name that nothing has. */

/** Above this, a list is looked up rather than read in a message. */
const NAMES_IN_A_LINE = 20;

interface Known {
  /** The command that shows all names. */
  list?: string;
  /** Of many names, those that a line shows; absent: all. */
  shown?: readonly string[];
}

/**
 * What to type in place of `given`: the nearest of the names, and all of them as far as they fit in a line. The text continues a line
 * that says what is not known: `did you mean kill? ('list faults' shows all)`.
 */
export function insteadOf(given: string, names: readonly string[], { list, shown = names }: Known = {}): string {
  const near = nearestName(given, names);
  const all = `there are ${shown.join(', ')}`;
  const isShort = shown.length <= NAMES_IN_A_LINE;
  if (near === undefined) return isShort || list === undefined ? all : `'${list}' shows all that there are`;
  if (isShort) return `did you mean ${near}? ${all}`;
  return `did you mean ${near}?${list === undefined ? '' : ` ('${list}' shows all)`}`;
}

/** The one name that was probably meant: by the fewest slips of the keyboard, or the shortest that has it in itself. Undefined: none. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const slipsMax = Math.floor(given.length / 3);
  const byFewest = (of: (name: string) => number, most: number) =>
    names
      .map((name) => ({ name, score: of(name) }))
      .filter(({ score }) => score <= most)
      .sort((a, b) => a.score - b.score)[0]?.name;
  const within = (name: string) => (given.length >= 3 && name.includes(given) ? name.length : Number.POSITIVE_INFINITY);
  return (
    byFewest((name) => slips(given.toLowerCase(), name.toLowerCase()), slipsMax) ??
    byFewest(within, Number.MAX_SAFE_INTEGER)
  );
}

/**
 * How many letters were added, left out, replaced or exchanged with the next one: the Damerau-Levenshtein distance, in its form
 * in which no letter takes part in two exchanges (optimal string alignment).
 */
function slips(given: string, name: string): number {
  let before: number[] = [];
  let row = Array.from({ length: name.length + 1 }, (_, at) => at);
  for (let i = 1; i <= given.length; i++) {
    const next = [i];
    for (let j = 1; j <= name.length; j++) {
      const replaced = row[j - 1]! + (given[i - 1] === name[j - 1] ? 0 : 1);
      const isExchanged = i > 1 && j > 1 && given[i - 1] === name[j - 2] && given[i - 2] === name[j - 1];
      const exchanged = isExchanged ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1, exchanged));
    }
    before = row;
    row = next;
  }
  return row[name.length]!;
}
