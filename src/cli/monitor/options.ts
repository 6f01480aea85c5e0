// The options of `monitor`, and what of them stands in the configuration. What is typed wins.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Level } from '../../vocabulary.ts';
import { splitNames } from '../check/select.ts';
import type { LoadedConfig } from '../config/config.ts';
import { collect, levelName, seconds } from '../options.ts';
import { addOutputOptions, type OutputOptions } from '../outputs/outputs.ts';

export interface MonitorOptions extends OutputOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly rollouts?: readonly string[];
  readonly baseline?: readonly string[];
  readonly preset?: string;
  /** `RULE.SETTING=VALUE`, as typed. */
  readonly set?: readonly string[];
  /** `NAME=ROLE`, as typed. */
  readonly series?: readonly string[];
  /** `NAME=VALUE`, as typed. */
  readonly fact?: readonly string[];
  readonly expect?: readonly string[];
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly known?: string;
  readonly tokenizer?: string;
  readonly config?: string;
  readonly interval: number;
  readonly idle?: number;
  readonly keepGoing?: boolean;
  readonly quiet?: boolean;
  /** False where --no-annotations was typed. */
  readonly annotations: boolean;
}

export function addMonitorOptions(command: Command): Command {
  command
    .option('--follow', 'keep reading while the job runs; with a live view')
    .option('--json', 'one JSON object per line: each violation at once, the verdict at the end')
    .option('--rollouts <path>', 'JSON lines of prompts and completions; repeatable', collect)
    .option(
      '--baseline <path>',
      'logs of a healthy run of the same task to compare with; repeatable',
      collect,
    )
    .option('--preset <name>', 'group of rules: grpo, tools, zero-loss')
    .option('--set <rule.setting=value>', 'change one setting of a rule; repeatable', collect)
    .option('--series <name=role>', 'role of a series with an unknown name; repeatable', collect)
    .option('--fact <name=value>', 'fact that the run does not log; repeatable', collect)
    .option('--expect <names>', 'losses that must be logged and not be 0; separated by commas', collect)
    .option('--only <ids>', 'rules by id or glob, separated by commas; repeatable', collect)
    .option('--level <level>', 'rules up to must, should (default) or may', levelName)
    .option('--known <file>', 'known failures, with their reasons')
    .option('--tokenizer <dir>', 'folder with tokenizer.json; for the rules about ids of rollouts')
    .option(
      '--config <file>',
      'configuration (default: lossproof.config.* here or in a parent folder of the project)',
    )
    .option('--interval <seconds>', 'seconds between two readings, with --follow', seconds, DEFAULT_INTERVAL)
    .option('--idle <seconds>', 'end after this time without new values, with --follow', seconds)
    .option('--keep-going', 'do not end at the first rule of level must that fails, with --follow')
    .option('--quiet', 'failures and the final line only')
    .option('--no-annotations', 'no annotations on GitHub');
  return addOutputOptions(command);
}

/** In the place of a path: standard input. */
export const PIPED = '-';

/** A sentence about words that do not go together. */
export function conflict(typed: readonly string[], options: MonitorOptions): string | undefined {
  if (typed.includes(PIPED))
    return typed.length + (options.rollouts?.length ?? 0) > 1
      ? 'standard input is read alone: - stands beside no other path'
      : undefined;
  if (options.rollouts?.includes(PIPED))
    return 'rollouts on standard input are told by what stands in them: `lossproof monitor -`';
  if (options.follow === true) return undefined;
  const lone =
    options.idle !== undefined ? '--idle' : options.keepGoing === true ? '--keep-going' : undefined;
  return lone === undefined ? undefined : `${lone} is for --follow`;
}

/** Seconds: loggers flush rarely more often. */
const DEFAULT_INTERVAL = 2;

/** What a run of `monitor` is about: options and configuration, together. */
export interface Meant {
  readonly paths: readonly string[];
  readonly rollouts: readonly string[];
  readonly baselines: readonly string[];
  readonly preset: string | undefined;
  /** Setting to value, still as texts; the later win. */
  readonly set: readonly (readonly [string, string])[];
  readonly series: readonly (readonly [string, string])[];
  readonly facts: readonly (readonly [string, string])[];
  readonly expect: readonly string[];
  readonly only: readonly string[];
  /** As typed. */
  readonly level: Level | undefined;
  /** Where none is typed. */
  readonly usualLevel: Level;
  readonly known: string | undefined;
}

/** The problem is a sentence about an option that is no `name=value`. */
export function meantOf(
  typed: readonly string[],
  options: MonitorOptions,
  loaded: LoadedConfig | undefined,
): Meant | { readonly problem: string } {
  const { monitor = {} } = loaded?.config ?? {};
  const pairs: Record<'set' | 'series' | 'fact', (readonly [string, string])[]> = {
    set: entriesOf(monitor.set),
    series: entriesOf(monitor.series),
    fact: entriesOf(monitor.facts),
  };
  for (const name of ['set', 'series', 'fact'] as const) {
    for (const word of options[name] ?? []) {
      const at = word.indexOf('=');
      if (at < 1 || at === word.length - 1)
        return { problem: `--${name}: "${word}" should be ${EXAMPLES[name]}` };
      pairs[name].push([word.slice(0, at), word.slice(at + 1)]);
    }
  }
  const only = splitNames(options.only ?? listOf(monitor.only));
  return {
    // Paths of a configuration start where it lies.
    paths: typed.length > 0 ? typed : listOf(monitor.paths).map((path) => fromConfig(path, loaded)),
    rollouts: typed.includes(PIPED)
      ? []
      : (options.rollouts ?? listOf(monitor.rollouts).map((path) => fromConfig(path, loaded))),
    baselines: options.baseline ?? listOf(monitor.baseline).map((path) => fromConfig(path, loaded)),
    preset: options.preset ?? monitor.preset,
    set: pairs.set,
    series: pairs.series,
    facts: pairs.fact,
    expect: splitNames(options.expect ?? monitor.expect ?? []),
    only,
    level: options.level,
    usualLevel: monitor.level ?? 'should',
    known: options.known ?? (monitor.known === undefined ? undefined : fromConfig(monitor.known, loaded)),
  };
}

// --- helpers ---

const EXAMPLES = {
  set: 'RULE.SETTING=VALUE, as in --set kl-spike.times=30',
  series: 'NAME=ROLE, as in --series my_kl=kl',
  fact: 'NAME=VALUE, as in --fact max_completion_length=512',
} as const;

function entriesOf(
  record: Readonly<Record<string, string | number | boolean>> = {},
): (readonly [string, string])[] {
  return Object.entries(record).map(([name, value]) => [name, String(value)] as const);
}

function listOf(value: string | readonly string[] = []): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}

function fromConfig(path: string, loaded: LoadedConfig | undefined): string {
  return loaded === undefined ? path : resolve(loaded.folder, path);
}
