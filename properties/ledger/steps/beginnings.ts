// What a training begins with: the weights that were loaded, and ties that the configuration declares.
import type { Ledger, LedgerEvent, LedgerNotice, LedgerProperty } from '../../../src/index.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import { at, eventsOf, fault, named, numberIn, tensors } from './made.ts';

// --- loaded weights ---

const loaded: LedgerProperty = {
  id: 'update/training-begins-with-what-was-loaded',
  title: 'The first forward pass for training is made with the weights that were loaded',
  stage: 'update',
  level: 'should',
  why: 'If the names of a checkpoint do not match, or an initialisation runs after loading, training begins from nothing, and the loss only looks high.',
  catches: ['OPT-07'],
  needs: ({ events }) =>
    events.some(({ what }) => what === 'loaded' || what === 'not-loaded')
      ? undefined
      : 'no weights were loaded by load_state_dict() or from_pretrained() before the training',
  judge: (ledger) => {
    const compared = eventsOf(ledger, 'loaded');
    const share = (event: LedgerEvent): number =>
      (numberIn(event, 'tensors') ?? 0) / (numberIn(event, 'of') ?? 1);
    const other = compared.filter((event) => share(event) >= MOST_OTHER);
    const some = compared.filter((event) => share(event) > 0 && share(event) < MOST_OTHER);
    const empty = eventsOf(ledger, 'not-loaded');
    const notices = some.map(partly);
    return {
      ...judgementOf(compared.length + empty.length, [], [...other.map(reset), ...empty.map(nothing)]),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** A head or a few layers may be begun anew on purpose. */
const MOST_OTHER = 0.5;

function reset(event: LedgerEvent): Found {
  const [count, of] = [numberIn(event, 'tensors') ?? 0, numberIn(event, 'of') ?? 0];
  return fault({
    harm: count,
    kind: 'reset',
    sentence: `${count} of ${tensors(of)} that were loaded${at(event.place)} have nothing in common with what was loaded when the training begins: ${named(event.names, count)}.`,
    note: 'They were initialised again, or loaded over: load last, after everything that initialises.',
    given: { loaded: event.place ?? null, tensors: event.names, of },
  });
}

function nothing(event: LedgerEvent): Found {
  const given = Array.isArray(event.values.given) ? event.values.given.map(String) : [];
  return fault({
    harm: 1,
    kind: 'not loaded',
    sentence: `load_state_dict()${at(event.place)} found none of the model's names in what it was given, and loaded nothing: the model has ${named(event.names)}, the checkpoint ${named(given)}.`,
    note: 'strict=False says nothing of it. Take the prefix off the names ("module.", "_orig_mod."), and look at the keys that it returns.',
    given: { place: event.place ?? null, own: event.names, given },
  });
}

function partly(event: LedgerEvent): LedgerNotice {
  const [count, of] = [numberIn(event, 'tensors') ?? 0, numberIn(event, 'of') ?? 0];
  return {
    sentence: `${count} of ${tensors(of)} that were loaded${at(event.place)} have nothing in common with what was loaded when the training begins: ${named(event.names, count)}. Right for layers that begin anew on purpose.`,
    answers: [],
    remark: true,
  };
}

// --- tied weights ---

const tied: LedgerProperty = {
  id: 'update/tied-weights-are-one',
  title: 'Weights that the configuration ties are one tensor',
  stage: 'update',
  level: 'must',
  why: 'Tied weights that became two drift apart. Only one of them is saved, and the other is lost without a warning.',
  catches: ['OPT-06'],
  needs: ({ events }) =>
    events.some(({ what }) => what === 'tied' || what === 'untied')
      ? undefined
      : 'no model declares that its embeddings are tied to its head',
  judge: (ledger) => {
    const apart = eventsOf(ledger, 'untied');
    const declared = apart.filter(({ values }) => values.declared === true);
    const both = declared.filter((event) => areTrained(ledger, event));
    const copies = apart.filter(({ values }) => values.declared !== true);
    return {
      ...judgementOf(
        eventsOf(ledger, 'tied').length + both.length,
        [
          ...asides(declared.length - both.length, 'one of the tensors is frozen or has no gradient'),
          ...asides(copies.length, 'the configuration does not tie the two tensors'),
        ],
        both.map(untied),
      ),
      notices: copies.slice(0, 1).map(({ names }) => ({
        sentence: `${named(names)} are equal to the bit, and two tensors: each is trained by itself from here on. Right where they only begin alike.`,
        answers: [],
        remark: true,
      })),
    };
  },
};

/** The two are trained each by itself: that one of them is frozen, or unused, is another matter. */
const areTrained = ({ updates }: Ledger, { names, rank }: LedgerEvent): boolean =>
  names.every((name) =>
    updates.some(
      (update) =>
        update.rank === rank &&
        update.tensors.some((tensor) => tensor.name === name && (tensor.norm ?? 0) > 0),
    ),
  );

function untied(event: LedgerEvent): Found {
  const equal = event.values.equal === true ? ', equal to the bit when the training begins' : '';
  return fault({
    harm: 1,
    kind: 'untied',
    sentence: `The configuration says tie_word_embeddings, and ${named(event.names)} are two tensors${equal}: each gets a gradient and an update of its own.`,
    note: 'They came apart in loading, casting, copying or wrapping: call model.tie_weights() afterwards, before the optimiser is made.',
    given: { tensors: event.names, ...event.values },
  });
}

export const beginProperties: readonly LedgerProperty[] = [loaded, tied];
