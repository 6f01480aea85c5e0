// The example trainers' own labels, made in Python by other code, agree with the mask that is shown.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conversation } from '../../src/generators/text/conversation.ts';
import { chatRow } from '../../src/view/chat.ts';
import { isNote } from '../../src/view/flags.ts';
import { idsRow } from '../../src/view/ids-row.ts';
import { judge } from '../../src/view/judge.ts';
import { writerOf } from '../../src/view/writer.ts';
import { IGNORE_INDEX } from '../../src/vocabulary.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';

const CONVERSATIONS = 60;
// The package keeps standard output for its protocol, so it is put aside before the import.
const SCRIPT = `
import json, os, sys
out = os.fdopen(os.dup(1), "w")
from lossproof.examples.text.chat import chat_ids, chat_labels
print(json.dumps([[chat_ids(m, False), chat_labels(m, False)] for m in json.load(sys.stdin)]), file=out)
`;

const tokenizer = loaded(familyFolders.llama3 ?? '');
const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
const options = { tokenizer, writer, truncationSide: 'right' } as const;

const conversations = fc.sample(conversation({ endsWith: 'assistant' }), { seed: 4, numRuns: CONVERSATIONS });
const answers = JSON.parse(
  execFileSync('python3', ['-c', SCRIPT], {
    input: JSON.stringify(conversations),
    encoding: 'utf8',
    env: { ...process.env, PYTHONPATH: resolve('src/python') },
  }),
) as [number[], number[]][];

test('the labels that the examples write are the mask that view shows', () => {
  for (const [at, messages] of conversations.entries()) {
    const [ids, labels] = answers[at] ?? [[], []];
    const { row } = chatRow(
      { kind: 'chat', form: 'messages', messages: messages.map((message) => ({ ...message })) },
      writer,
      options,
    );
    expect(row?.ids).toEqual(ids);
    expect(row?.ids.map((id, column) => (row.trained[column] ? id : IGNORE_INDEX))).toEqual(labels);
  }
});

test('rows with those labels raise nothing, with the conversation beside them and without', () => {
  for (const [at, messages] of conversations.entries()) {
    const [ids = [], labels = []] = answers[at] ?? [];
    const chat = {
      kind: 'chat',
      form: 'messages',
      messages: messages.map((message) => ({ ...message })),
    } as const;
    const alone = { kind: 'ids', form: 'input_ids', ids, labels, masks: [] } as const;
    for (const shape of [alone, { ...alone, chat }]) {
      const { row, faults } = idsRow(shape, options);
      if (row === undefined) throw new Error(JSON.stringify(faults));
      expect(judge(row, options)).toEqual([]);
      expect(
        faults.filter(({ id }) => !isNote(id) && id !== 'empty-answer' && id !== 'blank-answer'),
      ).toEqual([]);
    }
  }
});
