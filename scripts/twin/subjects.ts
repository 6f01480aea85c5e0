// The trainers that `lossproof twin` is measured with, and what it tells of one.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { CHATS, PREFERENCES } from '../../test/torch/trace/verdicts/data.ts';

const MAIN = join(PACKAGE_ROOT, 'dist/src/cli/main.js');
const SCRIPTS = join(PACKAGE_ROOT, 'test/torch/trace/scripts');
const TWIN = join(PACKAGE_ROOT, 'test/torch/twin');
const ZERO = join(TWIN, 'zero.py');
const LAUNCH = 'python -m torch.distributed.run --standalone --nproc-per-node 1';

export interface Subject {
  readonly name: string;
  /** The packages whose versions are shown. */
  readonly of: readonly string[];
  readonly environment: string;
  readonly command: string;
}

/** Unmodified: their own classes on a tiny model. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: "transformers' Trainer",
    of: ['transformers'],
    environment: '.venv',
    command: `python ${SCRIPTS}/hf_trainer.py --data chats.jsonl --output out --accumulate 2`,
  },
  {
    name: "TRL's SFTTrainer",
    of: ['trl'],
    environment: '.venv',
    command: `python ${SCRIPTS}/trl_sft.py --data chats.jsonl --output out --accumulate 2`,
  },
  {
    name: "TRL's SFTTrainer, packed",
    of: ['trl'],
    environment: '.venv',
    command: `python ${SCRIPTS}/trl_sft.py --data chats.jsonl --output out --packing`,
  },
  {
    name: "TRL's DPOTrainer",
    of: ['trl'],
    environment: '.venv',
    command: `python ${SCRIPTS}/trl_dpo.py --data pairs.jsonl --output out`,
  },
  {
    name: "TRL's GRPOTrainer",
    of: ['trl'],
    environment: '.venv',
    command: `python ${SCRIPTS}/trl_rl.py --output out --accumulate 2`,
  },
  {
    name: 'LLaMA-Factory, SFT',
    of: ['llamafactory', 'transformers'],
    environment: '.venv-trl-middle',
    command: `python ${TWIN}/llama_factory.py .`,
  },
  {
    name: "Lightning's Trainer",
    of: ['pytorch_lightning'],
    environment: '.venv-places',
    command: `python ${SCRIPTS}/places/lightning_fit.py --data chats.jsonl`,
  },
  {
    name: 'PEFT, LoRA, SFT',
    of: ['peft', 'trl'],
    environment: '.venv-places',
    command: `python ${SCRIPTS}/places/peft_sft.py --data chats.jsonl`,
  },
  {
    name: 'DeepSpeed, ZeRO 2',
    of: ['deepspeed'],
    environment: '.venv-places',
    command: `${LAUNCH} ${ZERO} --stage 2`,
  },
  {
    name: 'DeepSpeed, ZeRO 3',
    of: ['deepspeed'],
    environment: '.venv-places',
    command: `${LAUNCH} ${ZERO} --stage 3`,
  },
];

/** Loops by hand, right as well. */
export const LOOPS: readonly Subject[] = [
  ['', '--clip 0.5'],
  ['on the left, with dropout', '--left --dropout 0.1'],
  ['with SGD, in micro-batches', '--optimiser sgd --accumulate 2 --batch 2'],
].map(([name, options]) => ({
  name: `a loop by hand ${name}`.trim(),
  of: ['torch'],
  environment: '.venv',
  command: `python ${TWIN}/own.py ${options}`,
}));

export interface Told {
  readonly change: string;
  readonly outcome: 'agree' | 'parts' | 'untold';
  readonly times_rounding?: number;
  readonly differs?: string;
  readonly sentences?: readonly string[];
}

/** In a new folder with its data. */
export async function measured({ name, environment, command }: Subject, seed = 0): Promise<readonly Told[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-twin-'));
  const lines = (values: readonly unknown[]): string =>
    values.map((value) => JSON.stringify(value)).join('\n');
  writeFileSync(join(folder, 'chats.jsonl'), lines([...CHATS, ...CHATS, ...CHATS]));
  writeFileSync(join(folder, 'pairs.jsonl'), lines([...PREFERENCES, ...PREFERENCES, ...PREFERENCES]));
  const { stdout, stderr } = await execa('node', [MAIN, 'twin', '--json', '--', ...command.split(' ')], {
    cwd: folder,
    reject: false,
    env: {
      PATH: `${join(PACKAGE_ROOT, environment, 'bin')}:${process.env.PATH ?? ''}`,
      PYTHONPATH: SCRIPTS,
      OMP_NUM_THREADS: '1',
      TINY_SEED: String(seed),
    },
  });
  if (stdout === '') throw new Error(`${name}: ${stderr}`);
  return (JSON.parse(stdout) as { readonly changes: readonly Told[] }).changes;
}

export async function versionOf({ environment }: Subject, name: string): Promise<string> {
  const python = join(PACKAGE_ROOT, environment, 'bin', 'python');
  const { stdout } = await execa(python, [
    '-c',
    `from importlib.metadata import version; print(version("${name}"))`,
  ]);
  return stdout;
}
