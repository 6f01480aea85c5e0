// docs/attach.md prints the adapter that test/torch/ranks/ runs.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

test('the adapter of several ranks is printed as it is', () => {
  const [, section = ''] = /## Ranks that are processes\n([\s\S]*?)\n## /.exec(read('attach.md')) ?? [];
  const [, code] = /```python\n([\s\S]*?)```/.exec(section) ?? [];
  expect(code).toBe(read('example/ranks/adapter.py'));
});
