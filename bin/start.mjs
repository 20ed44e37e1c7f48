// The command, for a Node that is new enough: makes sure that there is something to run, then runs it in this same process, so
// that between the terminal and the tool there is nothing else that could be killed apart from it.

import { hangUp, terminalIsGone } from './last-resort.mjs';
import { notCompiled, setUpOrExit } from './setup.mjs';
import { watchNpm } from './watch-npm.mjs';

// Only the tool gives another status. What a config, or a package, does later than it should may end the process in its middle.
let status = 3;
process.on('exit', () => {
  process.exitCode = status;
});

// First of all: set-up, too, must not go on for somebody who is gone. What runs inside a run ends with this process.
watchNpm(() => {
  // A terminal that is closed takes npm along, and a run that goes on is still to be judged.
  if (terminalIsGone() && hangUp()) return;
  process.stderr.write('lock-torture: npm was killed; what a run had recorded can be checked (check latest)\n');
  process.exit(3);
});

await setUpOrExit();
const unusable = notCompiled();
if (unusable) {
  process.stderr.write(`lock-torture: ${unusable}\n`);
  process.exit(3);
}
const { main } = await import('../dist/cli/main.js');
status = await main(process.argv.slice(2));
// Node 20 resets the terminal when it exits, and crashes where that is gone. What was asked for is done: it ends as hung up.
if (terminalIsGone()) {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
process.exit(status);
