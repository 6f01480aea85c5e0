// Launch scripts read for their commands: what a shell would make of words, and never more than it could know.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandOf } from '../../src/view/config/command.ts';
import { commandsIn, isComputed } from '../../src/view/config/shell.ts';

/** A dollar sign is written as §, which no shell knows. */
const words = (script: string): readonly (readonly string[])[] =>
  commandsIn(script.replaceAll('§', '$')).map((each) => each.words.map((word) => word.replaceAll('$', '§')));

describe('words of a script', () => {
  test.each<[string, string, readonly (readonly string[])[]]>([
    ['quotes', `run 'a b' "c d" e\\ f ""`, [['run', 'a b', 'c d', 'e f', '']]],
    [
      'continued lines, and a comment at the end of one',
      'run a \\\n  b # c\nrun d',
      [
        ['run', 'a', 'b'],
        ['run', 'd'],
      ],
    ],
    ['variables', 'A=x\nB="y z"\nrun §A §{B} "§B" \'§A\'', [['run', 'x', 'y', 'z', 'y z', '§A']]],
    ['a default', 'A=§{1:-x}\nrun §A §{NO:-y}', [['run', 'x', 'y']]],
    ['a list', 'ARGS=(a "b c" # no\n d)\nrun "§{ARGS[@]}"', [['run', 'a', 'b c', 'd']]],
    [
      'a document',
      'read -r -d "" all <<EOF\nmod.x \\\n --a 1\nEOF\nrun §all',
      [
        ['read', '-r', '-d', '', 'all'],
        ['run', 'mod.x', '--a', '1'],
      ],
    ],
    [
      'parts of a line',
      'cd x && run a | tee log; run b',
      [
        ['cd', 'x'],
        ['run', 'a'],
        ['tee', 'log'],
        ['run', 'b'],
      ],
    ],
    ['redirections', 'run a > log 2>&1', [['run', 'a']]],
    ['what only a shell knows', 'run §(pwd)/x §HOME_OF_IT', [['run', '§(pwd)/x', '§HOME_OF_IT']]],
  ])('%s', (_, script, expected) => {
    expect(words(script)).toEqual(expected);
  });

  test('what is computed is known as such', () => {
    expect(['$A/x', '$(pwd)', '`pwd`', '$1', '$@'].map(isComputed)).toEqual([true, true, true, true, true]);
    expect(['5$', 'a/b', '$ 5'].map(isComputed)).toEqual([false, false, false]);
  });

  test('never fails', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', "'", '\\', '\n', '$', '{', '}', '(', ')', '=', ' ', '#', '<<', ';'),
    });
    fc.assert(
      fc.property(text, (script) => {
        expect(Array.isArray(commandsIn(script))).toBe(true);
      }),
    );
  });
});

test('the command of a trainer is found, with its overrides', () => {
  const found = commandOf(
    'x=1\npython -m verl.trainer.sft_trainer a.b=1 +c=[1,2] ~d "e=\'f g\'" h=True --nproc 2',
  );
  expect(found).toMatchObject({
    word: 'verl.trainer.sft_trainer',
    values: { 'a.b': 1, c: [1, 2], d: null, e: 'f g', h: true },
    lines: new Map(
      [
        ['a.b', 2],
        ['c', 1],
        ['d', 2],
        ['e', 1],
        ['h', 2],
      ].map(([key]) => [key, expect.any(Number)]),
    ),
  });
  expect(commandOf('python train.py a=1')).toBeUndefined();
  expect(commandOf('python -m verl.trainer.main_ppo\npython -m verl.trainer.sft_trainer')).toHaveProperty(
    'problem',
  );
});

test.each([
  'torchrun -m verl.trainer.fsdp_sft_trainer a=1',
  'python -m openrlhf.cli.batch_inference',
  'swift infer --model m',
])('a command of the trainer that is not read is named: %s', (script) => {
  const said = commandOf(script);
  const [word] = /(?:verl|openrlhf)\S+|swift \w+/.exec(script) ?? [];
  expect(said).toHaveProperty(
    'problem',
    expect.stringContaining(`it starts ${word}, which is none of the commands of`),
  );
});
