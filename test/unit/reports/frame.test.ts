import { afterAll, expect, it, vi } from 'vitest';
import { markup } from '../../../reports/markup.js';
import { pageFrame } from '../../../reports/page/frame.js';
import { tagsOf } from './reading.js';

// Modules are loaded anew with the false one, and are not left to the files that come after.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock('../../../reports/page/script.js', () => ({
  pageScript: () => {
    throw new Error('no bundler <b>here</b>');
  },
}));

it('a page whose script cannot be made is still a page, and says so', () => {
  const page = pageFrame({
    title: 'A <run>',
    body: markup`<h1>VIOLATED</h1>`,
    script: 'run',
    data: { 'run-data': 'AAAA' },
  });
  expect(page).toContain('<h1>VIOLATED</h1>');
  expect(page).toContain('are missing: no bundler &lt;b&gt;here&lt;/b&gt;');
  expect(page).toContain('<title>A &lt;run&gt;</title>');
  expect(page).not.toContain('script-src');
  tagsOf(page.replace(/<style>[^<]*<\/style>/, ''));
});

it('data that is not base64 does not get into a page', () => {
  const page = () => pageFrame({ title: '', body: markup``, data: { x: '</script><script>alert(1)</script>' } });
  expect(page).toThrow('must be base64');
});
