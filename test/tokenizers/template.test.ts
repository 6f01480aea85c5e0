import { describe, expect, it } from 'vitest';
import { checkTemplate, renderChat, templateTokens } from '../../src/tokenizers/template.ts';
import type { Message } from '../../src/vocabulary.ts';
import { familyFolders, loaded } from './folders.ts';

const SYSTEM: Message = { role: 'system', content: ' Be brief. ' };
const USER: Message = { role: 'user', content: ' Hi\n' };
const ANSWER: Message = { role: 'assistant', content: 'Yo' };
const MORE: Message = { role: 'user', content: 'And?' };

function render(name: string, messages: readonly Message[], addGenerationPrompt = false): string {
  const tokenizer = loaded(familyFolders[name] ?? '');
  const template = tokenizer.chatTemplate ?? '';
  const rendered = renderChat(template, { messages, addGenerationPrompt, ...templateTokens(tokenizer) });
  return 'text' in rendered ? rendered.text : rendered.problem;
}

describe('the families render', () => {
  it('Llama 3 with BOS, headers and trimmed contents', () => {
    expect(render('llama3', [SYSTEM, USER, ANSWER])).toBe(
      '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>' +
        '<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>' +
        '<|start_header_id|>assistant<|end_header_id|>\n\nYo<|eot_id|>',
    );
    expect(render('llama3', [USER], true)).toBe(
      '<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>' +
        '<|start_header_id|>assistant<|end_header_id|>\n\n',
    );
  });

  it('Qwen with contents verbatim, and a system turn of its own where there is none', () => {
    expect(render('qwen', [SYSTEM, USER, ANSWER])).toBe(
      '<|im_start|>system\n Be brief. <|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\nYo<|im_end|>\n',
    );
    expect(render('qwen', [USER], true)).toBe(
      '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  it('Gemma with the system text in the first user turn', () => {
    expect(render('gemma', [SYSTEM, USER, ANSWER, MORE], true)).toBe(
      '<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nYo<end_of_turn>\n' +
        '<start_of_turn>user\nAnd?<end_of_turn>\n<start_of_turn>model\n',
    );
  });

  it('Mistral with the system text in the last user turn, which moves as the chat grows', () => {
    expect(render('mistral', [SYSTEM, USER], true)).toBe('<s>[INST] Be brief. \n\n Hi\n[/INST]');
    expect(render('mistral', [SYSTEM, USER, ANSWER])).toBe('<s>[INST] Be brief. \n\n Hi\n[/INST]Yo</s>');
    expect(render('mistral', [SYSTEM, USER, ANSWER, MORE])).toBe(
      '<s>[INST] Hi\n[/INST]Yo</s>[INST] Be brief. \n\nAnd?[/INST]',
    );
  });

  it('DeepSeek with full-width bars and a bare system text', () => {
    expect(render('deepseek', [SYSTEM, USER, ANSWER])).toBe(
      '<｜begin▁of▁sentence｜> Be brief. <｜User｜> Hi\n<｜Assistant｜>Yo<｜end▁of▁sentence｜>',
    );
    expect(render('deepseek', [USER], true)).toBe('<｜begin▁of▁sentence｜><｜User｜> Hi\n<｜Assistant｜>');
  });

  it('Phi with role tags and no BOS', () => {
    expect(render('phi', [SYSTEM, USER], true)).toBe(
      '<|system|>\n Be brief. <|end|>\n<|user|>\n Hi\n<|end|>\n<|assistant|>\n',
    );
  });

  it.each(['gemma', 'mistral'])('%s not at all where roles do not alternate', (name) => {
    expect(render(name, [USER, USER])).toMatch(/^The chat template refuses the conversation: .*alternate/);
  });

  it('Llama 3 with a BOS that the tokenizer then adds once more', () => {
    const tokenizer = loaded(familyFolders.llama3 ?? '');
    const bos = tokenizer.bosTokenId;
    const text = render('llama3', [USER], true);
    expect(tokenizer.encode(text, { addSpecialTokens: true }).slice(0, 2)).toEqual([bos, bos]);
    expect(tokenizer.encode(text).slice(0, 2)).toEqual([bos, tokenizer.tokenId('<|start_header_id|>')]);
  });
});

describe('rendering', () => {
  const text = (template: string, content: string): string => {
    const made = renderChat(template, { messages: [{ role: 'user', content }], addGenerationPrompt: false });
    return 'text' in made ? made.text : made.problem;
  };

  it('strips the given characters only, as Python does', () => {
    expect(text("[{{ messages[0].content.strip('\\n') }}]", '\n x \n')).toBe('[ x ]');
    expect(text("[{{ messages[0].content.rstrip('x') }}]", 'xax')).toBe('[xa]');
  });

  it('trims what Python takes for white space', () => {
    expect(text('[{{ messages[0].content | trim }}]', '\u0085 x\u001f')).toBe('[x]');
    expect(text('[{{ messages[0].content.lstrip() }}]', '\ufeffx')).toBe('[\ufeffx]');
  });

  it('renders unset special tokens as nothing and missing tools as none', () => {
    expect(text('{{ bos_token }}{% if tools is none %}no tools{% endif %}', 'x')).toBe('no tools');
  });

  it('treats line ends of any platform alike', () => {
    expect(text('{% for m in messages %}\r\n{{ m.content }}\r\n{% endfor %}\r\n', 'x')).toBe('x\n');
  });

  it('passes further variables on', () => {
    const made = renderChat('{{ date_string }}', {
      messages: [],
      addGenerationPrompt: false,
      extra: { date_string: '1 Jan' },
    });
    expect(made).toEqual({ text: '1 Jan' });
  });

  it('tells a refusal of the template from a failure in it', () => {
    const options = { messages: [USER], addGenerationPrompt: false };
    expect(renderChat("{{ raise_exception('no users') }}", options)).toEqual({
      problem: 'The chat template refuses the conversation: no users',
      raised: true,
    });
    const failure = renderChat('{{ messages | no_such_filter }}', options);
    expect(failure).not.toHaveProperty('raised');
    expect(failure).toHaveProperty('problem');
  });

  it('says that a template does not compile, every time', () => {
    for (let time = 0; time < 2; time++)
      expect(renderChat('{% if %}', { messages: [], addGenerationPrompt: false })).toHaveProperty('problem');
    expect(checkTemplate('{% if %}').problem).toContain('line 1');
    expect(checkTemplate('{{ messages }}')).toEqual({});
  });
});
