/** Main capabilities, each with a change that breaks it and the part of `npm test` that must fail then. */

export interface Break {
  /** What does not work any more. */
  name: string;
  /** The source file that is changed. */
  file: string;
  /** Stands in that file exactly once. */
  from: string;
  to: string;
  /** The layer and test files that must fail, as for `vitest --project`. */
  caughtBy: { project: 'unit' | 'redis' | 'smoke'; tests: string[] };
}

const unit = (...tests: string[]): Break['caughtBy'] => ({
  project: 'unit',
  tests: tests.map((test) => `test/unit/${test}.test.ts`),
});

export const BREAKS: readonly Break[] = [
  {
    name: 'the checker of mutual exclusion passes everything',
    file: 'checkers/exclusion/mutual-exclusion.ts',
    from: 'certain[name].add(found);\n',
    to: '',
    caughtBy: unit('checkers/exclusion/mutual-exclusion'),
  },
  {
    name: 'a fault says that it stopped a process, and sends no signal',
    file: 'nemesis/levers/process.ts',
    from: "process.signal('SIGSTOP');\n        const state = await settles(process, 'stopped', this.clock);",
    to: "const state = 'stopped' as State;",
    caughtBy: unit('nemesis/levers'),
  },
  {
    name: 'healing says that it healed, and undoes nothing',
    file: 'nemesis/runner.ts',
    from: 'const proof = await this.undo();',
    to: "const proof = 'healed';",
    caughtBy: unit('nemesis/runner'),
  },
  {
    name: 'a client that died is not started again',
    file: 'harness/run/client-slot.ts',
    from: 'await this.target?.buried();\n',
    to: 'await this.target?.buried();\n      if (this.generation > 0) await aborted(stopping);\n      if (this.generation > 0) return undefined;\n',
    caughtBy: { project: 'smoke', tests: ['test/runs/smoke/killed.test.ts'] },
  },
  {
    name: 'the report leaves violations out',
    file: 'reports/html.ts',
    from: 'violationsSection(input, story, marks, citations)',
    to: '""',
    caughtBy: unit('reports/html'),
  },
  {
    name: 'a run that was violated exits with 0',
    file: 'checkers/index.ts',
    from: "exitStatus: verdict === 'violated' ? 1",
    to: "exitStatus: verdict === 'violated' ? 0",
    caughtBy: unit('checkers/judge'),
  },
  {
    name: "a user's lock is run from where it lies, and not bundled",
    file: 'cli/run/lock-source.ts',
    from: 'const bundled = await bundle(file, context);',
    to: 'const bundled = file;',
    caughtBy: { project: 'redis', tests: ['test/redis/lock-impl/locks.test.ts'] },
  },
  {
    name: 'the recorder loses answers',
    file: 'harness/record/recorder.ts',
    from: 'const failure = this.history.append(event);\n    if (failure && !this.trouble.aborted) {',
    to: "const failure = event.type === 'ok' ? undefined : this.history.append(event);\n    if (failure && !this.trouble.aborted) {",
    caughtBy: { project: 'smoke', tests: ['test/runs/smoke/held.test.ts'] },
  },
  {
    name: 'the target "holder" of a fault resolves to no client',
    file: 'nemesis/striking/targets.ts',
    from: 'return [struckClient(await findHolder(context))];',
    to: 'return [];',
    caughtBy: unit('nemesis/striking/targets', 'nemesis/faults'),
  },
  {
    name: 'a plan does not depend on its seed',
    file: 'nemesis/plan.ts',
    from: 'seed: options.seed | 0,',
    to: 'seed: 1,',
    caughtBy: unit('nemesis/plan'),
  },
  {
    name: 'the observer records no command',
    file: 'harness/run/observer.ts',
    from: 'this.node.monitor((command) => this.command(command));',
    to: 'this.node.monitor(() => {});',
    caughtBy: unit('harness/run/observer'),
  },
  {
    name: 'import takes a damaged file for one that ends there',
    file: 'harness/record/import/forms.ts',
    from: 'throw problem instanceof Unreadable ? this.damaged(problem) : problem;',
    to: 'return false;',
    caughtBy: unit('harness/record/import/import', 'cli/judge/check-import'),
  },
];
