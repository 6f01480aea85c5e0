// Results of tools in the families' templates: those of parallel calls share one turn.
import { describe, expect, it } from 'vitest';
import { renderChat, templateTokens } from '../../src/tokenizers/template.ts';
import type { Message } from '../../src/vocabulary.ts';
import { familyFolders, loaded } from './folders.ts';

const MESSAGES: readonly Message[] = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'Q' },
  { role: 'assistant', content: 'call' },
  { role: 'tool', content: ' 1 ' },
  { role: 'tool', content: '2' },
  { role: 'assistant', content: 'A' },
];

function render(name: string, messages: readonly Message[]): string {
  const tokenizer = loaded(familyFolders[name] ?? '');
  const rendered = renderChat(tokenizer.chatTemplate ?? '', {
    messages,
    addGenerationPrompt: false,
    ...templateTokens(tokenizer),
  });
  return 'text' in rendered ? rendered.text : rendered.problem;
}

describe('tool results', () => {
  it('are one turn of the user in Qwen', () => {
    expect(render('qwen', MESSAGES)).toBe(
      '<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\ncall<|im_end|>\n' +
        '<|im_start|>user\n<tool_response>\n 1 \n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>\n' +
        '<|im_start|>assistant\nA<|im_end|>\n',
    );
  });

  it('are one turn of their own in Llama 3', () => {
    const text = render('llama3', MESSAGES);
    expect(text).toContain(
      '<|start_header_id|>ipython<|end_header_id|>\n\n1\n2<|eot_id|><|start_header_id|>assistant',
    );
    expect(render('llama3', MESSAGES.slice(0, 4))).toMatch(/\n\n1<\|eot_id\|>$/u);
  });

  it('are two turns where something stands between them', () => {
    const apart = [...MESSAGES.slice(0, 4), ...MESSAGES.slice(2, 4)];
    expect(render('qwen', apart).match(/<\|im_start\|>user\n<tool_response>/gu)).toHaveLength(2);
    expect(render('llama3', apart).match(/ipython/gu)).toHaveLength(2);
  });
});
