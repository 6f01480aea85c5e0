// What must be trained of a sampled completion: every token, and the stop token that ended it.
import {
  type Generation,
  type Ledger,
  type LedgerJudgement,
  type LedgerProperty,
  realIds,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { endsWith } from '../input/kin.ts';
import {
  alsoOthers,
  asides,
  type Found,
  givenOf,
  judgementOf,
  placeOf,
  rowStrip,
  tokenIn,
} from '../words.ts';
import { isMissing, type Judged, judgedCompletions, missedByAll } from './clipped.ts';
import { needsSampled, seenAt } from './trained.ts';
import { unweighedNotices } from './unweighed.ts';

function everyToken(ledger: Ledger): LedgerJudgement {
  const { judged, leftOut } = judgedCompletions(ledger);
  const withContent = judged.filter(({ content }) => content.length > 0);
  const loose = withContent.filter(({ strict }) => !strict);
  const found = [
    ...withContent
      .filter(({ strict, missing }) => strict && missing.length > 0)
      .map((each) => untrained(ledger, each, each.missing)),
    ...[firstOf, lastOf].flatMap((pick) =>
      missedByAll(withContent, pick).map(({ each, column }) =>
        untrained(
          ledger,
          each,
          [column],
          'Single tokens may have been clipped, but this place is missing in every completion.',
        ),
      ),
    ),
  ];
  // A loose completion is judged as one of many; one that misses a token here and there says nothing by itself.
  const silent = loose.filter(({ missing }) => missing.length > 0).length;
  const judgement = judgementOf(
    withContent.length - silent + found.length,
    [...asides(leftOut, LEFT_OUT), ...asides(silent, 'single tokens may have been clipped')],
    found,
  );
  const notices = unweighedNotices(ledger);
  return notices.length === 0 ? judgement : { ...judgement, notices };
}

const LEFT_OUT = 'the whole completion has no gradient, as where its advantage is 0';

const firstOf = ({ content }: Judged): number | undefined => content[0];
/** A second look at the same token would count it twice. */
const lastOf = ({ content }: Judged): number | undefined => (content.length > 1 ? content.at(-1) : undefined);

function untrained(
  ledger: Ledger,
  { row, content }: Judged,
  columns: readonly number[],
  note?: string,
): Found {
  const first = columns[0] ?? 0;
  const shifted = columns.length === 1 && first === content[0] ? SHIFTED : undefined;
  // The strip says `either`: the whole completion may be left out.
  const mayBeLeftOut = row.spans.expected[first] === undefined;
  const whole = mayBeLeftOut ? WHOLE : undefined;
  const told = [note, shifted, whole].filter((each) => each !== undefined).join(' ');
  return {
    harm: columns.length,
    tell: () => ({
      kind: 'untrained',
      sentence: `${tokenIn(ledger, row, first)} was sampled as part of the completion of ${placeOf(ledger, row)} and ${mayBeLeftOut ? 'is not trained, while other tokens of that completion are' : 'must be trained, but it is not'}${alsoOthers(columns.length - 1, 'nor')}.`,
      strips: [rowStrip(ledger, row, columns)],
      ...(told === '' ? {} : { note: told }),
      given: givenOf(row),
    }),
  };
}

const WHOLE =
  'A completion without a stop token may be left out of the loss (expected: either), but only as a whole.';
const SHIFTED =
  'The first token alone is missing: look for a mask that is shifted by one against the log-probabilities.';

function stopTokens(ledger: Ledger): LedgerJudgement {
  const declared = ledger.settings.semantics.stop_token_in_mask;
  const { judged, leftOut } = judgedCompletions(ledger);
  const stopped = judged.filter(
    ({ row, completion: { stop }, content }) =>
      stop !== undefined &&
      stop > 0 &&
      // A stop token alone, untrained, was left out whole; trained, it is right unless declared otherwise.
      (content.some((t) => seenAt(row, t) === 'yes') || content.length === 0),
  );
  const stopOf = ({ completion }: Judged): number | undefined => completion.stop;
  const wrong =
    declared === false
      ? stopped.filter(({ row, completion }) => seenAt(row, completion.stop ?? 0) === 'yes')
      : stopped.filter(({ row, completion, strict }) => strict && isMissing(row, completion.stop ?? 0));
  const loose = declared === false ? [] : stopped.filter(({ strict }) => !strict);
  const all = missedByAll(declared === false ? [] : stopped, stopOf).map(({ each }) => each);
  const silent = loose.filter((each) => isMissing(each.row, stopOf(each) ?? 0)).length - all.length;
  const lost = declared === false || stopped.length > 0 ? [] : lostStops(ledger, judged);
  return judgementOf(
    stopped.length - silent + lost.length,
    [...asides(leftOut, LEFT_OUT), ...asides(silent, 'the stop token may have been clipped')],
    [
      ...[...wrong, ...all].map((each) => wrongStop(ledger, each, declared)),
      ...lost.map(({ each, generation }) => lostStop(ledger, each, generation)),
    ],
  );
}

interface Lost {
  readonly each: Judged;
  readonly generation: Generation;
}

/**
 * Rows that end where a sampled completion had its stop token, and have none. A limit cuts rows too: one that is shorter than
 * another was not cut by it.
 */
function lostStops(ledger: Ledger, judged: readonly Judged[]): readonly Lost[] {
  const longest = Math.max(0, ...ledger.rows.map((row) => realIds(row).length));
  return judged.flatMap((each) => {
    const { row, completion } = each;
    const { origin } = row.spans;
    const own = origin.kind === 'generation' ? origin.generations.at(-1) : undefined;
    const generation = own === undefined ? undefined : ledger.generations[own];
    if (generation?.stopped !== true || completion !== row.spans.completions.at(-1)) return [];
    const ids = realIds(row);
    const special = ledger.tokenizer?.specialIds;
    const said = generation.completionIds.slice(0, -1);
    const plain = said.filter((id) => special?.has(id) !== true);
    const bare = [said, plain].some((ends) => ends.length > 0 && endsWith(ids, ends));
    return bare && completion.to > row.real.lastIndexOf(true) && ids.length < longest
      ? [{ each, generation }]
      : [];
  });
}

function lostStop(ledger: Ledger, { row, completion, content }: Judged, generation: Generation): Found {
  const stop = generation.completionIds.at(-1);
  const spelled = stop === undefined ? undefined : ledger.tokenizer?.token(stop);
  return {
    harm: content.length,
    tell: () => ({
      kind: 'stop',
      sentence: `The completion of ${placeOf(ledger, row)} was sampled with the stop token ${spelled === undefined ? '' : `${JSON.stringify(spelled)} `}(id ${stop}) after it, and the row ends without it, at ${tokenIn(ledger, row, completion.to - 1)}.`,
      strips: [rowStrip(ledger, row, [completion.to - 1])],
      note: 'Nothing teaches the model to stop. Decoding with skip_special_tokens drops the stop token: train on the ids that were sampled, and never on their text.',
      given: { ...givenOf(row), prompt_ids: generation.promptIds, sampled_ids: generation.completionIds },
    }),
  };
}

function wrongStop(
  ledger: Ledger,
  { row, completion, content }: Judged,
  declared: boolean | undefined,
): Found {
  const stop = completion.stop ?? 0;
  const is = declared === false ? 'is trained' : 'is not trained, while the completion is';
  return {
    harm: content.length,
    tell: () => ({
      kind: 'stop',
      sentence: `${tokenIn(ledger, row, stop)} stops the completion of ${placeOf(ledger, row)} and ${is}.`,
      strips: [rowStrip(ledger, row, [stop])],
      note:
        declared === undefined
          ? stopNote(ledger, row.ids[stop])
          : `semantics.stop_token_in_mask is ${declared}.`,
      given: givenOf(row),
    }),
  };
}

function stopNote({ tokenizer }: Ledger, id: number | undefined): string {
  return tokenizer?.padTokenId === id && id !== undefined
    ? 'Padding has the same id: know it by its place, from the lengths of the completions, and not by its id.'
    : 'A trainer that leaves stop tokens out on purpose declares semantics.stop_token_in_mask: false.';
}

export const sampledProperties: readonly LedgerProperty[] = [
  { ...factsOf('mask/every-completion-token-is-trained'), needs: needsSampled, judge: everyToken },
  { ...factsOf('mask/stop-token-is-trained-once'), needs: needsSampled, judge: stopTokens },
];
