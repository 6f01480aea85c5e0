import { describe, expect, test } from 'vitest';
import type { Failure, PropertyFacts, PropertyResult, ShrinkStep } from '../../../../src/check/events.ts';
import { failureCard } from '../../../../src/report/html/failure/card.ts';
import { caseBlock } from '../../../../src/report/html/failure/case.ts';
import type { TrainerFailure } from '../../../../src/trainer/failure.ts';
import { failure, maskStrip, REPLAY, result } from '../../results.ts';
import { HOSTILE, isHarmless } from '../page/hostile.ts';

const ID = 'mask/prompt-is-never-trained';
const FACTS: PropertyFacts = {
  id: ID,
  title: 'No token of a prompt is trained.',
  stage: 'mask',
  level: 'must',
  why: 'The model learns to ask.',
  catches: ['MSK-01'],
};

function card(
  more: Partial<Failure> = {},
  options: { readonly result?: Partial<PropertyResult>; readonly also?: readonly string[] } = {},
): string {
  return failureCard({
    result: result({ verdict: 'fail', failure: failure(more), ...options.result }),
    facts: FACTS,
    replay: REPLAY,
    id: ID,
    ...(options.also === undefined ? {} : { also: options.also }),
  }).markup;
}

const step = (characters: number): ShrinkStep => ({
  characters,
  sentence: `Token ${characters}`,
  given: { n: characters },
  strip: maskStrip(),
});

const TROUBLE: TrainerFailure = {
  kind: 'error',
  message: 'mask raised: ValueError: no.',
  advice: 'Read the traceback.',
  traceback: 'Traceback\n  File "a.py"\nValueError: no',
};

/** The places of these words in the text, which must be there. */
function places(markup: string, words: readonly string[]): number[] {
  return words.map((word) => {
    expect(markup).toContain(word);
    return markup.indexOf(word);
  });
}

test('a card answers in the order in which it is asked', () => {
  const found = places(
    card({
      steps: [step(90), step(40)],
      finding: {
        ...(failure().finding ?? { kind: '', sentence: '' }),
        numbers: [{ where: 'row 0', expected: 1, observed: 2, allowed: 0.5 }],
        note: 'Off by at most half.',
      },
    }),
    [
      'fails',
      'must · failed at case 17 of 100, 9 shrinks',
      FACTS.title,
      'class="sentence"',
      'class="strip',
      'times allowed',
      'Off by at most half.',
      'Smallest case',
      'How it shrank',
      'Reproduce',
      'What the trainer was asked',
      'About this rule',
    ],
  );
  expect(found).toEqual(found.toSorted((a, b) => a - b));
});

test('the card is an anchor, and every other id in it begins with its own and is there once', () => {
  const markup = card({ steps: [step(90), step(40)] });
  expect(markup).toMatch(/^<article class="card" id="mask\/prompt-is-never-trained"/);
  const ids = [...markup.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => id.startsWith(ID))).toBe(true);
});

test('a result without a failure has no card', () => {
  expect(failureCard({ result: result(), facts: FACTS, replay: REPLAY, id: ID }).markup).toBe('');
});

test('three rows are open and the others folded', () => {
  const strips = Array.from({ length: 30 }, (_, row) => ({ ...maskStrip(), row }));
  const markup = card({ finding: { kind: 'k', sentence: 'It is.', strips } });
  expect(markup.split('<details')[0]?.match(/class="strip/g)).toHaveLength(3);
  expect(markup).toContain('<summary>27 more rows</summary>');
  expect(markup).toContain('and 7 more rows');
});

test('numbers stand worst first, with what was allowed of them', () => {
  const numbers = [
    { where: 'a', expected: 1, observed: 1.5, allowed: 0.25 },
    { where: 'b', expected: 1, observed: Number.NaN, allowed: 0.25 },
    { where: 'c', expected: 0, observed: 2, allowed: 0.5 },
  ];
  const markup = card({ finding: { kind: 'k', sentence: 'It is.', numbers } });
  const rows = [...markup.matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)].map(([, row = '']) =>
    row
      .replaceAll(/<[^>]*>/g, ' ')
      .trim()
      .split(/ {2,}/),
  );
  expect(rows).toEqual([
    ['b', '1', 'NaN', 'NaN', '–', '0.25', '–'],
    ['c', '0', '2', '2', '–', '0.5', '4 ×'],
    ['a', '1', '1.5', '0.5', '0.5', '0.25', '2 ×'],
  ]);
});

test('a trainer that raised is told by its message, its advice and its traceback', () => {
  const { finding: _, ...rest } = failure();
  const markup = failureCard({
    result: result({ verdict: 'error', failure: { ...rest, trainerFailure: TROUBLE } }),
    facts: FACTS,
    id: ID,
  }).markup;
  places(markup, ['mask raised', 'Read the traceback.', 'Traceback', 'File &quot;a.py&quot;']);
  expect(markup).not.toContain('What it printed');
});

test('a state leak, a known reason and further properties are said', () => {
  expect(card({ confirmed: 'state leak' })).toContain('State leak:');
  expect(card({}, { result: { verdict: 'known', reason: 'ticket 7' } })).toContain('<b>Known:</b> ticket 7');
  expect(card({}, { also: ['mask/x', 'mask/y'] })).toContain('<b>The same with:</b> mask/x, mask/y');
});

describe('the smallest case', () => {
  test('values that do not matter are marked, and the mark is explained', () => {
    const { markup } = caseBlock({ prompts: [[5, 6]], pad: 0 }, [['prompts', 0, 1]]);
    expect(markup).toContain(
      '{"prompts": [[5, <span class="any">6</span>]], "pad": 0}'
        .replaceAll('"p', '&quot;p')
        .replaceAll('s":', 's&quot;:')
        .replaceAll('d":', 'd&quot;:'),
    );
    expect(markup).toContain('any value fails: 1 value does not matter.');
  });

  test('a line that is too long is broken, and short lists are not', () => {
    const { markup } = caseBlock({
      rows: Array.from({ length: 9 }, () => [100, 200, 300]),
      long: 'x'.repeat(60),
    });
    expect(markup).toContain('\n  &quot;rows&quot;: [\n    [100, 200, 300],\n    [100, 200, 300],');
    expect(markup).toContain('\n  ],\n  &quot;long&quot;');
  });

  test('numbers stay what they are', () => {
    expect(caseBlock([Number.NaN, -0, Number.NEGATIVE_INFINITY, null, true]).markup).toContain(
      '[NaN, -0.0, -Infinity, null, true]',
    );
  });

  test('a long case is cut and its length said', () => {
    const { markup } = caseBlock(Array.from({ length: 50_000 }, (_, at) => at));
    expect(markup.length).toBeLessThan(5_000);
    expect(markup).toMatch(/Cut here: the case has [\d,]+ characters/);
  });
});

describe('how it shrank', () => {
  const markup = card({ steps: [step(9000), step(200), step(40)] });

  test('every step can be read without a script', () => {
    expect(markup.match(/<li class="step/g)).toHaveLength(3);
    expect(markup).toContain('from 9,000 characters to 40');
    places(markup, ['Token 9000', 'Token 200', 'Token 40']);
  });

  test('the slider has a label, an end for each step, and says where it is', () => {
    expect(markup).toMatch(
      /<label for="([^"]*)">Step<\/label><input type="range" id="\1" data-steps min="1" max="3" value="3"/,
    );
    expect(markup).toContain('aria-valuetext="Step 3 of 3, 40 characters. Token 40"');
    expect(markup).toContain('<li class="step shown" data-said="Step 3 of 3');
  });

  test('a case that did not shrink has no steps', () => {
    expect(card({ steps: [step(40)] })).not.toContain('How it shrank');
  });
});

test('there are three ways to see it again, each with a button', () => {
  const markup = card();
  places(markup, [
    'npx lossproof replay 7f3a9c',
    'python adapter.py &lt; .lossproof/cases/7f3a9c.ndjson',
    'case = {&#39;prompts&#39;: [[1724, 338]], &#39;completions&#39;: [[3681, 2]]}',
    'seed 1836021, path 17:3',
  ]);
  expect(markup.match(/<button type="button" data-copy/g)).toHaveLength(3);
});

test('hostile text does nothing, wherever it comes from', () => {
  for (const text of HOSTILE) {
    const markup = failureCard({
      result: result({
        id: text.slice(0, 60),
        verdict: 'changed',
        reason: text,
        failure: failure({
          caseId: text.slice(0, 60),
          finding: {
            kind: text,
            sentence: `Token 3 '${text}' (id 3): ${text}`,
            numbers: [{ where: text, expected: 1, observed: 2, allowed: 0 }],
            note: text,
          },
          trainerFailure: { ...TROUBLE, message: text, advice: text, traceback: text, stderrTail: text },
          given: { [text]: text },
          steps: [{ characters: 9, sentence: text, given: text }, step(4)],
          lines: [text],
          stderrTail: text,
        }),
      }),
      facts: { ...FACTS, id: text.slice(0, 60), title: text.slice(0, 60), why: text.slice(0, 60) },
      replay: { command: text, adapter: text, folder: text, again: text },
      id: 'card',
      also: [text],
    }).markup;
    expect(isHarmless(markup), JSON.stringify(text.slice(0, 40))).toBe(true);
  }
});

test('a card shows the chat template that was sent, and what failing cases share', () => {
  const given = { messages: ['a'.repeat(9_000)], template: '{{- bos_token }}<b>' };
  const failingLabels = [{ label: 'never stopped', failing: 7, holding: 61, holdingWith: 0 }];
  const markup = card({ given }, { result: { failingLabels } });
  expect(markup).toContain('<h4>Chat template sent along</h4>');
  expect(markup).toContain('<pre class="case">{{- bos_token }}&lt;b&gt;</pre>');
  expect(markup).toContain('All 7 failing cases have: never stopped (0 of 61 passing cases)');
  expect(card()).not.toContain('Chat template');
  expect(card()).not.toContain('failing cases have');
});

test('a card has the labels of failing beside those of holding cases, the furthest apart first', () => {
  const comparedLabels = {
    failing: 8,
    holding: 40,
    labels: {
      common: { failing: 8, holding: 38 },
      '<b>never</b> stopped': { failing: 8, holding: 0 },
      'one row': { failing: 2, holding: 20 },
    },
  };
  const markup = card({}, { result: { comparedLabels } });
  const rows = [
    ...markup.matchAll(/<tr><th scope="row">([^<]*)<\/th>.*?class="number">(.*?)<.*?class="number">(.*?)</g),
  ];
  expect(rows.map(([, ...cells]) => cells.map((cell) => cell.replaceAll('\u00a0', ' ')))).toEqual([
    ['&lt;b&gt;never&lt;/b&gt; stopped', '100 %', '0 %'],
    ['one row', '25 %', '50 %'],
    ['common', '100 %', '95 %'],
  ]);
  expect(markup).toContain('8 cases fail in this way, 40 cases hold');
  expect(card()).not.toContain('Labels of failing');
});

test('a finding of many rows has them as a carpet, which leads to their strips; of numbers there is none', () => {
  const tokens = [5, 6, 7, 0].map((id, at) => ({
    id,
    role: at === 3 ? ('padding' as const) : ('prompt' as const),
  }));
  const strips = (cells: readonly string[]) =>
    Array.from({ length: 30 }, (_, row) => ({
      row,
      tokens,
      tracks: [{ name: 'observed', cells: [...cells] }],
      marks: row === 4 ? [1] : [],
    }));
  const markup = card({ finding: { kind: 'k', sentence: 'S.', strips: strips(['0', '1', '1', '0']) } });
  const carpet = markup.slice(markup.indexOf('rows-carpet'), markup.indexOf('</figure>'));
  expect(carpet.match(/class="row"/g)).toHaveLength(30);
  for (const [, anchor] of carpet.matchAll(/href="#([^"]*)"/g)) expect(markup).toContain(` id="${anchor}"`);
  expect(carpet).toContain('<title>row 4: 4 tokens, 2 trained, 1 mismatch</title>');
  expect(carpet).toContain('class="flag"');
  const numbers = card({ finding: { kind: 'k', sentence: 'S.', strips: strips(['0', '-0.25', '1', '0']) } });
  expect(numbers).not.toContain('rows-carpet');
  const few = strips(['0', '1', '1', '0']).slice(0, 5);
  expect(card({ finding: { kind: 'k', sentence: 'S.', strips: few } })).not.toContain('rows-carpet');
});
