// What each token of a row is, and whether it should be trained. The most certain knowledge comes first: what the
// script sampled itself, then the user's data, then the marks of the chat template.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Entry } from '../../view/read.ts';
import type { TrainOn } from '../../view/row.ts';
import { writerOf } from '../../view/writer.ts';
import type { Generation, RowIds, Spans } from '../ledger.ts';
import { datasetSpans, type ExampleIndex, exampleIndexOf } from './dataset.ts';
import { type GenerationIndex, generationIndexOf, generationSpans } from './generation.ts';
import { type Marks, marksOf } from './marks.ts';
import { joined, segmentsOf } from './segments.ts';
import { templateSpans } from './template.ts';
import { type Annotation, annotatedSpans, blankOf } from './walk.ts';

export interface SpanFacts {
  readonly tokenizer?: Tokenizer | undefined;
  readonly generations: readonly Generation[];
  readonly dataset?: readonly Entry[] | undefined;
  /** What the user, or the trainer's arguments, say is meant to be trained. */
  readonly trainOn?: TrainOn | undefined;
}

/** What rows are recognised by: made once for all of them. */
export interface SpanWorld {
  readonly tokenizer: Tokenizer | undefined;
  readonly trainOn: TrainOn | undefined;
  readonly generations: GenerationIndex;
  readonly examples: ExampleIndex | undefined;
  readonly marks: Marks | undefined;
}

export function spanWorldOf({ tokenizer, generations, dataset, trainOn }: SpanFacts): SpanWorld {
  const template = tokenizer?.chatTemplate;
  const writer =
    tokenizer === undefined || template === undefined ? undefined : writerOf(tokenizer, template);
  const marks = writer === undefined ? undefined : marksOf(writer);
  return {
    tokenizer,
    trainOn,
    generations: generationIndexOf(generations),
    examples:
      tokenizer === undefined || dataset === undefined
        ? undefined
        : exampleIndexOf(dataset, { tokenizer, writer, marks, trainOn }),
    marks,
  };
}

export function spansOf(row: RowIds, world: SpanWorld): Spans {
  const { tokenizer, trainOn, generations, examples, marks } = world;
  const sampled = generationSpans(row, generations, tokenizer);
  const segments = sampled === undefined ? segmentsOf(row) : [row];
  if (segments.length > 1)
    return joined(segments.map((part) => ({ row: part, spans: spansOf(part, world) })));
  const known =
    sampled ??
    (examples === undefined ? undefined : datasetSpans(row, examples)) ??
    (marks === undefined ? undefined : templateSpans(row, marks, trainOn));
  if (known !== undefined) return trainOn === 'all' ? withPrompt(known) : known;
  if (tokenizer !== undefined) return textSpans(row);
  return annotatedSpans(asText(blankOf(row)), { kind: 'unknown', why: WITHOUT_TOKENIZER });
}

// --- helpers ---

const WITHOUT_TOKENIZER =
  'No generate() call sampled it, and without a tokenizer nothing else tells what its tokens are: --tokenizer DIR names the folder that tokenizer.save_pretrained(DIR) wrote.';

/** Any part of a plain text may be trained. */
export function textSpans(row: RowIds): Spans {
  return annotatedSpans(asText(blankOf(row)), { kind: 'text' });
}

/** Nothing says that a token belongs to a prompt. */
const asText = (blank: Annotation): Annotation => ({
  ...blank,
  roles: blank.roles.map((role) => (role === 'prompt' ? 'completion' : role)),
});

/** Everything is meant to be trained; what is padding, or behind a stop token, is nothing of the row. */
function withPrompt(spans: Spans): Spans {
  const open = (at: number): boolean => ['system', 'prompt', 'tool'].includes(spans.roles[at] ?? '');
  return {
    ...spans,
    expected: spans.expected.map((each, at) => (each === false && open(at) ? undefined : each)),
  };
}
