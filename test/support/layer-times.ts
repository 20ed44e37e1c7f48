/**
 * A reporter whose last lines are how long each layer of the tests took, from its first file to the end of its last; how many tests
 * were skipped and why; and the sum of all.
 */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface Layer {
  passed: number;
  failed: number;
  skipped: number;
  fromMs: number;
  untilMs: number;
}

export default class LayerTimes implements Reporter {
  readonly #layers = new Map<string, Layer>();
  /** How many were skipped for each reason. */
  readonly #reasons = new Map<string, number>();

  onTestModuleStart({ project }: TestModule): void {
    const nowMs = performance.now();
    if (!this.#layers.has(project.name))
      this.#layers.set(project.name, { passed: 0, failed: 0, skipped: 0, fromMs: nowMs, untilMs: nowMs });
  }

  onTestModuleEnd(module: TestModule): void {
    const layer = this.#layers.get(module.project.name);
    if (!layer) return; // it never started: Vitest itself says why
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'pending') continue;
      layer[state] += 1;
      if (state === 'skipped') this.#count(reasonOf(test));
    }
    // A file that could not even be loaded has no tests, and is counted as one that failed.
    if (module.state() === 'failed' && !hasFailedTest(module)) layer.failed += 1;
    layer.untilMs = performance.now();
  }

  onTestRunEnd(): void {
    for (const [name, { fromMs, untilMs, ...counts }] of this.#layers) {
      const seconds = ((untilMs - fromMs) / 1_000).toFixed(1);
      console.log(`${name.padEnd(7)} ${seconds.padStart(7)} s  ${inWords(counts)}`);
    }
    const sum = { passed: 0, failed: 0, skipped: 0 };
    for (const layer of this.#layers.values())
      for (const state of ['passed', 'failed', 'skipped'] as const) sum[state] += layer[state];
    if (sum.skipped > 0) console.log(skippedLine(sum.skipped, this.#reasons));
    console.log(inWords(sum));
  }

  #count(reason: string): void {
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }
}

/** Of a need that is not met, or in the test's own words. */
function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return test.meta().lacking ?? note ?? 'no reason given';
}

function hasFailedTest(module: TestModule): boolean {
  return [...module.children.allTests()].some((test) => test.result().state === 'failed');
}

/** The commonest reason first. */
export function skippedLine(total: number, reasons: ReadonlyMap<string, number>): string {
  const each = [...reasons].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} (${reason})`);
  return `skipped ${total}: ${each.join(', ')}`;
}

function inWords({ passed, failed, skipped }: Pick<Layer, 'passed' | 'failed' | 'skipped'>): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
