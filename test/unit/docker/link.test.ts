/** The harness's end of the channel to an agent, with a stream in the agent's place. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { FrameReader, frame, KIND } from '../../../docker/agent/frames.js';
import { Link } from '../../../docker/link.js';

/** Answers every call, and tells what it was sent beside. */
function linked(answers: (call: { do: string }) => unknown) {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const sent: [kind: number, text: string][] = [];
  const reader = new FrameReader((kind, id, payload) => {
    if (kind !== KIND.message) return void sent.push([kind, payload.toString()]);
    const value = answers(JSON.parse(payload.toString())) ?? null;
    fromAgent.write(frame(KIND.message, id, JSON.stringify({ value })));
  });
  toAgent.on('data', (chunk: Buffer) => reader.push(chunk));
  return { sent, fromAgent, link: new Link('r1', toAgent, fromAgent, () => {}) };
}

test('what is written to a socket is sent, and nothing where nothing is written', async () => {
  const { link, sent } = linked(() => null);
  const socket = await link.dial('admin.sock');
  socket.write('question');
  // As an HTTP client does at a request's end. To write nothing to a socket that its peer has closed is an error there.
  await new Promise((resolve) => socket.write('', resolve));
  expect(sent).toEqual([[KIND.data, 'question']]);
});

const header = (length: number, kind: number) => {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt8(kind, 4);
  return bytes;
};

test.each([
  [
    'a message that is no JSON',
    frame(KIND.message, 1, 'sh: out of memory'),
    /its agent sent a message that is no JSON$/,
  ],
  ['a message that is no object', frame(KIND.message, 1, 'null'), /sent a message that is no object$/],
  ['no answer', frame(KIND.message, 1, '{}'), /sent a message that answers nothing$/],
  ['an end that is none', frame(KIND.exit, 1, '{"code":"0"}'), /sent the end of a process without its status$/],
  ['a length that would fill the memory', header(0xffffffff, KIND.data), /sent a frame of 4294967295 bytes, and/],
  ['a kind that there is not', header(1, 99), /sent a frame of no kind \(99\)$/],
])('what is no frame ends the container, and all that went on there: %s', async (_what, bytes, why) => {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const link = new Link('r1', toAgent, fromAgent, () => {});
  const call = { do: 'spawn', argv: ['x'], cwd: '/', env: {}, logStdout: true, alone: false, family: false } as const;
  const running = link.spawn(call);
  const asked = link.call({ do: 'list', path: '.' });
  fromAgent.write(bytes);
  await expect(asked).rejects.toThrow(why);
  expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(link.isGone).toBe(true);
  expect(toAgent.writableEnded).toBe(true);
  // Nothing more of it is understood.
  fromAgent.write(frame(KIND.message, 1, '{'));
});

test('a family lives on when its first process has ended', async () => {
  const { link, fromAgent } = linked((call) => (call.do === 'spawn' ? { pid: 7 } : 'running'));
  const call = { do: 'spawn', argv: ['postgres'], cwd: '/', env: {}, logStdout: true, alone: false } as const;
  const [one, family] = [link.spawn({ ...call, family: false }), link.spawn({ ...call, family: true })];
  for (const id of [1, 2]) fromAgent.write(frame(KIND.exit, id, JSON.stringify({ code: null, signal: 'SIGKILL' })));
  await Promise.all([one.exited, family.exited]);
  expect([await one.state(), await family.state()]).toEqual(['dead', 'running']);
});
