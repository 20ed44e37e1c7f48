/** Time ↔ x. Linear and clamped to the window: what lies outside is drawn at its edge. */

export interface Scale {
  fromNs: number;
  untilNs: number;
  left: number;
  right: number;
}

/** The x of a moment. A time without end (a lease that never expires, `null` in a stored file) is the right edge. */
export function xOf(scale: Scale, ns: number): number {
  if (!Number.isFinite(ns)) return scale.right;
  const part = (ns - scale.fromNs) / (scale.untilNs - scale.fromNs);
  return scale.left + Math.min(1, Math.max(0, part)) * (scale.right - scale.left);
}

/** The moment at an x: what a reader, or a test, gets back from a drawn bar. */
export function momentAt(scale: Scale, x: number): number {
  return scale.fromNs + ((x - scale.left) / (scale.right - scale.left)) * (scale.untilNs - scale.fromNs);
}

/** True where any of [fromNs, untilNs] lies in the window. */
export function isInWindow(scale: Scale, fromNs: number, untilNs: number): boolean {
  return !(untilNs < scale.fromNs) && fromNs <= scale.untilNs;
}

/** Round moments at a readable distance: 1, 2 or 5 times a power of ten, at most `most` of them. */
export function axisMoments(scale: Scale, most: number): { momentsNs: number[]; decimals: number } {
  const length = scale.untilNs - scale.fromNs;
  const rough = length / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const stepNs = Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.9999) ?? 10) * power);
  const momentsNs: number[] = [];
  for (let n = Math.ceil(scale.fromNs / stepNs); n * stepNs <= scale.untilNs; n++) momentsNs.push(n * stepNs);
  return { momentsNs, decimals: Math.max(0, Math.round(-Math.log10(stepNs / 1e9) + 0.3)) };
}
