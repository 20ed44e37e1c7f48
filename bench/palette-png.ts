/**
 * A PNG with at most 256 colours, made from one that Chromium wrote: a page has few colours, and this needs a third of the bytes.
 * The most frequent colours are kept, and each other one becomes the nearest of them.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** PNG's names for kinds of pixels, with how many bytes each pixel has. */
const BYTES_PER_PIXEL: Readonly<Record<number, number>> = { 2: 3, 6: 4 };
const PALETTE = 3;
const MOST_COLOURS = 256;

/** Opacity is dropped. Throws for what Chromium does not write: palettes, other depths than 8 bits, interlaced rows. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, pixels } = opaquePixels(png);
  const colours = mostFrequent(pixels);
  const nearest = new Map<number, number>(colours.map((colour, at) => [colour, at]));
  const rows = Buffer.alloc(height * (width + 1));
  for (const [at, colour] of pixels.entries()) {
    let index = nearest.get(colour);
    if (index === undefined) {
      index = nearestOf(colours, colour);
      nearest.set(colour, index);
    }
    // Each row begins with the number of its filter: 0, none.
    rows[at + Math.floor(at / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE], 8);
  const palette = Buffer.from(colours.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Each as 0xrrggbb, row by row. */
function opaquePixels(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const chunks = chunksOf(png);
  const header = chunks.find(({ type }) => type === 'IHDR')!.data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, kind, , , interlaced] = header.subarray(8);
  const size = BYTES_PER_PIXEL[kind!];
  if (size === undefined || depth !== 8 || interlaced !== 0) throw new Error(`pixels of kind ${kind}, ${depth} bits`);
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  const bytes = unfiltered(inflateSync(packed), width * size, size);
  const pixels = Uint32Array.from({ length: width * height }, (_, at) => bytes.readUIntBE(at * size, 3));
  return { width, height, pixels };
}

/** PNG stores each byte as its difference to what its neighbours predict; each row says how. */
function unfiltered(rows: Buffer, length: number, size: number): Buffer {
  const bytes = Buffer.alloc((rows.length / (length + 1)) * length);
  for (let row = 0; row * length < bytes.length; row++) {
    const filter = rows[row * (length + 1)]!;
    for (let at = 0; at < length; at++) {
      const to = row * length + at;
      const left = at < size ? 0 : bytes[to - size]!;
      const above = row === 0 ? 0 : bytes[to - length]!;
      const corner = at < size || row === 0 ? 0 : bytes[to - length - size]!;
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter]!;
      bytes[to] = rows[row * (length + 1) + 1 + at]! + predicted;
    }
  }
  return bytes;
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [toLeft, toAbove, toCorner] = [left, above, corner].map((one) => Math.abs(guess - one)) as [
    number,
    number,
    number,
  ];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

function mostFrequent(pixels: Uint32Array): number[] {
  const times = new Map<number, number>();
  for (const colour of pixels) times.set(colour, (times.get(colour) ?? 0) + 1);
  return [...times]
    .sort(([a, inA], [b, inB]) => inB - inA || a - b)
    .slice(0, MOST_COLOURS)
    .map(([colour]) => colour);
}

function nearestOf(colours: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [at, one] of colours.entries()) {
    const distance = [16, 8, 0].reduce(
      (sum, bits) => sum + (((one >> bits) & 0xff) - ((colour >> bits) & 0xff)) ** 2,
      0,
    );
    if (distance < least) [best, least] = [at, distance];
  }
  return best;
}

function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
