// One run as its columns, written in the formats of several trainers, and what all rules say of it through the readers.
import { seriesRules } from '../../../properties/monitor/index.ts';
import { openHistory } from '../../../src/monitor/history/history.ts';
import type { SettingValue } from '../../../src/monitor/rule.ts';
import { event, eventFile, simple } from '../read/bytes.ts';
import { folderOf, opened } from '../read/memory.ts';

export interface Columns {
  readonly series: Readonly<Record<string, readonly (number | undefined)[]>>;
  readonly first?: number;
  readonly every?: number;
  /** The step of each row, of runs that went back. */
  readonly steps?: readonly number[];
  /** What the run declares; in every format as a fact. */
  readonly declared?: Readonly<Record<string, SettingValue>>;
}

export const FORMATS = ['trainer_state.json', 'JSON lines', 'verl console', 'CSV', 'TensorBoard'] as const;
export type Format = (typeof FORMATS)[number];

type Row = readonly [step: number, values: Readonly<Record<string, number>>];

export function rowsOf({ series, first = 1, every = 1, steps }: Columns): Row[] {
  const rows = Math.max(...Object.values(series).map((values) => values.length));
  return Array.from({ length: rows }, (_, at): Row => {
    const pairs = Object.entries(series).flatMap(([name, values]) => {
      const value = values[at];
      return value === undefined ? [] : [[name, value] as const];
    });
    return [steps?.[at] ?? first + at * every, Object.fromEntries(pairs)];
  });
}

/** Name and content of a file. */
export function writtenAs(format: Format, columns: Columns): [string, string | Uint8Array] {
  const rows = rowsOf(columns);
  const names = Object.keys(columns.series);
  switch (format) {
    case 'trainer_state.json':
      return [
        'trainer_state.json',
        JSON.stringify({ epoch: 1, log_history: rows.map(([step, values]) => ({ ...values, step })) }),
      ];
    case 'JSON lines':
      return [
        'metrics.jsonl',
        rows.map(([step, values]) => `${JSON.stringify({ step, ...values })}\n`).join(''),
      ];
    case 'verl console':
      return [
        'verl.log',
        rows
          .map(
            ([step, values]) =>
              `step:${step} - ${Object.entries(values)
                .map(([name, value]) => `${name}:${value}`)
                .join(' - ')}\n`,
          )
          .join(''),
      ];
    case 'CSV':
      return [
        'metrics.csv',
        [
          ['step', ...names].join(','),
          ...rows.map(([step, values]) => [step, ...names.map((name) => values[name] ?? '')].join(',')),
          '',
        ].join('\n'),
      ];
    default:
      return [
        'events.out.tfevents.1.host',
        eventFile(
          ...rows.map(([step, values]) =>
            event(step, ...Object.entries(values).map(([name, value]) => simple(name, value))),
          ),
        ),
      ];
  }
}

export interface Verdict {
  /** Ids of the rules of the default level that fail, with what they say. */
  readonly failed: Readonly<Record<string, string>>;
  readonly remarks: string;
}

/** All rules of the default level over these files of one folder. */
export async function verdictOn(
  files: Readonly<Record<string, string | Uint8Array>>,
  facts: Readonly<Record<string, SettingValue>> = {},
): Promise<Verdict> {
  const failed: Record<string, string> = {};
  const history = openHistory({
    rules: seriesRules.filter(({ level }) => level !== 'may'),
    settingOf: (rule, name) => rule.settings[name]?.default ?? '',
    facts,
    onBroken: ({ rule }, { sentence }) => {
      failed[rule.id.replace('monitor/', '')] = sentence;
    },
  });
  const cwd = folderOf(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`run/${name}`, text])),
  );
  const paths = Object.keys(files).map((name) => `run/${name}`);
  await opened(paths, { cwd }).readAll(history);
  history.end();
  return { failed, remarks: history.remarks().join('\n') };
}

export async function verdictAs(format: Format, columns: Columns): Promise<Verdict> {
  return verdictOn(Object.fromEntries([writtenAs(format, columns)]), columns.declared);
}
