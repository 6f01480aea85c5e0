// README.zh.md says what README.md says: the same headings, programs, names, addresses and figures, in their order where
// languages have one. Sentences are for readers of Chinese to compare.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

const read = (name: string): string => readFileSync(join(PACKAGE_ROOT, name), 'utf8');
const english = read('README.md');
const chinese = read('README.zh.md');

const BLOCK = /^```(\w*)\n([\s\S]*?)^```\n/gm;
const prose = (text: string): string => text.replaceAll(BLOCK, '');
const sorted = (list: readonly string[]): string[] => [...list].sort();

/** Level of each heading and kind of each block and table, in order. */
function skeleton(text: string): string[] {
  return [...text.matchAll(/^(#+) |^```(\w*)\n[\s\S]*?^```\n|^(\|)|^(<!--.*-->)$|^(!)\[/gm)].map(
    ([whole, heading, , row, comment, picture]) =>
      heading ?? row ?? comment ?? picture ?? whole.split('\n')[0] ?? '',
  );
}

/** Blocks without what they remark: that is translated. */
function programs(text: string): string[] {
  return [...text.matchAll(BLOCK)].map(([, , body = '']) => body.replaceAll(/ +(?:#|\/\/) .*$/gm, ''));
}

function codes(text: string): string[] {
  return [...prose(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** Of links and pictures, but for those that lead from one language to the other. */
function addresses(text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)]+)\)/g)]
    .map(([, address = '']) => address)
    .filter((address) => !/^README(?:\.zh)?\.md$/.test(address));
}

/** Of sentences and of what programs remark. */
function figures(text: string): string[] {
  return text.match(/\d+(?:[./]\d+)*/g) ?? [];
}

describe('README.zh.md is in step with README.md', () => {
  test.each([
    ['headings, blocks, rows of tables and marks', skeleton],
    ['programs, but for their remarks', programs],
    ['names in code', (text: string) => sorted(codes(text))],
    ['addresses', (text: string) => sorted(addresses(text))],
    ['figures', (text: string) => sorted(figures(text))],
  ] as const)('in %s', (_, of) => {
    expect(of(english).length).toBeGreaterThan(3);
    expect(of(chinese)).toEqual(of(english));
  });

  test('as many remarks in its programs, and none left in English', () => {
    const remarks = (text: string): string[] =>
      [...text.matchAll(BLOCK)].flatMap(([, , body = '']) => body.match(/\S +(?:#|\/\/) .*$/gm) ?? []);
    expect(remarks(chinese)).toHaveLength(remarks(english).length);
    for (const remark of remarks(chinese)) expect(remark).toMatch(/\p{Script=Han}/u);
  });

  test('each leads to the other', () => {
    expect(english).toContain('](README.zh.md)');
    expect(chinese).toContain('](README.md)');
  });
});

test('what would be missed is found', () => {
  const changed = chinese
    .replace('`.lossproof/`', '`.lossproofs/`')
    .replace('是 130', '是 131')
    .replace('\n## 其他\n', '\n### 其他\n');
  expect(codes(changed)).not.toEqual(codes(chinese));
  expect(figures(changed)).not.toEqual(figures(chinese));
  expect(skeleton(changed)).not.toEqual(skeleton(chinese));
});
