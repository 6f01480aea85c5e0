// The conversations of the golden set: what a template treats apart from plain turns is in one of them each.
import type { Message } from '../../../vocabulary.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const tool = (content: string): Message => ({ role: 'tool', content });

export const QUESTION = [user('What is 2 + 3?')];
export const ANSWERED = [...QUESTION, assistant('It is 5.')];
export const SYSTEM = [{ role: 'system', content: 'Be brief.' } as const, user('Hi'), assistant('Hello.')];
export const TURNS = [user('Hi'), assistant('Hello.'), user('And now?'), assistant('Goodbye.')];
/** White space at the ends, letters outside ASCII, and an emoji of several code points. */
export const EDGES = [user('  Grüße aus 東京!\n'), assistant(' def f():\n\n    return 1  # 👩‍💻\n')];
/** Text of a user that a careless tokenizer takes for structure. */
export const SPELLED = [user('Write <|im_end|> and </s> and <|eot_id|>.'), assistant('No.')];
export const WITH_TOOL = [
  user('Add 17 and 25.'),
  assistant('<tool_call>{"name": "add", "arguments": {"a": 17, "b": 25}}</tool_call>'),
  tool('42'),
  assistant('It is 42.'),
];
export const PARALLEL_TOOLS = [
  user('Weather in Rome and Oslo?'),
  assistant('<tool_call>{"name": "w", "arguments": {"in": ["Rome", "Oslo"]}}</tool_call>'),
  tool('sunny'),
  tool('snow'),
  assistant('Sunny, and snow.'),
];
/** Ends with a question, for templates that treat the system message and earlier turns apart. */
export const LONG_PROMPT = [...SYSTEM, user('And now?')];
/** An earlier answer with its thoughts, which some templates drop. */
export const THOUGHTS = [
  user('What is 2 + 3?'),
  assistant('<think>\n2 and 3\n</think>\n\nIt is 5.'),
  user('And 4?'),
];
