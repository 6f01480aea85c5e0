// What `mutate` says before the first change: what there is to change, or why nothing can be said of changes.
import type { Mutation } from '../../mutate/events.ts';
import type { NotGreen } from '../../mutate/run.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';
import type { Plan } from '../check/plan.ts';
import type { Problem } from '../context.ts';
import { commandOf } from '../trainer/trainer.ts';

export function headLines({ start, judged }: Mutation, width: number): readonly string[] {
  const counts = start.files.flatMap(({ shown }, at) => {
    const own = start.changes.filter(({ file }) => file === at).length;
    return own === 0 ? [] : [`${shown} ${own.toLocaleString('en')}`];
  });
  const most = counts.slice(0, MOST_FILES);
  const more = counts.length > most.length ? `, ${counts.length - most.length} more files` : '';
  const stands = judged.length === 0 ? '' : `; going on, ${plural(judged.length, 'verdict')} stand`;
  return [
    `lossproof ${VERSION} · seed ${start.seed}`,
    ...wrap(harmless(`${plural(start.changes.length, 'change')}: ${most.join(', ')}${more}${stands}`), width),
  ];
}

const MOST_FILES = 6;

export function notGreenProblem({ failing }: NotGreen, { choice }: Plan): Problem {
  const [first] = failing;
  const others = failing.length - 1;
  const more = others > 0 ? ` (and ${plural(others, 'more property', 'more properties')})` : '';
  const check = `npx lossproof check${choice.from === 'typed' ? ` -- ${commandOf(choice)}` : ''}`;
  return {
    problem: `the trainer does not hold as it is: ${first?.id}${more}: ${first?.why} Judge the trainer first: ${check}; --known names failures that stay`,
  };
}
