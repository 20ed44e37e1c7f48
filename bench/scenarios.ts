/**
 * `npm run bench -- scenarios`: every scenario on every server that can be had by its name, one server after the other, as
 * `scenario` does it, whose other flags it takes (`--runtime sim`: in virtual time).
 */
import { addScenarioFlags, type ScenarioFlags, scenarioCommand } from '../cli/batches/scenario-command.js';
import { benchCommand } from './command.js';

/** What scenarios are said to hold on (docs/scenarios.md), as `--server` takes their names. */
export const SERVERS = ['redis@7.0', 'redis@8.0', 'valkey@8.1', 'valkey@9'] as const;

/** The process's exit status is that of `scenario`. */
export async function benchScenarios(argv: readonly string[]): Promise<void> {
  process.exitCode = await scenarioCommand([], scenarioFlags(argv), { cwd: process.cwd() });
}

/** What is not said otherwise: all of them, on all servers. Throws what Commander throws. */
export function scenarioFlags(argv: readonly string[]): ScenarioFlags {
  const command = addScenarioFlags(benchCommand('scenarios'));
  command.parse(['--all', '--servers', SERVERS.join(','), ...argv], { from: 'user' });
  return command.opts<ScenarioFlags>();
}
