// The reports that a run can be written as, one table for `check` and `report`: an option, what it is, and the pure
// function that makes it.
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { runLines } from '../../report/machine/ndjson.ts';
import type { Run } from '../../report/runs.ts';
import type { Context, Problem } from '../context.ts';
import { asTyped } from '../typed.ts';
import { type WebhookOptions, webhookProblem } from './webhook.ts';
import { unwritable, writeWhole } from './written.ts';

interface Output {
  readonly what: string;
  readonly render: (runs: readonly Run[]) => Promise<string>;
}

/** Loaded when asked for: most runs print on the terminal only. */
const OUTPUTS = {
  html: {
    what: 'HTML page with strips, numbers and smallest cases',
    render: async (runs) => (await import('../../report/html/run/report.ts')).htmlReport(runs),
  },
  junit: {
    what: 'JUnit XML',
    render: async (runs) => (await import('../../report/machine/junit.ts')).junitReport(runs),
  },
  findings: {
    what: 'what fails and what to type next, as JSON for programs',
    render: async (runs) => (await import('../../report/machine/findings.ts')).findingsJson(runs),
  },
  events: {
    what: 'write the run as JSON lines, for `lossproof report`',
    render: async (runs) => runLines(runs),
  },
  sarif: {
    what: 'SARIF, for code scanning',
    render: async (runs) => (await import('../../report/machine/sarif.ts')).sarifReport(runs),
  },
  badge: {
    what: 'write a badge for shields.io',
    render: async (runs) => (await import('../../report/machine/badge.ts')).badgeJson(runs),
  },
  markdown: {
    what: 'write a summary for a pull request or a job',
    render: async (runs) => (await import('../../report/machine/markdown.ts')).markdownSummary(runs),
  },
} satisfies Readonly<Record<string, Output>>;

export type OutputName = keyof typeof OUTPUTS;
export const NAMES = Object.keys(OUTPUTS) as OutputName[];

/** In the place of a file. */
export const STANDARD_OUTPUT = '-';

/** Where each output goes, as typed. */
export type OutputOptions = { readonly [N in OutputName]?: string } & WebhookOptions;

export function addOutputOptions(command: Command): Command {
  command.optionsGroup('Outputs:');
  for (const name of NAMES) command.addOption(new Option(`--${name} <file>`, OUTPUTS[name].what));
  return command.option('--webhook <url>', 'post the verdict to a chat, as Slack takes it');
}

export interface Outputs {
  /** Names of the files, as typed. */
  readonly files: readonly string[];
  /** One of them is standard output, which then belongs to it. */
  readonly onStandardOutput: boolean;
  /** Writes them all but `without`; what could not be written, one sentence each. */
  write(runs: readonly Run[], without?: OutputName): Promise<readonly string[]>;
}

/** What makes an output in the place of what the table has: a traced run's page has its rows on it. */
export type Renderers = { readonly [N in OutputName]?: Output['render'] };

/** The outputs that were asked for. Each file is proved writable now, before minutes are spent. */
export function openOutputs(
  options: OutputOptions,
  { cwd, out }: Pick<Context, 'cwd' | 'out'>,
  instead: Renderers = {},
): Outputs | Problem {
  const wrong = webhookProblem(options);
  if (wrong !== undefined) return wrong;
  const asked = NAMES.flatMap((name) => {
    const file = options[name];
    return file === undefined ? [] : [{ name, file, path: resolve(cwd, file) }];
  });
  for (const [at, { name, file, path }] of asked.entries()) {
    const other = asked.slice(0, at).find((each) => each.path === path);
    if (other !== undefined) return { problem: `--${other.name} and --${name} name the same file, ${file}` };
    const why = file === '' ? 'needs a name' : file === STANDARD_OUTPUT ? undefined : unwritable(path);
    if (why !== undefined) return { problem: `--${name}: ${file} ${why}` };
  }
  return {
    files: asked.map(({ file }) => file).filter((file) => file !== STANDARD_OUTPUT),
    onStandardOutput: asked.some(({ file }) => file === STANDARD_OUTPUT),
    async write(runs, without) {
      const problems: string[] = [];
      for (const { name, file, path } of asked) {
        if (name === without) continue;
        const text = await (instead[name] ?? OUTPUTS[name].render)(runs);
        if (file === STANDARD_OUTPUT) out.write(text, 'document');
        const why =
          file === STANDARD_OUTPUT ? undefined : writeWhole(path, name === 'events' ? text : asTyped(text));
        if (why !== undefined) problems.push(`--${name}: ${file} ${why}`);
      }
      return problems;
    },
  };
}
