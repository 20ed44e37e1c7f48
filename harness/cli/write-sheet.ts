/** Tables of many runs, on disk. */
import { join } from 'node:path';
import { type Sheet, sheetMarkdown, sheetPage } from '../../reports/index.js';
import { writeWhole } from '../store.js';

/** Writes `<name>.html` and `<name>.md` into `folder`, which lies beside the folders of the runs. */
export function writeSheet(folder: string, name: string, sheet: Sheet): void {
  writeWhole(join(folder, `${name}.html`), sheetPage(sheet));
  writeWhole(join(folder, `${name}.md`), sheetMarkdown(sheet));
}
