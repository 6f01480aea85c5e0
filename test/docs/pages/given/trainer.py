def build_batch(prompts, completions, pad):
    """Prompts are padded on the left, completions on the right."""
    prompt_width = max(map(len, prompts))
    width = prompt_width + max(map(len, completions))
    ids, attention, mask = [], [], []
    for prompt, completion in zip(prompts, completions):
        left = prompt_width - len(prompt)
        right = width - prompt_width - len(completion)
        ids.append([pad] * left + prompt + completion + [pad] * right)
        attention.append([0] * left + [1] * (len(prompt) + len(completion)) + [0] * right)
        start = sum(attention[-1]) - len(completion)
        mask.append([int(start <= t < start + len(completion)) for t in range(width)])
    return ids, attention, mask
