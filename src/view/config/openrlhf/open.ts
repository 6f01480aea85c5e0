// What is known of OpenRLHF's rows when data and tokenizer are there: its columns, and its chat template.

import { writerOf } from '../../writer.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { nearest } from '../keys.ts';
import type { Opened, Seen } from '../plan.ts';
import { ruledRows } from '../rows.ts';
import { prompts, type RlhfSettings, supervised } from './rows.ts';

export function openOpenRlhf(config: ConfigFile, given: RlhfSettings, seen: Seen): Opened | Problem {
  const { tokenizer, template } = seen;
  const settings = { ...given, limit: seen.maxLength ?? given.limit };
  if (settings.chat && template === undefined)
    return { problem: 'the tokenizer has no chat template, and apply_chat_template needs one' };
  if (tokenizer.eosTokenId === undefined)
    return { problem: 'the tokenizer has no EOS token, with which OpenRLHF ends each row' };
  const writer = template === undefined ? undefined : writerOf(tokenizer, template);
  const around = { tokenizer, writer };
  const rule = settings.way === 'sft' ? supervised(settings, around) : prompts(settings, around);
  let count = 0;
  const rows = ruledRows('OpenRLHF', (row) => {
    count++;
    return settings.most !== undefined && count > settings.most ? { shapes: [] } : rule(row);
  });
  return {
    settings: {
      shapes: rows.shapes,
      ...(writer === undefined ? {} : { writer }),
      ...(settings.way === 'ppo' ? { promptsOnly: true as const } : {}),
    },
    faults: columnFaults(config, settings, seen),
    after: () => rows.after(config),
  };
}

// --- helpers ---

/** Names of columns in a sentence. */
const SHOWN = 6;

function columnFaults(
  config: ConfigFile,
  { inputKey, outputKey, labelKey }: RlhfSettings,
  { columns }: Seen,
): SettingFault[] {
  const has = new Set(columns.flatMap((own) => [...own]));
  if (has.size === 0) return [];
  return (
    [
      ['data.input_key', inputKey],
      ['data.output_key', outputKey],
      ['data.label_key', labelKey],
    ] as const
  ).flatMap(([key, name]) => {
    if (name === undefined || has.has(name)) return [];
    const near = nearest(name, [...has]);
    const meant =
      near === undefined ? ` The rows have ${[...has].slice(0, SHOWN).join(', ')}.` : ` Is ${near} meant?`;
    return [faultOf(config, key, `OpenRLHF stops: no row has the column ${name}.${meant}`)];
  });
}
