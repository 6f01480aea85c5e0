// What a run says of its own settings, nested as it may be, as names and values.
import { parsePython } from '../../../outside/json.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/result.ts';
import type { LogSink } from '../../series.ts';

/** Above it, it is a data set or a template, not a setting. */
const LONGEST_TEXT = 1000;
/** Settings of one object; a configuration has hundreds. */
const MOST_SETTINGS = 10_000;
/** Configurations nest a few levels. */
const DEEPEST = 8;

/** All scalars of `object`, each under its path: `optim/lr`. */
export function declareAll(sink: LogSink, run: string, object: JsonObject, prefix = ''): void {
  let left = MOST_SETTINGS;
  const walk = (value: unknown, name: string, depth: number): void => {
    if (left === 0) return;
    if (isJsonObject(value)) {
      if (depth < DEEPEST)
        for (const [key, inner] of Object.entries(value))
          walk(inner, name === '' ? key : `${name}/${key}`, depth + 1);
      return;
    }
    const scalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
    if (!scalar || name === '' || (typeof value === 'string' && value.length > LONGEST_TEXT)) return;
    left -= 1;
    sink.declare(run, name, value as string | number | boolean | null);
  };
  walk(object, prefix, 0);
}

/**
 * A text summary that holds a JSON object, bare or within `<pre>`. Those of a trainer's arguments (tag `args`, as
 * transformers writes it) are declared by their own names, others below their tag: `model_config/vocab_size`.
 */
export function declareText(sink: LogSink, run: string, tag: string, text: string): void {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from || !/^\s*(<pre>)?\s*$/.test(text.slice(0, from))) return;
  const parsed = parsePython(text.slice(from, to + 1));
  if (!('ok' in parsed) || !isJsonObject(parsed.ok)) return;
  const name = tag.replace(/\/text_summary$/, '');
  declareAll(sink, run, parsed.ok, OWN_SETTINGS.has(name) ? '' : name);
}

const OWN_SETTINGS: ReadonlySet<string> = new Set(['args', 'config', 'hparams', 'hyperparameters']);
