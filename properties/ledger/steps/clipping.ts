// Clipping: of the whole gradient, of the true one, and before the step that uses it.
import type { LedgerEvent, LedgerProperty } from '../../../src/index.ts';
import { show } from '../../../src/index.ts';
import { type Aside, aside, type Found, judgementFrom, type Said } from '../words.ts';
import { at, eventsOf, fault, groupedBy, named, numberIn, tensors } from './made.ts';

const clipping: LedgerProperty = {
  id: 'update/clipping-is-of-the-whole-gradient',
  title: 'Gradients are clipped once they are whole, all of them, unscaled, before the step',
  stage: 'update',
  level: 'should',
  why: 'Clipping that comes too late, too early, or sees a part bounds nothing; of scaled gradients it leaves next to nothing.',
  catches: ['OPT-09'],
  needs: ({ events }) =>
    events.some(({ what }) => what === 'clip')
      ? undefined
      : 'no call of torch.nn.utils.clip_grad_norm_ was seen',
  judge: (ledger) => {
    const steps = groupedBy(eventsOf(ledger, 'clip'), ({ rank, step }) => `${rank} ${step}`);
    return judgementFrom([...steps.values()].map(sayOf));
  },
};

function sayOf(clips: readonly LedgerEvent[]): Said {
  const [first] = clips;
  const unknown = aside('no backward pass was seen to bring the gradients that are clipped');
  if (first === undefined) return unknown;
  const passes = Math.max(...clips.map((clip) => numberIn(clip, 'of_passes') ?? 0));
  // A second optimiser of the step, or gradients that no backward pass brought: when it was is not known.
  if (passes === 0) return unknown;
  const late = clips.filter((clip) => numberIn(clip, 'passes') === passes);
  const scaled = clips.find((clip) => (numberIn(clip, 'scale') ?? 1) !== 1);
  if (scaled !== undefined) return onScaled(scaled);
  if (late.length === 0)
    return clips.every((clip) => numberIn(clip, 'passes') === 0) ? behind(first) : tooEarly(clips, passes);
  const empty = late.find((clip) => numberIn(clip, 'given') === 0);
  const seen = late.filter((clip) => (numberIn(clip, 'held') ?? 0) > 0);
  if (seen.length === 0) return empty === undefined ? ofOthers(late) : nothing(empty);
  const [one = [], ...others] = seen.map(({ names }) => names);
  const missed = one.filter((name) => others.every((names) => names.includes(name)));
  const least = Math.min(...seen.map((clip) => numberIn(clip, 'left') ?? 0));
  return missed.length === 0
    ? 'good'
    : part(seen[0] ?? first, missed, others.length > 0 ? missed.length : least);
}

function onScaled(clip: LedgerEvent): Found {
  return fault({
    harm: 1,
    kind: 'scaled',
    sentence: `${functionOf(clip)}${at(clip.place)} clips the gradients of step ${clip.step} to ${show(numberIn(clip, 'bound') ?? 0)} while the gradient scaler's factor ${show(numberIn(clip, 'scale') ?? 1)} is still on them: what is left of them is that much too small.`,
    note: 'Call scaler.unscale_(optimizer) before clipping.',
    given: { step: clip.step, place: clip.place ?? null, ...clip.values },
  });
}

function behind(clip: LedgerEvent): Found {
  return fault({
    harm: 1,
    kind: 'behind',
    sentence: `${functionOf(clip)}${at(clip.place)} is called after step ${clip.step - 1}, and nothing clips the gradients of step ${clip.step} before it is made: it bounds gradients that were used already.`,
    note: 'Clip between the last backward pass and step().',
    given: { step: clip.step, place: clip.place ?? null, ...clip.values },
  });
}

function tooEarly(clips: readonly LedgerEvent[], passes: number): Found {
  const last = clips.at(-1);
  const after = Math.max(...clips.map((clip) => numberIn(clip, 'passes') ?? 0));
  return fault({
    harm: passes - after,
    kind: 'early',
    sentence: `${last === undefined ? 'Clipping' : functionOf(last)}${at(last?.place)} is called after ${after} of ${passes} backward passes of step ${last?.step}, and not after the last: the step uses other gradients than the bounded ones.`,
    note: 'Clip once, after the last micro-batch and before step().',
    given: { step: last?.step ?? null, place: last?.place ?? null, passes, clipped_behind: after },
  });
}

function nothing(clip: LedgerEvent): Found {
  return fault({
    harm: 1,
    kind: 'nothing',
    sentence: `${functionOf(clip)}${at(clip.place)} was given no tensor in step ${clip.step}: it clips nothing.`,
    note: 'model.parameters() is used up once it was gone through: call it again, or keep a list.',
    given: { step: clip.step, place: clip.place ?? null, ...clip.values },
  });
}

/** No call of the step was given a tensor of its optimiser, which may have a reason: another optimiser's are clipped, and not its own. */
function ofOthers(clips: readonly LedgerEvent[]): Found | Aside {
  const others = aside('the optimiser of the step holds nothing of what is clipped');
  const [first] = clips;
  if (first === undefined || !clips.every((clip) => (numberIn(clip, 'of') ?? 0) > 0)) return others;
  if (clips.every((clip) => numberIn(clip, 'gradients') === 0))
    return inVain(first, 'none of which has a gradient', 'it clips nothing');
  if (clips.every((clip) => clip.values.copies === true))
    return inVain(
      first,
      'copies of those that its optimiser holds',
      "the copies' gradients are clipped, and not those that the step uses",
    );
  return others;
}

function inVain(clip: LedgerEvent, what: string, so: string): Found {
  return fault({
    harm: 1,
    kind: 'in vain',
    sentence: `${functionOf(clip)}${at(clip.place)} was given ${tensors(numberIn(clip, 'given') ?? 0)} in step ${clip.step}, ${what}: ${so}.`,
    note:
      clip.values.engine === undefined
        ? 'Hand it the parameters that the optimiser holds, not their gradients and no copies: it clips the .grad of what it is given, in place.'
        : 'DeepSpeed keeps the gradients in partitions of its own: set gradient_clipping in its configuration.',
    given: { step: clip.step, place: clip.place ?? null, ...clip.values },
  });
}

function part(clip: LedgerEvent, missed: readonly string[], count: number): Found {
  const of = numberIn(clip, 'of') ?? 0;
  return fault({
    harm: count,
    kind: 'part',
    sentence: `${functionOf(clip)}${at(clip.place)} was given ${of - count} of the ${tensors(of)} that the optimiser holds and that have a gradient in step ${clip.step}: ${named(missed, count)} ${count === 1 ? 'is' : 'are'} not bounded, nor part of the norm.`,
    note: 'Hand it the parameters of the optimiser, all groups of it.',
    given: { step: clip.step, place: clip.place ?? null, missed, ...clip.values },
  });
}

const functionOf = ({ values }: LedgerEvent): string => String(values.function);

export const clippingProperties: readonly LedgerProperty[] = [clipping];
