// Which loss is updated when. In every mode an enabled loss runs as often as it should, by whoever is named to do it;
// nothing is left out in silence.
import {
  discard,
  dueLosses,
  type Finding,
  type Mode,
  many,
  type Need,
  type Ok,
  PHASES,
  type Property,
  redrawn,
  type Scheduled,
  type Subject,
  scheduled,
  scheduledLabels,
  type World,
} from '../../src/index.ts';

const lossesOf = (world: World): readonly string[] => world.hello.ops.schedule?.losses ?? [];
const modesOf = (world: World): readonly Mode[] => world.hello.ops.schedule?.modes ?? [];
const optionalOf = (world: World): Readonly<Record<string, string>> =>
  world.hello.ops.schedule?.optional_trainers ?? {};

const declared: Need = (world) =>
  lossesOf(world).length > 0 && modesOf(world).length > 0
    ? undefined
    : 'op `schedule` declares no losses or no modes';
const hasMode =
  (...modes: readonly Mode[]): Need =>
  (world) =>
    modes.some((mode) => modesOf(world).includes(mode))
      ? undefined
      : `the trainer has no ${modes.join(' or ')} mode`;
const hasOptional: Need = (world) =>
  lossesOf(world).some((loss) => optionalOf(world)[loss] !== undefined)
    ? undefined
    : 'op `schedule` declares no optional trainers';

const inModes =
  (...modes: readonly Mode[]) =>
  (world: World) =>
    scheduled(
      lossesOf(world),
      modesOf(world).filter((mode) => modes.includes(mode)),
      world.hello.ops.schedule?.always_enabled,
    );
const everyMode = inModes('parallel', 'sequential', 'alternating');

const base = {
  stage: 'schedule',
  ops: ['schedule'],
  level: 'must',
  needs: [declared],
  given: everyMode,
  labels: scheduledLabels,
} as const;

/** Enabled losses whose trainer may not be installed. */
const missingIn = (world: World, { enabled }: Scheduled): readonly string[] =>
  enabled.filter((loss) => optionalOf(world)[loss] !== undefined);

/** Everything is installed, unless a check is about that. */
async function ask(subject: Subject, drawn: Scheduled): Promise<Ok<'schedule'>['updates']> {
  const optional = [...new Set(Object.values(optionalOf(subject)))];
  return (await subject.ask('schedule', { ...drawn, optional })).updates;
}

const named = (losses: readonly string[] | undefined): string =>
  losses === undefined || losses.length === 0 ? 'nothing' : losses.join(', ');
const setting = ({ mode, enabled, frequencies }: Scheduled): string =>
  `in mode ${mode} with ${enabled.map((loss) => `${loss} at frequency ${frequencies[loss]}`).join(', ')}`;

function wrongCount(drawn: Scheduled, updates: readonly unknown[]): Finding | undefined {
  return updates.length === drawn.iterations
    ? undefined
    : {
        kind: 'iterations',
        sentence: `${many(drawn.iterations, 'iteration')} ${setting(drawn)} have updates for ${updates.length}.`,
      };
}

/** `losses` in the order that the trainer declares. */
const inOrder = (world: World, losses: readonly string[]): string[] =>
  lossesOf(world).filter((loss) => losses.includes(loss));

const sameLosses = (left: readonly string[] = [], right: readonly string[] = []): boolean =>
  [...left].sort().join('\n') === [...right].sort().join('\n');

export const scheduleProperties: readonly Property<Scheduled>[] = [
  {
    ...base,
    id: 'schedule/no-enabled-loss-is-skipped',
    title: 'Every enabled loss is updated within as many iterations as its frequency, or as there are losses',
    why: 'A loss whose turn never comes is 0 in the log, or not in it, and the run looks well.',
    catches: ['ZL-01'],
    coverage: { 'several losses': 0.15 },
    async check(subject, drawn) {
      const longest = Math.max(drawn.enabled.length, ...Object.values(drawn.frequencies));
      const whole = { ...drawn, iterations: Math.max(drawn.iterations, longest) };
      const updates = await ask(subject, whole);
      const never = whole.enabled.find((loss) => !updates.some((losses) => losses.includes(loss)));
      return never === undefined
        ? undefined
        : {
            kind: 'skipped',
            sentence: `Loss "${never}" is enabled, and is not updated once in ${many(whole.iterations, 'iteration')} ${setting(whole)}.`,
          };
    },
  },
  {
    ...base,
    id: 'schedule/disabled-losses-are-not-updated',
    title: 'A loss that is not enabled is never updated',
    why: 'A loss that is switched off and trains all the same is in every ablation that was meant to be without it.',
    catches: [],
    async check(subject, drawn) {
      const updates = await ask(subject, drawn);
      for (const [at, losses] of updates.entries()) {
        const other = losses.find((loss) => !drawn.enabled.includes(loss));
        if (other !== undefined)
          return {
            kind: 'not enabled',
            sentence: `Iteration ${at} updates "${other}", which is not among the enabled losses ${named(drawn.enabled)}.`,
          };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'schedule/frequencies-are-honoured',
    title: 'In parallel and sequential mode a loss of frequency f is updated once in every f iterations',
    why: 'A frequency that is off by one, or that counts something else, changes the balance of the losses.',
    catches: [],
    needs: [declared, hasMode('parallel', 'sequential')],
    given: inModes('parallel', 'sequential'),
    coverage: { 'frequency above 1': 0.2, 'every loss is due twice': 0.15 },
    async check(subject, drawn) {
      const updates = await ask(subject, drawn);
      const count = wrongCount(drawn, updates);
      if (count !== undefined) return count;
      const misses = PHASES.map((phase) => {
        const due = dueLosses(drawn.iterations, drawn.enabled, drawn.frequencies, phase);
        return { due, at: updates.findIndex((losses, i) => !sameLosses(losses, due[i])) };
      });
      if (misses.some(({ at }) => at < 0)) return undefined;
      // The phase that holds longest is the one that is meant.
      const { due, at } = misses.reduce((best, each) => (each.at > best.at ? each : best));
      return {
        kind: 'frequency',
        sentence: `Iteration ${at} updates ${named(updates[at])}, expected ${named(due[at])}, ${setting(drawn)}.`,
        note: 'Due are iterations 0, f, 2f, ... of all losses, or f - 1, 2f - 1, ... of all losses.',
      };
    },
  },
  {
    ...base,
    id: 'schedule/sequential-keeps-the-order',
    title: 'In sequential mode the losses of an iteration are updated in the declared order',
    why: 'The second model is trained on what the first one says; the other way round it is trained on the last step.',
    catches: [],
    needs: [declared, hasMode('sequential')],
    given: inModes('sequential'),
    async check(subject, drawn) {
      const updates = await ask(subject, drawn);
      const at = updates.findIndex((losses) => losses.join('\n') !== inOrder(subject, losses).join('\n'));
      return at < 0
        ? undefined
        : {
            kind: 'order',
            sentence: `Iteration ${at} updates ${named(updates[at])}, expected ${named(inOrder(subject, updates[at] ?? []))}, ${setting(drawn)}.`,
          };
    },
  },
  {
    ...base,
    id: 'schedule/alternating-takes-turns',
    title: 'In alternating mode each iteration updates one enabled loss, in turn',
    why: 'An alternation that updates both, or one of them for ever, is another mode under its name.',
    catches: [],
    needs: [declared, hasMode('alternating')],
    given: inModes('alternating'),
    coverage: { 'several losses': 0.15 },
    async check(subject, drawn) {
      const updates = await ask(subject, drawn);
      const count = wrongCount(drawn, updates);
      if (count !== undefined) return count;
      const turns = inOrder(subject, drawn.enabled);
      // Whose turn is first is the trainer's choice.
      const first = Math.max(0, turns.indexOf(updates[0]?.[0] ?? ''));
      const at = updates.findIndex((losses, i) => !sameLosses(losses, [turnOf(turns, first + i)]));
      return at < 0
        ? undefined
        : {
            kind: 'turn',
            sentence: `Iteration ${at} updates ${named(updates[at])}, expected ${turnOf(turns, first + at)}, in mode alternating with ${named(turns)}.`,
          };
    },
  },
  {
    ...base,
    id: 'schedule/missing-trainers-are-refused-or-replaced',
    title:
      'An enabled loss whose trainer is not installed is refused, or trained by a fallback that is named',
    why: 'An import that fails without an error removes a loss: the run goes on, and one model is never trained.',
    catches: ['ZL-01'],
    needs: [declared, hasOptional],
    given: (world) => redrawn(everyMode(world), (drawn) => missingIn(world, drawn).length > 0),
    async check(subject, drawn) {
      const needed = optionalOf(subject);
      const missing = missingIn(subject, drawn);
      if (missing.length === 0) return discard('no enabled loss has an optional trainer');
      const installed = await ask(subject, drawn);
      const outcome = await subject.attempt('schedule', { ...drawn, optional: [] });
      if ('refused' in outcome) return undefined;
      const { updates, trainers } = outcome.ok;
      for (const loss of missing) {
        const trainer = trainers?.[drawn.enabled.indexOf(loss)];
        if (trainer === undefined)
          return {
            kind: 'unnamed',
            sentence: `The trainer "${needed[loss]}" of loss "${loss}" is not installed, and the answer does not say who trains it: refuse it, or name the fallback in \`trainers\`.`,
          };
        if (trainer === needed[loss])
          return {
            kind: 'not installed',
            sentence: `Loss "${loss}" is said to be trained by "${trainer}", which is not installed.`,
          };
        const at = updates.findIndex((losses, i) => losses.includes(loss) !== installed[i]?.includes(loss));
        if (at >= 0 || updates.length !== installed.length)
          return {
            kind: 'no-op',
            sentence: `Without "${needed[loss]}" iteration ${at} updates ${named(updates[at])}, with it ${named(installed[at])}: the fallback "${trainer}" of loss "${loss}" does not take its place.`,
          };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'schedule/installed-trainers-are-used',
    title: 'An enabled loss whose trainer is installed is trained by it',
    why: 'A fallback that is always taken is a comparison of the built-in trainer with itself.',
    catches: [],
    needs: [declared, hasOptional],
    async check(subject, drawn) {
      const needed = optionalOf(subject);
      const optional = [...new Set(Object.values(needed))];
      const { trainers } = await subject.ask('schedule', { ...drawn, optional });
      if (trainers === undefined) return discard('the answer names no trainers', 'trainer');
      const at = drawn.enabled.findIndex(
        (loss, i) => needed[loss] !== undefined && trainers[i] !== needed[loss],
      );
      const loss = drawn.enabled[at];
      return loss === undefined
        ? undefined
        : {
            kind: 'unused',
            sentence: `The trainer "${needed[loss]}" of loss "${loss}" is installed, but it is trained by ${trainers[at] === undefined ? 'nobody' : `"${trainers[at]}"`}.`,
          };
    },
  },
];

const turnOf = (turns: readonly string[], at: number): string => turns[at % turns.length] ?? '';
