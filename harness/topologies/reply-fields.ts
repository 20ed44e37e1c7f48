/** Answers of a Redis server that tell names and values in turn, as those of `SENTINEL MASTER` and `CONFIG GET` do. */

/** One map, or one for each where the answer is a list of such; names in lower case. Empty of an answer that is no list. */
export function fieldsOf(reply: unknown): ReadonlyMap<string, string>[] {
  if (!Array.isArray(reply)) return [];
  const lists: unknown[][] = reply.every(Array.isArray) ? reply : [reply];
  return lists.map((flat) => {
    const names = flat.filter((_, at) => at % 2 === 0);
    return new Map(names.map((name, nth) => [String(name).toLowerCase(), String(flat[2 * nth + 1] ?? '')]));
  });
}
