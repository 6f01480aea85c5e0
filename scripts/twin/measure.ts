// `npm run measure:twin`: unmodified trainers under every change of `lossproof twin`, as a table in docs/twin.md. Needs
// `npm run setup:trainers`. `-- --only PEFT` measures those that have this in their name, and keeps the other rows.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { CHANGES } from '../../src/twin/changes.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { CHATS, PREFERENCES } from '../../test/torch/trace/verdicts/data.ts';

const PAGE = join(PACKAGE_ROOT, 'docs/twin.md');
const MAIN = join(PACKAGE_ROOT, 'dist/src/cli/main.js');
const SCRIPTS = join(PACKAGE_ROOT, 'test/torch/trace/scripts');
const ZERO = join(PACKAGE_ROOT, 'test/torch/twin/zero.py');
const LAUNCH = 'python -m torch.distributed.run --standalone --nproc-per-node 1';

interface Subject {
  readonly name: string;
  /** The packages whose versions are shown. */
  readonly of: readonly string[];
  readonly environment: string;
  readonly command: string;
}

const SUBJECTS: readonly Subject[] = [
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

interface Told {
  readonly change: string;
  readonly outcome: 'agree' | 'parts' | 'untold';
  readonly times_rounding?: number;
  readonly differs?: string;
  readonly sentences?: readonly string[];
}

/** What is reported as a size is no number of this table. */
const COLUMNS = CHANGES.filter(({ ofSize }) => ofSize !== true).map(({ name }) => name);
const { values } = parseArgs({ options: { only: { type: 'string' } } });
const page = readFileSync(PAGE, 'utf8');
const [before = '', rest = ''] = page.split('<!-- measured -->');
const [known = '', after = ''] = rest.split('<!-- end of measured -->');
const rows: string[] = [];
const differences: string[] = [];
for (const subject of SUBJECTS) {
  if (values.only !== undefined && !subject.name.includes(values.only)) {
    rows.push(kept(subject.name));
    continue;
  }
  const told = await measured(subject);
  const cell = (name: string): string => {
    const found = told.find(({ change }) => change === name);
    if (found === undefined || found.outcome === 'untold') return '–';
    if (found.outcome === 'agree')
      return found.times_rounding === 0 ? 'exact' : (found.times_rounding ?? 0).toFixed(2);
    differences.push(`- ${subject.name}, \`${name}\`: ${found.sentences?.[0] ?? found.differs}`);
    return `✗ ${found.differs}`;
  };
  const versions = await Promise.all(
    subject.of.map(async (name) => `${name} ${await versionOf(subject, name)}`),
  );
  rows.push(`| ${subject.name} | ${versions.join(', ')} | ${COLUMNS.map(cell).join(' | ')} |`);
  process.stderr.write(`${rows.at(-1)}\n`);
}
const table = [
  `| trainer | versions | ${COLUMNS.map((name) => `\`${name}\``).join(' | ')} |`,
  `| --- | --- |${' --- |'.repeat(COLUMNS.length)}`,
  ...rows,
  ...(differences.length === 0 ? [] : ['', ...differences]),
].join('\n');
writeFileSync(PAGE, `${before}<!-- measured -->\n${table}\n<!-- end of measured -->${after}`);

// --- helpers ---

/** The row as the page has it, under the columns of now: a change that is new was not made to it. */
function kept(name: string): string {
  const cells = known.split('\n').flatMap((line) => (line.startsWith('|') ? [cellsOf(line)] : []));
  const [titles = []] = cells;
  const found = cells.find(([first]) => first === name) ?? [];
  const at = (title: string): string => found[titles.indexOf(title)] ?? '–';
  return `| ${[name, at('versions'), ...COLUMNS.map((column) => at(`\`${column}\``))].join(' | ')} |`;
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

async function measured({ name, environment, command }: Subject): Promise<readonly Told[]> {
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
    },
  });
  if (stdout === '') throw new Error(`${name}: ${stderr}`);
  return (JSON.parse(stdout) as { readonly changes: readonly Told[] }).changes;
}

async function versionOf({ environment }: Subject, name: string): Promise<string> {
  const python = join(PACKAGE_ROOT, environment, 'bin', 'python');
  const { stdout } = await execa(python, [
    '-c',
    `from importlib.metadata import version; print(version("${name}"))`,
  ]);
  return stdout;
}
