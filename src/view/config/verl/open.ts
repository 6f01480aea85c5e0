// What is known of verl's rows when data and tokenizer are there: its columns, its template, and its length limit.
import { join } from 'node:path';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import { type Writer, writerOf } from '../../writer.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { nearest, textOf } from '../keys.ts';
import type { Host, Opened, Seen } from '../plan.ts';
import { ruledRows } from '../rows.ts';
import { isTrue, KWARGS, prompts, supervised, type VerlSettings, type Writers } from './rows.ts';

export function openVerl(
  config: ConfigFile,
  settings: VerlSettings,
  seen: Seen,
  host: Host,
): Opened | Problem {
  const { way, value, extra } = settings;
  const { tokenizer, template } = seen;
  if (template === undefined)
    return { problem: 'the tokenizer has no chat template, and verl renders every row with it' };
  const folder = value(way === 'sft' ? 'model.path' : 'actor_rollout_ref.model.path');
  if (typeof folder === 'string' && PROCESSORS.some((name) => host.kindOf(join(folder, name)) === 'file'))
    return {
      problem: `${folder} is a model with a processor of images, with which view makes no rows of verl`,
    };
  const limit =
    seen.maxLength ?? numberOf(value(way === 'sft' ? 'data.max_length' : 'data.max_prompt_length'));
  if (limit === undefined) return { problem: `the length limit of ${config.name} is not a whole number` };
  const faults: SettingFault[] = [
    ...idleKwargs(config, extra, template),
    ...columnFaults(config, settings, seen),
  ];
  // Without the word null, YAML and hydra leave the text none, and a text is true.
  const thinking = way === 'sft' ? value('data.enable_thinking_default') : null;
  if (
    way === 'sft' &&
    Object.hasOwn(config.values, 'data.enable_thinking_default') &&
    // null asks for nothing.
    thinking !== null &&
    !template.includes('enable_thinking')
  )
    faults.push(
      faultOf(
        config,
        'data.enable_thinking_default',
        'It does nothing: the chat template has no variable enable_thinking.',
      ),
    );
  const writers = writersOf(tokenizer, template, extra);
  const rows =
    way === 'sft'
      ? ruledRows('verl', supervised(settings, { tokenizer, writers, thinking, limit }))
      : ruledRows('verl', prompts(settings, { tokenizer, writer: writers(undefined), limit }));
  return {
    settings: {
      writer: writers(thinking === null ? undefined : isTrue(thinking)),
      shapes: rows.shapes,
      maxLength: limit,
      truncationSide: sideOf(settings),
      ...(way === 'rl' ? { promptsOnly: true as const } : {}),
    },
    faults,
    after: () => rows.after(config),
  };
}

// --- helpers ---

/** Files of a model that sees images, which verl loads a processor of. */
const PROCESSORS = ['preprocessor_config.json', 'processor_config.json'];

function writersOf(tokenizer: Tokenizer, template: string, extra: VerlSettings['extra']): Writers {
  const made = new Map<boolean | undefined, Writer>();
  return (thinking) => {
    const known = made.get(thinking);
    if (known !== undefined) return known;
    const writer = writerOf(
      tokenizer,
      template,
      thinking === undefined ? extra : { ...extra, enable_thinking: thinking },
    );
    made.set(thinking, writer);
    return writer;
  };
}

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;

/** Agents lose the front of a prompt; a row without padding its end, whatever is set. */
function sideOf({ way, value }: VerlSettings): 'left' | 'right' {
  if (way === 'rl') return 'left';
  return value('data.pad_mode') === 'right' && value('data.truncation') === 'left' ? 'left' : 'right';
}

function columnFaults(config: ConfigFile, { way, value }: VerlSettings, { columns }: Seen): SettingFault[] {
  const key = way === 'sft' ? 'data.messages_key' : 'data.prompt_key';
  const name = textOf(value(key));
  const has = new Set(columns.flatMap((own) => [...own]));
  const faults: SettingFault[] = [];
  if (has.size > 0 && !has.has(name)) {
    const near = nearest(name, [...has]);
    faults.push(
      faultOf(
        config,
        key,
        `verl stops: no row has the column ${name}.${near === undefined ? ` The rows have ${[...has].slice(0, SHOWN).join(', ')}.` : ` Is ${near} meant?`}`,
      ),
    );
  }
  const tools = value('data.tools_key');
  if (way === 'sft' && Object.hasOwn(config.values, 'data.tools_key') && !has.has(textOf(tools)))
    faults.push(
      faultOf(config, 'data.tools_key', `It does nothing: no row has the column ${textOf(tools)}.`),
    );
  const reward = textOf(value('data.reward_fn_key'));
  if (way === 'rl' && !has.has(reward))
    faults.push(
      faultOf(
        config,
        'data.reward_fn_key',
        `No row has the column ${reward}, by which verl's own reward functions are chosen.`,
        'note',
      ),
    );
  return faults;
}

/** Names of columns in a sentence. */
const SHOWN = 6;

/** Variables that the template never asks for. */
function idleKwargs(
  config: ConfigFile,
  extra: VerlSettings['extra'],
  template: string | undefined,
): SettingFault[] {
  if (template === undefined) return [];
  return Object.keys(extra)
    .filter((name) => !template.includes(name))
    .map((name) =>
      faultOf(config, `${KWARGS}.${name}`, `It does nothing: the chat template has no variable ${name}.`),
    );
}
