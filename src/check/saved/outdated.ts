// Saved cases outlive declarations: what was drawn before the trainer said which ids are its own, or how large its groups
// are, is a case that it is never sent again, and says nothing of it. What is fixed by now is read off cases as they
// are drawn today, so that a rule whose cases have ids of their own keeps them.
import fc from 'fast-check';
import { asksOnce } from '../needs.ts';
import type { Property, World } from '../property.ts';

/** What of a saved case the trainer's declarations now rule out, as a sentence; undefined where it may still be drawn. */
export function outdated(
  given: unknown,
  world: World,
  property: Pick<Property, 'given' | 'ops'>,
): string | undefined {
  const ruled = RULES.filter(({ fixes }) => fixes(world, property));
  if (ruled.length === 0) return undefined;
  const saved = namedIn(given);
  const about = ruled.filter(({ name }) => saved.has(name));
  if (about.length === 0) return undefined;
  const drawn = fc
    .sample(property.given(world), { numRuns: SAMPLES, seed: SEED })
    .map((each) => namedIn(each));
  for (const { name, of, says } of about) {
    const today = new Set(drawn.flatMap((names) => (names.get(name) ?? []).flatMap(of)));
    const other = saved
      .get(name)
      ?.flatMap(of)
      .find((value) => !today.has(value));
    const [only] = today;
    if (today.size === 1 && only !== undefined && other !== undefined) return says(other, only);
  }
  return undefined;
}

/** Enough that what differs among cases differs among these. */
const SAMPLES = 32;
const SEED = 1;

interface Rule {
  /** Of a field of a case. */
  readonly name: string;
  /** A declaration may fix it. */
  readonly fixes: (world: World, property: Pick<Property, 'ops'>) => boolean;
  /** What of its value is fixed, as text. */
  readonly of: (value: unknown) => string[];
  readonly says: (saved: string, today: string) => string;
}

/** In each conversation, or list of conversations. */
const questionsIn = (value: unknown): string[] => {
  if (!Array.isArray(value)) return [];
  const roles = value.flatMap((each: unknown) =>
    typeof each === 'object' && each !== null && 'role' in each ? [each.role] : [],
  );
  return roles.length === 0
    ? value.flatMap(questionsIn)
    : [String(roles.filter((role) => role === 'user').length)];
};

const RULES: readonly Rule[] = [
  ...['messages', 'conversations', 'prompts'].map(
    (name): Rule => ({
      name,
      fixes: (world, { ops }) => asksOnce(world, ...ops),
      of: questionsIn,
      says: (saved) => `it has ${saved} questions, and an op declares turns 1`,
    }),
  ),
  {
    name: 'pad',
    fixes: ({ hello }) => hello.tokens !== undefined,
    of: (value) => [String(value)],
    says: (saved, today) => `it pads with ${saved}, and hello.tokens.pad_token_id is ${today}`,
  },
  {
    name: 'stops',
    fixes: ({ hello }) => hello.tokens !== undefined,
    of: (value) => [listed(value)],
    says: (saved, today) => `it stops with ${saved}, and hello.tokens.eos_token_ids is ${today}`,
  },
  {
    name: 'groups',
    fixes: ({ hello }, { ops }) =>
      ops.includes('advantages') && hello.ops.advantages?.group_size !== undefined,
    of: (value) =>
      Array.isArray(value) ? value.flatMap((group) => (Array.isArray(group) ? [`${group.length}`] : [])) : [],
    says: (saved, today) => `it has a group of ${saved}, and op \`advantages\` declares group_size ${today}`,
  },
  {
    name: 'template',
    fixes: (_, { ops }) => ops.includes('render') || ops.includes('tokenize'),
    of: (value) => [value === null ? 'none' : 'one'],
    says: () => 'it sends a chat template, and the op no longer declares chat_template',
  },
];

const listed = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));

/** Every named value of a case, however deep. */
function namedIn(value: unknown, found = new Map<string, unknown[]>()): Map<string, unknown[]> {
  if (Array.isArray(value)) for (const item of value) namedIn(item, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      found.set(name, [...(found.get(name) ?? []), inner]);
      namedIn(inner, found);
    }
  return found;
}
