// What the runs came to, as tables for a terminal and for the page.

import type { Fault } from '../../test/monitor/simulated/faults/fault.ts';
import type { Blame, Rate } from '../../test/monitor/simulated/patience.ts';
import type { Detection } from '../../test/monitor/simulated/planted.ts';

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

export const tableOf = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export function rateTable(rates: readonly Rate[], runs: number): string {
  return tableOf(
    ['level', 'healthy runs', 'blamed', 'rate', 'its interval of 95 %', 'allowed'],
    rates.map(({ level, blamed, rate, low, high, allowed }) => [
      `\`${level}\``,
      runs.toLocaleString('en'),
      String(blamed),
      percent(rate),
      `${percent(low)} to ${percent(high)}`,
      Number.isFinite(allowed) ? percent(allowed) : 'advice',
    ]),
  );
}

/** The rules that blame most, and where; the first of each to look at. */
export function offenders(blames: readonly Blame[]): string {
  const rules = [...grouped(blames, ({ rule }) => rule)].sort(([, a], [, b]) => b.length - a.length);
  return rules
    .map(([rule, own]) => {
      const kinds = [...grouped(own, ({ kind }) => kind)].map(([kind, those]) => `${kind} ${those.length}`);
      const shown = own
        .slice(0, SHOWN)
        .map(
          ({ kind, seed, modifiers, sentence }) =>
            `    ${sentence}\n      npm run monitor:patience -- --kinds "${kind}" --seed ${seed} --runs 1 --keep .lossproof/blamed${
              modifiers.length > 0 ? `   (${modifiers.join(', ')})` : ''
            }`,
        );
      return `${own[0]?.level} ${rule}: ${own.length} runs (${kinds.join(', ')})\n${shown.join('\n')}`;
    })
    .join('\n');
}

export function detectionTable(
  all: readonly (readonly [Fault, readonly Detection[]])[],
  runs: number,
): string {
  return tableOf(
    ['fault', 'strength', `found, of ${runs} each`, '', 'its step right'],
    all.map(([{ name, strengthName }, detections]) => [
      name,
      strengthName.replace(
        '#',
        detections
          .map(({ strength }) => (strength === 1000 && strengthName === '# rows' ? 'all' : String(strength)))
          .join(', '),
      ),
      detections.map((each) => whole(each.found, each.runs)).join(', '),
      `\`${detections.map(({ found, runs: of }) => bar(found / Math.max(1, of))).join('')}\``,
      detections.map((each) => (each.found === 0 ? '-' : whole(each.right, each.found))).join(', '),
    ]),
  );
}

/** Which rules found it at its strongest. */
export function findersOf({ name }: Fault, detections: readonly Detection[]): string {
  const { by, runs } = detections.at(-1) ?? { by: new Map<string, number>(), runs: 0 };
  const rules = [...by].sort(([, a], [, b]) => b - a).map(([rule, count]) => `${rule} ${whole(count, runs)}`);
  return `${name}: ${rules.join(', ') || 'none'}`;
}

// --- helpers ---

/** Of each rule. */
const SHOWN = 5;

const whole = (hits: number, of: number): string => `${of === 0 ? '-' : Math.round((100 * hits) / of)} %`;

const BARS = '▁▂▃▄▅▆▇█';
const bar = (share: number): string => BARS[Math.min(BARS.length - 1, Math.floor(share * BARS.length))] ?? '';

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
