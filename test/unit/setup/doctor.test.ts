import { describe, expect, it } from 'vitest';
import { formatFindings } from '../../../harness/doctor.js';

describe('formatFindings', () => {
  it('gives each finding a line, and each remedy one under its detail', () => {
    const text = formatFindings([
      { what: 'Node.js', ok: true, detail: 'v20.1.0' },
      { what: 'clock shim', ok: 'limited', detail: 'no compiler', remedy: 'install gcc', capability: 'clock' },
      { what: 'ip', ok: false, detail: 'not on PATH', remedy: 'install iproute2', capability: 'network' },
    ]);
    expect(text.split('\n')).toEqual([
      'ok       Node.js     v20.1.0',
      'limited  clock shim  no compiler',
      '                     → install gcc',
      'missing  ip          not on PATH',
      '                     → install iproute2',
    ]);
  });
});
