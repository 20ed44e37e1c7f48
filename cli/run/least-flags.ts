/** Flags that say what a pass must be worth, of `run` and of campaigns. */
import { Option } from 'commander';
import type { LeastWorth } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import { renamed } from '../common/settings.js';
import { wholeNumberIn } from '../common/values.js';

export interface LeastFlags {
  minHolds?: number;
  minStrikes?: number;
}

export function leastOptions(holds: string, strikes: string): Option[] {
  const refuse = () => {
    throw new UsageError(renamed('--min-struck-holds', '--min-strikes'));
  };
  return [
    new Option('--min-holds <n>', holds).argParser(wholeNumberIn(1, 1_000_000_000)),
    new Option('--min-strikes <n>', strikes).argParser(wholeNumberIn(1, 1_000_000_000)),
    // With or without its number.
    new Option('--min-struck-holds [n]').hideHelp().preset('').argParser(refuse),
  ];
}

/** Undefined: nothing is asked for. */
export function leastOf({ minHolds, minStrikes }: LeastFlags): LeastWorth | undefined {
  if (minHolds === undefined && minStrikes === undefined) return undefined;
  return {
    ...(minHolds !== undefined && { holds: minHolds }),
    ...(minStrikes !== undefined && { strikes: minStrikes }),
  };
}
