/**
 * The failover manager as a program with a host of its own, cut off by faults like any other. Reads an `Order`, then questions,
 * from standard input; writes `News` to standard output; ends with its input.
 */
import { LineSplitter } from '../../runtimes/lines.js';
import { failoverManager } from './manager.js';

const lines = new LineSplitter();
const hear = failoverManager((line) => process.stdout.write(`${line}\n`));
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  for (const line of lines.push(chunk)) hear(line);
});
process.stdin.on('end', () => process.exit(0));
