/** Checks of a step's arguments: each says what is wrong, or nothing. */

export function oneOf(values: readonly string[]): (value: unknown) => string | undefined {
  return (value) => (values.some((known) => known === value) ? undefined : `must be one of ${values.join(', ')}`);
}

/** A jump of a clock: whole milliseconds, forward or back, within a year. */
export function clockOffset(value: unknown): string | undefined {
  const YEAR_MS = 366 * 24 * 3_600_000;
  const fits = typeof value === 'number' && Number.isInteger(value) && value !== 0 && Math.abs(value) <= YEAR_MS;
  return fits ? undefined : 'must be a whole number of milliseconds, not 0, at most a year forward or back';
}
