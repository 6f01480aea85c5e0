// What the harness makes of conversations and batches, for the entries of golden/transformers.
import { padRows } from '../../src/reference/index.ts';
import { generationSpans, renderChat, templateTokens } from '../../src/tokenizers/template.ts';
import { layOnPieces } from '../../src/view/lay.ts';
import { IGNORE_INDEX, type Message, type PaddingSide, type Ragged } from '../../src/vocabulary.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';
import type { Fields } from './files.ts';

const tokenizerOf = (family: string) => loaded(familyFolders[family] ?? family);

/** Rendered and tokenised, without and with the generation prompt; a refusal is the template's own sentence. */
function chat({ family, messages }: { family: string; messages: Message[] }): Fields {
  const tokenizer = tokenizerOf(family);
  const one = (addGenerationPrompt: boolean): Fields => {
    const options = { messages, addGenerationPrompt, ...templateTokens(tokenizer) };
    const rendered = renderChat(tokenizer.chatTemplate ?? '', options);
    if (!('problem' in rendered)) return { text: rendered.text, ids: tokenizer.encode(rendered.text) };
    const [, reason] = /^The chat template refuses the conversation: (.*)$/s.exec(rendered.problem) ?? [];
    return { refused: reason ?? `not by the template: ${rendered.problem}` };
  };
  return { row: one(false), prompt: one(true) };
}

/**
 * transformers goes from the token of a span's first character to that of its last one. A token that straddles the
 * border is thereby the assistant's, and of a last character that is several tokens all but the first are `lost`.
 */
function assistantMask(given: { family: string; template: string; messages: Message[] }): Fields {
  const tokenizer = tokenizerOf(given.family);
  const options = { messages: given.messages, addGenerationPrompt: false, ...templateTokens(tokenizer) };
  const marked = generationSpans(given.template, options);
  if ('problem' in marked) return { problem: marked.problem };
  const { text, spans } = marked;
  const ids = tokenizer.encode(text);
  const pieces: { readonly text: string; readonly part: 'outside' | 'answer' | 'last character' }[] = [];
  let at = 0;
  for (const [from, to] of spans) {
    const last = [...text.slice(from, to)].at(-1) ?? '';
    pieces.push({ text: text.slice(at, from), part: 'outside' });
    pieces.push({ text: text.slice(from, to - last.length), part: 'answer' });
    pieces.push({ text: last, part: 'last character' });
    at = to;
  }
  pieces.push({ text: text.slice(at), part: 'outside' });
  const laid = layOnPieces(
    tokenizer,
    pieces.map((piece) => piece.text),
    ids,
  );
  if (laid === undefined) return { problem: 'the tokens cannot be laid on the text' };
  const lost: number[] = [];
  const mask = ids.map((_, t) => {
    const [first, last] = [laid.first[t] ?? 0, laid.last[t] ?? 0];
    const onlyLast = first === last && pieces[last]?.part === 'last character';
    if (onlyLast && t > 0 && laid.last[t - 1] === last) {
      lost.push(t);
      return 0;
    }
    return pieces.slice(first, last + 1).some(({ part }) => part !== 'outside') ? 1 : 0;
  });
  return { text, ids, assistant_masks: mask, lost };
}

interface Rows {
  readonly rows: Ragged;
  readonly pad: number;
  readonly side: PaddingSide;
}

/** Labels that came with their rows are padded as the rows are. */
function paddedLabels({ labels, ...given }: Rows & { labels: Ragged }): Fields {
  const ignored = padRows(labels, { side: given.side, pad: IGNORE_INDEX });
  return { ...padRows(given.rows, given), labels: ignored.ids };
}

/** The collator goes by the id and not by the place: it ignores every token that looks like padding, the stop too. */
function languageModelling(given: Rows): Fields {
  const padded = padRows(given.rows, given);
  const labels = padded.ids.map((row) => row.map((id) => (id === given.pad ? IGNORE_INDEX : id)));
  const lost = given.rows.flat().filter((id) => id === given.pad).length;
  return { ...padded, labels, lost };
}

const table = {
  chat,
  'assistant-mask': assistantMask,
  'padded-labels': paddedLabels,
  'language-modelling': languageModelling,
};

/** By the name that an entry gives in `compute`. */
export const TEXT_COMPUTATIONS = table as unknown as Readonly<Record<string, (input: Fields) => Fields>>;
