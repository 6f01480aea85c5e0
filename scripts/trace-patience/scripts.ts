// The scripts that are right and read a data set: those of test/torch/trace/verdicts, and some of them once more, told which
// data they train on, or with prompts of their own.
import { TOPICS } from '../../test/torch/trace/verdicts/cases/cases.ts';
import { ANSWERS, type Clean, EXACT, HARMLESS, HF } from '../../test/torch/trace/verdicts/correct.ts';
import { CHATS, PAIRS, PREFERENCES } from '../../test/torch/trace/verdicts/data.ts';
import { type Reads, readsOf } from './rows.ts';

export interface Script {
  readonly name: string;
  readonly words: string;
  readonly options: string;
  readonly reads: Reads;
  /** Of the tokenizer that it uses. */
  readonly family: string;
  /** It trains nothing, and rightly. */
  readonly nothing: boolean;
}

const SFT = 'trl_sft.py --data {data} --output {out}';
const RL = 'trl_rl.py --data {data} --output {out}';
const GIVEN = '--dataset {data}';
const PROMPTS = [{ prompt: 'abc' }, { prompt: 'is it' }];

const FURTHER: Readonly<Record<string, Clean>> = {
  "TRL's SFT, its data told": { words: SFT, data: CHATS, options: GIVEN },
  "TRL's SFT on pairs, its data told": { words: SFT, data: PAIRS, options: GIVEN },
  "TRL's DPO, its data told": {
    words: 'trl_dpo.py --data {data} --output {out}',
    data: PREFERENCES,
    options: GIVEN,
  },
  "transformers' Trainer, its data told": {
    words: `${HF} --accumulate 2 --model absolute`,
    data: CHATS,
    options: GIVEN,
  },
  "transformers' Trainer on another family, its data told": {
    words: `${HF} --family llama3`,
    // Its template has no tool's turn.
    data: CHATS.filter(({ messages }) => messages.every(({ role }) => role !== 'tool')),
    options: GIVEN,
  },
  'a loop by hand on conversations, padded at the left': {
    words: 'loop.py --data {data} --model llama --pad left --no-positions --accumulate 2',
    data: CHATS,
    options: ANSWERS,
  },
  "TRL's GRPO on prompts": { words: `${RL} --beta 0.04`, data: PROMPTS },
  "TRL's GRPO on prompts, accumulated": {
    words: `${RL} --loss grpo --accumulate 2 --temperature 1`,
    data: PROMPTS,
  },
  "TRL's RLOO on prompts": { words: `${RL} --method rloo --temperature 1`, data: PROMPTS },
};

/** What cannot be asked, with the reason, stands beside what can. */
export function scriptsOf(): { readonly scripts: readonly Script[]; readonly left: readonly string[] } {
  const scripts: Script[] = [];
  const left: string[] = [];
  for (const [name, clean] of allClean()) {
    const { words, data = [], options = '', nothing = false } = clean;
    if (!words.includes('{data}') && !words.includes('{set}')) continue;
    const reads = readsOf(data);
    if (reads === undefined) {
      left.push(`${name}: its data have a form of their own`);
      continue;
    }
    const family = /--family (\S+)/.exec(words)?.[1] ?? 'qwen';
    scripts.push({ name, words: whole(words), options, reads, family, nothing });
  }
  return { scripts, left };
}

// --- helpers ---

const allClean = (): readonly (readonly [string, Clean])[] => [
  ...Object.entries({ ...EXACT, ...HARMLESS, ...FURTHER }),
  ...Object.entries(TOPICS).flatMap(([topic, { clean }]) =>
    Object.entries(clean).map(([name, each]): [string, Clean] => [`${topic}: ${name}`, each]),
  ),
];

/** Scripts that stop after two steps otherwise. */
const whole = (words: string): string =>
  words.replace(/(?<![\w/])((?:loop|ddp)\.py)(?!.*--steps)/, '$1 --steps 100000');
