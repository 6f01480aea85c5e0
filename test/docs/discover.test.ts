// docs/discover.md against the program: an op is one that `discover` proposes, or one that the document says it never does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROOFS } from '../../src/discover/ops.ts';
import { OPS } from '../../src/protocol/ops.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

const page = readFileSync(join(PACKAGE_ROOT, 'docs/discover.md'), 'utf8');
const proposed = PROOFS.map(({ op }) => op as string);

test('what discover never proposes is every other op', () => {
  const section = page.split('## What it never proposes')[1]?.split('- Code in the middle')[0] ?? '';
  const said = [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const others = Object.keys(OPS).filter((op) => !proposed.includes(op));
  expect([...said].sort()).toEqual(others.sort());
});
