// `twin` on real training loops: what is right agrees under every change that can be made, and each fault parts the runs at the
// place that has it.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { environment, HF, MAIN, OF_BATCHES, OWN_LOOP, of, SFT, type Told, twin, words } from './runs.ts';

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
  ])('%s', async (_, options, command, agree) => {
    const told = await twin(options, command);
    expect(of(told, 'parts')).toEqual([]);
    expect(of(told, 'agree')).toEqual(agree);
    for (const { times_rounding } of told.values()) expect(times_rounding).toBeLessThan(5);
  });
});

const RESUME = ['--save-args', '--steps 2 --save ck.pt', '--resume-args', '--resume ck.pt'];
const RANKS = '--- python -m torch.distributed.run --standalone --nproc-per-node 2 OWN --batch 2';

describe('parts', () => {
  test.each<
    readonly [
      fault: string,
      options: readonly string[],
      command: string,
      change: string,
      where: Partial<Told>,
    ]
  >([
    [
      'lost middle micro-batches',
      ['--with', '--batch 1 --accumulate 4 --fault lost-middle'],
      OWN_LOOP,
      'pair',
      { differs: 'gradients', step: 0, lost_micro_batches: [1, 2] },
    ],
    [
      'a micro-batch that counts twice',
      ['--with', '--batch 2 --accumulate 2 --fault twice'],
      OWN_LOOP,
      'pair',
      { differs: 'gradients', step: 0 },
    ],
    [
      'a mean of means, by micro-batches',
      ['--with', '--batch 1 --accumulate 4 --fault means'],
      OWN_LOOP,
      'pair',
      { differs: 'weights', step: 0 },
    ],
    [
      "a mean of means in transformers' Trainer",
      ['--change', 'accumulation'],
      `${HF} --accumulate 2 --fault mean-of-means`,
      'accumulation',
      { differs: 'weights', step: 0 },
    ],
    [
      'a mean of means, by processes',
      [],
      `${OWN_LOOP} --fault means ${RANKS} --fault means`,
      'pair',
      { differs: 'weights', step: 0 },
    ],
    [
      "a mean of means by processes in transformers' Trainer",
      ['--change', 'ranks'],
      `${HF} --accumulate 2 --fault mean-of-means`,
      'ranks',
      { differs: 'weights', step: 0 },
    ],
    [
      'positions that count padding',
      ['--change', 'padding'],
      `${OWN_LOOP} --left --fault positions`,
      'padding',
      { differs: 'logprobs', step: 0, module: 'places' },
    ],
    [
      'a loss over padded columns',
      ['--change', 'padding'],
      `${OWN_LOOP} --fault columns`,
      'padding',
      { differs: 'weights', step: 0 },
    ],
    [
      'a mask that is kept from the first batch',
      ['--with', '--batch 2 --accumulate 2', '--steps', '4'],
      `${OWN_LOOP} --left --fault mask-cache`,
      'pair',
      { differs: 'logprobs' },
    ],
    [
      'packed rows that see each other',
      ['--with', '--packed --fault leak'],
      OWN_LOOP,
      'pair',
      { differs: 'logprobs', step: 0 },
    ],
    [
      'rows that see their neighbours',
      ['--change', 'mates'],
      `${OWN_LOOP} --fault neighbours`,
      'mates',
      { differs: 'logprobs', step: 0, module: 'blocks.0' },
    ],
    [
      'dropout that is not restored',
      ['--with', '--checkpoint --fault dropout-not-restored'],
      `${OWN_LOOP} --dropout 0.2`,
      'pair',
      {
        differs: 'gradients',
        step: 0,
        begins_at: 'blocks.1.down.weight',
        backward_module: 'blocks.1',
      },
    ],
    [
      'a backward pass by hand that is wrong in one module',
      ['--with', '--by-hand --fault wrong-backward'],
      `${OWN_LOOP} --squared`,
      'pair',
      { differs: 'gradients', step: 0, backward_module: 'blocks.1.feed' },
    ],
    [
      'one that is wrong in the gradient of a weight alone',
      ['--with', '--batch 2 --accumulate 2 --by-hand --fault wrong-weight-gradient'],
      `${OWN_LOOP} --squared`,
      'pair',
      {
        differs: 'gradients',
        step: 0,
        sentences: [
          expect.stringContaining('blocks.1.feed.down.weight'),
          expect.stringContaining('The gradients at the outputs of all modules agree'),
        ],
      },
    ],
    [
      'a gradient that survives a step',
      ['--with', '--batch 2 --accumulate 2'],
      `${OWN_LOOP} --fault stale-cache`,
      'pair',
      { differs: 'gradients', step: 1 },
    ],
    [
      "a resumed run of transformers' Trainer that begins with the first rows",
      ['--change', 'resume', '--steps', '1'],
      `${HF} --ignore-data-skip`,
      'resume',
      { differs: 'rows', step: 1 },
    ],
    [
      'a resumed run that begins with the first rows',
      RESUME,
      `${OWN_LOOP} --fault restarts`,
      'resume',
      { differs: 'rows', step: 2 },
    ],
    [
      'a resumed run without moments',
      RESUME,
      `${OWN_LOOP} --fault no-moments`,
      'resume',
      { differs: 'updates', step: 2 },
    ],
    ['a resumed schedule that is ahead', RESUME, `${OWN_LOOP} --fault schedule-twice`, 'resume', { step: 2 }],
    [
      'a resumed run that trains nothing',
      RESUME,
      `${OWN_LOOP} --fault trains-nothing`,
      'resume',
      { differs: 'gradients', step: 2 },
    ],
    [
      'processes that clip by their own norms',
      [],
      `${OWN_LOOP} --clip 0.3 --fault clip-own-norm ${RANKS} --clip 0.3 --fault clip-own-norm`,
      'pair',
      { differs: 'gradients', step: 0 },
    ],
    [
      'a gather whose backward pass sums',
      [],
      `${OWN_LOOP} --fault summed-gather ${RANKS} --fault summed-gather`,
      'pair',
      { step: 0 },
    ],
  ])('%s', async (_, options, command, change, where) => {
    const told = await twin(options, command);
    expect(told.get(change)).toMatchObject({ outcome: 'parts', ...where });
  });

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
