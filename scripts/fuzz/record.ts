// The table of what each reader has been through since something was last found in it: read from the page it stands on, and written there.
import { measuredIn, writeMeasured } from '../docs/measured.ts';
import type { Told } from './watch.ts';

const PAGE = 'hostile.md';
const HEAD = [
  '| reader | minutes of a processor | damaged files | slowest | memory |',
  '| --- | --: | --: | --: | --: |',
];

export const NOTHING: Told = { inputs: 0, seconds: 0, slowest: 0, memory: 0 };

/** Of two times, one behind the other. */
export function together(one: Told, other: Told): Told {
  return {
    inputs: one.inputs + other.inputs,
    seconds: one.seconds + other.seconds,
    slowest: Math.max(one.slowest, other.slowest),
    memory: Math.max(one.memory, other.memory),
  };
}

export function recorded(): Map<string, Told> {
  const lines = measuredIn(PAGE, 'fuzz').slice(HEAD.length);
  return new Map(
    lines.map((line) => {
      const [reader = '', minutes, inputs, slowest, memory] = line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim().replaceAll(',', ''));
      const told = {
        inputs: Number.parseInt(inputs ?? '', 10),
        seconds: 60 * Number.parseFloat(minutes ?? ''),
        slowest: Number.parseFloat(slowest ?? ''),
        memory: 2 ** 20 * Number.parseFloat(memory ?? ''),
      };
      return [reader, told];
    }),
  );
}

export function record(all: ReadonlyMap<string, Told>): void {
  const rows = [...all].map(([reader, told]) => `| ${[reader, ...cellsOf(told)].join(' | ')} |`);
  writeMeasured(PAGE, 'fuzz', [...HEAD, ...rows]);
}

export function cellsOf({ inputs, seconds, slowest, memory }: Told): readonly string[] {
  return [
    (seconds / 60).toFixed(1),
    inputs.toLocaleString('en'),
    `${slowest.toFixed(0)} ms`,
    `${(memory / 2 ** 20).toFixed(0)} MiB`,
  ];
}
