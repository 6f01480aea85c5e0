// What all runs came to: a line for each script, what was blamed, and how much of it is to be believed.
import { ENDS, type End, type Outcome, WRONG } from './ask.ts';

export function tableOf(outcomes: readonly Outcome[], build: string): string {
  const scripts = [...new Set(outcomes.map(({ script }) => script))];
  const count = (of: readonly Outcome[], end: End): number => of.filter((each) => each.end === end).length;
  const lines = scripts.map((name) => {
    const own = outcomes.filter(({ script }) => script === name);
    const most = Math.min(...own.filter(({ end }) => end !== 'failed').map((each) => each.most));
    return [name, String(own.length), ...ENDS.map((end) => String(count(own, end) || '')), String(most)];
  });
  const totals = ['all', String(outcomes.length), ...ENDS.map((end) => String(count(outcomes, end))), ''];
  const head = ['script', 'sets', ...ENDS, 'longest row'];
  const older = outcomes.filter((each) => each.build !== build).length;
  const blamed = outcomes.filter(({ end }) => WRONG.includes(end));
  return [
    [head, head.map(() => '---'), ...lines, totals].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    '',
    ...[...groupedBySentence(blamed)].map(([sentence, those]) => `${those}x ${sentence}`),
    `${blamed.length} of ${outcomes.length} runs blamed; build ${build}${
      older === 0 ? '' : `, ${older} runs of an older one: --fresh runs them again`
    }`,
  ].join('\n');
}

/** The same for the documentation: a line for each kind of script. */
export function pageOf(outcomes: readonly Outcome[]): readonly string[] {
  const kinds = [...new Set(outcomes.map(({ script }) => kindOf(script)))].sort();
  const line = (name: string, of: readonly Outcome[]): string => {
    const ends = ENDS.map((end) => (of.filter((each) => each.end === end).length || '').toString());
    return `| ${[name, new Set(of.map(({ script }) => script)).size, of.length, ...ends].join(' | ')} |`;
  };
  return [
    `| scripts | of them | runs | ${ENDS.join(' | ')} |`,
    `| --- |${' --- |'.repeat(ENDS.length + 2)}`,
    ...kinds.map((kind) =>
      line(
        kind,
        outcomes.filter(({ script }) => kindOf(script) === kind),
      ),
    ),
    line('all', outcomes),
  ];
}

// --- helpers ---

/** The folder that its name begins with; those of the first have none. */
function kindOf(script: string): string {
  return /^([a-z]+): /.exec(script)?.[1] ?? 'usual loops and trainers';
}

/** The rule and the first words of its sentence, which stay where numbers change. */
function groupedBySentence(outcomes: readonly Outcome[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { says } of outcomes)
    for (const sentence of new Set(says.map((each) => each.split(': ')[0] ?? each)))
      counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  return counts;
}
