/** Tables of many runs: what they say, what they lead to, and that nothing in them can act. */
import { expect, test } from 'vitest';
import { type Sheet, sheetMarkdown, sheetPage } from '../../../reports/index.js';

const SHEET: Sheet = {
  title: 'self-test of today',
  state: 'bad',
  headline: '1 of 2 canaries caught',
  tables: [
    {
      title: 'Canaries',
      columns: ['lock', 'shown', 'why'],
      rows: [
        ['broken/one', { text: 'MISSED', good: false }, '<img src=x onerror="alert(1)"> a | b'],
        [{ text: 'broken/two', run: '2026-11-22T01-00-00-single-1234' }, { text: 'caught', good: true }, 'found'],
      ],
    },
  ],
};

test('the page says the verdict first, leads to the reports of the runs, and escapes what locks say', () => {
  const page = sheetPage(SHEET);
  expect(page).toContain('<h1>NOT AS EXPECTED <span>self-test of today</span></h1>');
  expect(page).toContain('<a href="../2026-11-22T01-00-00-single-1234/report.html">broken/two</a>');
  expect(page).toContain('<span class="state bad">MISSED</span>');
  expect(page).not.toContain('<img');
  expect(page).toContain('default-src &#39;none&#39;');
});

test('breaks no short name in two', () => {
  expect(sheetPage(SHEET)).toContain('<td class="nowrap">broken/one</td>');
  expect(sheetPage(SHEET)).toContain('<td>&lt;img src=x');
});

test('has first words of its own where it is given them', () => {
  const words = "2 new findings, both Redis'";
  expect(sheetPage({ ...SHEET, words })).toContain('<h1>2 new findings, both Redis&#39; <span>');
  expect(sheetMarkdown({ ...SHEET, words })).toContain(`**${words}**: 1 of 2`);
});

test('as Markdown, a cell stays a cell and markup is text', () => {
  const text = sheetMarkdown(SHEET);
  expect(text).toContain('**NOT AS EXPECTED**: 1 of 2 canaries caught');
  expect(text).toContain('[broken/two](../2026-11-22T01-00-00-single-1234/report.html)');
  expect(text).toContain('&lt;img src=x onerror="alert(1)"&gt; a \\| b');
});
