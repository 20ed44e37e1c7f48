/** What a palette keeps of a picture: its pixels, whatever filter each row was stored with. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { withPalette } from '../../../bench/palette-png.js';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const [RED, BLUE, GREY] = [0xff0000, 0x0000ff, 0x808080];

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** `rows`: each begins with the number of its filter, and has what that filter left of three bytes a pixel. */
function png(width: number, rows: readonly number[][]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(rows.length, 4);
  header.set([8, 2], 8);
  const data = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** Row by row, as 0xrrggbb. */
function pixelsOf(made: Buffer): number[][] {
  const parts = new Map<string, Buffer>();
  for (let at = SIGNATURE.length; at < made.length; at += made.readUInt32BE(at) + 12) {
    const length = made.readUInt32BE(at);
    expect(made.readUInt32BE(at + 8 + length)).toBe(crc32(made.subarray(at + 4, at + 8 + length)));
    parts.set(made.toString('latin1', at + 4, at + 8), made.subarray(at + 8, at + 8 + length));
  }
  const [header, palette] = [parts.get('IHDR')!, parts.get('PLTE')!];
  expect([...header.subarray(8)]).toEqual([8, 3, 0, 0, 0]);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const rows = inflateSync(parts.get('IDAT')!);
  return Array.from({ length: height }, (_, row) =>
    [...rows.subarray(row * (width + 1) + 1, (row + 1) * (width + 1))].map((at) => palette.readUIntBE(at * 3, 3)),
  );
}

it('has the same pixels, whatever each row was predicted from', () => {
  const picture = png(2, [
    [0, 0xff, 0, 0, 0, 0, 0xff],
    // From the left one, from above, from the mean of both, and from the nearest of three.
    [1, 0xff, 0, 0, 0x01, 0, 0xff],
    [2, 0, 0, 0, 0x80, 0x80, 0x81],
    [3, 0x80, 0, 0, 0x41, 0xc0, 0xbf],
    [4, 0x81, 0x80, 0x80, 0x80, 0, 0x81],
  ]);
  expect(pixelsOf(withPalette(picture))).toEqual([
    [RED, BLUE],
    [RED, BLUE],
    [RED, GREY],
    [RED, BLUE],
    [GREY, GREY],
  ]);
});

it('keeps the 256 most frequent colours, and takes the nearest of them for another', () => {
  const colours = Array.from({ length: 256 }, (_, n) => [n, n, n]);
  const picture = png(514, [[0, ...colours.flat(), ...colours.flat(), 0xff, 0xff, 0xf0, 0, 0, 0]]);
  const [row] = pixelsOf(withPalette(picture));
  expect(row!.slice(-2)).toEqual([0xfafafa, 0]);
});

it('refuses what it cannot read', () => {
  const other = png(1, [[0, 0, 0, 0]]);
  other[SIGNATURE.length + 8 + 9] = 0;
  expect(() => withPalette(other)).toThrow('pixels of kind 0, 8 bits');
});
