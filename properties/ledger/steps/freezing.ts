// What is frozen, and what is not: freezing that was written and does nothing, adapters whose base moves with them.
import type { Ledger, LedgerEvent, LedgerNotice, LedgerProperty, LedgerUpdate } from '../../../src/index.ts';
import { type Found, judgementOf } from '../words.ts';
import { at, eventsOf, fault, groupedBy, named, tensors } from './made.ts';
import { needsUpdates } from './tensors.ts';
import { ADAPTER, besideAdapters, declaredFrozen, savedUntrained } from './thawed.ts';

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
      ...judgementOf(judged, Math.max(0, ledger.updates.length - judged), found),
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

export const freezingProperties: readonly LedgerProperty[] = [freezing];
