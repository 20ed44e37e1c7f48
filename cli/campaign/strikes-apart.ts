/** Strikes in real and in virtual time stand side by side in tables, and are never added up. Pure. */

/** Behind the topology of a cell of runs in virtual time. */
export const IN_VIRTUAL_TIME = ', in virtual time';

/** Whether a row of a summary is of such runs. */
export function isOfVirtualTime({ topology }: { topology: string }): boolean {
  return topology.endsWith(IN_VIRTUAL_TIME);
}

/** Both counts for a table: one sum of them would say nothing. `–`: nobody has counted them. */
export function strikesApart(real: number | undefined, virtual: number | undefined): string {
  if (virtual === undefined) return real === undefined ? '–' : String(real);
  const inVirtualTime = `${virtual} in virtual time`;
  return real === undefined ? inVirtualTime : `${real}, and ${inVirtualTime}`;
}
