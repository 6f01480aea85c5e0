"""Llama and GPT-2 in plain Python floats, forward and backward, one row at a time.

A vector is a list that may carry its gradient. Each step appends to `tape`, where one is given, what carries the
gradient of its result back to its inputs: run backwards, the tape is the backward pass."""

from math import cos, exp, log, pi, sin, sqrt, tanh
from operator import mul


class Vector(list):
    """Numbers and, while there is a tape, dL/d each of them."""

    __slots__ = ("grad",)


def fresh(values):
    out = Vector(values)
    out.grad = [0.0] * len(out)
    return out


def add_to(target, factor, values):
    target[:] = [a + factor * b for a, b in zip(target, values)]


class Model:
    """The weights by name, matrices as rows of (out, in), whichever way the checkpoint has them."""

    def __init__(self, config, tensors):
        self.config = config
        self.shapes = {name: shape for name, (shape, _) in tensors.items()}
        self.rows = {name: matrix(name, *tensor) for name, tensor in tensors.items()}
        self.gpt2 = config["model_type"] == "gpt2"

    def forward(self, ids, positions, tape=None):
        """What the head reads, a vector a token."""
        return (gpt2 if self.gpt2 else llama)(self, ids, positions, tape)

    def log_softmax(self, state, temperature, tape=None):
        """log p of every id, of logits / temperature."""
        tied = "transformer.wte.weight" if self.gpt2 else "model.embed_tokens.weight"
        head = self.rows["lm_head.weight" if "lm_head.weight" in self.rows else tied]
        logits = linear(head, state, None, tape)
        scaled = [z / temperature for z in logits]
        top = max(scaled)
        total = top + log(sum(exp(z - top) for z in scaled))
        out = fresh(z - total for z in scaled)
        if tape is not None:

            def back():
                asked = sum(out.grad)
                add_to(logits.grad, 1 / temperature, [g - asked * exp(z) for g, z in zip(out.grad, out)])

            tape.append(back)
        return out

    def stepped(self, rate):
        """The tensors after one step of plain gradient descent, as a checkpoint has them."""
        out = {}
        for name, rows in self.rows.items():
            moved = [[w - rate * g for w, g in zip(row, row.grad)] for row in rows]
            if transposed(name):
                moved = zip(*moved)
            out[name] = (self.shapes[name], [w for row in moved for w in row])
        return out

    def forget(self):
        """Gradients begin at zero again."""
        for rows in self.rows.values():
            for row in rows:
                row.grad = [0.0] * len(row)


def transposed(name):
    """GPT-2 keeps its projections as (in, out)."""
    return name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))


def matrix(name, shape, flat):
    width = shape[-1]
    rows = [flat[at : at + width] for at in range(0, len(flat), width)]
    return [fresh(row) for row in (zip(*rows) if transposed(name) else rows)]


def linear(rows, x, bias, tape):
    """W x + b."""
    out = fresh(sum(map(mul, row, x)) for row in rows)
    if bias is not None:
        out[:] = map(float.__add__, out, bias)
    if tape is not None:

        def back():
            for row, g in zip(rows, out.grad):
                if g:
                    add_to(row.grad, g, x)
                    add_to(x.grad, g, row)
            if bias is not None:
                add_to(bias.grad, 1, out.grad)

        tape.append(back)
    return out


def plus(a, b, tape):
    out = fresh(x + y for x, y in zip(a, b))
    if tape is not None:

        def back():
            add_to(a.grad, 1, out.grad)
            add_to(b.grad, 1, out.grad)

        tape.append(back)
    return out


def norm(x, scale, bias, epsilon, tape):
    """RMSNorm, or LayerNorm where there is a bias."""
    n = len(x)
    centre = sum(x) / n if bias is not None else 0.0
    root = 1 / sqrt(sum((v - centre) ** 2 for v in x) / n + epsilon)
    unit = [(v - centre) * root for v in x]
    out = fresh(u * s + (bias[i] if bias is not None else 0.0) for i, (u, s) in enumerate(zip(unit, scale)))
    if tape is not None:

        def back():
            add_to(scale.grad, 1, map(mul, out.grad, unit))
            inner = list(map(mul, out.grad, scale))
            along = sum(map(mul, inner, unit)) / n
            level = sum(inner) / n if bias is not None else 0.0
            add_to(x.grad, root, [g - level - u * along for g, u in zip(inner, unit)])
            if bias is not None:
                add_to(bias.grad, 1, out.grad)

        tape.append(back)
    return out


def each(x, function, slope, tape):
    """The function of each number, with its derivative."""
    out = fresh(map(function, x))
    if tape is not None:
        tape.append(lambda: add_to(x.grad, 1, [g * slope(v) for g, v in zip(out.grad, x)]))
    return out


def times(a, b, tape):
    out = fresh(map(mul, a, b))
    if tape is not None:

        def back():
            add_to(a.grad, 1, list(map(mul, out.grad, b)))
            add_to(b.grad, 1, list(map(mul, out.grad, a)))

        tape.append(back)
    return out


def turned(x, position, width, theta, tape):
    """Rotary positions: entry i of a head turns with entry i + width / 2."""
    half = width // 2
    angles = [position * theta ** (-2 * i / width) for i in range(half)]

    def turn(values, sign):
        out = [0.0] * len(values)
        for head in range(0, len(values), width):
            for i, angle in enumerate(angles):
                a, b, c, s = values[head + i], values[head + half + i], cos(angle), sign * sin(angle)
                out[head + i], out[head + half + i] = a * c - b * s, b * c + a * s
        return out

    out = fresh(turn(x, 1))
    if tape is not None:
        tape.append(lambda: add_to(x.grad, 1, turn(out.grad, -1)))
    return out


def attend(query, keys, values, heads, shared, width, tape):
    """One query over the keys so far; `heads` query heads share `shared` heads of keys and values."""
    out, kept = fresh([0.0] * (heads * width)), []
    for head in range(heads):
        q, k = slice(head * width, (head + 1) * width), head * shared // heads * width
        kv = slice(k, k + width)
        scores = [sum(map(mul, query[q], key[kv])) / sqrt(width) for key in keys]
        top = max(scores)
        weights = [exp(score - top) for score in scores]
        total = sum(weights)
        weights = [weight / total for weight in weights]
        out[q] = [sum(map(mul, weights, column)) for column in zip(*(value[kv] for value in values))]
        kept.append((q, kv, weights))
    if tape is not None:

        def back():
            for q, kv, weights in kept:
                g = out.grad[q]
                pulls = [sum(map(mul, g, value[kv])) for value in values]
                mean = sum(map(mul, weights, pulls))
                for weight, pull, key, value in zip(weights, pulls, keys, values):
                    score = weight * (pull - mean) / sqrt(width)
                    value.grad[kv] = [a + weight * b for a, b in zip(value.grad[kv], g)]
                    query.grad[q] = [a + score * b for a, b in zip(query.grad[q], key[kv])]
                    key.grad[kv] = [a + score * b for a, b in zip(key.grad[kv], query[q])]

        tape.append(back)
    return out


def llama(model, ids, positions, tape):
    config, rows = model.config, model.rows
    heads, shared = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or config["hidden_size"] // heads
    epsilon, theta = config["rms_norm_eps"], (config.get("rope_parameters") or config)["rope_theta"]
    vector = lambda name: rows[name][0]
    states = [plus(rows["model.embed_tokens.weight"][id], fresh([0.0] * config["hidden_size"]), tape) for id in ids]
    for layer in range(config["num_hidden_layers"]):
        at = "model.layers.%d." % layer
        apply = lambda name, x: linear(rows[at + name + ".weight"], x, None, tape)
        read = [norm(x, vector(at + "input_layernorm.weight"), None, epsilon, tape) for x in states]
        turn = lambda name: [
            turned(apply("self_attn." + name, x), p, width, theta, tape) for x, p in zip(read, positions)
        ]
        queries, keys = turn("q_proj"), turn("k_proj")
        values = [apply("self_attn.v_proj", x) for x in read]
        for t, x in enumerate(states):
            seen = attend(queries[t], keys[: t + 1], values[: t + 1], heads, shared, width, tape)
            x = plus(x, apply("self_attn.o_proj", seen), tape)
            after = norm(x, vector(at + "post_attention_layernorm.weight"), None, epsilon, tape)
            gate = each(apply("mlp.gate_proj", after), silu, silu_slope, tape)
            inner = times(gate, apply("mlp.up_proj", after), tape)
            states[t] = plus(x, apply("mlp.down_proj", inner), tape)
    return [norm(x, vector("model.norm.weight"), None, epsilon, tape) for x in states]


def gpt2(model, ids, positions, tape):
    config, rows = model.config, model.rows
    heads, size = config["n_head"], config["n_embd"]
    epsilon, width = config["layer_norm_epsilon"], size // heads
    at = "transformer."

    def normed(name, x):
        return norm(x, rows[at + name + ".weight"][0], rows[at + name + ".bias"][0], epsilon, tape)

    def apply(name, x):
        return linear(rows[at + name + ".weight"], x, rows[at + name + ".bias"][0], tape)

    states = [plus(rows[at + "wte.weight"][id], rows[at + "wpe.weight"][p], tape) for id, p in zip(ids, positions)]
    for layer in range(config["n_layer"]):
        block = "h.%d." % layer
        parts = [split(apply(block + "attn.c_attn", normed(block + "ln_1", x)), 3, tape) for x in states]
        queries, keys, values = zip(*parts)
        for t, x in enumerate(states):
            seen = attend(queries[t], keys[: t + 1], values[: t + 1], heads, heads, width, tape)
            x = plus(x, apply(block + "attn.c_proj", seen), tape)
            inner = each(apply(block + "mlp.c_fc", normed(block + "ln_2", x)), gelu, gelu_slope, tape)
            states[t] = plus(x, apply(block + "mlp.c_proj", inner), tape)
    return [normed("ln_f", x) for x in states]


def split(x, parts, tape):
    size = len(x) // parts
    out = [fresh(x[i * size : (i + 1) * size]) for i in range(parts)]
    if tape is not None:
        tape.append(lambda: add_to(x.grad, 1, [g for part in out for g in part.grad]))
    return out


def silu(x):
    return x / (1 + exp(-x))


def silu_slope(x):
    chance = 1 / (1 + exp(-x))
    return chance * (1 + x * (1 - chance))


CUBIC = 0.044715


def gelu(x):
    return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + CUBIC * x**3)))


def gelu_slope(x):
    inner = tanh(sqrt(2 / pi) * (x + CUBIC * x**3))
    return 0.5 * (1 + inner) + 0.5 * x * (1 - inner**2) * sqrt(2 / pi) * (1 + 3 * CUBIC * x**2)
