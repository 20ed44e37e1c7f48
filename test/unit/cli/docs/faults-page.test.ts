/** The page is what the code says: a fault that was changed without `npm run docs` is found here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsPage } from '../../../../cli/docs/faults-page.js';
import { topologies } from '../../../../harness/topologies/index.js';
import { faults } from '../../../../nemesis/index.js';
import { readPlan } from '../../nemesis/read-plan.js';

const PAGE = join(import.meta.dirname, '../../../../docs/faults.md');

describe('docs/faults.md', () => {
  const page = faultsPage();

  it('is what the code says; if not, run: npm run docs', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  });

  it('shows a plan that can be run', () => {
    const [, example] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    const topology = {
      name: 'single',
      service: 'redis' as const,
      replicated: false,
      quorum: 'primary' as const,
      nodes: ['r1'],
      sentinels: [],
      clients: ['c1'],
    };
    expect(readPlan(example!, 'example', topology).steps).toHaveLength(3);
  });

  it.each(Object.values(faults))('describes all of $name', (fault) => {
    const section = page.split(`\n## ${fault.name}\n`)[1]?.split('\n## ')[0];
    expect(section).toBeDefined();
    for (const text of Object.values(fault.explained)) expect(section).toContain(text);
    for (const [name, { means }] of Object.entries(fault.args)) {
      expect(section).toContain(`\`${name}\``);
      expect(section).toContain(means);
    }
    for (const role of fault.targets) expect(section).toContain(`\`${role}\``);
    for (const { name } of Object.values(topologies)) expect(section).toContain(`\`${name}\``);
  });
});
