// Rules over samples, fed as a reader would feed them.
import { sampleRules } from '../../../properties/monitor/samples/index.ts';
import type { MonitorRule, SettingValue, Violation } from '../../../src/index.ts';
import type { SampleTokens } from '../../../src/monitor/rule.ts';
import { sampleTokensOf } from '../../../src/monitor/samples/tokens.ts';
import type { Sample } from '../../../src/monitor/series.ts';
import { familyFolder, familyStopTokens, loadTokenizer } from '../../../src/tokenizers/load.ts';
import { renderChat, templateTokens } from '../../../src/tokenizers/template.ts';
import type { Tokenizer } from '../../../src/tokenizers/tokenizer.ts';
import type { Message } from '../../../src/vocabulary.ts';

export interface Watched {
  readonly violations: readonly Violation[];
  readonly judged: number;
  readonly why: string | undefined;
  readonly remarks: readonly string[];
}

export interface WatchOptions {
  readonly tokens?: SampleTokens;
  readonly settings?: Readonly<Record<string, SettingValue>>;
}

export function ruleOf(id: string): MonitorRule {
  const rule = sampleRules.find((each) => each.id === `monitor/${id}`);
  if (rule === undefined) throw new Error(`no rule monitor/${id}`);
  return rule;
}

export function watch(rule: MonitorRule, samples: readonly Sample[], options: WatchOptions = {}): Watched {
  const watching = rule.watch({
    run: 'run',
    setting: (name) => {
      const setting = rule.settings[name];
      if (setting === undefined) throw new Error(`${rule.id} has no setting ${name}`);
      return options.settings?.[name] ?? setting.default;
    },
    declared: () => undefined,
    series: () => [],
    courseOf: () => undefined,
    ...(options.tokens === undefined ? {} : { tokens: options.tokens }),
  });
  const violations = samples.flatMap((sample) => watching.sample?.(sample) ?? []);
  const ended = watching.end?.();
  const last: readonly Violation[] = ended === undefined ? [] : Array.isArray(ended) ? ended : [ended];
  return {
    violations: [...violations, ...last],
    judged: watching.judged(),
    why: watching.why?.(),
    remarks: watching.remarks?.() ?? [],
  };
}

/** What all rules say of a log, as `id: sentence`. */
export function findings(samples: readonly Sample[], options: WatchOptions = {}): string[] {
  return sampleRules.flatMap((rule) =>
    watch(rule, samples, options).violations.map(({ sentence }) => `${rule.id}: ${sentence}`),
  );
}

export interface Family {
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly tokens: SampleTokens;
  /** The prompt of one question, as the template writes it. */
  readonly ask: (question: string) => string;
}

const loaded = new Map<string, Family>();

export function family(name: string): Family {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const made = loadTokenizer(familyFolder(name));
  if ('problem' in made) throw new Error(made.problem);
  const { tokenizer } = made;
  const stopIds = (familyStopTokens[name] ?? []).map((token) => tokenizer.tokenId(token) ?? -1);
  const result: Family = {
    name,
    tokenizer,
    tokens: sampleTokensOf(tokenizer, { stopIds }),
    ask: (question) => render(tokenizer, [{ role: 'user', content: question }]),
  };
  loaded.set(name, result);
  return result;
}

export function render(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  addGenerationPrompt = true,
): string {
  const rendered = renderChat(tokenizer.chatTemplate ?? '', {
    messages,
    addGenerationPrompt,
    ...templateTokens(tokenizer),
  });
  if ('problem' in rendered) throw new Error(rendered.problem);
  return rendered.text;
}

/** A sample with ids, as a trainer that is right would write it: the answer, and the stop token of the template. */
export function sampleWithIds({ tokenizer, tokens, ask }: Family, question: string, answer: string): Sample {
  const stop = tokens.stopIds.at(-1) ?? -1;
  return {
    run: 'run',
    where: 'rollouts.jsonl',
    promptIds: tokenizer.encode(ask(question)),
    completionIds: [...tokenizer.encode(answer), stop],
    prompt: question,
    completion: answer,
    finish: 'stop',
  };
}

/** A text without its special tokens, as skip_special_tokens leaves it. */
export function skipSpecials(text: string, { specials }: SampleTokens): string {
  let rest = text;
  for (const special of specials) rest = rest.replaceAll(special, '');
  return rest;
}

/** Steps of `size` samples each. */
export function inSteps(samples: readonly Sample[], size: number): Sample[] {
  return samples.map((sample, at) => ({
    ...sample,
    step: Math.floor(at / size) + 1,
    where: `rollouts/${Math.floor(at / size) + 1}.jsonl line ${(at % size) + 1}`,
  }));
}
