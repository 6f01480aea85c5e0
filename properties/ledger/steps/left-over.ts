// Gradients that a step has used already: left over when the next backward pass begins, or used again without one.
import type { LedgerEvent, LedgerProperty } from '../../../src/index.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import {
  at,
  eventsOf,
  fault,
  madeSteps,
  NOT_LOOKED_AT,
  named,
  needsStep,
  numberIn,
  tensors,
  wasLookedAt,
} from './made.ts';

const leftOver: LedgerProperty = {
  id: 'update/no-gradient-is-used-twice',
  title: 'A step begins with gradients of nothing that an earlier step has used',
  stage: 'update',
  level: 'must',
  why: 'Without zero_grad() every step repeats all steps before it; two calls of step() after one backward pass double the learning rate.',
  catches: ['OPT-02'],
  needs: needsStep,
  judge: (ledger) => {
    // Before the first step there is nothing to be left over.
    const later = madeSteps(ledger).slice(1);
    const seen = later.filter(({ step, made }) => wasLookedAt(ledger, step, made)).length;
    const found = [...eventsOf(ledger, 'left-over').map(kept), ...eventsOf(ledger, 'again').map(again)];
    const judged = Math.max(seen, found.length);
    return judgementOf(judged, asides(later.length - judged, NOT_LOOKED_AT), found);
  },
};

function kept(event: LedgerEvent): Found {
  const count = numberIn(event, 'tensors') ?? event.names.length;
  const of = numberIn(event, 'of') ?? count;
  return fault({
    harm: count,
    kind: 'left over',
    sentence: `The gradients of the step before were still there, to the bit, when the first backward pass of step ${event.step} began, and are part of its step()${at(event.place)}: ${count} of ${tensors(of)} (${named(event.names, count)}).`,
    note: 'Call zero_grad() once in a step, after step() or before the first backward pass, on every trained parameter.',
    given: { step: event.step, place: event.place ?? null, tensors: event.names },
  });
}

function again(event: LedgerEvent): Found {
  const count = numberIn(event, 'tensors') ?? event.names.length;
  return fault({
    harm: count,
    kind: 'again',
    sentence: `The optimiser made a step${at(event.place)} with the gradients of the step before, to the bit, and no backward pass between: ${tensors(count)} (${named(event.names, count)}).`,
    note: 'step() is called twice: by the script and by its trainer, or at two places of the loop.',
    given: { step: event.step, place: event.place ?? null, tensors: event.names },
  });
}

export const leftOverProperties: readonly LedgerProperty[] = [leftOver];
