"""Llama and GPT-2 in plain Python floats, forward and backward, one row at a time.

The vectors of a row stand together, a list per token, and may carry their gradients. Each step appends to `tape`, where
one is given, what carries the gradient of its result back to its inputs: run backwards, the tape is the backward
pass."""

from functools import lru_cache
from math import cos, exp, log, pi, sin, sqrt, tanh
from operator import mul


class Vectors(list):
    """Lists of numbers and, while there is a tape, dL/d each of them."""

    __slots__ = ("grad",)

    def part(self, first, last):
        """Some of them, with the same gradients."""
        out = Vectors(self[first:last])
        if hasattr(self, "grad"):
            out.grad = self.grad[first:last]
        return out


def fresh(values, tape):
    out = Vectors(values)
    if tape is not None:
        out.grad = [[0.0] * len(row) for row in out]
    return out


def add_to(target, factor, values):
    target[:] = [a + factor * b for a, b in zip(target, values)]


def sum_of(start, factors, vectors):
    """start + factor * vector + ..., in this order; eight at a time, since the way through a list costs as much."""
    eights = len(factors) // 8 * 8
    for at in range(0, eights, 8):
        f, g, h, i, j, k, l, m = factors[at : at + 8]
        start = [
            x + n * f + o * g + p * h + q * i + r * j + s * k + t * l + u * m
            for x, n, o, p, q, r, s, t, u in zip(start, *vectors[at : at + 8])
        ]
    for factor, vector in zip(factors[eights:], vectors[eights:]):
        start = [x + factor * v for x, v in zip(start, vector)]
    return start


class Matrix:
    """(out, in) by columns, since a product is a sum of them; the gradient too."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = list(zip(*columns))
        self.forget()

    def forget(self):
        self.grad = [[0.0] * len(self.rows) for _ in self.columns]


class Model:
    """The weights by name: matrices, whichever way the checkpoint has them, and single vectors."""

    def __init__(self, config, tensors):
        self.config = config
        self.shapes = {name: shape for name, (shape, _) in tensors.items()}
        self.weights = {name: weight(name, *tensor) for name, tensor in tensors.items()}
        self.gpt2 = config["model_type"] == "gpt2"

    def forward(self, ids, positions, tape=None):
        """What the head reads, a vector a token."""
        return (gpt2 if self.gpt2 else llama)(self, ids, positions, tape)

    def log_softmax(self, states, temperature, tape=None):
        """log p of every id, of logits / temperature, a list a state."""
        tied = "transformer.wte.weight" if self.gpt2 else "model.embed_tokens.weight"
        head = self.weights["lm_head.weight" if "lm_head.weight" in self.weights else tied]
        logits = linear(head, states, None, tape)
        out = fresh((log_softmax(row, temperature) for row in logits), tape)
        if tape is not None:

            def back():
                for row, grad, target in zip(out, out.grad, logits.grad):
                    asked = sum(grad)
                    add_to(target, 1 / temperature, [g - asked * exp(z) for g, z in zip(grad, row)])

            tape.append(back)
        return out

    def stepped(self, rate):
        """The tensors after one step of plain gradient descent, as a checkpoint has them."""
        out = {}
        for name, held in self.weights.items():
            kept = held.columns if isinstance(held, Matrix) else held
            moved = [[w - rate * g for w, g in zip(*pair)] for pair in zip(kept, held.grad)]
            if isinstance(held, Matrix) and not transposed(name):
                moved = zip(*moved)
            out[name] = (self.shapes[name], [w for row in moved for w in row])
        return out

    def forget(self):
        """Gradients begin at zero again."""
        for held in self.weights.values():
            if isinstance(held, Matrix):
                held.forget()
            else:
                held.grad = [[0.0] * len(row) for row in held]


def log_softmax(logits, temperature):
    scaled = [z / temperature for z in logits]
    top = max(scaled)
    total = top + log(sum(map(exp, [z - top for z in scaled])))
    return [z - total for z in scaled]


def transposed(name):
    """GPT-2 keeps its projections as (in, out)."""
    return name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))


def weight(name, shape, flat):
    width = shape[-1]
    rows = [flat[at : at + width] for at in range(0, len(flat), width)]
    if len(shape) == 1:
        return fresh(rows, ())
    return Matrix(rows if transposed(name) else list(map(list, zip(*rows))))


def looked_up(matrix, ids, tape):
    """The rows of these ids."""
    out = fresh((matrix.rows[id] for id in ids), tape)
    if tape is not None:

        def back():
            for id, grad in zip(reversed(ids), reversed(out.grad)):
                for column, g in zip(matrix.grad, grad):
                    column[id] += g

        tape.append(back)
    return out


def linear(matrix, xs, bias, tape):
    """W x + b of each."""
    nothing = [0.0] * len(matrix.rows)
    out = fresh((sum_of(nothing, x, matrix.columns) for x in xs), tape)
    if bias is not None:
        out[:] = [list(map(float.__add__, row, bias[0])) for row in out]
    if tape is not None:

        def back():
            for target, grad in zip(xs.grad, out.grad):
                target[:] = [sum(map(mul, grad, column), g) for g, column in zip(target, matrix.columns)]
            grads = out.grad[::-1]
            along = zip(*reversed(xs))
            matrix.grad = [sum_of(column, factors, grads) for column, factors in zip(matrix.grad, along)]
            if bias is not None:
                for grad in grads:
                    add_to(bias.grad[0], 1, grad)

        tape.append(back)
    return out


def plus(xs, ys, tape):
    out = fresh(([x + y for x, y in zip(*pair)] for pair in zip(xs, ys)), tape)
    if tape is not None:

        def back():
            for grad, left, right in zip(out.grad, xs.grad, ys.grad):
                add_to(left, 1, grad)
                add_to(right, 1, grad)

        tape.append(back)
    return out


def norm(xs, scale, bias, epsilon, tape):
    """RMSNorm, or LayerNorm where there is a bias."""
    n = len(scale[0])
    units, roots = [], []
    for x in xs:
        centre = sum(x) / n if bias is not None else 0.0
        root = 1 / sqrt(sum([(v - centre) ** 2 for v in x]) / n + epsilon)
        units.append([(v - centre) * root for v in x])
        roots.append(root)
    shift = bias[0] if bias is not None else [0.0] * n
    out = fresh(([u * s + b for u, s, b in zip(unit, scale[0], shift)] for unit in units), tape)
    if tape is not None:

        def back():
            for grad, target, unit, root in zip(*map(reversed, (out.grad, xs.grad, units, roots))):
                add_to(scale.grad[0], 1, map(mul, grad, unit))
                inner = list(map(mul, grad, scale[0]))
                along = sum(map(mul, inner, unit)) / n
                level = sum(inner) / n if bias is not None else 0.0
                add_to(target, root, [g - level - u * along for g, u in zip(inner, unit)])
                if bias is not None:
                    add_to(bias.grad[0], 1, grad)

        tape.append(back)
    return out


def each(xs, function, slope, tape):
    """The function of each number, with its derivative."""
    out = fresh((list(map(function, x)) for x in xs), tape)
    if tape is not None:

        def back():
            for x, target, grad in zip(xs, xs.grad, out.grad):
                add_to(target, 1, [g * slope(v) for g, v in zip(grad, x)])

        tape.append(back)
    return out


def times(xs, ys, tape):
    out = fresh((list(map(mul, *pair)) for pair in zip(xs, ys)), tape)
    if tape is not None:

        def back():
            for x, y, left, right, grad in zip(xs, ys, xs.grad, ys.grad, out.grad):
                add_to(left, 1, list(map(mul, grad, y)))
                add_to(right, 1, list(map(mul, grad, x)))

        tape.append(back)
    return out


@lru_cache(maxsize=None)
def angles(position, width, theta):
    """(cos, sin) of each pair of entries."""
    turns = [position * theta ** (-2 * i / width) for i in range(width // 2)]
    return [(cos(turn), sin(turn)) for turn in turns]


def turned(xs, positions, width, theta, tape):
    """Rotary positions: entry i of a head turns with entry i + width / 2."""
    half = width // 2

    def turn(values, position, sign):
        out = [0.0] * len(values)
        for i, (c, s) in enumerate(angles(position, width, theta)):
            s *= sign
            for at in range(i, len(values), width):
                a, b = values[at], values[at + half]
                out[at], out[at + half] = a * c - b * s, b * c + a * s
        return out

    out = fresh((turn(*pair, 1) for pair in zip(xs, positions)), tape)
    if tape is not None:

        def back():
            for grad, target, position in zip(out.grad, xs.grad, positions):
                add_to(target, 1, turn(grad, position, -1))

        tape.append(back)
    return out


def attend(queries, keys, values, heads, shared, width, tape):
    """Each query over the keys up to its own; `heads` query heads share `shared` heads of keys and values."""
    root, kept = sqrt(width), []
    out = fresh(([0.0] * (heads * width) for _ in queries), tape)
    for head in range(heads):
        q, k = slice(head * width, (head + 1) * width), head * shared // heads * width
        kv = slice(k, k + width)
        theirs, columns = [key[kv] for key in keys], list(zip(*(value[kv] for value in values)))
        for t, query in enumerate(queries):
            own = query[q]
            scores = [sum(map(mul, own, key)) / root for key in theirs[: t + 1]]
            top = max(scores)
            weights = [exp(score - top) for score in scores]
            total = sum(weights)
            weights = [weight / total for weight in weights]
            # There are as many weights as tokens so far: map ends with them.
            out[t][q] = [sum(map(mul, weights, column)) for column in columns]
            if tape is not None:
                kept.append((t, q, kv, weights))
    if tape is not None:

        def back():
            # From the last token on, its heads in order.
            for t, q, kv, weights in sorted(kept, key=lambda one: -one[0]):
                query, turn, grad = queries[t], queries.grad[t], out.grad[t][q]
                pulls = [sum(map(mul, grad, value[kv])) for value in values[: t + 1]]
                mean = sum(map(mul, weights, pulls))
                for weight, pull, key, pushed, given in zip(weights, pulls, keys, keys.grad, values.grad):
                    score = weight * (pull - mean) / root
                    given[kv] = [a + weight * b for a, b in zip(given[kv], grad)]
                    turn[q] = [a + score * b for a, b in zip(turn[q], key[kv])]
                    pushed[kv] = [a + score * b for a, b in zip(pushed[kv], query[q])]

        tape.append(back)
    return out


def llama(model, ids, positions, tape):
    config, weights = model.config, model.weights
    heads, shared = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or config["hidden_size"] // heads
    epsilon, theta = config["rms_norm_eps"], (config.get("rope_parameters") or config)["rope_theta"]
    states = looked_up(weights["model.embed_tokens.weight"], ids, tape)
    for layer in range(config["num_hidden_layers"]):
        at = "model.layers.%d." % layer
        normed = lambda name, xs: norm(xs, weights[at + name + ".weight"], None, epsilon, tape)
        apply = lambda name, xs: linear(weights[at + name + ".weight"], xs, None, tape)
        turn = lambda name, xs: turned(apply(name, xs), positions, width, theta, tape)
        read = normed("input_layernorm", states)
        queries, keys = turn("self_attn.q_proj", read), turn("self_attn.k_proj", read)
        seen = attend(queries, keys, apply("self_attn.v_proj", read), heads, shared, width, tape)
        states = plus(states, apply("self_attn.o_proj", seen), tape)
        after = normed("post_attention_layernorm", states)
        gate = each(apply("mlp.gate_proj", after), silu, silu_slope, tape)
        inner = times(gate, apply("mlp.up_proj", after), tape)
        states = plus(states, apply("mlp.down_proj", inner), tape)
    return norm(states, weights["model.norm.weight"], None, epsilon, tape)


def gpt2(model, ids, positions, tape):
    config, weights = model.config, model.weights
    heads, size = config["n_head"], config["n_embd"]
    epsilon, width = config["layer_norm_epsilon"], size // heads
    at = "transformer."

    def normed(name, xs):
        return norm(xs, weights[at + name + ".weight"], weights[at + name + ".bias"], epsilon, tape)

    def apply(name, xs):
        return linear(weights[at + name + ".weight"], xs, weights[at + name + ".bias"], tape)

    tokens = looked_up(weights[at + "wte.weight"], ids, tape)
    states = plus(tokens, looked_up(weights[at + "wpe.weight"], positions, tape), tape)
    for layer in range(config["n_layer"]):
        block = "h.%d." % layer
        queries, keys, values = split(apply(block + "attn.c_attn", normed(block + "ln_1", states)), 3, tape)
        seen = attend(queries, keys, values, heads, heads, width, tape)
        states = plus(states, apply(block + "attn.c_proj", seen), tape)
        inner = each(apply(block + "mlp.c_fc", normed(block + "ln_2", states)), gelu, gelu_slope, tape)
        states = plus(states, apply(block + "mlp.c_proj", inner), tape)
    return normed("ln_f", states)


def split(xs, parts, tape):
    size = len(xs[0]) // parts
    out = [fresh((x[i * size : (i + 1) * size] for x in xs), tape) for i in range(parts)]
    if tape is not None:

        def back():
            for target, *grads in zip(xs.grad, *(part.grad for part in out)):
                add_to(target, 1, [g for grad in grads for g in grad])

        tape.append(back)
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
