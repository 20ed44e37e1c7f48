import type { NemesisContext } from './context.js';

/** One of `items`, each as likely as its weight, a whole number from 0 on; undefined: none has any. */
export function weighted<T>(
  items: readonly T[],
  weightOf: (item: T) => number,
  { random }: Pick<NemesisContext, 'random'>,
): T | undefined {
  const weighing = items.map((item) => ({ item, weight: weightOf(item) })).filter(({ weight }) => weight > 0);
  const whole = weighing.reduce((sum, { weight }) => sum + weight, 0);
  if (whole === 0) return undefined;
  let left = random.int(1, whole);
  for (const { item, weight } of weighing) {
    left -= weight;
    if (left <= 0) return item;
  }
  return undefined;
}
