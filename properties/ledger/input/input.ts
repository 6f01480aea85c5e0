// How the model was given a row: how often it begins, what of it is hidden, and where it thinks each token stands. Only
// what reaches something that was trained is blamed.
import type {
  Ledger,
  LedgerJudgement,
  LedgerModel,
  LedgerNotice,
  LedgerProperty,
  LedgerRow,
  Role,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { plural } from '../steps/made.ts';
import { isSampled, needsSampled, needsTrained, trainsAny } from '../tokens/trained.ts';
import {
  type Aside,
  aside,
  asides,
  type Found,
  givenOf,
  isAside,
  judgementFrom,
  judgementOf,
  placeOf,
  rowStrip,
  type Said,
  type Tracks,
  tokenIn,
} from '../words.ts';
import { attentionFaults, paddingBefore, unmaskedFault } from './attention.ts';
import type { InputFault } from './fault.ts';
import { positionFault, whyNoPositions } from './positions.ts';

type Rule = (ledger: Ledger, row: LedgerRow) => InputFault | 'good' | Aside;

function judge(ledger: Ledger, rows: readonly LedgerRow[], rule: Rule): LedgerJudgement {
  return judgementFrom(
    rows.map((row): Said => {
      if (!trainsAny(row)) return aside('nothing of the row is trained');
      const said = rule(ledger, row);
      return said === 'good' || isAside(said) ? said : foundOf(ledger, row, said);
    }),
  );
}

function foundOf(ledger: Ledger, row: LedgerRow, { kind, columns, words, tracks, note }: InputFault): Found {
  return {
    harm: columns.length,
    tell: () => ({
      kind,
      sentence: `${tokenIn(ledger, row, columns[0] ?? 0)} of ${placeOf(ledger, row)} ${words}.`,
      strips: [rowStrip(ledger, row, columns, tracks)],
      ...(note === undefined ? {} : { note }),
      given: givenOf(row),
    }),
  };
}

/** The model that a row went through. */
export const modelOf = ({ models }: Ledger, { model, rank }: LedgerRow): LedgerModel | undefined =>
  models.find((each) => each.model === model && each.rank === rank);

/** (T,): 1 where the model attends, 0 where not. */
const attentionTrack = ({ attention = [] }: LedgerRow): Tracks => ({ attention_mask: attention });

const attended: Rule = (ledger, row) => {
  if (row.attention === undefined)
    return unmaskedFault(ledger, row, modelOf(ledger, row)) ?? aside('the model was given no attention mask');
  const fault = attentionFaults(ledger, row);
  return fault === undefined ? 'good' : { ...fault, tracks: attentionTrack(row) };
};

/** Positions begin again with each example of a row, and attention goes on. */
function acrossNotices({ rows }: Ledger): readonly LedgerNotice[] {
  const open = rows.filter(({ across, reached }) => reached && across === true);
  const forwards = new Set(open.map(({ rank, forward }) => `${rank} ${forward}`));
  return open.length === 0
    ? []
    : [
        {
          sentence: `In ${plural(forwards.size, 'forward pass', 'forward passes')} with packed rows, positions begin again with each example, and the attention mask lets it see the examples before it in its row: it is trained on what it will not be shown. Give attention a mask of blocks, or a kernel that takes the lengths.`,
          answers: [],
        },
      ];
}

const placed: Rule = (ledger, row) => {
  const model = modelOf(ledger, row);
  if (model === undefined) return aside('the model of the row is not known');
  const unknown = whyNoPositions(model, row, paddingBefore(ledger, row) > 0);
  if (unknown !== undefined) return aside(unknown);
  // A token that is hidden looks like padding that is counted; the rule about attention has it.
  if (row.attention !== undefined && attentionFaults(ledger, row)?.kind === 'hidden')
    return aside('the attention mask hides real tokens');
  return positionFault(model, row) ?? 'good';
};

/** The same rule about rows that were sampled, and about all others. */
function both(sampledId: string, otherId: string, rule: Rule): LedgerProperty[] {
  return [
    {
      ...factsOf(otherId),
      needs: needsTrained,
      judge: (ledger) => {
        const judgement = judge(
          ledger,
          ledger.rows.filter((row) => row.reached && !isSampled(row)),
          rule,
        );
        const notices = rule === attended ? acrossNotices(ledger) : [];
        return notices.length === 0 ? judgement : { ...judgement, notices };
      },
    },
    {
      ...factsOf(sampledId),
      needs: needsSampled,
      judge: (ledger) =>
        judge(
          ledger,
          ledger.rows.filter((row) => row.reached && isSampled(row)),
          rule,
        ),
    },
  ];
}

/**
 * A text may begin with what spells BOS, and then one row does; what a trainer does wrong, it does in most of them. Where
 * BOS ends texts too, one text may end where another begins.
 */
function judgeBos(ledger: Ledger): LedgerJudgement {
  const bos = ledger.tokenizer?.bosTokenId;
  if (bos === undefined) return judgementOf(0, [], []);
  const alike = ledger.tokenizer?.padTokenId === bos || ledger.tokenizer?.eosTokenId === bos;
  const begin = (row: LedgerRow): number => row.spans.roles.findIndex((role) => BEGINS.has(role));
  const why = (row: LedgerRow): string | undefined => {
    if (!row.reached) return 'no backward pass reached the row';
    if (begin(row) < 0) return 'it is not known where the row begins';
    return alike && (row.attention === undefined || row.spans.origin.kind === 'text')
      ? 'BOS has the id of padding or of the end of a text'
      : undefined;
  };
  const sure = ledger.rows.filter((row) => why(row) === undefined);
  const begun = sure.filter((row) => row.ids[begin(row)] === bos);
  const doubled = begun.filter((row) => row.ids[begin(row) + 1] === bos);
  const meant = doubled.length * 2 <= begun.length;
  return judgementOf(
    sure.length - (meant ? doubled.length : 0),
    [
      ...ledger.rows.flatMap((row) => why(row) ?? []),
      ...asides(meant ? doubled.length : 0, 'few rows begin with two BOS, and their text may spell it'),
    ],
    (meant ? [] : doubled).map((row): Found => {
      const second = begin(row) + 1;
      return {
        harm: 1,
        tell: () => ({
          kind: 'double',
          sentence: `${tokenIn(ledger, row, second)} of ${placeOf(ledger, row)} is BOS, and so is the token before it: one BOS begins a row, never two.`,
          strips: [rowStrip(ledger, row, [second])],
          note: `${doubled.length} of ${begun.length} rows that begin with BOS have two. A chat template writes BOS itself: tokenise what it rendered with add_special_tokens=False.`,
          given: givenOf(row),
        }),
      };
    }),
  );
}

/** An example begins with one of these; a row of unknown origin has the role of a prompt or of a completion. */
const BEGINS: ReadonlySet<Role> = new Set<Role>(['system', 'prompt', 'completion']);

const needsBos = (ledger: Ledger): string | undefined =>
  ledger.tokenizer?.bosTokenId === undefined
    ? 'no BOS token is known: the script made no tokenizer that the trace saw, or its tokenizer has none'
    : needsTrained(ledger);

export const inputProperties: readonly LedgerProperty[] = [
  { ...factsOf('tokenize/exactly-the-right-number-of-bos'), needs: needsBos, judge: judgeBos },
  ...both(
    'rollout/attention-covers-exactly-the-real-tokens',
    'collate/attention-covers-exactly-the-examples',
    attended,
  ),
  ...both('mask/positions-count-real-tokens', 'collate/positions-count-real-tokens', placed),
];
