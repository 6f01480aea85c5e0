// The gradient of each tensor beside the slope of the loss along it, where --slopes had that measured.
import { type LedgerEvent, type LedgerNotice, type LedgerProperty, show } from '../../../src/index.ts';
import { judgementOf } from '../words.ts';
import { at, eventsOf, named, tensors } from './made.ts';

const slopes: LedgerProperty = {
  id: 'update/gradients-are-slopes',
  title: 'The loss changes along the gradient of each tensor by what the gradient says',
  stage: 'update',
  level: 'should',
  why: 'A backward pass of its own inside of the model (a fused norm, a gather, an adapter) may be wrong while the loss is right: training only becomes worse.',
  catches: ['OPT-12'],
  needs: (ledger) =>
    eventsOf(ledger, 'slope').length > 0
      ? undefined
      : 'no tensor was moved along its gradient; --slopes does that in one step, with two forward passes per tensor (float32, one process)',
  judge: (ledger) => {
    const events = eventsOf(ledger, 'slope').map((event) => ({ event, slopes: slopesIn(event) }));
    const notices = events.flatMap(({ event, slopes: each }) => noticeOf(event, each));
    return {
      ...judgementOf(
        events.reduce((sum, { slopes: each }) => sum + each.length, 0),
        [],
        [],
      ),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

interface Slope {
  readonly name: string;
  /** 1: as the gradient says. What multiplies all gradients, as clipping does, is taken out. */
  readonly ratio: number;
}

function slopesIn({ names, values }: LedgerEvent): readonly Slope[] {
  const given = Array.isArray(values.ratios) ? values.ratios : [];
  return names.flatMap((name, i): Slope[] => {
    const ratio: unknown = given[i];
    return typeof ratio === 'number' ? [{ name, ratio }] : [];
  });
}

function noticeOf(event: LedgerEvent, all: readonly Slope[]): readonly LedgerNotice[] {
  const off = all.filter(({ ratio }) => Math.abs(ratio - 1) > OFF).toSorted((a, b) => farOf(b) - farOf(a));
  const [first] = off;
  if (first === undefined) return [];
  const told = off.map(({ name, ratio }) => `${name} (${show(Number(ratio.toPrecision(3)))})`);
  return [
    {
      sentence: `Along the gradients of ${off.length} of ${tensors(all.length)}, the loss of step ${event.step}${at(event.place)} does not change by what they say, but by other times that: ${named(told)}. Their backward pass is wrong, or a detach() or a straight-through estimator is in it on purpose.`,
      answers: [],
      asked: true,
    },
  ];
}

/** Twice is as far off as half; another sign is farthest. */
const farOf = ({ ratio }: Slope): number =>
  ratio > 0 ? Math.abs(Math.log(ratio)) : Number.POSITIVE_INFINITY;

/** Of a difference of two losses in float32, and of what the loss bends within it, which the tracer takes out. */
const OFF = 0.03;

export const slopeProperties: readonly LedgerProperty[] = [slopes];
