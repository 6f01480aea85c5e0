// What is frozen, and what is not: freezing that was written and does nothing, adapters whose base or other weights move with
// them, parts made to be saved that nobody trains, and what --frozen declares.
import {
  type Ledger,
  type LedgerEvent,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerUpdate,
  many,
  type TensorUpdate,
} from '../../../src/index.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import { at, eventsOf, fault, groupedBy, named, tensors } from './made.ts';
import { needsUpdates } from './tensors.ts';

const freezing: LedgerProperty = {
  id: 'update/what-is-frozen-stays',
  title: 'Frozen parameters do not move, nor do the base weights beside adapters',
  stage: 'update',
  level: 'should',
  why: 'model.requires_grad = False freezes nothing; if the base of adapters is trained too, the saved adapters are not the trained model.',
  catches: ['OPT-05'],
  needs: needsUpdates,
  judge: (ledger) => {
    const found = [
      ...eventsOf(ledger, 'no-freeze').map(inVain),
      ...ledger.updates.flatMap(baseIn),
      ...ledger.updates.flatMap(frozenIn),
      ...declaredFrozen(ledger),
    ];
    const [first] = ledger.updates;
    const notices =
      first === undefined
        ? []
        : [
            ...thawedIn(ledger, first),
            // Of a base that moves, that is said.
            ...(found.length > 0 ? [] : besideAdapters(ledger)),
            ...savedUntrained(ledger),
            ...shareOf(ledger, first),
          ];
    const declared = (ledger.settings.frozen ?? []).length > 0;
    const judged = Math.max(
      ledger.updates.filter((update) => declared || hasFrozen(update)).length,
      found.length,
    );
    return {
      ...judgementOf(judged, asides(ledger.updates.length - judged, 'no tensor is frozen'), found),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** Something that is not to move is there: frozen tensors, or a base beside adapters. */
const hasFrozen = ({ tensors: all }: LedgerUpdate): boolean =>
  all.some(({ trainable, name }) => !trainable || ADAPTER.test(name));

function inVain(event: LedgerEvent): Found {
  const word = String(event.values.written);
  const on = typeof event.values.on === 'string' && event.values.on !== '' ? event.values.on : undefined;
  const whole = event.values.on === '' ? 'the model' : on;
  return fault({
    harm: event.names.length,
    kind: 'in vain',
    sentence: `${word} = False is set on ${whole ?? `${tensors(event.names.length)} themselves`}, which freezes nothing: ${named(event.names)} still ${event.names.length === 1 ? 'requires' : 'require'} a gradient.`,
    note:
      word === 'requires_grad'
        ? 'For a module, call requires_grad_(False); only parameters have an effective `requires_grad` attribute.'
        : 'The attribute of a parameter is requires_grad.',
    given: { written: word, on: on ?? null, tensors: event.names },
  });
}

const BASES = ['weight', 'bias', 'base_layer.weight', 'linear.weight', 'base.weight', 'original.weight'];

function baseIn(update: LedgerUpdate): readonly Found[] {
  const beside = new Set(
    update.tensors.flatMap(({ name }) => {
      const owner = ADAPTER.exec(name)?.[1];
      return owner === undefined
        ? []
        : BASES.filter((base) => base !== 'bias').map((base) => `${owner}.${base}`);
    }),
  );
  const moved = update.tensors.filter(({ name, moved: is }) => is === true && beside.has(name));
  if (moved.length === 0) return [];
  const names = moved.map(({ name }) => name);
  return [
    fault({
      harm: moved.length,
      kind: 'base',
      sentence: `Step ${update.step}${at(update.place)} moved ${tensors(names.length)} that adapters stand beside: ${named(names)}.`,
      note: 'Freeze the base (requires_grad_(False)) before the optimiser is made, and give the optimiser the adapters alone.',
      given: { step: update.step, tensors: names },
    }),
  ];
}

function frozenIn(update: LedgerUpdate): readonly Found[] {
  // A gradient that was put there by hand moves what requires none, and that is meant.
  const moved = update.tensors.filter(
    ({ trainable, moved: is, norm = 0, held }) => !trainable && is === true && norm === 0 && held > 0,
  );
  if (moved.length === 0) return [];
  const names = moved.map(({ name }) => name);
  return [
    fault({
      harm: moved.length,
      kind: 'frozen',
      sentence: `Step ${update.step}${at(update.place)} moved ${tensors(names.length)} that ${names.length === 1 ? 'is' : 'are'} frozen: ${named(names)}.`,
      note: 'They have a gradient of zeros, so that weight decay and momentum go on: take what is frozen out of the optimiser, or set its gradient to None.',
      given: { step: update.step, tensors: names },
    }),
  ];
}

/** Tensors that a step leaves frozen, and that a later one trains. Parts that take turns are frozen again, or others are. */
function thawedIn({ updates }: Ledger, { model, rank }: LedgerUpdate): readonly LedgerNotice[] {
  const steps = groupedBy(
    updates.filter((update) => update.model === model && update.rank === rank),
    ({ step }) => step,
  );
  const frozen = new Set<string>();
  const free = new Set<string>();
  const thawed = new Map<number, readonly string[]>();
  for (const [step, made] of steps) {
    const all = made.flatMap((update) => update.tensors);
    if (all.some(({ name, trainable }) => !trainable && free.has(name))) return [];
    const now = all.filter(
      ({ name, trainable, held, moved }) => trainable && held > 0 && moved === true && frozen.has(name),
    );
    if (now.length > 0) thawed.set(step, [...new Set(now.map(({ name }) => name))]);
    for (const { name, trainable } of all) (trainable ? free : frozen).add(name);
    for (const name of free) frozen.delete(name);
  }
  return [...thawed].slice(0, 1).map(([step, names]) => ({
    sentence: `${tensors(names.length)} that ${names.length === 1 ? 'was' : 'were'} frozen until then ${names.length === 1 ? 'requires a gradient and moves' : 'require a gradient and move'} in step ${step}: ${named(names)}. Right where layers are unfrozen one after another; else something sets requires_grad again, as an evaluation does that freezes the model and frees all of it.`,
    answers: [],
  }));
}

function shareOf({ updates }: Ledger, { model, rank, step }: LedgerUpdate): readonly LedgerNotice[] {
  const all = updates
    .filter((each) => each.model === model && each.rank === rank && each.step === step)
    .flatMap((each) => each.tensors);
  const frozen = all.filter(({ trainable }) => !trainable);
  const live = all.filter(({ trainable, norm }) => trainable && norm !== undefined);
  if (frozen.length === 0 || live.length === 0) return [];
  const sizeOf = (some: typeof all): number => some.reduce((sum, { size }) => sum + size, 0);
  const count = (n: number): string => n.toLocaleString('en-US');
  return [
    {
      sentence: `${live.length} of ${tensors(all.length)} got a gradient in step ${step}: ${count(sizeOf(live))} of ${count(sizeOf(all))} parameters (${named(live.map(({ name }) => name))}). ${frozen.length + live.length === all.length ? 'The others are frozen, by requires_grad' : `${count(frozen.length)} of the others ${frozen.length === 1 ? 'is' : 'are'} frozen, by requires_grad; nothing reached the rest`}.`,
      answers: [],
      remark: true,
    },
  ];
}

/** Adapters, by the names that libraries give them. */
const ADAPTER = /^(.*)\.lora_/i;
/** Of PEFT: trained whole, and saved with the adapters. */
const SAVED = /\.(modules_to_save\b|trainable_tokens)/;
const LAYER = /\.\d+\./;

// --- beside adapters ---

/** Matrices of layers that move, without an adapter beside them: they are trained whole, and not saved with the adapters. */
function besideAdapters({ updates }: Ledger): readonly LedgerNotice[] {
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
function savedUntrained({ updates }: Ledger): readonly LedgerNotice[] {
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
function declaredFrozen({ updates, settings }: Ledger): readonly Found[] {
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

export const freezingProperties: readonly LedgerProperty[] = [freezing];
