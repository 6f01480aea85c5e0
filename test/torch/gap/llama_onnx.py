"""A Llama as an ONNX graph, operator by operator, from the weights of a transformers model: the same network in other code, with the attention, the
norms and the rotation written anew. Nothing here calls torch but to read the weights."""

import numpy
import onnx
import onnx.numpy_helper
from onnx import TensorProto, helper

DTYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}


class Graph:
    """Nodes in order, and constants, in one dtype."""

    def __init__(self, dtype):
        self.kind = DTYPES[dtype]
        self.nodes, self.constants = [], []

    def constant(self, values, kind=None):
        name = "c%d" % len(self.constants)
        values = numpy.ascontiguousarray(values)
        if kind is None:
            kind, values = self.kind, values.astype(helper.tensor_dtype_to_np_dtype(self.kind))
        self.constants.append(helper.make_tensor(name, kind, values.shape, values.tobytes(), raw=True))
        return name

    def whole(self, *values):
        return self.constant(numpy.array(values, dtype=numpy.int64), TensorProto.INT64)

    def op(self, kind, *inputs, **attributes):
        name = "n%d" % len(self.nodes)
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def single(self, value):
        return self.constant(numpy.array(value, dtype=numpy.float32))


def exported(model, dtype):
    """The bytes of a graph from `ids` (1, T) to `logits` (1, T, V), in float32 whatever the dtype in between."""
    config, graph = model.config, Graph(dtype)
    weights = {name: value.float().numpy() for name, value in model.state_dict().items()}
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    width = config.hidden_size // heads
    length = graph.op("Gather", graph.op("Shape", "ids"), graph.whole(1))
    cos, sin = rotation(graph, model, width, length)
    mask = causal(graph, config.max_position_embeddings, length)

    def linear(x, name):
        return graph.op("MatMul", x, graph.constant(weights[name + ".weight"].T))

    def norm(x, name):
        # In float32, as Llama's own, and back.
        wide = graph.op("Cast", x, to=TensorProto.FLOAT)
        mean = graph.op("ReduceMean", graph.op("Mul", wide, wide), graph.whole(-1), keepdims=1)
        epsilon = graph.constant(numpy.array(config.rms_norm_eps, dtype=numpy.float32), TensorProto.FLOAT)
        scaled = graph.op("Div", wide, graph.op("Sqrt", graph.op("Add", mean, epsilon)))
        return graph.op("Mul", graph.op("Cast", scaled, to=graph.kind), graph.constant(weights[name + ".weight"]))

    def split(x, count):
        return graph.op("Transpose", graph.op("Reshape", x, graph.whole(1, -1, count, width)), perm=[0, 2, 1, 3])

    def rotated(x):
        half = width // 2
        one = graph.op("Slice", x, graph.whole(0), graph.whole(half), graph.whole(-1))
        other = graph.op("Slice", x, graph.whole(half), graph.whole(width), graph.whole(-1))
        turned = graph.op("Concat", graph.op("Neg", other), one, axis=-1)
        return graph.op("Add", graph.op("Mul", x, cos), graph.op("Mul", turned, sin))

    def repeated(x):
        # (1, G, T, D) to (1, G, heads / G, T, D), and these to heads.
        each = graph.op("Unsqueeze", x, graph.whole(2))
        many = graph.op("Concat", *[each] * (heads // groups), axis=2)
        return graph.op("Reshape", many, graph.whole(1, heads, -1, width))

    x = graph.op("Gather", graph.constant(weights["model.embed_tokens.weight"]), "ids")
    for layer in range(config.num_hidden_layers):
        name = "model.layers.%d." % layer
        read = norm(x, name + "input_layernorm")
        q = rotated(split(linear(read, name + "self_attn.q_proj"), heads))
        k = repeated(rotated(split(linear(read, name + "self_attn.k_proj"), groups)))
        v = repeated(split(linear(read, name + "self_attn.v_proj"), groups))
        scores = graph.op("Mul", graph.op("MatMul", q, graph.op("Transpose", k, perm=[0, 1, 3, 2])), graph.single(width**-0.5))
        seen = graph.op("MatMul", graph.op("Softmax", graph.op("Add", scores, mask), axis=-1), v)
        joined = graph.op("Reshape", graph.op("Transpose", seen, perm=[0, 2, 1, 3]), graph.whole(1, -1, heads * width))
        x = graph.op("Add", x, linear(joined, name + "self_attn.o_proj"))
        read = norm(x, name + "post_attention_layernorm")
        gate = linear(read, name + "mlp.gate_proj")
        inner = graph.op("Mul", graph.op("Mul", gate, graph.op("Sigmoid", gate)), linear(read, name + "mlp.up_proj"))
        x = graph.op("Add", x, linear(inner, name + "mlp.down_proj"))
    logits = linear(norm(x, "model.norm"), "lm_head")
    graph.nodes.append(helper.make_node("Cast", [logits], ["logits"], to=TensorProto.FLOAT))
    made = helper.make_graph(
        graph.nodes,
        "llama",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "T"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "T", config.vocab_size])],
        graph.constants,
    )
    whole = helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(whole)
    return whole.SerializeToString()


def rotation(graph, model, width, length):
    """(T, D) each: cosines and sines of the angles, as far as the row goes."""
    config = model.config
    theta = model.config.rope_parameters["rope_theta"] if hasattr(config, "rope_parameters") else config.rope_theta
    angles = numpy.outer(numpy.arange(config.max_position_embeddings), theta ** (-numpy.arange(0, width, 2) / width))
    angles = numpy.concatenate([angles, angles], -1)
    return tuple(
        graph.op("Slice", graph.constant(values.astype(numpy.float32)), graph.whole(0), length, graph.whole(0))
        for values in (numpy.cos(angles), numpy.sin(angles))
    )


def causal(graph, most, length):
    """(T, T): 0 where a token sees, and a large negative number elsewhere."""
    mask = graph.constant(numpy.triu(numpy.full((most, most), -30000.0, dtype=numpy.float32), 1))
    rows = graph.op("Slice", mask, graph.whole(0), length, graph.whole(0))
    return graph.op("Slice", rows, graph.whole(0), length, graph.whole(1))
