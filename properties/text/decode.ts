// Ids back to text: rewards, verifiers and tools read what decoding makes of the sampled ids.
import {
  cleanedUp,
  type Decodable,
  decodable,
  decodableLabels,
  discard,
  type Finding,
  type Ids,
  type Property,
  type Subject,
  type Tokenizer,
  type World,
} from '../../src/index.ts';

const knownTokenizer = ({ tokenizer }: World): string | undefined =>
  tokenizer === undefined
    ? 'no tokenizer is named (hello.tokenizer, or `tokenizer` in the configuration)'
    : undefined;

const base = {
  stage: 'decode',
  // A trainer that strips the text for its rewards trains well, and judges other answers than were given.
  level: 'should',
  ops: ['decode'],
  needs: [knownTokenizer],
  given: (world: World) => decodable(world.tokenizer),
  labels: (drawn: Decodable, world: World) => decodableLabels(drawn, world.tokenizer),
  coverage: { 'special token': 0.2, 'beyond ASCII': 0.2, 'special token beside non-ASCII': 0.15 },
} as const;

interface Way {
  readonly name: string;
  readonly keeps: boolean;
  readonly text: (ids: Ids, tokenizer: Tokenizer) => string;
}

const kept = (ids: Ids, tokenizer: Tokenizer): string => tokenizer.decode(ids);
const leftOut = (ids: Ids, tokenizer: Tokenizer): string =>
  tokenizer.decode(ids.filter((id) => !tokenizer.specialIds.has(id)));

/** What stands between special tokens is decoded alone, and all is joined with spaces. */
function spaced(ids: Ids, tokenizer: Tokenizer): string {
  const parts: number[][] = [];
  let open = false;
  for (const id of ids) {
    const special = tokenizer.specialIds.has(id);
    if (special || !open) parts.push([]);
    parts.at(-1)?.push(id);
    open = !special;
  }
  return parts.map((part) => tokenizer.decode(part)).join(' ');
}

/** The plainest first. Each may also be cleaned up. */
const WAYS: readonly Way[] = [
  { name: 'with special tokens', keeps: true, text: kept },
  { name: 'without special tokens', keeps: false, text: leftOut },
  { name: 'with special tokens, spaces between', keeps: true, text: spaced },
];

/** One way of writing decoded text must fit all texts of a case. */
async function decodedAlike(
  subject: Subject,
  tokenizer: Tokenizer,
  all: readonly Ids[],
): Promise<Finding | undefined> {
  const texts: string[] = [];
  for (const ids of all) texts.push((await subject.ask('decode', { ids })).text);
  const skip = subject.hello.ops.decode?.skip_special_tokens;
  const ways = WAYS.filter(({ keeps }) => skip === undefined || keeps !== skip);
  const fits = (way: Way, clean: boolean, at: number): boolean => {
    const text = way.text(all[at] ?? [], tokenizer);
    return texts[at] === (clean ? cleanedUp(text) : text);
  };
  const every = (way: Way, clean: boolean): boolean => texts.every((_, at) => fits(way, clean, at));
  if (ways.some((way) => every(way, false) || every(way, true))) return undefined;
  const none = texts.findIndex((_, at) => !ways.some((way) => fits(way, false, at) || fits(way, true, at)));
  const [first] = ways;
  if (none < 0 || first === undefined)
    return {
      kind: 'mixed',
      sentence: `${texts.map((text, at) => `[${all[at]?.join(', ')}] is decoded ${ways.find((way) => fits(way, false, at) || fits(way, true, at))?.name} as ${JSON.stringify(text)}`).join('; ')}: one way must hold for all.`,
    };
  // The way that agrees with the answer for longest is the one that was meant.
  const said = texts[none] ?? '';
  const wanted = ways.map((way) => way.text(all[none] ?? [], tokenizer));
  const shared = (text: string): number => {
    let at = 0;
    while (at < said.length && said[at] === text[at]) at++;
    return at;
  };
  const nearest = wanted.reduce((best, text) => (shared(text) > shared(best) ? text : best));
  return {
    kind: 'text',
    sentence: `The ids [${all[none]?.join(', ')}] are ${JSON.stringify(nearest)}, but the trainer decodes them as ${JSON.stringify(said)}; they part at character ${shared(nearest)}.`,
    ...(skip === undefined
      ? { note: 'With or without special tokens are both accepted, the same way throughout; neither fits.' }
      : {}),
  };
}

const tokenizersText: Property<Decodable> = {
  ...base,
  id: 'decode/text-is-the-tokenizers',
  title:
    "The text of ids is what the tokenizer's own decoding makes of them, special tokens kept or left out throughout",
  why: 'A reward or a tool that reads another text than the policy wrote judges an answer that was not given.',
  catches: ['TOK-07', 'TOK-12', 'TOK-09', 'EOS-11'],
  async check(subject, { texts }) {
    const { tokenizer } = subject;
    if (tokenizer === undefined) return discard('no tokenizer is known', 'trainer');
    const all = texts.map((pieces) => pieces.flatMap((piece) => tokenizer.encode(piece)));
    return decodedAlike(subject, tokenizer, all);
  },
};

const roundTrip: Property<Decodable> = {
  ...base,
  id: 'decode/round-trip',
  title: 'Text that the tokenizer can restore is restored: encoding and decoding again gives the text back',
  why: 'Characters of several bytes are several tokens; decoded one by one, or across a special token, they become replacement characters.',
  catches: ['TOK-09', 'TOK-12'],
  // Of special tokens nothing is promised here: a tokenizer that writes a space behind each restores hardly any of them.
  coverage: { 'beyond ASCII': 0.2 },
  async check(subject, { texts }) {
    const { tokenizer } = subject;
    if (tokenizer === undefined) return discard('no tokenizer is known', 'trainer');
    const joined = texts.map((pieces) => pieces.join(''));
    const all = joined.map((text) => tokenizer.encode(text));
    if (joined.some((text, at) => tokenizer.decode(all[at] ?? []) !== text))
      return discard('the tokenizer itself does not give the text back', 'trainer');
    return decodedAlike(subject, tokenizer, all);
  },
};

/** Without what a decoder may write of half a character, and spaces, which may go with it. */
const whole = (text: string): string => text.replace(/[\s\ufffd]+/gu, '');

const cutShort: Property<Decodable> = {
  ...base,
  id: 'decode/cut-characters-end-no-text',
  level: 'must',
  title: 'Ids that end in the middle of a character are decoded, and not all of their text is lost',
  why: 'The length limit falls between the tokens of a character now and then; one such completion that raises ends the step of its batch.',
  catches: ['TOK-09'],
  coverage: { 'beyond ASCII': 0.2 },
  async check(subject, { texts }) {
    const { tokenizer } = subject;
    if (tokenizer === undefined) return discard('no tokenizer is known', 'trainer');
    for (const pieces of texts) {
      const all = tokenizer.encode(pieces.join(''));
      for (const ids of CUTS.map((cut) => all.slice(0, cut))) {
        const outcome = await subject.attempt('decode', { ids });
        if ('refused' in outcome) {
          if (outcome.failure === undefined)
            return discard('the trainer refuses ids that are cut', 'trainer');
          return { kind: 'raises', sentence: `The ids [${ids.join(', ')}] are no text: ${outcome.refused}.` };
        }
        const { text } = outcome.ok;
        if (whole(text) === '' && whole(leftOut(ids, tokenizer)) !== '')
          return {
            kind: 'text',
            sentence: `The ids [${ids.join(', ')}] are ${JSON.stringify(kept(ids, tokenizer))}, but the trainer decodes them as ${JSON.stringify(text)}.`,
          };
      }
    }
    return undefined;
  },
};
/** A character has four bytes at most. */
const CUTS = [-1, -2, -3];

const nothing: Property<Decodable> = {
  ...base,
  id: 'decode/nothing-is-the-empty-text',
  level: 'must',
  title: 'No ids are no text, also between other requests',
  why: 'An empty completion that is given a text, or that of the row before it, is rewarded for it.',
  catches: ['TOK-04'],
  needs: [],
  coverage: {},
  async check(subject, { texts }) {
    const ids = texts.flat().flatMap((piece) => subject.tokenizer?.encode(piece) ?? []);
    if (ids.length > 0) await subject.ask('decode', { ids });
    const { text } = await subject.ask('decode', { ids: [] });
    return text === ''
      ? undefined
      : { kind: 'text', sentence: `No ids at all are decoded as ${JSON.stringify(text)}.` };
  },
};

export const decodeProperties: readonly Property<Decodable>[] = [
  tokenizersText,
  roundTrip,
  cutShort,
  nothing,
];
