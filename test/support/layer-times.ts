/** A reporter that ends with how long each layer of the tests took, from its first file to the end of its last. */
import type { Reporter, TestModule } from 'vitest/node';

interface Layer {
  passed: number;
  failed: number;
  skipped: number;
  fromMs: number;
  untilMs: number;
}

export default class LayerTimes implements Reporter {
  readonly #layers = new Map<string, Layer>();

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
      if (state !== 'pending') layer[state] += 1;
    }
    layer.untilMs = performance.now();
  }

  onTestRunEnd(): void {
    for (const [name, { passed, failed, skipped, fromMs, untilMs }] of this.#layers) {
      const seconds = ((untilMs - fromMs) / 1_000).toFixed(1);
      console.log(`${name.padEnd(6)} ${seconds.padStart(7)} s  ${passed} passed, ${failed} failed, ${skipped} skipped`);
    }
  }
}
