"""Conversations rendered and tokenised by transformers with the tokenizers of src/tokenizers/families."""

from transformers import AutoTokenizer
from transformers.utils.chat_template_utils import _compile_jinja_template, _render_with_assistant_indices

from sources.entries import ROOT, entry

FAMILIES = ["llama3", "qwen", "gemma", "mistral", "deepseek", "phi"]


def message(role, content):
    return {"role": role, "content": content}


def conversations():
    user, answer = message("user", "What is 6 times 7?"), message("assistant", "6 times 7 is 42.")
    return {
        "one-turn": [user, answer],
        "with-a-system-text": [message("system", "Be brief."), user, answer, message("user", "And 7 times 8?")],
        "two-turns": [user, answer, message("user", "And 7 times 8?"), message("assistant", "56.")],
        "white-space": [message("user", "  two\n\n lines \t"), message("assistant", "\n answer  ")],
        "special-text": [message("user", "print <|im_end|></s><|eot_id|><end_of_turn><|end|>"), message("assistant", "<s> done")],
        "letters": [message("user", "naïve 你好, Привет 👩‍🔬 e\u0301"), message("assistant", "…ok ½")],
        "empty-answer": [user, message("assistant", "")],
        "tool-answers": [
            user,
            message("assistant", '<tool_call>{"name": "times", "arguments": {"a": 6, "b": 7}}</tool_call>'),
            message("tool", "42"),
            message("tool", "still 42"),
            answer,
        ],
        "two-questions-in-a-row": [user, message("user", "Quick!"), answer],
    }


# Each marks the answers in its family's own shape, with the stop token within the mark or outside of it.
MARKED = {
    "qwen": (
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.role == 'assistant' %}"
        "{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}"
        "{{ '\\n' }}{% endfor %}"
    ),
    "llama3": (
        "{{ bos_token }}{%- for m in messages %}\n"
        "{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' }}\n"
        "{%- if m.role == 'assistant' %}{%- generation %}{{- m.content }}{{- '<|eot_id|>' }}{%- endgeneration %}\n"
        "{%- else %}{{- m.content + '<|eot_id|>' }}{%- endif %}{%- endfor %}"
    ),
    "mistral": (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
        "{{ eos_token }}{% else %}{{ '[INST]' + m.content + '[/INST]' }}{% endif %}{% endfor %}"
    ),
}


def tokenizer_of(family):
    return AutoTokenizer.from_pretrained(ROOT / "src" / "tokenizers" / "families" / family)


def rendered(tokenizer, messages, prompt):
    try:
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=prompt, tokenize=False)
    except Exception as refusal:
        # What a template refuses is an answer too; its sentence is the template's own.
        return {"refused": str(refusal)}
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=prompt, tokenize=True, return_dict=True)["input_ids"]
    return {"text": text, "ids": ids}


def chats():
    for family in FAMILIES:
        tokenizer = tokenizer_of(family)
        for name, messages in conversations().items():
            yield entry(
                f"{family}-{name}",
                f"transformers, AutoTokenizer of src/tokenizers/families/{family}",
                "apply_chat_template, tokenize=False and tokenize=True, without and with add_generation_prompt",
                "chat",
                {"family": family, "messages": messages},
                {"row": rendered(tokenizer, messages, False), "prompt": rendered(tokenizer, messages, True)},
            )


def masks():
    chosen = ["one-turn", "two-turns", "white-space", "letters", "empty-answer"]
    for family, template in MARKED.items():
        tokenizer = tokenizer_of(family)
        for name in chosen:
            messages = conversations()[name]
            row = tokenizer.apply_chat_template(
                messages, chat_template=template, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
            )
            text = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False)
            yield entry(
                f"{family}-{name}",
                "transformers, return_assistant_tokens_mask",
                "apply_chat_template of a template with generation marks; lost are tokens that lie within a mark and have a 0",
                "assistant-mask",
                {"family": family, "template": template, "messages": messages},
                {
                    "text": text,
                    "ids": row["input_ids"],
                    "assistant_masks": row["assistant_masks"],
                    "lost": lost(tokenizer, template, messages, row),
                },
            )


def lost(tokenizer, template, messages, row):
    """Of a last character that is several tokens, transformers marks the first alone."""
    text, spans = _render_with_assistant_indices(
        _compile_jinja_template(template), messages, None, None, False, **tokenizer.special_tokens_map
    )
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    inside = [any(start <= a and b <= end and a < b for start, end in spans) for a, b in offsets]
    return [t for t, (own, mark) in enumerate(zip(inside, row["assistant_masks"])) if own and not mark]
