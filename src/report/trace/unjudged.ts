// What a traced run did not judge, behind what it did: the properties by what they lacked, a few lines in all,
// each with what to add; those that could judge no case by the reason. What nothing can be added to (one process, no accumulation) is one line.
import type { PropertyResult } from '../../check/events.ts';
import type { Ledger, Origin } from '../../trace/ledger.ts';
import { whyNothing } from '../../trace/property.ts';
import { isScorer } from '../../trace/scorers.ts';
import { UNJUDGED } from '../../vocabulary.ts';
import { countedLines } from '../text/counted.ts';
import { plural } from '../text/plural.ts';
import { wrap } from '../text/visible.ts';
import type { TracePrint } from './trace.ts';

export interface Unjudged {
  readonly ids: readonly string[];
  /** What they lacked. */
  readonly why: string;
  /** What to add; absent: nothing in particular. */
  readonly add?: string;
}

/** Most properties first, those behind them for which there is nothing to add. */
export function unjudgedOf(results: readonly PropertyResult[], ledger: Ledger): readonly Unjudged[] {
  const left = results.filter(isUnjudged);
  const groups = LACKS.map((lack) => ({ lack, of: [] as PropertyResult[] }));
  const others: PropertyResult[] = [];
  // Rules that looked at cases and could judge none: each reason is one of a rule's own, and nothing that LACKS knows.
  const silent = new Map<string, PropertyResult[]>();
  for (const result of left) {
    const why = whyNothing(result.reason ?? '');
    if (why !== undefined) {
      silent.set(why, [...(silent.get(why) ?? []), result]);
      continue;
    }
    (
      groups.find(({ lack }) => lack.reason.test(result.reason ?? '') && lack.when?.(ledger) !== false)?.of ??
      others
    ).push(result);
  }
  const told = groups.flatMap(({ lack, of }): Unjudged[] =>
    of.length === 0 ? [] : [{ ids: idsOf(of), ...lack.told(ledger, of) }],
  );
  const unsaid = [...silent].map(([why, of]): Unjudged => ({ ids: idsOf(of), why }));
  return [
    ...[...told, ...unsaid].toSorted((a, b) => b.ids.length - a.ids.length),
    ...(others.length === 0 ? [] : [{ ids: idsOf(others), why: shortReasons(others) }]),
  ];
}

/** `3 of 25 properties judged`. */
export function judgedWords(results: readonly PropertyResult[]): string {
  const judged = results.filter((result) => !isUnjudged(result)).length;
  return `${judged} of ${plural(results.length, 'property', 'properties')} judged`;
}

/** What is trained, and no property can speak of: a sentence each. */
export function unspokenOf(ledger: Ledger): readonly string[] {
  const { events, rows } = ledger;
  const shares = events.flatMap(({ what, values }) => (what === 'beside' ? [Number(values.share)] : []));
  const marked = rows.filter(
    ({ spans: { origin } }) => origin.kind === 'text' && origin.marks === true,
  ).length;
  return [
    ...(shares.length === 0
      ? []
      : [
          `The loss reaches the hidden states beside these logits, too (about ${Math.round(100 * Math.max(...shares))} % of their gradient): by another head, a value head or a term of its own. The training by that term is not judged.`,
        ]),
    ...(mayBePairs(ledger)
      ? [
          `As many rows are made less likely as likelier, and a reference scored the same rows: this may be a loss of preference pairs, such as DPO, and was not judged as one. ${pairsAdvice(ledger)}`,
        ]
      : []),
    ...(marked === 0
      ? []
      : [
          `${plural(marked, 'row')} ${marked === 1 ? 'holds' : 'hold'} the marks of a chat and ${marked === 1 ? 'was' : 'were'} taken for plain text, as ${marked === 1 ? 'it is' : 'they are'} trained from end to end among more rows without marks; --train-on assistant judges ${marked === 1 ? 'it as a chat' : 'them as chats'}.`,
        ]),
  ];
}

/** Rows that nobody sampled, each pushed one way, half of them down, and read by a reference: nobody has said that they are pairs. */
function mayBePairs({ rows, scored, generations, settings: { semantics } }: Ledger): boolean {
  const known = rows.some(({ spans: { origin } }) => origin.kind === 'dataset');
  if (generations.length > 0 || !scored.some(({ by }) => by === 'reference')) return false;
  if (known && semantics.preference_objective !== undefined) return false;
  const signs = rows.map(({ trained }) => {
    const own = new Set(trained.flatMap((each) => (each?.weight ? [Math.sign(each.weight)] : [])));
    return own.size === 1 ? [...own][0] : undefined;
  });
  const up = signs.filter((sign) => sign === 1).length;
  return up > 0 && signs.every((sign) => sign !== undefined) && 2 * up === signs.length;
}

function pairsAdvice({ unmatchedDataset, settings: { semantics } }: Ledger): string {
  const declare = `--semantics '{"preference_objective":"dpo"}'`;
  if (unmatchedDataset !== true) return `Add --dataset FILE, the pairs that are trained, and ${declare}.`;
  const more = semantics.preference_objective === undefined ? ` Add ${declare} as well.` : '';
  return `No pair of --dataset was found in the rows.${more}`;
}

/** Nothing where every property judged all that is trained. */
export function unjudgedLines(
  results: readonly PropertyResult[],
  ledger: Ledger,
  { width, paint }: TracePrint,
): string[] {
  const groups = unjudgedOf(results, ledger);
  const more = unspokenOf(ledger).flatMap((sentence) =>
    wrap(sentence, width - INDENT.length).map((line) => INDENT + line),
  );
  if (groups.length === 0) return more;
  const few = results.length <= FEW_PROPERTIES;
  const reasons = groups.map(({ ids, why, add }) => {
    const named = few ? `${ids.join(', ')}: ` : '';
    return { count: ids.length, text: `${named}${why}${add === undefined ? '' : `; ${add}`}` };
  });
  return [...countedLines(`${judgedWords(results)}. Not judged:`, reasons, { width, paint }), ...more];
}

/** Why what holds is no pass, where no property judged which tokens are trained: what to add first. */
export function adviceOf(results: readonly PropertyResult[], ledger: Ledger): string | undefined {
  const [first] = unjudgedOf(results, ledger).filter(({ add }) => add !== undefined);
  return first === undefined ? undefined : `${first.why}; ${first.add ?? ''}`;
}

// --- helpers ---

const INDENT = '  ';
/** Someone who chose a few wants to see each. */
const FEW_PROPERTIES = 12;
/** Reasons that nothing can be done about are read for their first words. */
const MOST_REASONS = 3;

const isUnjudged = ({ verdict }: PropertyResult): boolean => UNJUDGED.includes(verdict);
const idsOf = (results: readonly PropertyResult[]): string[] => results.map(({ id }) => id);

interface Lack {
  /** Of the reasons that properties give. */
  readonly reason: RegExp;
  /** Whether what is told is so; default: always. */
  readonly when?: (ledger: Ledger) => boolean;
  readonly told: (ledger: Ledger, of: readonly PropertyResult[]) => Omit<Unjudged, 'ids'>;
}

const SAMPLES = /generate\(\)|nothing was sampled|samples nothing/;
const holds = ({ rows }: Ledger, ...kinds: readonly Origin['kind'][]): boolean =>
  rows.some(({ spans: { origin } }) => kinds.includes(origin.kind));

const LACKS: readonly Lack[] = [
  {
    reason: /predicts no token/,
    told: ({ models }) => ({
      why: `rules about tokens do not apply: what is trained predicts none (${scorersIn(models).join(', ')})`,
      add: 'which answers should score higher was not judged: check the loss (reward_loss, value_loss) with an adapter, see docs/attach.md',
    }),
  },
  {
    reason: SAMPLES,
    when: ({ generations }) => generations.length === 0,
    told: () => ({
      why: 'no sampled tokens were seen',
      add: 'if the script samples in its own way, add after it: lossproof_trace.watch_sample(prompt_ids, completion_ids)',
    }),
  },
  {
    reason: SAMPLES,
    when: (ledger) => !holds(ledger, 'generation'),
    told: ({ generations }) => ({
      why: `no trained row holds the tokens of any of ${plural(generations.length, 'recorded sequence')}`,
      add: 'compare the ids that are trained with those that were sampled',
    }),
  },
  {
    reason: /prompt and an answer/,
    when: (ledger) => !holds(ledger, 'dataset', 'template'),
    told: ({ tokenizer, unmatchedDataset }) => ({
      why: 'no row is known to hold a prompt and an answer',
      add:
        unmatchedDataset === true
          ? `no row of --dataset was found${tokenizer === undefined ? ', for no tokenizer was seen: add --tokenizer DIR, or --marks' : ''}`
          : tokenizer === undefined
            ? 'no tokenizer was seen: add --tokenizer DIR, or --dataset FILE, the data that is trained'
            : 'add --dataset FILE, the data that is trained',
    }),
  },
  {
    reason: /--semantics/,
    told: (_, of) => ({
      why: 'nothing declares what the method promises',
      add: `add --semantics '{${declarations(of).join(',')}}', as far as it is so`,
    }),
  },
  {
    reason: /tokenizer/,
    when: ({ tokenizer }) => tokenizer === undefined,
    told: () => ({ why: 'no tokenizer was seen that says so', add: 'add --tokenizer DIR' }),
  },
  {
    reason: /^no row of the kind/,
    told: ({ steps }, { length }) => ({
      why: `no row of the kind that ${length === 1 ? 'it checks' : 'they check'} was trained in ${plural(steps.length, 'step')}`,
      add: '--keep-going sees more rows, and `lossproof dataset` writes some that cover more',
    }),
  },
];

const scorersIn = (models: Ledger['models']): string[] => [
  ...new Set(
    models
      .filter(isScorer)
      .map((model) => `${model.class}${model.head === null ? '' : `, head ${model.head}`}`),
  ),
];

/** `"sft_aggregation":"token-mean"`: the examples in their reasons, each key once. */
function declarations(of: readonly PropertyResult[]): string[] {
  const found = new Map<string, string>();
  for (const { reason = '' } of of)
    for (const [whole, key = ''] of reason.matchAll(/"(\w+)":\s*(?:"[^"]*"|[\w.]+)/g))
      if (!found.has(key)) found.set(key, whole);
  return found.size === 0 ? ['...'] : [...found.values()];
}

/** Each by its first words: "no KL term in the loss is declared, one process trained". */
function shortReasons(of: readonly PropertyResult[]): string {
  const reasons = [...new Set(of.map(({ reason = '', verdict }) => reason.split(/[:;]/)[0] || verdict))];
  const more = reasons.length - MOST_REASONS;
  const shown = reasons.slice(0, MOST_REASONS).join(', ');
  return `nothing to judge: ${shown}${more > 0 ? `, and ${plural(more, 'more reason')} (--html FILE has them all)` : ''}`;
}
