// Gradient scalers: their factor is off the gradients when the optimiser has them, and they let steps through.
import type { Ledger, LedgerEvent, LedgerProperty } from '../../../src/index.ts';
import { many, show } from '../../../src/index.ts';
import { type Found, judgementOf } from '../words.ts';
import { at, eventsOf, fault, type Made, madeSteps, numberIn } from './made.ts';

const scaler: LedgerProperty = {
  id: 'update/scaler-lets-true-steps-through',
  title: 'Steps are made with unscaled gradients, and some are made',
  stage: 'update',
  level: 'must',
  why: 'optimizer.step() instead of scaler.step() steps with gradients that are 65,536 times too large; a scaler that meets an infinity every time leaves every step out.',
  catches: ['OPT-10'],
  needs: (ledger) =>
    eventsOf(ledger, 'scaled').length > 0 || skippedIn(ledger).length > 0
      ? undefined
      : 'no gradient scaler left a step out, or left its factor on gradients',
  judge: (ledger) => {
    const scaled = eventsOf(ledger, 'scaled').map(onStep);
    const all = madeSteps(ledger);
    const skipped = skippedIn(ledger);
    const none = all.length >= LEAST_SKIPPED && skipped.length === all.length ? [noStep(skipped)] : [];
    return judgementOf(all.length, [], [...none, ...scaled]);
  },
};

/** A scaler begins too high on purpose, and finds its factor in a few steps. */
const LEAST_SKIPPED = 4;

const skippedIn = (ledger: Ledger): readonly { readonly index: number; readonly made: readonly Made[] }[] =>
  madeSteps(ledger)
    .filter(({ made }) => made.some(({ skipped }) => skipped === true))
    .map(({ step, made }) => ({ index: step.index, made }));

function onStep(event: LedgerEvent): Found {
  return fault({
    harm: 1,
    kind: 'scaled',
    sentence: `Step ${event.step}${at(event.place)} is made with gradients that the scaler's factor ${show(numberIn(event, 'scale') ?? 1)} is still on.`,
    note: 'Call scaler.step(optimizer), which takes the factor off, and not optimizer.step().',
    given: { step: event.step, place: event.place ?? null, ...event.values },
  });
}

function noStep(skipped: readonly { readonly index: number }[]): Found {
  return fault({
    harm: skipped.length,
    kind: 'skipped',
    sentence: `The gradient scaler left out all of the ${many(skipped.length, 'step')} that were traced, because a gradient was infinite or NaN in each: nothing was trained.`,
    note: 'A scaler lowers its factor until steps fit; where it never does, the gradients are not finite without it either, or update() is not called.',
    given: { steps: skipped.map(({ index }) => index) },
  });
}

export const scalerProperties: readonly LedgerProperty[] = [scaler];
