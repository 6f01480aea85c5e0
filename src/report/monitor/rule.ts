// What a rule about logs asks for and how it is set, as lines for `list --full` and `explain`.
import type { MonitorRule } from '../../monitor/rule.ts';
import { wrap } from '../text/visible.ts';

/** `series: kl or approx_kl`, then a line for each setting; wrapped where a width is given. */
export function ruleFacts(
  { roles, samples, settings }: MonitorRule,
  width = Number.MAX_SAFE_INTEGER,
): string[] {
  const series = roles.length > 0 ? `series: ${roles.join(', ')}` : samples === true ? '' : 'series: all';
  const lines = [
    ...(series === '' ? [] : [series]),
    ...(samples === true ? ['rollouts'] : []),
    ...Object.entries(settings).map(
      ([name, { default: value, what }]) => `${name}=${value === '' ? "''" : value}  ${what}`,
    ),
  ];
  return lines.flatMap((line) =>
    wrap(line, width - HANGING.length).map((each, at) => (at === 0 ? each : HANGING + each)),
  );
}

const HANGING = '  ';
