// Which program opens a page. What a test here cannot start is at least the line that it would be.
import { expect, test } from 'vitest';
import { openerOn } from '../../../src/cli/outputs/browser.ts';

test.each([
  // Not `start`: it is a word of the shell there, which would read the & of an address.
  ['win32', ['rundll32', 'url.dll,FileProtocolHandler']],
  ['darwin', ['open']],
  ['linux', ['xdg-open']],
  ['freebsd', ['xdg-open']],
] as const)('on %s it is %j', (platform, words) => {
  expect(openerOn(platform)).toEqual(words);
});
