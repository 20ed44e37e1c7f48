/** Where in the author's sources something was thrown, as the stack says it that Node makes with their source maps. */

/** A place in a file, as a stack names it. */
const PLACE = /^(?:file:\/\/)?(\/.*:\d+:\d+)$/;

/**
 * The first place in the stack that is neither Node's own, nor a package's, nor one that `isOurs` says is the tool's; undefined:
 * there is none.
 */
export function thrownAt(thrown: unknown, isOurs: (path: string) => boolean): string | undefined {
  const { stack } = (thrown ?? {}) as Partial<Error>;
  if (typeof stack !== 'string') return undefined;
  for (const [, frame = ''] of stack.matchAll(/^ *at (.*)$/gm)) {
    const at = /\(([^()]*)\)$/.exec(frame)?.[1] ?? frame.replace(/^async /, '');
    const place = PLACE.exec(at)?.[1];
    if (place !== undefined && !place.includes('/node_modules/') && !isOurs(place)) return place;
  }
  return undefined;
}
