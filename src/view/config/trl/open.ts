// Rows as SFTTrainer makes them: which columns it reads, which template renders them, and what of them is trained.
// Source: SFTTrainer.__init__ and _prepare_dataset.
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../../outside/decoded.ts';
import { hasGenerationTags } from '../../../tokenizers/spans.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Making } from '../../making.ts';
import type { TrainOn } from '../../row.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import type { Known } from '../known.ts';
import type { After, Opened, Seen } from '../plan.ts';
import { type Kind, kindOf, type TrlSettings, trlShapes } from './shapes.ts';

export function openTrl(
  config: ConfigFile,
  settings: TrlSettings,
  seen: Seen,
  known: Known,
): Opened | Problem {
  // TRL joins the data sets before it looks at their columns.
  const columns = new Set(
    seen.columns
      .flatMap((own) => [...own])
      .filter((name) => settings.columns === undefined || settings.columns.includes(name)),
  );
  const kind = kindOf(columns);
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  if (settings.skip && kind !== 'ids')
    return {
      problem: 'dataset_kwargs.skip_prepare_dataset leaves the rows to the script: view cannot make them',
    };
  const tokenizer = tokenizerOf(settings, seen);
  if ('problem' in tokenizer) {
    say('eos_token', tokenizer.problem);
  }
  const completionOnly = completionOnlyOf(settings, columns);
  const texts =
    kind === 'text' || (kind === 'pair' && isJsonObject(seen.first) && typeof seen.first.prompt === 'string');
  columnFaults({ settings, columns, kind, texts, say });
  let unruled = false;
  const assistant = settings.assistantOnly && kind !== 'ids' && !texts;
  if (assistant) {
    const complaint = markersOf(seen, known);
    const isUnruled = complaint !== undefined && 'problem' in complaint;
    if (isUnruled && seen.allOwn !== true) return complaint;
    if (isUnruled) unruled = true;
    else if (complaint !== undefined) say('assistant_only_loss', complaint.fault);
  }
  const told = trainOnOf(kind, assistant, completionOnly);
  const trainOn = seen.trainOn ?? told.trainOn;
  const rows = trlShapes({ settings, columns, kind, completionOnly, trainOn, tokenizer: seen.tokenizer });
  const own: Partial<Making> = {
    ...('problem' in tokenizer ? {} : { tokenizer }),
    // Ids come with their labels.
    ...(kind === 'ids' ? {} : { trainOn }),
    ...(seen.trainOn === undefined ? { declaredBy: told.why } : {}),
    ...lengthOf(settings, seen),
    ...(kind === 'text' && !columns.has('text') ? { endsText: false } : {}),
    shapes: rows.shapes,
  };
  const after = (): After => ({
    faults: [...rows.flags()].map((name) =>
      faultOf(
        config,
        `messages.${name}`,
        `TRL reads no train flags: ${name} of a message does nothing.`,
        'note',
      ),
    ),
  });
  return { settings: own, faults, unruled, after };
}

// --- helpers ---

function tokenizerOf({ eos }: TrlSettings, { tokenizer, cloned }: Seen): Tokenizer | Problem {
  const name = cloned?.eosTokenId === undefined ? eos : cloned.token(cloned.eosTokenId);
  if (name === undefined) return tokenizer;
  const id = tokenizer.tokenId(name);
  return id === undefined
    ? { problem: `The tokenizer has no token ${name}: TRL stops.` }
    : { ...tokenizer, eosTokenId: id };
}

/** The first row decides, and `datasets` gives it every column. */
function completionOnlyOf({ completionOnly }: TrlSettings, columns: ReadonlySet<string>): boolean {
  return completionOnly ?? (columns.has('prompt') && columns.has('completion'));
}

/** Settings that do nothing with these columns, or train what nobody would expect. */
function columnFaults({
  settings,
  columns,
  kind,
  texts,
  say,
}: {
  readonly settings: TrlSettings;
  readonly columns: ReadonlySet<string>;
  readonly kind: Kind;
  readonly texts: boolean;
  readonly say: (key: string, sentence: string, level?: 'fault' | 'note') => void;
}): void {
  const { completionOnly, assistantOnly, textField } = settings;
  const masked = kind === 'pair' || (kind === 'ids' && columns.has('completion_mask'));
  if (completionOnly === true && !masked)
    say(
      'completion_only_loss',
      `It does nothing: the rows have no prompt and completion, so TRL trains ${assistantOnly ? 'what assistant_only_loss says' : 'every token'}.`,
    );
  if (completionOnly === true && kind === 'ids' && columns.has('labels'))
    say('completion_only_loss', 'It does nothing: TRL leaves the labels of the rows as they are.');
  if (assistantOnly && kind === 'ids')
    say('assistant_only_loss', 'It does nothing: the rows are ids already, and TRL renders no template.');
  if (assistantOnly && texts)
    say('assistant_only_loss', 'TRL stops: the rows are texts, and it needs conversations.');
  if (textField !== 'text' && kind !== 'text')
    say('dataset_text_field', `It does nothing: the rows have ${WHAT[kind]}, which TRL reads first.`);
  if (kind === 'text' && textField !== 'text' && !columns.has('text'))
    say(
      'dataset_text_field',
      `TRL appends the EOS token to the column text only: texts of the column ${textField} get none.`,
      'note',
    );
  if (kind === 'ids' && columns.has('completion_mask') && !columns.has('labels') && completionOnly === null)
    say(
      'completion_only_loss',
      'It is not set, and the rows have completion_mask without prompt and completion: TRL ignores the mask and trains every token.',
    );
  if (kind === 'messages' && !assistantOnly)
    say(
      'assistant_only_loss',
      'It is off: TRL trains every token of a conversation, those of user and system as well.',
      'note',
    );
}

const WHAT: Record<Exclude<Kind, 'text'>, string> = {
  ids: 'input_ids',
  pair: 'prompt and completion',
  messages: 'messages',
};

function markersOf(
  { template, templateTyped }: Seen,
  known: Known,
): { readonly fault: string } | Problem | undefined {
  if (template === undefined || hasGenerationTags(template)) return undefined;
  const hash = createHash('sha256').update(template.trim()).digest('hex');
  const family = Object.hasOwn(known.templates, hash) ? String(known.templates[hash]) : undefined;
  if (family === undefined)
    return {
      fault: `The chat template has no {% generation %}, and TRL ${known.version} has no training template for it: TRL stops. The rows are shown as they are meant.`,
    };
  if (templateTyped) return undefined;
  return {
    problem: `assistant_only_loss: TRL renders this model with a template of its own, trl/chat_templates/${family}_training.jinja in Python's site-packages; name it with --template`,
  };
}

interface Declared {
  readonly trainOn: TrainOn;
  readonly why: string;
}

function trainOnOf(kind: Kind, assistant: boolean, completionOnly: boolean): Declared {
  if (assistant) return { trainOn: 'assistant', why: 'assistant_only_loss' };
  if (kind === 'pair' && completionOnly) return { trainOn: 'completion', why: 'completion_only_loss of TRL' };
  return { trainOn: 'all', why: 'as TRL does with this configuration' };
}

function lengthOf({ packing, strategy, maxLength, keepEnd, skip }: TrlSettings, seen: Seen): Partial<Making> {
  const limit = seen.maxLength ?? (skip ? null : maxLength);
  // Best-fit packing cuts what is too long; the other strategies go on with it in the next row.
  if (limit === null || (packing && strategy !== 'bfd' && seen.maxLength === undefined)) return {};
  return { maxLength: limit, ...(keepEnd && !packing ? { truncationSide: 'left' as const } : {}) };
}
