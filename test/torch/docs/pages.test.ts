// The commands of pages that need torch, as they are printed. The others: test/docs/pages/.
import { join } from 'node:path';
import { test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { follow, isFollowed } from '../../docs/pages/follow.ts';
import { PAGES } from '../../docs/pages/given.ts';

const PYTHON = join(process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv'), 'bin', 'python');

test.each(PAGES.filter((page) => isFollowed(page, true)))('%s', async (page) => {
  await follow(page, PYTHON);
});
