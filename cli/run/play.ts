/** Plays a scenario inside a run, and keeps how it went: `play.json`. */
import { writeJson } from '../../harness/record/store.js';
import type { Scene } from '../../harness/run/run.js';
import type { Scenario } from '../../harness/vocabulary/workload.js';
import { type NemesisByHand, nemesisByHand } from '../../nemesis/index.js';
import { createStage } from './stage.js';

/** Resolves when the play is over, whatever came of it, with what heals what it left in force. */
export async function playScenario(scenario: Scenario, scene: Scene, folder: string): Promise<NemesisByHand> {
  const nemesis = nemesisByHand(scene.faults);
  let error: string | undefined;
  try {
    await scenario.play(createStage(scene, nemesis));
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  // Before the plan is kept: only then is it known for how long everything was in force.
  await nemesis.stop();
  writeJson(folder, 'plan.json', { version: 1, seed: 0, steps: nemesis.steps });
  writeJson(folder, 'play.json', { ended: true, ...(error !== undefined && { error }) });
  return nemesis;
}
