import { expect, it } from 'vitest';
import { lineOfExport } from '../../../../cli/run/load-once.js';

it.each([
  ['const a = 1;\nexport default a;\n', '2:1'],
  ['class Lock {}\n\nexport { Lock as default };\n', '3:1'],
  ['\n  module.exports = {};\n', '2:3'],
  ['exports.default = 1;\n', '1:1'],
  ['// export default is missing\nexport const lock = 1;\n', undefined],
])('%j exports by default at %s', (source, place) => {
  expect(lineOfExport(source)).toBe(place);
});
