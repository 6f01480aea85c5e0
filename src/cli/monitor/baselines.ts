// The runs of `--baseline`: read by the same readers, each PATH into a history of its own, and refused where a run cannot be
// judged beside them: nothing is read, a rule of level `must` fails in them, or they are of another task.
import type { BaselineRuns } from '../../monitor/beside/beside.ts';
import { summaryOf } from '../../monitor/beside/summary.ts';
import { openLogs } from '../../monitor/files.ts';
import { type History, openHistory, type RunHistory } from '../../monitor/history/history.ts';
import type { RuleWorld, SampleTokens } from '../../monitor/rule.ts';
import { harmless } from '../../report/text/visible.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import type { Held } from './rules.ts';

export interface Baselines {
  readonly runs: readonly RunHistory[];
  /** What rules see of them. */
  readonly summed: BaselineRuns;
}

/** The problem is a sentence that names the PATH. */
export async function readBaselines(
  paths: readonly string[],
  held: Held,
  tokens: SampleTokens | undefined,
  context: Context,
): Promise<Baselines | Problem> {
  const { monitorRules } = await import('../../../properties/monitor/index.ts');
  const rules = monitorRules.filter(
    ({ id, level, baseline }) => level === 'must' && baseline !== true && held.known[id] === undefined,
  );
  const runs: RunHistory[] = [];
  for (const path of paths) {
    const source = openLogs([path], { cwd: context.cwd });
    if (isProblem(source)) return { problem: `--baseline ${path}: ${source.problem}` };
    const history = openHistory({ ...held, rules, ...(tokens === undefined ? {} : { tokens }) });
    try {
      await source.readAll(history);
    } finally {
      source.close();
    }
    history.end();
    const judged = history.runs().filter((run) => summaryOf(run).series.length > 0);
    if (judged.length === 0)
      return {
        problem: `--baseline ${path}: no series with a known name was found there, so nothing can be compared with it.${whyOf(history)}`,
      };
    const problem = brokenIn(judged);
    if (problem !== undefined) return refusal(`--baseline ${path}: ${problem}`);
    for (const run of judged) if (!runs.some(({ name }) => name === run.name)) runs.push(run);
  }
  return { runs, summed: { runs: runs.map(summaryOf) } };
}

/** Why these runs and these baselines are not of one task, as a sentence; undefined: nothing says that they are not. */
export async function otherTask(
  runs: readonly RunHistory[],
  baselines: Baselines,
): Promise<Problem | undefined> {
  const { differenceOfTasks, taskOf } = await import('../../../properties/monitor/beside/task.ts');
  const healthy = baselines.runs.map((run) => ({ name: run.name, task: taskOf(worldOf(run)) }));
  const judged = runs.map((run) => ({ name: run.name, task: taskOf(worldOf(run)) }));
  for (const { name, task } of [...judged, ...healthy]) {
    for (const other of healthy) {
      const difference = differenceOfTasks(task, other.task);
      if (difference !== undefined)
        return refusal(
          `--baseline: ${name} cannot be compared with ${other.name}, because they are different tasks: ${difference}`,
        );
    }
  }
  return undefined;
}

// --- helpers ---

/** Names and values of logs are text of others. */
function refusal(problem: string): Problem {
  return { problem: harmless(problem) };
}

function brokenIn(runs: readonly RunHistory[]): string | undefined {
  for (const { name, rules } of runs) {
    for (const { rule, violations } of rules) {
      const [first] = violations;
      if (first !== undefined)
        return `${name} is not healthy itself, ${rule.id} fails: ${first.sentence} Nothing can be compared with it.`;
    }
  }
  return undefined;
}

function whyOf(history: History): string {
  const [first] = history.complaints();
  return first === undefined ? '' : ` ${first}`;
}

/** A run as rules see it, for what is asked of it without a rule. */
function worldOf(run: RunHistory): RuleWorld {
  return {
    run: run.name,
    setting: () => '',
    declared: (name) => run.declared.get(name),
    series: () => run.series,
    courseOf: (series) => run.stateOf(series).curve?.course(),
  };
}
