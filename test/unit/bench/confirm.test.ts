import { expect, test } from 'vitest';
import { confirmedTable } from '../../../bench/confirm.js';

test('runs of one kind are counted together, and what cannot be played apart', () => {
  const kind = '| lock | exclusion (overlap) | delay |';
  const all = [
    { kind, confirmed: { found: 1, played: 3, asked: 3 } },
    { kind: '| lease | harm (stale-write) | gc |', confirmed: { needs: 'turns' } },
    { kind, confirmed: { found: 2, played: 2, asked: 3 } },
    { kind, confirmed: { needs: 'network' } },
  ];
  expect(confirmedTable(all).slice(2)).toEqual([
    '| lease | harm (stale-write) | gc | 1 | none played; 1 cannot be played here |',
    `${kind} 3 | 3 of 5; 1 cannot be played here |`,
  ]);
});
