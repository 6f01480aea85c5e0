// `twin` on real training loops: what is right agrees under every change that can be made, and each fault parts the runs at the
// place that has it.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { expectAgreement } from './agreement.ts';
import { OF_LOOPS } from './faults.ts';
import { environment, HF, MAIN, OF_BATCHES, OWN_LOOP, SFT, twin, words } from './runs.ts';

const ALL = [...OF_BATCHES, 'accumulation', 'ranks', 'resume', 'attention', 'checkpointing'];

describe('agrees', () => {
  test.each<readonly [what: string, options: readonly string[], command: string, agree: readonly string[]]>([
    ["transformers' Trainer", [], `${HF} --accumulate 2`, ALL],
    [
      "transformers' Trainer with absolute positions and dropout",
      [],
      `${HF} --model absolute --dropout 0.1`,
      ALL,
    ],
    ["TRL's SFTTrainer", [], `${SFT} --accumulate 2`, ALL],
    ['a loop by hand', [], `${OWN_LOOP} --clip 0.5`, OF_BATCHES],
    [
      'a loop by hand with padding on the left and dropout',
      [],
      `${OWN_LOOP} --left --dropout 0.1`,
      OF_BATCHES,
    ],
    [
      'a loop with SGD and momentum, several micro-batches',
      [],
      `${OWN_LOOP} --optimiser sgd --accumulate 2 --batch 2`,
      OF_BATCHES,
    ],
    ['labels beside the inputs', [], 'python LLAMA', [...OF_BATCHES, 'attention', 'checkpointing']],
    ['rows that are packed', ['--with', '--packed'], OWN_LOOP, ['pair']],
    ['micro-batches', ['--with', '--batch 1 --accumulate 4'], `${OWN_LOOP} --clip 0.5`, ['pair']],
    [
      'backward passes by hand',
      ['--with', '--batch 2 --accumulate 2 --by-hand'],
      `${OWN_LOOP} --squared --left`,
      ['pair'],
    ],
    ['checkpointing with dropout', ['--with', '--checkpoint'], `${OWN_LOOP} --dropout 0.1`, ['pair']],
    [
      'two processes',
      [],
      `${OWN_LOOP} --clip 0.5 --- python -m torch.distributed.run --standalone --nproc-per-node 2 OWN --batch 2 --clip 0.5`,
      ['pair'],
    ],
    [
      'a resumed run',
      ['--save-args', '--steps 2 --save ck.pt', '--resume-args', '--resume ck.pt'],
      OWN_LOOP,
      ['resume'],
    ],
    [
      'a resumed run with momentum',
      ['--save-args', '--steps 3 --save ck.pt', '--resume-args', '--resume ck.pt'],
      `${OWN_LOOP} --optimiser sgd --dropout 0`,
      ['resume'],
    ],
  ])('%s', (_, options, command, agree) => expectAgreement(options, command, agree));
});

describe('parts', () => {
  test.each(OF_LOOPS.map((fault) => [fault.name, fault] as const))(
    '%s',
    async (_, { options = [], command, change, where, says = [] }) => {
      const told = (await twin(options, command)).get(change);
      expect(told).toMatchObject({ outcome: 'parts', ...where });
      for (const [at, words] of says.entries()) expect(told?.sentences?.[at]).toContain(words);
    },
  );

  test('a script that is seeded by the system is not the same twice', async () => {
    const told = await twin(['--change', 'repeat'], `${OWN_LOOP} --fault unseeded`);
    expect(told.get('repeat')).toMatchObject({ outcome: 'parts', differs: 'start' });
  });
});

const MICRO = 'update/every-micro-batch-reaches-the-step';
const ZERO = 'python -m torch.distributed.run --standalone --nproc-per-node 1 ZERO';

/** Exit code and output of `trace` with this one property. */
async function traced(command: string): Promise<{ readonly code: number | undefined; readonly out: string }> {
  const { exitCode, all } = await execa('node', [MAIN, 'trace', '--only', MICRO, '--', ...words(command)], {
    cwd: mkdtempSync(join(tmpdir(), 'loss proof ü ')),
    reject: false,
    all: true,
    env: { ...environment(command), COLUMNS: '1000' },
  });
  return { code: exitCode, out: all ?? '' };
}

describe('one traced run tells which micro-batches are in the gradient', () => {
  test.each([
    `${OWN_LOOP} --batch 1 --accumulate 4`,
    `${OWN_LOOP} --batch 2 --accumulate 3 --clip 0.1 --dropout 0.1 --checkpoint`,
    ...[0, 1, 2, 3].map((stage) => `${ZERO} --stage ${stage}`),
  ])('%s: all', async (command) => {
    expect((await traced(command)).code).toBe(0);
  });

  test.each([
    [`${OWN_LOOP} --batch 1 --accumulate 4 --fault lost-middle`, 'without micro-batch 1, 2'],
    [`${OWN_LOOP} --batch 1 --accumulate 3 --fault twice --clip 0.2`, 'with micro-batch 1 more than once'],
    [`${ZERO} --stage 0 --fault lost`, 'without micro-batch 1, 2'],
  ])('%s: %s', async (command, told) => {
    const { code, out } = await traced(command);
    expect(out).toContain(told);
    expect(code).toBe(1);
  });
});
