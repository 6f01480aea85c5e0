// What the pages take as given, per section, and what of a page is not compared, each with its reason.
import { type Planted, rolloutsWith } from '../../gap/model.ts';
import { heated } from '../../gap/planted.ts';

export interface Given {
  /** A folder of its own, without the files of the sections before. */
  readonly elsewhere?: true;
  /** Name in the folder, and the path in the repository. */
  readonly copies?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Typed before the section, and not on the page. */
  readonly before?: readonly string[];
  /** Exit codes that the page lets its reader expect, in the order of the command's uses; 0 for commands that are not here. */
  readonly exits?: Readonly<Record<string, readonly number[]>>;
}

/** README, the tutorial and the how-to pages. README.zh.md has the commands of README.md: test/docs/readme-zh.test.ts. */
export const PAGES: readonly string[] = [
  'README',
  ...'start agents attach ci/README configuration discover failures gap golden installation library monitor mutate notebook'
    .split(' ')
    .map((name) => `docs/${name}`),
  ...'parallel pytest ray trace twin view'.split(' ').map((name) => `docs/${name}`),
].map((name) => `${name}.md`);

const INSTALLED =
  'installs from a registry: scripts/wheel-test.sh and scripts/package-test.sh install what is packed';

/** Commands that are not typed. */
export const NOT_TYPED: readonly (readonly [RegExp, string])[] = [
  [/^pip install /, INSTALLED],
  [/^npm install /, INSTALLED],
  [/^npm (?:ci|test)/, 'a step of .ci/run'],
  [/^claude /, 'a program of another vendor'],
  [/--ray/, 'needs a cluster: test/torch/ray'],
  [/verl\.trainer\.main_ppo/, 'needs GPUs: test/torch/ray has stand-ins'],
  [/--gpus-per-worker/, 'needs GPUs'],
  [/^pytest /, 'needs an environment with pytest: test/torch/pytest'],
  [/report --open/, 'opens a browser: test/browser'],
  [/replay 7f3a9c/, 'the id of a case that CI found'],
  [/--marks/, 'needs a tokenizer with these marks: test/torch/trace'],
  [/--model \.\/model/, 'needs the model that the rows were sampled from: test/torch/gap'],
];

/** First words of what pages print of trainers that are not in a reader's folder. */
export const NOT_PRINTED: readonly (readonly [string, string])[] = [
  ['Bound: every property', 'of verl'],
  ['step 0, forward pass 0', 'columns are left out'],
  ['seen: 1 file', 'of a run of 300 steps with seven series'],
  ['beside each other', 'of runs with evaluations'],
  ['The trainer departs from the model', 'needs --model, which is not typed'],
  ['The engine departs from the model', 'needs --model, which is not typed'],
  ['lossproof 0.1.0 · seed 1836021', 'of a cluster'],
  ['· max_length (line 4): TRL 0.24.0 makes', 'needs TRL 0.24.0: test/torch/view'],
  ['✓ repeat ', 'differences are each version of torch its own: test/torch/twin'],
];

const EXAMPLE = {
  'adapter.py': 'docs/example/adapter.py',
  'my_trainer.py': 'docs/example/my_trainer.py',
  'lossproof.config.json': 'docs/example/lossproof.config.json',
};
const MODEL = 'src/tokenizers/families/qwen';
const TRAIN = { 'train.py': 'test/docs/pages/given/train.py', 'my-model': MODEL };

const chat = (question: string, answer: string): string => {
  const messages = [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
  return `${JSON.stringify({ messages })}\n`;
};
const CHATS = [
  chat('Name two', 'Blue, gold.'),
  chat('What is two and two?', 'Four.'),
  chat('Hi', 'Hello there!'),
  chat('A word, please', 'Sea.'),
].join('');
const DATA = { 'data.jsonl': CHATS };

/** Steps of a run. Where its loss becomes NaN, following it ends by itself. */
const metrics = (nan = false): string =>
  Array.from({ length: 300 }, (_, at) =>
    JSON.stringify({
      step: at + 1,
      loss: nan && at > 200 ? 'NaN' : 2 + Math.sin(at * 7.3) / 10 - at / 400,
      learning_rate: 1e-4 * (1 - at / 400),
      kl: 0.08 + Math.sin(at * 3.1) / 50,
    }),
  )
    .join('\n')
    .replaceAll('"NaN"', 'NaN');

/** An engine that samples at 0.7 and a trainer that scores at 1. */
const ROLLOUTS = rolloutsWith({ engine: heated(0.7) } satisfies Planted, { seed: 21, rows: 100, length: 30 })
  .map(({ prompt, ids, sampling, trainer }) =>
    JSON.stringify({
      prompt_ids: prompt,
      completion_ids: ids,
      rollout_log_probs: [...sampling],
      old_log_probs: [...trainer],
    }),
  )
  .join('\n');

const TRL = ['model_name_or_path: ./my-model', 'dataset_name: ./data', 'output_dir: out'];
const MISSPELT = [
  ...TRL,
  'learning_rate: 1.0e-5',
  'max_lenght: 2048',
  'seed: 1',
  'completion_only_loss: true',
];
const FAULTY = 'python3 -m lossproof.examples.faulty mask-for-right-padding';

export const GIVEN: Readonly<Record<string, Readonly<Record<string, Given>>>> = {
  'README.md': {
    'Trace a script': {
      copies: TRAIN,
      files: DATA,
      exits: { 'lossproof trace -- python train.py': [1] },
    },
    'Check your own functions': {
      elsewhere: true,
      copies: { 'trainer.py': 'test/docs/pages/given/trainer.py' },
      exits: { 'lossproof check': [1] },
    },
    'Use it every day': {
      elsewhere: true,
      copies: { ...EXAMPLE, ...TRAIN, DIR: MODEL },
      files: {
        ...DATA,
        'data/train.jsonl': CHATS,
        'train.yaml': TRL.join('\n'),
        'rollouts.jsonl': ROLLOUTS,
        'runs/metrics.jsonl': metrics(true),
      },
      before: ['lossproof golden record -- python adapter.py'],
      exits: { 'lossproof monitor runs/ --follow': [1], 'lossproof gap rollouts.jsonl': [1] },
    },
  },
  'docs/start.md': {
    '': { exits: { 'lossproof check --seed 1 -- python3 adapter.py': [1, 0] } },
    'Your own trainer': { elsewhere: true, copies: { 'trainer.py': 'docs/example/my_trainer.py' } },
  },
  'docs/agents.md': {
    '': {
      copies: { ...EXAMPLE, ...TRAIN },
      files: DATA,
      exits: { 'npx lossproof trace -- python train.py': [1] },
    },
    'SKILL.md': {
      elsewhere: true,
      copies: { ...TRAIN, 'trainer.py': 'docs/example/my_trainer.py' },
      files: DATA,
    },
  },
  'docs/attach.md': {
    'Ranks that are processes': {
      elsewhere: true,
      copies: {
        'adapter.py': 'docs/example/ranks/adapter.py',
        'trainer.py': 'docs/example/ranks/trainer.py',
      },
    },
  },
  'docs/ci/README.md': {
    '': {
      copies: EXAMPLE,
      before: [
        'mkdir job',
        'lossproof check --events job/lossproof.ndjson',
        'lossproof check --html check.html',
      ],
    },
  },
  'docs/configuration.md': {
    '': {
      copies: EXAMPLE,
      files: {
        'lossproof.config.json': JSON.stringify({
          trainers: { one: { trainer: 'python3 adapter.py' }, two: { trainer: 'python3 adapter.py' } },
        }),
      },
    },
  },
  'docs/discover.md': {
    '': {
      copies: {
        'trainer.py': 'docs/example/my_trainer.py',
        'src/losses/kl.py': 'docs/example/my_trainer.py',
      },
    },
  },
  'docs/failures.md': {
    '': {
      files: { 'lossproof.config.json': JSON.stringify({ trainer: FAULTY }) },
      copies: { 'adapter.py': 'docs/example/adapter.py', 'my_trainer.py': 'docs/example/my_trainer.py' },
      before: ['lossproof check --seed 7 --only mask/prompt-is-never-trained'],
      exits: { 'npx lossproof replay c78f69': [1] },
    },
  },
  'docs/gap.md': {
    '': {
      copies: { ...TRAIN, model: MODEL },
      files: { ...DATA, 'rollouts.jsonl': ROLLOUTS },
      exits: {
        'npx lossproof gap rollouts.jsonl': [1],
        'lossproof trace --steps 4 -- python train.py': [1],
        // Nothing was sampled in the script.
        'npx lossproof gap .lossproof/trace': [2],
        'npx lossproof gap rollouts.jsonl --tokenizer ./model --html gap.html': [1],
      },
    },
  },
  'docs/golden.md': { '': { copies: EXAMPLE } },
  'docs/monitor.md': {
    '': {
      copies: { 'train.py': 'test/docs/pages/given/logs.py' },
      files: { 'runs/metrics.jsonl': metrics(true), 'rollouts/one.jsonl': ROLLOUTS },
      exits: {
        'npx lossproof monitor runs/': [1],
        'npx lossproof monitor runs/ --follow': [1],
        'npx lossproof monitor runs/ --rollouts rollouts/ --html run.html': [1],
        'kill $WATCH; wait $WATCH': [1],
      },
    },
    'Compare with a healthy run': {
      files: {
        'runs/good1/metrics.jsonl': metrics(),
        'runs/good2/metrics.jsonl': metrics(),
        'runs/new/metrics.jsonl': metrics(),
      },
    },
  },
  'docs/mutate.md': { '': { copies: EXAMPLE } },
  'docs/parallel.md': {
    '': {
      copies: EXAMPLE,
      files: {
        'lossproof.config.json': JSON.stringify({
          trainers: { one: { trainer: 'python3 adapter.py' }, two: { trainer: 'python3 adapter.py' } },
        }),
      },
    },
  },
  // The script never trains the stop token.
  'docs/trace.md': {
    '': {
      copies: TRAIN,
      files: DATA,
      exits: {
        'npx lossproof trace -- python train.py': [1],
        'npx lossproof trace --html trace.html -- torchrun --nproc-per-node 2 train.py': [1],
        'npx lossproof trace --dataset hard.jsonl --keep-going -- python train.py --data hard.jsonl': [1],
        'npx lossproof trace --dataset hard.jsonl --shrink 20 -- python train.py --data hard.jsonl': [1],
        'npx lossproof trace --out .lossproof/first -- python train.py': [1],
        'npx lossproof trace --after .lossproof/first -- python train.py --resume checkpoints/last': [1],
        'npx lossproof trace --from .lossproof/trace --rows 8 --dataset data.jsonl': [1],
      },
    },
  },
  // Each micro-batch and each process of the script divides by its own tokens.
  'docs/twin.md': {
    '': {
      copies: TRAIN,
      files: { 'data.jsonl': CHATS + CHATS },
      exits: {
        'npx lossproof twin --with "batch=2 accumulate=4" -- python train.py batch=8': [1],
        'npx lossproof twin -- python train.py batch=8 --- torchrun --nproc-per-node 2 train.py batch=4': [1],
      },
    },
  },
  'docs/view.md': {
    '': {
      copies: { 'my-model': MODEL },
      files: {
        ...DATA,
        'data/train.jsonl': CHATS,
        'train.yaml': MISSPELT.join('\n'),
        'lossproof.config.json': JSON.stringify({ tokenizer: 'my-model' }),
      },
      exits: { 'npx lossproof view --config train.yaml': [1] },
    },
  },
};
