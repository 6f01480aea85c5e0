// The marks that chat templates write: of the run's own template where a tokenizer is named, else of the families that
// are known. A text without special tokens shows of a header only its role.
import type { RuleWorld } from '../../../src/index.ts';

/** What a completion may not begin with. */
export interface Marks {
  /** Whole headers, and what is left of one that was cut inside: `assistant<|end_header_id|>`. */
  readonly headers: readonly string[];
  /** Headers of the one whose answers are trained. */
  readonly answers: readonly string[];
  readonly stops: readonly string[];
  readonly pads: readonly string[];
}

export function marksOf({ tokens }: RuleWorld): Marks {
  if (tokens === undefined)
    return {
      headers: KNOWN_HEADERS,
      answers: KNOWN_ANSWERS,
      stops: KNOWN_STOPS,
      pads: KNOWN_PADS,
    };
  const text = (id: number): readonly string[] => {
    const spelled = tokens.decode([id]);
    return spelled === '' ? [] : [spelled];
  };
  const whole = tokens.headers.map((header) => header.trim()).filter((header) => header !== '');
  const cut = whole.flatMap((header) => restsOf(header, tokens.specials));
  return {
    headers: [...new Set([...whole, ...cut])],
    // With channels (gpt-oss) one answer is several messages, each behind the header of an answer.
    answers: whole.some((header) => header.includes('<|channel|>'))
      ? []
      : whole.filter((header) => ANSWER.test(header)),
    stops: tokens.stopIds.flatMap(text),
    pads: tokens.padId === undefined ? [] : text(tokens.padId),
  };
}

/** The mark that a text begins with, white space aside; undefined where it goes on with nothing. */
export function opensWith(text: string, marks: readonly string[]): string | undefined {
  const start = text.trimStart();
  return marks.find((mark) => start.startsWith(mark) && start.length > mark.length);
}

/** The stops and pads at the end of a text, taken off. */
export function withoutEnd(text: string, { stops, pads }: Marks): string {
  let rest = text.trimEnd();
  for (;;) {
    const mark = [...stops, ...pads].find((each) => rest.endsWith(each));
    if (mark === undefined) return rest;
    rest = rest.slice(0, rest.length - mark.length).trimEnd();
  }
}

/** A text that ends with what skipping special tokens leaves of a header: a role, and the line is over. */
export const BARE_END = /(?:assistant|model)\s*\n\s*$/;

// --- helpers ---

const ANSWER = /assistant|model/i;

/** What a cut behind each special token of a header leaves, where that still has one. */
function restsOf(header: string, specials: readonly string[]): readonly string[] {
  const rests: string[] = [];
  for (let at = 1; at < header.length; at++) {
    const rest = header.slice(at);
    const begins = specials.some((special) => header.slice(0, at).endsWith(special));
    if (begins && specials.some((special) => special.length > 2 && rest.includes(special))) rests.push(rest);
  }
  return rests;
}

/**
 * Llama 3, ChatML (Qwen, Yi, SmolLM), Llama 2 and Mistral, Gemma, Phi and Zephyr and GLM, DeepSeek, Llama 4, gpt-oss,
 * Granite, Kimi, Command R. The names of roles belong to the mark where it is a common word otherwise.
 */
const KNOWN_HEADERS: readonly string[] = [
  '<|start_header_id|>',
  'system<|end_header_id|>',
  'user<|end_header_id|>',
  'assistant<|end_header_id|>',
  '<|end_header_id|>',
  '<|im_start|>',
  '[INST]',
  '[/INST]',
  '<start_of_turn>',
  '<|user|>',
  '<|assistant|>',
  '<|system|>',
  '<｜User｜>',
  '<｜Assistant｜>',
  '<|header_start|>',
  '<|start|>',
  '<|start_of_role|>',
  '<|im_user|>',
  '<|im_assistant|>',
  '<|START_OF_TURN_TOKEN|>',
];

const KNOWN_ANSWERS: readonly string[] = [
  '<|start_header_id|>assistant',
  '<|im_start|>assistant',
  '<start_of_turn>model',
  '<|assistant|>',
  '<｜Assistant｜>',
  '<|header_start|>assistant',
  '<|start_of_role|>assistant',
  '<|im_assistant|>',
];

/** `</s>` is not among them: it is HTML as well. */
const KNOWN_STOPS: readonly string[] = [
  '<|eot_id|>',
  '<|end_of_text|>',
  '<|im_end|>',
  '<|endoftext|>',
  '<end_of_turn>',
  '<｜end▁of▁sentence｜>',
  '<|eot|>',
  '<|END_OF_TURN_TOKEN|>',
];

const KNOWN_PADS: readonly string[] = [
  '<pad>',
  '[PAD]',
  '<|pad|>',
  '<|finetune_right_pad_id|>',
  '<｜▁pad▁｜>',
];
