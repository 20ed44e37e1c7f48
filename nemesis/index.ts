/** The nemesis: faults, the plans that say when they strike, and the runner that carries a plan out. */

export { faults } from './faults/index.js';
export { fitPlan } from './fit-plan.js';
export { defaultIntervalMs, type MadePlan, makePlan, type PlanOptions, planArbitrary } from './plan.js';
export {
  allFaults,
  defaultFaults,
  defaultRole,
  type FaultRequest,
  needsOf,
  type ParsedRequests,
  PlanError,
  parseNemesis,
} from './requests.js';
export { type NemesisByHand, nemesisByHand, runNemesis } from './runner.js';
export {
  mayBeLeftOut,
  SEARCHED,
  SEARCHED_BY_DEFAULT,
  type SearchOptions,
  searchArbitrary,
  searchedAs,
  searchedByDefault,
  unsearchable,
} from './search-plan.js';
export type { NemesisFault, PlanTopology } from './striking/context.js';
export { roles } from './striking/roles.js';
