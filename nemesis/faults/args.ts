/** Checks of a step's arguments: each says what is wrong, or nothing. */

export function mustBeOneOf(values: readonly string[]): (value: unknown) => string | undefined {
  return (value) => (values.some((known) => known === value) ? undefined : `must be one of ${values.join(', ')}`);
}

/** A jump of a clock: whole milliseconds, forward or back, within a year. */
export function clockOffset(value: unknown): string | undefined {
  const YEAR_MS = 366 * 24 * 3_600_000;
  const fits = typeof value === 'number' && Number.isInteger(value) && value !== 0 && Math.abs(value) <= YEAR_MS;
  return fits ? undefined : 'must be a whole number of milliseconds, not 0, at most a year forward or back';
}

export function wholeNumber(min: number, max: number): (value: unknown) => string | undefined {
  return (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`;
}

/** A drift: slower than standing still is impossible, less than one percent cannot be read back in time. */
export function clockRate(value: unknown): string | undefined {
  const PERCENT_PPM = 10_000;
  const fits = Number.isInteger(value) && Math.abs(value as number) >= PERCENT_PPM;
  return fits && wholeNumber(-900_000, 9_000_000)(value) === undefined
    ? undefined
    : 'must be a whole number of parts per million from -900000 to 9000000, at least 10000 away from 0';
}
