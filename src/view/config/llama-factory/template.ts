// LLaMA-Factory's own templates, which it uses in place of the tokenizer's, and what is to be known to encode with one.
import { isJsonObject } from '../../../outside/decoded.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Problem } from '../fault.ts';
import { nearest } from '../keys.ts';
import type { Known } from '../known.ts';

/** A text, a token by name, or bos_token and eos_token. */
export type Slot = string | { readonly token: string } | { readonly special: string };

export interface Template {
  readonly class: string;
  /** Has no plug-in for images and the like. */
  readonly text: boolean;
  readonly user: readonly Slot[];
  readonly assistant: readonly Slot[];
  readonly system: readonly Slot[];
  readonly prefix: readonly Slot[];
  readonly defaultSystem: string;
  readonly stops: readonly string[];
  readonly thought: readonly [string, string];
  readonly efficientEos: boolean;
  readonly replaceEos: boolean;
}

export interface Encoding {
  readonly template: Template;
  readonly defaultSystem: string;
  readonly cutoff: number;
  readonly trainOnPrompt: boolean;
  readonly maskHistory: boolean;
  readonly thinking: boolean | null;
  readonly preserve: boolean;
  /** The token of a slot; undefined: the tokenizer has none, and nothing is written. */
  readonly tokens: (
    slot: Exclude<Slot, string>,
  ) => { readonly id: number; readonly text: string } | undefined;
}

export function templateOf(name: unknown, { templates, trainer }: Known): Template | Problem {
  if (typeof name !== 'string')
    return {
      problem: `the configuration names no template, and ${trainer} then derives one from the tokenizer, which view does not: name one with template:`,
    };
  const made: unknown = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (!isJsonObject(made)) {
    const near = nearest(name, Object.keys(templates));
    return {
      problem: `${trainer} has no template ${name}${near === undefined ? '' : `; is ${near} meant?`}`,
    };
  }
  // Written by scripts/view-config/known.py.
  const template = made as unknown as Template;
  if (!CLASSES.has(template.class) || !template.text || template.efficientEos)
    return {
      problem: `the template ${name} writes rows in a way that view does not know (${template.text ? (template.efficientEos ? 'efficient_eos' : template.class) : 'a plug-in for images'}): nothing is shown rather than something wrong`,
    };
  return template;
}

/** The tokenizer as fix_special_tokens leaves it; or why the template is not one of its model. */
export function fixedTokenizer(
  tokenizer: Tokenizer,
  name: string,
  { stops, replaceEos, prefix, user, system, assistant }: Template,
): Tokenizer | Problem {
  const named = [...prefix, ...user, ...system, ...assistant].flatMap((slot) =>
    typeof slot === 'object' && 'token' in slot ? [slot.token] : [],
  );
  const missing = [...stops, ...named].find((each) => tokenizer.tokenId(each) === undefined);
  if (missing !== undefined)
    return {
      problem: `the template ${name} needs the token ${missing}, which the tokenizer ${tokenizer.name} does not have: is it the template of another model? LLaMA-Factory adds it as a new, untrained token`,
    };
  const [first] = stops;
  const id = replaceEos && first !== undefined ? tokenizer.tokenId(first) : tokenizer.eosTokenId;
  return id === undefined
    ? { problem: `the tokenizer ${tokenizer.name} has no EOS token, and LLaMA-Factory adds one to it` }
    : { ...tokenizer, eosTokenId: id };
}

/** Reads the slots that are no text. */
export function tokensBy(tokenizer: Tokenizer): Encoding['tokens'] {
  return (slot) => {
    const id =
      'token' in slot
        ? tokenizer.tokenId(slot.token)
        : slot.special === 'bos_token'
          ? tokenizer.bosTokenId
          : // phi_small has another name here, of which LLaMA-Factory writes nothing.
            slot.special === 'eos_token'
            ? tokenizer.eosTokenId
            : undefined;
    return id === undefined ? undefined : { id, text: tokenizer.token(id) ?? '' };
  };
}

// --- helpers ---

const CLASSES: ReadonlySet<string> = new Set(['Template', 'Llama2Template', 'ReasoningTemplate']);
