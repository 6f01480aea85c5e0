// Answers as policies write them that are well: each would be blamed by a rule that looks too closely.

export const QUESTIONS: readonly string[] = [
  'What is 17 * 23? Think step by step, and put your final answer within \\boxed{}.',
  'Write a Python function that returns the first n primes.',
  'Translate "good morning, friend" into Japanese, Arabic, Hindi and German.',
  'Give me the three largest planets as JSON with name and radius_km.',
  'Draw a table of the squares from 1 to 12.',
  'Write a short poem about rain with a refrain.',
  'Which token ends a turn in ChatML, and why does it matter?',
  'What is the weather in Oslo? Use the tool.',
  'Laugh for me, please, and then tell a joke about a compiler.',
  'List everything that one should pack for a week in the mountains.',
  'Repeat the following sentence exactly: the quick brown fox jumps over the lazy dog, twice a day.',
  'Is 7919 a prime number? Answer in one word.',
];

const TABLE = [
  '| n | n² |',
  '|---|---|',
  ...Array.from({ length: 12 }, (_, n) => `| ${n + 1} | ${(n + 1) ** 2} |`),
];
const REFRAIN = 'And the rain comes down, and the rain comes down.';

export const ANSWERS: readonly string[] = [
  '<think>\n17 * 23 = 17 * 20 + 17 * 3 = 340 + 51 = 391.\n</think>\n\nThe product is found in two parts, 340 and 51.\n\n$$17 \\times 23 = \\boxed{391}$$',
  'Here is one way:\n\n```python\ndef primes(n):\n    found = []\n    number = 2\n    while len(found) < n:\n        if all(number % each for each in found):\n            found.append(number)\n        number += 1\n    return found\n```\n\nIt takes about n² steps.',
  'Japanese: おはよう、友よ 🌅\nArabic: صباح الخير يا صديقي\nHindi: सुप्रभात, मित्र\nGerman: Guten Morgen, mein Freund! 👋🏽',
  '{"planets": [{"name": "Jupiter", "radius_km": 69911}, {"name": "Saturn", "radius_km": 58232}, {"name": "Uranus", "radius_km": 25362}]}',
  TABLE.join('\n'),
  `The roofs are grey, the streets are wide.\n${REFRAIN}\nA cat looks out from the dry inside.\n${REFRAIN}\nThe river learns the words by heart.\n${REFRAIN}\nAnd sings the last line from the start.\n${REFRAIN}`,
  'The token is `<|im_end|>`. It ends each message, so that "<|im_start|>user" can open the next one; a model that never sees it trained does not stop.',
  'I will look that up.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}}\n</tool_call>',
  'Ha ha ha ha ha ha ha ha! Why did the compiler break up with the linker? Too many unresolved references.',
  '1. Boots\n2. A map\n3. Water, two litres a day\n4. A warm coat\n5. First aid\n\n--------------------------------\n\n- optional: a history\n- optional: cards\n',
  'the quick brown fox jumps over the lazy dog, twice a day.',
  'Yes.',
];

/** A text that goes on and was cut in the middle of a word. */
export const CUT = `${'The first case is that the number is even, and then it is divisible by two; '}the second case is that it is odd, and then we look at its smallest divisor, which must be at least three and at most its square root, so th`;
