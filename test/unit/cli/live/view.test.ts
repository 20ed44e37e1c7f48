import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { sendStep } from '../../../../cli/live/feed.js';
import type { Snapshot } from '../../../../cli/live/run-state.js';
import { showLive } from '../../../../cli/live/view.js';

const SNAPSHOT: Snapshot = {
  atMs: 30_000,
  phase: 'end',
  phaseForMs: 2_000,
  operations: { perSecond: 0, grants: 1, refusals: 0, unknown: 0 },
  faults: [],
  moreFaults: 0,
  keys: [],
  moreKeys: { held: 0, free: 0 },
  holds: 0,
};

it('says what is done with the record: judging, then writing the report; and breaks what scrolls by at words', async () => {
  const source = { output: new PassThrough(), errors: new PassThrough(), feed: new PassThrough() };
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const terminal = { columns: 30, rows: 24, write, on() {}, off() {} };
  using _view = showLive(source, terminal, { write() {} }, { colour: false, unicode: false });
  source.feed.write(`${JSON.stringify({ snapshot: SNAPSHOT })}\n`);
  await vi.waitFor(() => expect(written).toContain('-- judging what was recorded'));
  sendStep(source.feed, 'report');
  await vi.waitFor(() => expect(written).toContain('-- writing the report 0.0 s'));
  source.output.write('   1.0 s  struck   pause c1: SIGSTOP to c1\n');
  await vi.waitFor(() => expect(written).toContain('\n            SIGSTOP to c1'));
});
