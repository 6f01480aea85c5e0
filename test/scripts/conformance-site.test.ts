// The pages about published trainers: whole, and true to what the trainers answered.
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { conformancePages } from '../../scripts/site/conformance-pages.ts';
import { readResults, type TrainerResult } from '../../scripts/trainers/results.ts';
import { ADAPTER_NAMES } from '../../src/cli/trainer/adapters.ts';

const measured = readResults();

const one = (version: string, changed: Partial<TrainerResult> = {}): TrainerResult => ({
  adapter: 'trl-sft',
  version,
  date: '2026-11-28',
  environment: '.venv',
  cases: 20,
  verdicts: { pass: ['tokenize/stop-token-is-trained'], skipped: ['mask/prompt-is-never-trained'] },
  unsupported: 600,
  red: {},
  ...changed,
});

const broken = one('2.0', {
  verdicts: { pass: [], fail: ['mask/prompt-is-never-trained'] },
  red: {
    'mask/prompt-is-never-trained': {
      sentence: 'Token 1 of row 0 is trained.',
      strip: ['row 0  0  1', 'mask   0  1'],
      given: '{"prompts":["a"]}',
    },
  },
});

test('what is red of a newest version is a section with its case, its strip and a command that shows it again', () => {
  const page = conformancePages([broken, one('1.0')]).pages.get('docs/conformance/trl-sft.md') ?? '';
  for (const part of [
    'Version 2.0',
    '1 is broken',
    'Token 1 of row 0 is trained.',
    'row 0  0  1\nmask   0  1',
    '{"prompts":["a"]}',
    '--adapter trl-sft --python .venv/bin/python --level should --seed 1 --cases 20 --only mask/prompt-is-never-trained',
  ])
    expect(page).toContain(part);
  expect(page).toMatch(/\| property \| 2\.0 \| 1\.0 \|/);
  expect(page).toMatch(/mask\/prompt-is-never-trained\.md\) \| <[^|]*>✗<[^|]* \| <[^|]*>\?<[^|]* \|/);
});

test('a trainer without a defect says so, and its badge is blue; one with a defect has an orange badge', () => {
  const right = conformancePages([one('1.0')]);
  expect(right.pages.get('docs/conformance/trl-sft.md')).toContain('Nothing was found.');
  expect(right.badges.get('docs/conformance/trl-sft.svg')).toMatch(/#0369a1[\s\S]*trl-sft 1\.0[\s\S]*1 hold/);
  const wrong = conformancePages([broken]).badges.get('docs/conformance/trl-sft.svg');
  expect(wrong).toMatch(/#c2410c[\s\S]*1 fail/);
});

test('every ready-made adapter of a published library was asked, and each of its red properties is on its page', () => {
  const { pages } = conformancePages();
  for (const adapter of ADAPTER_NAMES.filter((name) => measured.some((each) => each.adapter === name))) {
    const page = pages.get(`docs/conformance/${adapter}.md`) ?? '';
    const newest = measured.find((each) => each.adapter === adapter && each.lacks === undefined);
    for (const id of Object.keys(newest?.red ?? {})) expect(page, adapter).toContain(id);
  }
  expect(new Set(measured.map(({ adapter }) => adapter)).size).toBeGreaterThan(8);
});

test('what was measured names properties that exist', () => {
  const known = new Set(properties.map(({ id }) => id));
  const named = measured.flatMap(({ verdicts }) => Object.values(verdicts).flat());
  expect(named.filter((id) => !known.has(id))).toEqual([]);
});
