// Small data sets of unequal rows: short and long answers, several turns, a system's message, a tool's.

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

export const CHATS = [
  { messages: [user('two plus two'), assistant('four')] },
  {
    messages: [
      { role: 'system', content: 'Be brief.' },
      user('Name a colour.'),
      assistant('red'),
      user('And another?'),
      assistant('a deep blue, like the sea'),
    ],
  },
  {
    messages: [
      user('How warm is it?'),
      assistant('I will look.'),
      { role: 'tool', content: '21 degrees' },
      assistant('It is warm: 21 degrees.'),
    ],
  },
  { messages: [user('Say nothing but yes.'), assistant('yes')] },
];

export const PAIRS = [
  { prompt: 'The sea is', completion: ' blue and deep' },
  { prompt: '2 + 2 =', completion: ' 4' },
  { prompt: 'One line of a poem about rain:', completion: ' it falls on the roof' },
  { prompt: 'No', completion: ' yes' },
];

export const PREFERENCES = [
  { prompt: 'The sea is', chosen: ' blue and deep', rejected: ' dry' },
  { prompt: '2 + 2 =', chosen: ' 4', rejected: ' 5, more or less' },
  { prompt: 'Rain', chosen: ' falls on the roof', rejected: ' rises' },
  { prompt: 'No', chosen: ' yes', rejected: ' no no' },
];

export const TEXTS = [
  { text: 'It was a dark night and the wind blew.' },
  { text: 'Rain fell.' },
  { text: 'He went home, slowly, and slept.' },
  { text: 'The end.' },
];
