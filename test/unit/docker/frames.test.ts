/** What the harness and an agent say to each other arrives whole, however the stream is cut into pieces. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader, frame, KIND, type Kind } from '../../../docker/agent/frames.js';

const frames = fc.array(
  fc.record({
    kind: fc.constantFrom(...Object.values(KIND)),
    id: fc.nat(),
    payload: fc.uint8Array({ maxLength: 40 }),
  }),
  { maxLength: 12 },
);

test('frames come out as they went in', () => {
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, cuts) => {
      const heard: { kind: Kind; id: number; payload: number[] }[] = [];
      const reader = new FrameReader((kind, id, payload) => heard.push({ kind, id, payload: [...payload] }));
      let rest = Buffer.concat(sent.map(({ kind, id, payload }) => frame(kind, id, Buffer.from(payload))));
      for (let n = 0; rest.length > 0; n++) {
        const cut = cuts[n % cuts.length]!;
        reader.push(rest.subarray(0, cut));
        rest = rest.subarray(cut);
      }
      expect(heard).toEqual(sent.map(({ kind, id, payload }) => ({ kind, id, payload: [...payload] })));
    }),
  );
});
