// docs/view.md names every flag and note.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FLAGS, NOTES } from '../../src/view/flags.ts';

test.each(Object.keys({ ...FLAGS, ...NOTES }))('docs/view.md tells what %s is', (id) => {
  expect(readFileSync('docs/view.md', 'utf8')).toContain(`\`${id}\``);
});
