/** Claims about locks, each with the play that proves or refutes it. */
import type { Scenario } from '../harness/api.js';
import { pauseBetweenGrantAndWrite } from './pause-between-grant-and-write.js';

const all: readonly Scenario[] = [pauseBetweenGrantAndWrite];

export const scenarios: Record<string, Scenario> = Object.fromEntries(all.map((one) => [one.name, one]));
