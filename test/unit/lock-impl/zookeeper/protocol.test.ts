/** ZooKeeper's protocol, byte by byte. */
import { expect, it } from 'vitest';
import { JuteReader, JuteWriter } from '../../../../lock-impl/zookeeper/jute.js';
import {
  connectFrame,
  create,
  EPHEMERAL_SEQUENTIAL,
  FrameSplitter,
  framed,
  getChildren,
  NO_SESSION,
  readEvent,
  readHead,
  readWelcome,
  remove,
  requestFrame,
} from '../../../../lock-impl/zookeeper/protocol.js';

const hex = (bytes: Buffer) => bytes.toString('hex');

it('a client that connects says what it has seen, how long its session is to last, and which that is', () => {
  expect(hex(connectFrame(NO_SESSION, 5_000, 0x1_0000_0002n))).toBe(
    `00000000${'0000000100000002'}${'00001388'}${'0000000000000000'}${'00000010'}${'00'.repeat(16)}00`,
  );
});

it('reads who was welcomed, and for how long', () => {
  const answer = new JuteWriter().int(0).int(4_000).long(7n).buffer(Buffer.from('secret')).bool(false).bytes();
  expect(readWelcome(answer)).toEqual({ timeoutMs: 4_000, id: 7n, password: Buffer.from('secret') });
});

it('asks for a node, with its data, for whom it is, and of which kind', () => {
  const path = Buffer.from('/k/c1-').toString('hex');
  expect(hex(requestFrame(3, create('/k/c1-', 'c1', EPHEMERAL_SEQUENTIAL)))).toBe(
    `000000030000000f${`00000006${path}`}${'000000026331'}${'00000001'}0000001f${'00000005'}776f726c64${'00000006'}616e796f6e65${'00000003'}`,
  );
  expect(hex(requestFrame(4, remove('/k')))).toBe('0000000400000002000000022f6bffffffff');
});

it('reads an answer: its head, then what was asked for', () => {
  const answer = new JuteWriter().int(3).long(9n).int(0).text('/k/c1-0000000000').long(8n).bytes();
  const { rest, ...head } = readHead(answer);
  expect(head).toEqual({ number: 3, zxid: 9n, error: 0 });
  expect(create('/k/c1-', '', 0).read(rest)).toEqual({ path: '/k/c1-0000000000', stat: { czxid: 8n } });
  const names = new JuteWriter().int(2).text('a').text('b').bytes();
  expect(getChildren('/k').read(new JuteReader(names))).toEqual(['a', 'b']);
});

it('reads which path a watch told of', () => {
  expect(readEvent(new JuteReader(new JuteWriter().int(2).int(3).text('/k/x').bytes()))).toBe('/k/x');
});

it('cuts frames out of what arrives, in whatever pieces', () => {
  const both = Buffer.concat([framed(Buffer.from('one')), framed(Buffer.from('three'))]);
  const splitter = new FrameSplitter();
  const frames = [...both].flatMap((byte) => splitter.push(Buffer.from([byte])));
  expect(frames.map(String)).toEqual(['one', 'three']);
  expect(new FrameSplitter().push(both).map(String)).toEqual(['one', 'three']);
});

it('does not read past what came', () => {
  expect(() => new JuteReader(new JuteWriter().int(9).bytes()).text()).toThrow(RangeError);
});
