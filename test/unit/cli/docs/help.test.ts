/** What `--help` shows. */
import { expect, it } from 'vitest';
import { toolCommands } from '../../../../cli/main.js';

/** The whole text, with what stands below the options. */
function helpOf(name: string): string {
  const command = toolCommands([], () => {}).commands.find((one) => one.name() === name)!;
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

it('shows the flags of run in groups, and none outside', () => {
  const headings = [...helpOf('run').matchAll(/^([A-Z][\w ]+):\n {2}-/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(['What', 'How hard', 'Faults', 'Verdict', 'Repeat', 'Where', 'Options']);
  expect(helpOf('run')).toMatch(/^Options:\n {2}-h, --help .*\n\n/m);
});

it.each(toolCommands([], () => {}).commands.map((command) => command.name()))('has an example of %s', (name) => {
  if (name === 'report') return; // its argument says it all
  expect(helpOf(name)).toMatch(/^Examples:\n {2}(npm run torture --|npx lock-torture|lock-torture) /m);
});

it('doctor looks for a service beside Redis only when it is asked to', () => {
  expect(helpOf('doctor')).toMatch(/--service <name> +a service beside Redis, too: etcd \| .* \| all/s);
});
