// Tokens that were added to the tokenizer: whether the rows that embedding and head have for them are trained with them.
import {
  type Ledger,
  type LedgerEvent,
  type LedgerNotice,
  type LedgerProperty,
  targetsOf,
} from '../../../src/index.ts';
import { asides, idName, judgementOf } from '../words.ts';
import { at, eventsOf, named, plural } from './made.ts';

const added: LedgerProperty = {
  id: 'update/added-tokens-are-trained',
  title: 'The embedding and the head of tokens that were added are trained',
  stage: 'update',
  level: 'should',
  why: 'Adapters leave the embedding frozen: a token that was added is read as the noise, or the mean, that its row was made of, and no loss tells.',
  catches: ['OPT-05'],
  needs: (ledger) =>
    usesIn(ledger).length > 0
      ? undefined
      : 'no token that the script added to a tokenizer of transformers was trained on',
  judge: (ledger) => {
    const uses = usesIn(ledger);
    const said = uses.map((use) => ({ use, still: stillIn(ledger, use) }));
    const off = said.filter(({ still }) => still === true);
    const known = said.filter(({ still }) => still !== undefined).length;
    const sure = off.filter(({ use }) => use.event.values.grown === true);
    const [first] = sure.length > 0 ? sure : off;
    return {
      ...judgementOf(
        known - (off.length - sure.length),
        [
          ...asides(uses.length - known, 'no optimiser step was recorded for the tensors of the token'),
          ...asides(off.length - sure.length, 'the checkpoint may have trained the token'),
        ],
        [],
      ),
      ...(first === undefined ? {} : { notices: [noticeOf(ledger, first.use, sure.length > 0)] }),
    };
  },
};

/** Tokens that were added, in what is trained: as inputs of the embedding, or as targets of the head. */
interface Use {
  readonly event: LedgerEvent;
  readonly part: 'embedding' | 'head';
  /** Tensors that their rows are in. */
  readonly tensors: readonly string[];
  readonly ids: readonly number[];
  readonly rows: number;
}

function usesIn(ledger: Ledger): readonly Use[] {
  return eventsOf(ledger, 'added').flatMap((event) => {
    const written = numbersIn(event, 'written');
    // What the script wrote into a row is meant to be there.
    const ids = new Set(numbersIn(event, 'ids').filter((id) => !written.includes(id)));
    const rows = ledger.rows.filter(
      ({ model, rank, reached }) => reached && model === event.model && rank === event.rank,
    );
    const read = rows.map((row) => row.ids.filter((id, t) => row.real[t] === true && ids.has(id)));
    const aimed = rows.map((row) =>
      targetsOf(row).flatMap(({ trained: { target, weight } }) =>
        target !== undefined && weight !== undefined && weight !== 0 && ids.has(target) ? [target] : [],
      ),
    );
    const head = namesIn(event, 'head');
    // Tied: one tensor is both.
    const apart = head.some((name) => !event.names.includes(name));
    return [
      ...useOf(event, 'embedding', event.names, read),
      ...(apart ? useOf(event, 'head', head, aimed) : []),
    ];
  });
}

function useOf(
  event: LedgerEvent,
  part: Use['part'],
  tensors: readonly string[],
  found: readonly (readonly number[])[],
): readonly Use[] {
  const ids = [...new Set(found.flat())].sort((a, b) => a - b);
  const rows = found.filter((some) => some.length > 0).length;
  return ids.length === 0 || tensors.length === 0 ? [] : [{ event, part, tensors, ids, rows }];
}

/** No tensor that the rows are in, adapters of them included, is trained; undefined: not known. */
function stillIn({ updates }: Ledger, { event, tensors }: Use): boolean | undefined {
  const own = updates
    .filter(({ model, rank }) => model === event.model && rank === event.rank)
    .flatMap((update) => update.tensors.filter(({ name }) => tensors.includes(name)));
  return own.length === 0
    ? undefined
    : own.every(({ trainable, held, moved }) => moved !== true && (!trainable || held === 0));
}

function noticeOf(ledger: Ledger, { event, part, tensors, ids, rows }: Use, grown: boolean): LedgerNotice {
  const names = ids.slice(0, FEW).map((id) => idName(ledger, id));
  const more = ids.length > names.length ? ` and ${ids.length - names.length} more` : '';
  const used =
    part === 'embedding' ? plural(rows, 'row reads', 'rows read') : plural(rows, 'row trains', 'rows train');
  const it = `the ${part} (${named(tensors)}) is not trained`;
  return {
    sentence: `${plural(ids.length, 'token was', 'tokens were')} added${at(event.place)}: ${names.join(', ')}${more}. ${used} ${ids.length === 1 ? 'it' : 'them'}, and ${it}: ${
      grown
        ? `their rows stay as the resizing made them. Train ${part === 'embedding' ? 'the embedding' : 'the head'}, too (of PEFT, trainable_token_indices or modules_to_save), or write what they should be into the rows.`
        : `their rows stay as they are in the checkpoint. Right where that was trained with ${ids.length === 1 ? 'this token' : 'these tokens'}.`
    }`,
    answers: [],
    ...(grown ? { asked: true } : { remark: true }),
  };
}
const FEW = 4;

const numbersIn = ({ values }: LedgerEvent, name: string): readonly number[] =>
  Array.isArray(values[name]) ? values[name].filter((each) => typeof each === 'number') : [];

const namesIn = ({ values }: LedgerEvent, name: string): readonly string[] =>
  Array.isArray(values[name]) ? values[name].filter((each) => typeof each === 'string') : [];

export const addedProperties: readonly LedgerProperty[] = [added];
