// The tracer's way with processes: whatever starts the script, however it ends, it is traced, and it is not changed.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FOLDER, only, type Ran, recordsOf, run, temporary, trainers } from './run.ts';

const steps = (ran: Ran) => recordsOf('step', ...trainers(ran));
const end = (ran: Ran) => only(recordsOf('end', only(trainers(ran))));
const complaints = ({ processes }: Ran): readonly string[] => processes.flatMap((each) => each.complaints);
/** Faults of the tracer itself. */
const troubles = ({ processes }: Ran): readonly string[] =>
  recordsOf('trouble', ...processes).map(({ traceback }) => traceback);

const KEPT = { LOSSPROOF_TRACE_COMPILED: '1' };

function healthy(ran: Ran): void {
  expect(complaints(ran)).toEqual([]);
  expect(troubles(ran)).toEqual([]);
}

describe('every form of a command is traced by its environment alone', () => {
  test.each([
    ['a file', ['python', 'loop.py', 'plain']],
    ['a module', ['python', '-m', 'loop', 'plain']],
    [
      'a line of code',
      ['python', '-c', "import sys; sys.argv = ['', 'plain']; import loop; loop.main('plain')"],
    ],
    ['accelerate launch', ['accelerate', 'launch', '--cpu', '--num_processes', '1', 'loop.py', 'plain']],
    ['a shell', ['sh', '-c', `"${join(FOLDER, '../../../../.venv/bin/python')}" loop.py plain`]],
  ])('%s', async (_name, words) => {
    const ran = await run(words);
    expect(ran.exitCode, ran.stderr).toBe(0);
    healthy(ran);
    expect(steps(ran).map(({ step, changed }) => [step, changed])).toEqual([
      [0, true],
      [1, true],
    ]);
    expect(end(ran).reason).toBe('steps');
    expect(ran.stdout).toContain('step 0');
    expect(ran.stdout).not.toContain('step 1');
  });

  test.each([
    ['torchrun', ['torchrun', '--nproc-per-node', '2', 'loop.py', 'ranked']],
    ['processes that the script spawns', ['python', 'loop.py', 'spawns']],
  ])('two ranks on gloo: %s', async (_name, words) => {
    const ran = await run(words, { env: { MEETING: join(temporary(), 'meeting') } });
    expect(ran.exitCode, ran.stderr).toBe(0);
    healthy(ran);
    const ranks = trainers(ran);
    expect(ranks).toHaveLength(2);
    const places = ranks.map((each) => recordsOf('process', each).at(-1));
    expect(places.map((place) => [place?.rank, place?.world])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(steps(ran).map(({ step }) => step)).toEqual([0, 1, 0, 1]);
    expect(recordsOf('end', ...ranks).map(({ reason }) => reason)).toEqual(['steps', 'steps']);
    expect(ran.stderr).not.toMatch(/destroy_process_group|Error/);
  });
});

describe('a script is not changed by being traced', () => {
  test.each(['raises', 'exits', 'interrupted', 'plain'])(
    '%s: the same output and exit code',
    async (what) => {
      const [bare, ran] = [
        await run(['python', 'loop.py', what], { untraced: true }),
        await run(['python', 'loop.py', what], { steps: 0 }),
      ];
      expect({ ...ran, folder: '', processes: [] }).toEqual({ ...bare, folder: '', processes: [] });
      healthy(ran);
      const { reason, exception, torch } = end(ran);
      expect({ reason, exception, torch }).toEqual({
        reason: what === 'raises' || what === 'interrupted' ? 'exception' : 'finished',
        exception:
          { raises: 'ValueError: the data\nran out', interrupted: 'KeyboardInterrupt: ' }[what] ?? null,
        torch: true,
      });
      expect(steps(ran)).toHaveLength(what === 'plain' ? 6 : 1);
    },
  );

  test('one that catches SystemExit and goes on is told again, and then ended', async () => {
    const ran = await run(['python', 'loop.py', 'swallows']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    healthy(ran);
    expect(steps(ran)).toHaveLength(2);
    expect(end(ran).reason).toBe('steps');
    expect(ran.stdout).not.toContain('the end');
  });

  test('one that is killed leaves what was recorded until then', async () => {
    const ran = await run(['python', 'loop.py', 'killed']);
    expect(ran.signal).toBe('SIGKILL');
    healthy(ran);
    expect(steps(ran)).toHaveLength(1);
    expect(recordsOf('end', ...ran.processes)).toEqual([]);
  });

  test('without torch there is a line at its start and one at its end, and its own sitecustomize runs', async () => {
    const behind = temporary();
    mkdirSync(behind, { recursive: true });
    writeFileSync(join(behind, 'sitecustomize.py'), "import os\nos.environ['SHADOWED'] = 'ran'\n");
    const ran = await run(['python', 'shadowed.py'], { behind });
    expect(ran.stdout).toBe(`ran ${join(behind, 'sitecustomize.py')} False\n`);
    expect(ran.stderr).toBe('');
    const { kinds, records } = only(ran.processes);
    expect(kinds).toEqual(['process', 'end']);
    expect(records[1]).toMatchObject({ reason: 'finished', torch: false, modules_called: false });
  });

  test('a trace folder that cannot be written to leaves the script alone', async () => {
    const file = join(temporary(), 'file');
    writeFileSync(file, '');
    const ran = await run(['python', 'loop.py', 'plain'], { steps: 0, env: { LOSSPROOF_TRACE: file } });
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toContain('the end');
  });
});

describe('processes that the script makes', () => {
  test('a forked child writes a file of its own, in which its model is said again', async () => {
    const ran = await run(['python', 'loop.py', 'forked']);
    healthy(ran);
    const both = trainers(ran);
    expect(both).toHaveLength(2);
    expect(both.map((each) => recordsOf('model', each).length)).toEqual([1, 1]);
    expect(both.map((each) => recordsOf('step', each).length).sort()).toEqual([1, 2]);
  });

  test('workers of a DataLoader leave nothing that looks like training', async () => {
    const ran = await run(['python', 'loop.py', 'workers']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    healthy(ran);
    expect(steps(ran)).toHaveLength(2);
    expect(trainers(ran)).toHaveLength(1);
  });
});

describe('optimiser steps', () => {
  const of = async (what: string, wanted = 2): Promise<Ran> => {
    const ran = await run(['python', 'loop.py', what], { steps: wanted });
    expect(ran.exitCode, ran.stderr).toBe(0);
    healthy(ran);
    return ran;
  };

  test('are counted, and not the micro-batches in them', async () => {
    const ran = await of('accumulated');
    expect(steps(ran).map(({ step }) => step)).toEqual([0, 1]);
    expect(recordsOf('forward', ...ran.processes).map(({ step }) => step)).toEqual([0, 0, 1, 1]);
  });

  test('with a learning rate of 0 change nothing', async () => {
    const [first] = steps(await of('frozen'));
    expect(first).toMatchObject({ changed: false, learning_rates: [0], models: [0], optimizer: 'SGD' });
    expect(first?.gradient_norm).toBeGreaterThan(0.1);
  });

  test('with gradients of 0 change nothing', async () => {
    expect(steps(await of('zero'))[0]).toMatchObject({ changed: false, gradient_norm: 0 });
  });

  test('that a gradient scaler leaves out are told, and do not count as done', async () => {
    const made = steps(await of('scaled'));
    expect(made.map(({ step, changed, skipped }) => [step, changed, skipped ?? false])).toEqual([
      [0, false, true],
      [1, true, false],
      [2, true, false],
    ]);
    expect(made[1]?.gradient_norm).toBeCloseTo(1, 0);
  });

  test('of two optimisers that share a model are one', async () => {
    const made = steps(await of('shared', 3));
    expect(made.map(({ step, optimizer }) => [step, optimizer])).toEqual([
      [0, 'SGD'],
      [0, 'AdamW'],
      [1, 'SGD'],
      [1, 'AdamW'],
      [2, 'SGD'],
    ]);
  });

  test('of something that is no language model are told, and do not count', async () => {
    const made = steps(await of('beside', 1));
    expect(made.map(({ models }) => models.length)).toEqual([0, 0, 0, 0, 0, 1]);
  });

  test.each([{}, KEPT])('that are compiled are counted %j', async (env) => {
    const ran = await run(['python', 'loop.py', 'stepped'], { env });
    expect(steps(ran).map(({ step, changed }) => [step, changed])).toEqual([
      [0, true],
      [1, true],
    ]);
  });

  test('of a model that is compiled with its loss: it runs uncompiled, and that is said', async () => {
    const ran = await of('hidden');
    healthy(ran);
    expect(steps(ran)).toHaveLength(2);
    expect(recordsOf('blind', ...ran.processes).map(({ what }) => what)).toEqual(['uncompiled']);
  });

  test('of the same kept compiled: it is said that nothing was seen', async () => {
    const ran = await run(['python', 'loop.py', 'hidden'], { env: KEPT });
    expect(trainers(ran)).toEqual([]);
    expect(recordsOf('blind', ...ran.processes).map(({ what }) => what)).toEqual(['compiled']);
  });

  test('that move a few rows of a large embedding by hardly anything are seen to change it', async () => {
    expect(recordsOf('step', ...(await of('sparse', 0)).processes).slice(0, 2)).toMatchObject([
      { changed: true },
      { changed: true },
    ]);
  });
});

describe('transformers', () => {
  test('calls of generate() are told with what was given, sampled and set, and the tokenizer is saved', async () => {
    const family = join(FOLDER, '../../../../src/tokenizers/families/qwen');
    const ran = await run(['python', 'samples.py', family], { steps: 0 });
    expect(ran.exitCode, ran.stderr).toBe(0);
    healthy(ran);
    const calls = recordsOf('generate', ...ran.processes);
    expect(
      calls.map((call) => [
        call.input_ids.length,
        call.sequences.length,
        call.copies,
        call.prompt_width,
        call.eos_token_ids,
        call.temperature,
        call.max_new_tokens,
        call.settings,
      ]),
    ).toEqual([
      [2, 2, 1, 3, [2, 3], null, 4, {}],
      [2, 6, 3, 3, [2, 3], 0.7, 6, { return_dict_in_generate: true }],
      [2, 2, 1, 3, [5], null, 2, { repetition_penalty: 1.1 }],
    ]);
    expect(calls.map(({ attention_mask }) => attention_mask === null)).toEqual([true, true, false]);
    expect(calls[0]?.sequences[0]?.slice(0, 3)).toEqual([5, 6, 7]);
    expect(recordsOf('blind', ...ran.processes).map(({ what }) => what)).toContain('embeds');
    expect(recordsOf('forward', ...ran.processes)).toHaveLength(1);
    const saved = only(recordsOf('tokenizer', ...ran.processes));
    expect(saved.pad_token_id).toBe(saved.eos_token_id);
    expect(existsSync(join(ran.folder, saved.folder, 'tokenizer.json'))).toBe(true);
  });

  test('arguments of a trainer are told without secrets, and what the trainer derives from', async () => {
    const ran = await run(['python', 'settled.py', temporary()]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    const settings = only(recordsOf('settings', ...ran.processes));
    expect(settings).toMatchObject({
      class: 'TrainingArguments',
      trainer: 'Mine',
      bases: ['Trainer'],
      library: '__main__',
    });
    expect(settings.values).toMatchObject({ gradient_accumulation_steps: 4, report_to: [] });
    expect(Object.keys(settings.values)).not.toContain('hub_token');
  });
});
