// What stands beside adapters, and what is declared frozen: weights that are trained though only the adapters are saved, copies of
// PEFT that nobody trains, and tensors that --frozen names.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerUpdate,
  many,
  type TensorUpdate,
} from '../../../src/index.ts';
import type { Found } from '../words.ts';
import { at, fault, named, tensors } from './made.ts';

/** Adapters, by the names that libraries give them. */
export const ADAPTER = /^(.*)\.lora_/i;
/** Of PEFT: trained whole, and saved with the adapters. */
const SAVED = /\.(modules_to_save\b|trainable_tokens)/;
const LAYER = /\.\d+\./;

// --- beside adapters ---

/** Matrices of layers that move, without an adapter beside them: they are trained whole, and not saved with the adapters. */
export function besideAdapters({ updates }: Ledger): readonly LedgerNotice[] {
  return updates
    .flatMap((update) => {
      const { tensors: all, step } = update;
      const adapters = all.filter(({ name, moved }) => ADAPTER.test(name) && moved === true);
      const owners = new Set(adapters.flatMap(({ name }) => ADAPTER.exec(name)?.[1] ?? []));
      if (owners.size === 0) return [];
      const isOwned = (name: string): boolean => [...owners].some((owner) => name.startsWith(`${owner}.`));
      const widest = Math.max(0, ...all.filter(({ name }) => isOwned(name)).map(({ size }) => size));
      const free = all.filter(
        ({ name, moved, size }) =>
          moved === true &&
          LAYER.test(name) &&
          name.endsWith('weight') &&
          !isOwned(name) &&
          !SAVED.test(name) &&
          !ADAPTER.test(name) &&
          // A norm has as many elements as a side of a matrix.
          size > 2 * Math.sqrt(widest),
      );
      if (free.length === 0) return [];
      const share = sizeOf(free) / Math.max(1, sizeOf(free) + sizeOf(adapters));
      return [
        {
          sentence: `Step ${step}${at(update.place)} moved ${many(adapters.length, 'tensor')} of adapters, and ${free.length} ${free.length === 1 ? 'matrix' : 'matrices'} of layers that no adapter stands beside: ${named(free.map(({ name }) => name))}, ${Math.round(share * 100)} % of the parameters of both. Adapters are saved without them. Right where they are trained and saved on purpose; else freeze them, or name them in target_modules.`,
          answers: [],
        },
      ];
    })
    .slice(0, 1);
}

const sizeOf = (some: readonly TensorUpdate[]): number => some.reduce((sum, { size }) => sum + size, 0);

/** PEFT made copies to be trained and saved, they have a gradient, and the only optimiser does not hold them. */
export function savedUntrained({ updates }: Ledger): readonly LedgerNotice[] {
  const first = updates[0];
  if (first === undefined) return [];
  const own = updates.filter(({ model, rank }) => model === first.model && rank === first.rank);
  const all = own.flatMap((update) => update.tensors);
  const held = new Set(all.flatMap(({ name, held: times }) => (times > 0 ? [name] : [])));
  const left = all.filter(
    ({ name, trainable, norm = 0 }) =>
      trainable && norm > 0 && !held.has(name) && (SAVED.test(name) || ADAPTER.test(name)),
  );
  const names = [...new Set(left.map(({ name }) => name))];
  if (names.length === 0 || held.size === 0) return [];
  const alone = new Set(own.map(({ optimizer }) => optimizer)).size === 1;
  return [
    {
      sentence: `No optimiser that stepped holds ${named(names)}, which ${names.length === 1 ? 'was' : 'were'} made to be trained and saved with the adapters, and ${names.length === 1 ? 'has' : 'have'} a gradient: ${names.length === 1 ? 'it stays as it was' : 'they stay as they were'}.`,
      answers: [],
      ...(alone ? { asked: true } : {}),
    },
  ];
}

// --- declared ---

/** `--frozen`: a part of a name, `*` for anything; each fits some tensor, and none that moves. */
export function declaredFrozen({ updates, settings }: Ledger): readonly Found[] {
  const names = [...new Set(updates.flatMap((update) => update.tensors.map(({ name }) => name)))];
  if (names.length === 0) return [];
  return (settings.frozen ?? []).flatMap((pattern) => {
    const fits = fitting(pattern);
    const found = names.filter((name) => fits.test(name));
    if (found.length === 0) return [unknown(pattern, names)];
    const first = updates.find((update) => movedOf(update, fits).length > 0);
    return first === undefined ? [] : [moving(pattern, first, movedOf(first, fits), found.length)];
  });
}

const fitting = (pattern: string): RegExp =>
  new RegExp(
    pattern
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );

const movedOf = ({ tensors: all }: LedgerUpdate, fits: RegExp): readonly string[] =>
  all.filter(({ name, moved }) => moved === true && fits.test(name)).map(({ name }) => name);

function unknown(pattern: string, names: readonly string[]): Found {
  return fault({
    harm: names.length,
    kind: 'no match',
    sentence: `"${pattern}" is declared frozen and fits none of the ${tensors(names.length)} that the model has: ${named(names)}.`,
    note: 'A freeze by this pattern does nothing. The pattern is a part of a name, with * for anything.',
    given: { pattern },
  });
}

function moving(pattern: string, { step, place }: LedgerUpdate, moved: readonly string[], of: number): Found {
  return fault({
    harm: moved.length,
    kind: 'declared',
    sentence: `"${pattern}" is declared frozen, and step ${step}${at(place)} moved ${moved.length} of the ${tensors(of)} that it fits: ${named(moved)}.`,
    note: 'Call requires_grad_(False) on them before the optimiser is made, and leave them out of it.',
    given: { pattern, step, tensors: moved },
  });
}
