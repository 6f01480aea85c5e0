// Rows of a data set as LLaMA-Factory makes them: converted, encoded by its template, or left out.
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Shape, Unread } from '../../shape/shapes.ts';
import { convert } from './convert.ts';
import { encodeTalk } from './encode.ts';
import type { DatasetEntry } from './info.ts';
import type { Encoding } from './template.ts';

export interface FactoryRows {
  readonly shapes: (value: unknown, from: number) => readonly Shape[] | Unread;
  /** Why nothing may be said of these rows. */
  readonly unsupported: () => { readonly unsupported?: string };
  /** A row has more than one answer. */
  readonly several: () => boolean;
}

export function factoryShapes({
  entries,
  encoding,
  tokenizer,
  most,
}: {
  readonly entries: readonly DatasetEntry[];
  readonly encoding: Encoding;
  readonly tokenizer: Tokenizer;
  /** max_samples, of each data set. */
  readonly most: unknown;
}): FactoryRows {
  let unsupported: string | undefined;
  let several = false;
  const seen = entries.map(() => 0);
  const shapes: FactoryRows['shapes'] = (value, from) => {
    const entry = entries[from] ?? entries[0];
    if (entry === undefined) return { problem: 'No data set is named.' };
    const count = (seen[from] ?? 0) + 1;
    seen[from] = count;
    if (typeof most === 'number' && count > most) return [];
    const made = convert(value, entry);
    if ('unsupported' in made) {
      unsupported ??= `A row of ${entry.name} is not one that these rules make: ${made.unsupported}.`;
      return { problem: unsupported };
    }
    if ('leftOut' in made)
      return { id: 'left-out', problem: `LLaMA-Factory leaves the row out: ${made.leftOut}.` };
    if ('stops' in made) return { problem: `LLaMA-Factory stops at this row: ${made.stops}.` };
    if (made.turns.length > 2) several = true;
    const row = encodeTalk(made, encoding, tokenizer);
    if (row === undefined) {
      unsupported ??= `The tokens of a row of ${entry.name} cannot be laid on its text.`;
      return { problem: unsupported };
    }
    return [{ kind: 'made', form: made.form, row, messages: made.turns, assumed: assumptionOf(encoding) }];
  };
  return {
    shapes,
    unsupported: () => (unsupported === undefined ? {} : { unsupported }),
    several: () => several,
  };
}

// --- helpers ---

function assumptionOf({ trainOnPrompt, maskHistory }: Encoding): string {
  if (trainOnPrompt) return 'every token is trained, the questions as well';
  return maskHistory
    ? 'the last answer is trained, with what the template writes after it'
    : 'every answer is trained, with what the template writes after it';
}
