import { expect, test } from 'vitest';
import { FAMILY_SHAPES, type TemplateShape, templateOf } from '../../../src/generators/text/template.ts';
import { failureLines } from '../../../src/report/failure/failure.ts';
import { troubleLines } from '../../../src/report/failure/trouble.ts';
import { PLAIN } from '../../../src/report/text/paint.ts';
import { failure, REPLAY, result } from '../results.ts';

const shown = (given: Parameters<typeof result>[0], width: number): string =>
  `\n${failureLines(result(given), { width, paint: PLAIN, replay: REPLAY }).join('\n')}\n`;

test('a failure is a sentence, a strip, its case, and how to reproduce it', () => {
  expect(shown({ verdict: 'fail', failure: failure() }, 100)).toMatchInlineSnapshot(`
    "
    ✗ mask/prompt-is-never-trained  must · failed at case 17 of 100, 9 shrinks
      Token 5 '␠cap' (id 2117) belongs to the prompt of row 1, but the mask trains on it.

      row 1     0      1       2       3       4       5       6       7
      token     <pad>  <s>     What    ␠is     ␠the    ␠cap    ␠Paris  </s>
      id        0      1       1724    338     278     2117    3681    2
      role      pad    prompt  prompt  prompt  prompt  prompt  compl.  stop
      expected  0      0       0       0       0       0       1       1
      observed  0      0       0       0       0       1       1       0
                                                       ▲▲▲             △

      Case   {"prompts":[[1724,338]],"completions":[[3681,2]]}

      Reproduce   npx lossproof replay 7f3a9c
      Explain     npx lossproof explain mask/prompt-is-never-trained
    "
  `);
});

test('a failure fits a narrow terminal', () => {
  expect(shown({ verdict: 'fail', failure: failure() }, 60)).toMatchInlineSnapshot(`
    "
    ✗ mask/prompt-is-never-trained
      must · failed at case 17 of 100, 9 shrinks
      Token 5 '␠cap' (id 2117) belongs to the prompt of row 1,
      but the mask trains on it.

      row 1     0      1       2       3       4       5
      token     <pad>  <s>     What    ␠is     ␠the    ␠cap
      id        0      1       1724    338     278     2117
      role      pad    prompt  prompt  prompt  prompt  prompt
      expected  0      0       0       0       0       0
      observed  0      0       0       0       0       1
                                                       ▲▲▲

      row 1     6       7
      token     ␠Paris  </s>
      id        3681    2
      role      compl.  stop
      expected  1       1
      observed  1       0
                        △

      Case   {"prompts":[[1724,338]],"completions":[[3681,2]]}

      Reproduce   npx lossproof replay 7f3a9c
      Explain     npx lossproof explain mask/prompt-is-never-trained
    "
  `);
});

test('numbers stand worst first, with what was allowed', () => {
  const finding = {
    kind: 'numbers',
    sentence: 'The KL of row 0 is not that of k3.',
    numbers: [
      { where: 'row 0, token 3', expected: 0.25, observed: 0.2500001, allowed: 1e-8 },
      { where: 'row 0, token 4', expected: 1, observed: Number.NaN, allowed: 1e-6 },
      { where: 'row 1, token 2', expected: 1, observed: -3, allowed: 1e-6 },
      { where: 'row 1, token 3', expected: -0, observed: 0.5, allowed: 0 },
    ],
    note: 'Allowed: 1e-6 relative, for float32 sums of up to 16 terms.',
  };
  expect(shown({ verdict: 'fail', failure: failure({ finding }) }, 80)).toMatchInlineSnapshot(`
    "
    ✗ mask/prompt-is-never-trained  must · failed at case 17 of 100, 9 shrinks
      The KL of row 0 is not that of k3.

      where           expected  observed   difference  allowed
      row 0, token 4  1         NaN        NaN         1e-6
      row 1, token 3  -0        0.5        0.5         0
      row 1, token 2  1         -3         -4          1e-6
      row 0, token 3  0.25      0.2500001  1e-7        1e-8

      Allowed: 1e-6 relative, for float32 sums of up to 16 terms.

      Case   {"prompts":[[1724,338]],"completions":[[3681,2]]}

      Reproduce   npx lossproof replay 7f3a9c
      Explain     npx lossproof explain mask/prompt-is-never-trained
    "
  `);
});

test('a crash shows what happened, what to do, and the end of stderr without its escape codes', () => {
  const { finding: _, ...rest } = failure({ path: '3' });
  const trouble = {
    ...rest,
    trainerFailure: {
      kind: 'crash' as const,
      message: 'The trainer died of SIGSEGV while answering mask. It did so again alone.',
      advice: 'Run the case alone as below and look at its stderr.',
      signal: 'SIGSEGV',
      reproduced: true,
      stderrTail: 'loading 10%\rloading 100%\n\u001b[31mFatal: bad\u001b[0m\tindex\n',
    },
  };
  expect(shown({ verdict: 'error', failure: trouble }, 80)).toMatchInlineSnapshot(`
    "
    ! mask/prompt-is-never-trained  must · failed at case 17 of 100, 9 shrinks
      The trainer died of SIGSEGV while answering mask. It did so again alone.
      Run the case alone as below and look at its stderr.

      Last lines of its stderr:
      │ loading 100%
      │ Fatal: bad    index

      Case   {"prompts":[[1724,338]],"completions":[[3681,2]]}

      Reproduce   npx lossproof replay 7f3a9c
      Explain     npx lossproof explain mask/prompt-is-never-trained
    "
  `);
});

test('an exception shows the end of its traceback and not stderr', () => {
  const { finding: _, ...rest } = failure();
  const traceback = Array.from({ length: 30 }, (_, at) => `  frame ${at}`).join('\n');
  const text = shown(
    {
      verdict: 'error',
      failure: {
        ...rest,
        stderrTail: 'noise',
        trainerFailure: {
          kind: 'error',
          message: 'op mask raised IndexError.',
          advice: 'Correct it.',
          traceback,
        },
      },
    },
    80,
  );
  expect(text).toContain('frame 29');
  expect(text).toContain('…');
  expect(text).not.toContain('frame 2\n');
  expect(text).not.toContain('noise');
});

test.each([
  ['some processes', 'Some processes'],
  ['state leak', 'State leak'],
  ['flaky', 'Flaky'],
] as const)('a %s is said', (confirmed, word) => {
  expect(shown({ verdict: 'fail', failure: failure({ confirmed }) }, 100)).toContain(word);
});

test('a long case is left to its file, and a saved case is called one', () => {
  const text = shown({ verdict: 'fail', failure: failure({ given: 'x'.repeat(5000), saved: true }) }, 100);
  expect(text).not.toContain('xxx');
  expect(text).toContain('a saved case');
});

test('without a corpus only the seed reproduces it', () => {
  const lines = failureLines(result({ verdict: 'fail', failure: failure() }), {
    width: 100,
    paint: PLAIN,
    replay: { command: 'npx lossproof replay' },
  });
  expect(lines.at(-2)).toBe('  Reproduce   seed 1836021, path 17:3 (same version only)');
});

test('why a process did not start comes before what to do about it, and a repeated line is counted', () => {
  const lines = troubleLines(
    {
      kind: 'start',
      message: 'The trainer exited with code 2 before it said hello.',
      advice: 'Correct what its last lines say.',
      stderrTail: `${'loading\n'.repeat(9)}python3: can't open file 'adapter.py'\n`,
    },
    { width: 80, paint: PLAIN },
  );
  expect(lines).toEqual([
    'The trainer exited with code 2 before it said hello.',
    '',
    'Last lines of its stderr:',
    '│ loading  (9 times)',
    "│ python3: can't open file 'adapter.py'",
    '',
    'Correct what its last lines say.',
  ]);
});

test('a traceback keeps its indentation', () => {
  const traceback =
    'Traceback (most recent call last):\n  File "a.py", line 3, in mask\n    return rows[7]\nIndexError: 7';
  const lines = troubleLines(
    { kind: 'error', message: 'op mask raised.', advice: 'Correct it.', traceback },
    { width: 80, paint: PLAIN },
  );
  expect(lines).toContain('│   File "a.py", line 3, in mask');
  expect(lines).toContain('│     return rows[7]');
});

test('on a narrow screen numbers stand one below the other, whole', () => {
  const numbers = [{ where: 'row 0, token 1', expected: 1.227086e-4, observed: 1.21437e-4, allowed: 1e-12 }];
  const text = shown(
    { verdict: 'fail', failure: failure({ finding: { kind: 'k', sentence: 's', numbers } }) },
    44,
  );
  expect(text).toContain('  row 0, token 1\n    expected  1.227086e-4\n    observed  1.21437e-4\n');
  expect(text).toMatch(/off by {4}-1\.2716e-6, allowed 1e-12/);
});

test('a sentence with a token that is a command to the terminal is a sentence', () => {
  const finding = { kind: 'k', sentence: "Token 5 '\u001b]0;x\u0007' is trained." };
  expect(shown({ verdict: 'fail', failure: failure({ finding }) }, 80)).toContain(
    "Token 5 '\\x1b]0;x\\x07' is trained.",
  );
});

const SOURCE = "{%- for message in messages %}\n{{- message['content'] }}\n{%- endfor %}";
const LONG = { messages: [{ role: 'user', content: 'a'.repeat(700) }], template: SOURCE };

test('the chat template that was sent is shown however long its case is', () => {
  const text = shown({ verdict: 'fail', failure: failure({ given: LONG }) }, 100);
  expect(text).not.toContain('Case ');
  expect(text).toContain(`Chat template sent along:\n    ${SOURCE.replaceAll('\n', '\n    ')}\n`);
});

test('the template of a family is called by its name, and the case beside it is shown without it', () => {
  const template = templateOf(FAMILY_SHAPES.qwen as TemplateShape, []).source;
  const given = { messages: [{ role: 'user', content: 'a' }], template };
  const text = shown({ verdict: 'fail', failure: failure({ given }) }, 100);
  expect(text).toContain('Chat template sent along: the shape of qwen\n');
  expect(text).toContain('Case   {"messages":[{"role":"user","content":"a"}],"template":"(above)"}');
});

test('a template that only the requests carry is found there, and a case without one has none', () => {
  const line = JSON.stringify({ id: 2, op: 'render', args: { chat_template: SOURCE } });
  const sent = (lines: readonly string[], given: unknown = {}): string =>
    shown({ verdict: 'fail', failure: failure({ given, lines }) }, 100);
  expect(sent(['{"id":1,"op":"hello","args":{}}', line])).toContain('Chat template sent along:');
  expect(sent([line.slice(0, -9)])).not.toContain('Chat template');
  expect(sent([], { template: null })).not.toContain('Chat template');
});

test('what failing cases share stands in the block', () => {
  const failingLabels = [{ label: 'never stopped', failing: 7, holding: 61, holdingWith: 0 }];
  expect(shown({ verdict: 'fail', failure: failure(), failingLabels }, 100)).toContain(
    '\n  All 7 failing cases have: never stopped (0 of 61 passing cases)\n',
  );
});

test('a failure says at which case of how many, and never how many fail', () => {
  const said = (more: Parameters<typeof failure>[0]): string =>
    shown({ verdict: 'fail', failure: failure(more) }, 100).split('\n')[1] ?? '';
  expect(said({ casesToFail: 1_200, outOf: 2_000 })).toContain(
    'must · failed at case 1,200 of 2,000, 9 shrinks',
  );
  expect(said({ saved: true })).toContain('must · failed in a saved case');
  const finding = { kind: 'k', sentence: 's', answers: ['"kl_estimator": "k3"'] };
  expect(said({ finding })).toContain('seen at case 17 of 100');
});
