// What the rows of `view` are read with: tokenizer, chat template, stop tokens, and what is trained.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isJsonObject } from '../../outside/decoded.ts';
import { MOST_FILE_BYTES, readGiven, readJson } from '../../outside/file.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import { checkTemplate } from '../../tokenizers/template.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { TrainOn, ViewOptions } from '../../view/row.ts';
import { writerOf } from '../../view/writer.ts';
import type { PaddingSide } from '../../vocabulary.ts';
import { namedTokenizer } from '../check/plan.ts';
import { loadConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem } from '../context.ts';

export interface WorldOptions {
  readonly tokenizer?: string;
  readonly template?: string;
  readonly trainOn?: TrainOn;
  readonly maxLength?: number;
  readonly truncationSide: PaddingSide;
  readonly stop?: readonly string[];
}

/** The tokenizer of the configuration where none is typed; without any, rows of ids can still be looked at. */
export async function worldOf(
  options: WorldOptions,
  context: Context,
  /** The source of a chat template, where no file of one was typed. */
  source?: string,
): Promise<ViewOptions | Problem> {
  const settings = {
    truncationSide: options.truncationSide,
    ...(options.trainOn === undefined ? {} : { trainOn: options.trainOn }),
    ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength }),
  };
  const found = options.tokenizer === undefined ? await loadConfig(context, undefined, 'glance') : undefined;
  if (found !== undefined && isProblem(found)) return found;
  const folder = namedTokenizer(options, found, context.cwd);
  if (folder === undefined) {
    if (options.template !== undefined)
      return { problem: '--template needs --tokenizer, which knows its special tokens' };
    const stops = stopIds(options.stop ?? [], undefined);
    return isProblem(stops) ? stops : { ...settings, stops };
  }
  const backend = found?.config.tokenizerBackend;
  const loaded = loadTokenizer(folder, backend === undefined ? {} : { backend });
  if ('problem' in loaded) return loaded;
  const { tokenizer } = loaded;
  const template =
    options.template === undefined
      ? (source ?? tokenizer.chatTemplate)
      : templateOf(options.template, context);
  if (typeof template === 'object') return template;
  const stops = stopIds(options.stop ?? [], tokenizer);
  if (isProblem(stops)) return stops;
  return {
    ...settings,
    ...modelIn(folder, tokenizer),
    tokenizer,
    stops,
    ...(template === undefined ? {} : { writer: writerOf(tokenizer, template) }),
  };
}

export function templateOf(file: string, context: Context): string | Problem {
  const read = readGiven(resolve(context.cwd, file), MOST_FILE_BYTES);
  if ('complaint' in read) return { problem: `the chat template ${file} cannot be read: ${read.complaint}` };
  const source = read.ok.toString('utf8');
  const { problem } = checkTemplate(source);
  return problem === undefined ? source : { problem: `the chat template ${file}: ${problem}` };
}

// --- helpers ---

/**
 * Of the model beside the tokenizer: rows of its embedding, and placeholders of images, videos and sound, by their ids in
 * config.json and by their names in tokenizer_config.json. Of what is not there, or is strange, nothing is known.
 */
function modelIn(folder: string, tokenizer: Tokenizer): Pick<ViewOptions, 'embeddings' | 'placeholders'> {
  const model = objectIn(join(folder, 'config.json'));
  const { extra_special_tokens: extra, ...named } = objectIn(join(folder, 'tokenizer_config.json'));
  const { vocab_size: own, text_config: text } = model;
  // Of a model that also sees images, the language model has a part of its own.
  const size = own ?? (isJsonObject(text) ? text.vocab_size : undefined);
  const names: Readonly<Record<string, unknown>> = { ...named, ...(isJsonObject(extra) ? extra : {}) };
  const ids = KINDS.flatMap((kind) => {
    const name = names[`${kind}_token`];
    const told = [model[`${kind}_token_id`], model[`${kind}_token_index`]];
    return [...told, typeof name === 'string' ? tokenizer.tokenId(name) : undefined];
  });
  const placeholders = [...new Set(ids.filter((id): id is number => Number.isSafeInteger(id)))];
  return {
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? { embeddings: size } : {}),
    ...(placeholders.length > 0 ? { placeholders } : {}),
  };
}

const KINDS = ['image', 'video', 'audio'];

function objectIn(file: string): Readonly<Record<string, unknown>> {
  const read = existsSync(file) ? readJson(file) : undefined;
  return read !== undefined && 'ok' in read && isJsonObject(read.ok) ? read.ok : {};
}

function stopIds(names: readonly string[], tokenizer: Tokenizer | undefined): readonly number[] | Problem {
  const ids: number[] = [];
  for (const name of names) {
    const id = tokenizer?.tokenId(name) ?? (/^\d+$/.test(name) ? Number(name) : undefined);
    if (id === undefined) return { problem: `--stop ${name}: the tokenizer has no such token` };
    ids.push(id);
  }
  return ids;
}
