import { describe, expect, it } from 'vitest';
import { clockEnv, encodeSkew } from '../../../../harness/machine/clock-shim.js';
import type { ClockSkew } from '../../../../harness/vocabulary/host.js';

const fields = (buffer: Buffer) => [0, 8, 16].map((at) => buffer.readBigInt64LE(at));

describe('the clock file', () => {
  it('is four int64: offset in ns, rate in parts per billion, start of the drift, and what tells a whole write', () => {
    const encoded = encodeSkew({ offsetMs: 1500.25, ratePpm: 200 }, 123_456_789_012);
    expect(encoded).toHaveLength(32);
    expect(fields(encoded)).toEqual([1_500_250_000n, 200_000n, 123_456_789_012n]);
    const check = (skew: ClockSkew, sinceNs: number) => encodeSkew(skew, sinceNs).readBigInt64LE(24);
    expect(check({ offsetMs: 0, ratePpm: 0 }, 0)).toBe(0n);
    const checks = [check({ offsetMs: 1, ratePpm: 0 }, 0), check({ offsetMs: 0, ratePpm: 1 }, 0)];
    expect(
      new Set([...checks, check({ offsetMs: 0, ratePpm: 0 }, 1), check({ offsetMs: 1, ratePpm: 1 }, 0)]).size,
    ).toBe(4);
  });

  it('goes back as well as forward, by decades, rounded to a nanosecond at most', () => {
    const decadesMs = 30 * 365 * 86_400_000;
    expect(fields(encodeSkew({ offsetMs: -decadesMs, ratePpm: -1 }, 0))).toEqual([
      -BigInt(decadesMs) * 1_000_000n,
      -1000n,
      0n,
    ]);
  });
});

describe('the environment of a process with a skewed clock', () => {
  it('preloads the shim before what is already preloaded', () => {
    const before = process.env.LD_PRELOAD;
    try {
      delete process.env.LD_PRELOAD;
      expect(clockEnv('/shim.so', '/clock')).toEqual({ LD_PRELOAD: '/shim.so', LOCK_TORTURE_CLOCK: '/clock' });
      process.env.LD_PRELOAD = '/other.so';
      expect(clockEnv('/shim.so', '/clock').LD_PRELOAD).toBe('/shim.so:/other.so');
    } finally {
      if (before === undefined) delete process.env.LD_PRELOAD;
      else process.env.LD_PRELOAD = before;
    }
  });
});
