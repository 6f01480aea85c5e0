// Advantage estimation and what stands behind a row: rewards and values on its padding, and in the slot right behind it.
import { discard, type GaeCase, gaeCase, layGaps, type Property, padColumns } from '../../src/index.ts';
import { argsOf, ask, base, coverage, differing, finding } from './gae.ts';
import { answersOfSlot, ownSlot } from './gae-slot.ts';

/** Far from any reward or value. */
const JUNK = -17;

const behindTheRow: Property<GaeCase> = {
  ...base,
  id: 'gae/padding-does-not-reach-back',
  title: 'Rewards and values on padding beyond the slot after the last token change no advantage',
  why: 'The recursion runs from the right: a reward or value on padding is credited to every token of the row.',
  catches: ['VAL-01', 'VAL-03', 'NUM-02'],
  given: () => gaeCase(),
  coverage,
  async check(subject, drawn) {
    const clean = await ask(subject, drawn);
    const junk = await ask(subject, drawn, JUNK);
    const { completion_mask: mask } = clean.args;
    for (const field of ['advantages', 'returns'] as const) {
      const [observed, expected] = [junk.answer[field], clean.answer[field]];
      if (observed === undefined || expected === undefined) continue;
      const [wrong] = differing(subject, mask, observed, expected);
      if (wrong === undefined) continue;
      if (wrong.columns.every((column) => Number.isNaN(expected[wrong.row]?.[column])))
        return discard('the answer holds NaN already', 'trainer');
      const what = field === 'returns' ? 'return' : 'advantage';
      return finding(subject, junk, {
        kind: field,
        field,
        expected,
        wrong,
        sentence: (column, seen, want) =>
          `The ${what} of token ${column} of row ${wrong.row} changes from ${want} to ${seen} when only rewards and values on the padding after the rows change.`,
        note: 'Where training masks rewards and values before it calls this function, the adapter does so, too.',
      });
    }
    return undefined;
  },
};

const slotBehind: Property<GaeCase> = {
  ...base,
  id: 'gae/no-value-behind-the-last-token',
  title: 'The value in the slot right after the last trained token changes no advantage and no return',
  why: 'That slot has the value that the critic gives to padding: taken for the value of the next state, it is added to what the last token earned, and credited to all tokens before it.',
  catches: ['VAL-01', 'VAL-03'],
  needs: [ownSlot],
  given: () => gaeCase(),
  coverage,
  async check(subject, drawn) {
    const laid = layGaps<'reward' | 'value'>(drawn);
    // The longest row has no such slot otherwise.
    const args = padColumns('gae', argsOf(drawn, laid), 0, 1);
    const values = args.values.map((row, b) =>
      row.map((value, t) => (t === (laid.last[b] ?? Number.NaN) + 1 ? JUNK : value)),
    );
    const clean = await subject.ask('gae', args);
    const junk = await subject.ask('gae', { ...args, values });
    for (const field of ['advantages', 'returns'] as const) {
      const [observed, expected] = [junk[field], clean[field]];
      if (observed === undefined || expected === undefined) continue;
      const [wrong] = differing(subject, args.completion_mask, observed, expected);
      if (wrong === undefined) continue;
      if (wrong.columns.every((column) => Number.isNaN(expected[wrong.row]?.[column])))
        return discard('the answer holds NaN already', 'trainer');
      const what = field === 'returns' ? 'return' : 'advantage';
      return {
        ...finding(
          subject,
          {
            laid: { ...laid, roles: laid.roles.map((roles) => [...roles, 'padding'] as const) },
            args: { ...args, values },
            answer: junk,
          },
          {
            kind: field,
            field,
            expected,
            wrong,
            sentence: (column, seen, want) =>
              `The ${what} of token ${column} of row ${wrong.row} changes from ${want} to ${seen} when only the value in the slot after the last trained token changes. It is read as the value of a next state.`,
            note: 'Legal where rows that were cut off are bootstrapped, and the adapter hands the value of the cut-off state over in that slot.',
          },
        ),
        ...answersOfSlot(subject),
      };
    }
    return undefined;
  },
};

export const gaePadding: readonly Property<GaeCase>[] = [behindTheRow, slotBehind];
