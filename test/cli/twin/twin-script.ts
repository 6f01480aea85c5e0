// A script for tests of `twin` that needs no torch: a small model of its own, whose records are those that the tracer would
// write. It makes the change that it is asked for as the tracer would, and `--fault` breaks one thing.
import { MODEL, RECORDS, writeScript } from '../trace/traced-script.ts';
import type { World } from '../world.ts';

/** `python3 train.py [--batch N] [--accumulate N] [--fault F] [--draws D] [--dies D] [--writes FILES] [--save FILE] [--resume FILE]` */
export function writeTwinScript(world: Pick<World, 'folder' | 'write'>): void {
  writeScript(world);
  world.write('train.py', SCRIPT);
}

const SCRIPT = `
import math, random, time
${RECORDS}
asked = json.loads(os.environ.get("LOSSPROOF_TWIN", "{}"))
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
batch, accumulate = int(options.get("--batch", 4)), int(options.get("--accumulate", 1))
fault = options.get("--fault", "")
change = asked.get("change")
wanted = int(os.environ["LOSSPROOF_TRACE_STEPS"]) or int(options.get("--steps", 4))
draws, dies = options.get("--draws", ""), options.get("--dies", "")
if draws != "unseeded":
    random.seed({"clock": time.time(), "urandom": os.urandom(8)}.get(draws, 0))
for name in filter(None, options.get("--writes", "").split(",")):
    with open(name, "a", encoding="utf-8") as file:
        file.write("a line")

write("process", trace=1, pid=4711, rank=0, world=1, argv=sys.argv, python="3.11.2", started="2026-03-01T09:30:00.000Z")
sys.stdout = open(os.devnull, "w")
if change == dies or (dies == "second" and os.path.exists("out")):
    sys.stderr.write("Traceback (most recent call last):\\nFileExistsError: out is there\\n")
    sys.exit(3)
if dies == "second":
    os.mkdir("out")
write("versions", versions={"torch": "2.13.0"}, device="cpu")
${MODEL}

def end(reason, exception=None):
    write("end", reason=reason, exception=exception, torch=True, modules_called=True, tracer_seconds=0.01, seconds=1.0)
    sys.exit(0 if exception is None else 1)

if fault == "fails" or (fault == "fails-wide" and change == "padding"):
    end("exception", "RuntimeError: sizes do not match")
if fault == "dropout":
    write("event", what="dropout", step=0, model=None, place=None, names=["dropout"], values={})
if fault == "arguments":
    write("settings", **{"class": "TrainingArguments"}, trainer="Trainer", values={})
    if change == "accumulation":
        batch, accumulate = 2, 2
if fault == "wide" and change is None:
    for name in ("packing", "precision"):
        write("event", what="could", step=0, model=None, place=None, names=[name], values={})
if change in ("padding", "batch-order", "packing", "precision") or (fault == "arguments" and change == "accumulation"):
    write("event", what="twin", step=0, model=None, place=None, names=[change], values={})

NAMES = ["embed.weight", "head.weight"]
SIZE = 24
SIGNS = [[1 if (7 * i + 3 * i * i + at * (i + 2)) % 5 < 2 else -1 for i in range(SIZE)] for at in range(8)]

def prints(vector):
    return [math.sqrt(sum(x * x for x in vector)), *(sum(s * x for s, x in zip(signs, vector)) for signs in SIGNS)]

def tell(step, of, vectors):
    flat = [x for vector in vectors for x in prints(vector)]
    data = base64.b64encode(struct.pack("<%dd" % len(flat), *flat)).decode()
    write("prints", model=0, step=step, of=of, names=NAMES, prints={"dtype": "float64", "shape": [len(NAMES), 9], "data": data})

first = 0.5 if draws == "own-generator" else int.from_bytes(os.urandom(2), "big") / 65536 if fault == "unseeded" else random.random() if draws else 0.5
weights = [[first + math.sin(i + 5 * at) for i in range(SIZE)] for at in range(len(NAMES))]
if asked.get("noise"):
    weights = [[w * (1 + 1.2e-7 * (-1) ** i) for i, w in enumerate(vector)] for vector in weights]
done = 0
if "--resume" in options:
    with open(options["--resume"], encoding="utf-8") as file:
        weights, done = json.load(file)
if fault == "ends" and "--resume" in options:
    wanted = 1
rate = 0.1 * (0.5 if fault == "rate" and "--resume" in options else 1)
# Rows of other lengths; at each place of a row, a direction of its own that its weights are pushed in.
rows = [[20 + (3 * r + t) % 50 for t in range(4 + (5 * r) % 7)] for r in range(64)]
at = 0 if fault == "restarts" and "--resume" in options else done * batch * accumulate
if fault == "restless":
    random.SystemRandom().shuffle(rows)
if draws == "own-generator":
    rows = [[token + shift for token in row] for row in rows for shift in [random.Random().randrange(700)]]
forward = 0
tell(0, "before", weights)

def score(row, t):
    return sum(vector[(row[t] + i) % SIZE] * math.sin(row[t] + i) for vector in weights for i in range(SIZE)) / SIZE

for step in range(wanted):
    groups = [rows[at + m * batch : at + (m + 1) * batch] for m in range(accumulate)]
    at += batch * accumulate
    count = sum(len(row) - 2 for group in groups for row in group)
    gradient = [[0.0] * SIZE for _ in NAMES]
    for m, group in enumerate(groups):
        if change == "batch-order":
            group = group[::-1]
        width = max(len(row) for row in group) + (3 if change == "padding" else 0)
        wide = [row + [856] * (width - len(row)) for row in group]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in group]
        own = count
        if fault == "means":
            own = accumulate * sum(len(row) - 2 for row in group)
        if fault == "columns":
            own = sum(width for g in groups for _ in g)
        places = [(r, t) for r, row in enumerate(group) for t in range(2, len(row))]
        targets = [group[r][t if fault != "shifted" or m == 0 else t - 1] for r, t in places]
        moved = 1e-3 * (width if fault == "positions" else 0)
        logprobs = [-2.0 - score(group[r], t) / 10 - moved - (0.01 * r if fault == "mates" else 0) for r, t in places]
        if fault == "order":
            logprobs = [value - 0.05 * r for value, (r, t) in zip(logprobs, places)]
        n = len(places)
        write("forward", forward=forward, model=0, step=step, grad=True, training=True, input_ids=tensor(sum(wide, []), [len(wide), width]),
              attention_mask=tensor(sum(mask, []), [len(wide), width]), attention="mask", position_ids=None, labels=None, logprobs=None,
              averaged_over=1, adapters_off=False, batch=[0, step, 0, batch, 64])
        write("trained", forward=forward, route="logits", dtype="float32", rows=tensor([r for r, t in places], [n]),
              columns=tensor([t - 1 for r, t in places], [n]), targets=tensor(targets, [n]), weights=tensor([1 / own] * n, [n], "f"),
              residuals=tensor([1e-7] * n, [n], "f"), temperatures=tensor([1.0] * n, [n], "f"), logprobs=tensor(logprobs, [n], "f"), not_finite=0)
        forward += 1
        if dies == "never-steps":
            end("finished")
        if fault == "lost" and 0 < m < accumulate - 1:
            continue
        for (r, t), logprob in zip(places, logprobs):
            for vector, part in zip(gradient, (1.0, 0.3)):
                for i in range(SIZE):
                    vector[i] += part * math.cos(group[r][t] * (i + 1)) * (1 + weights[0][i] / 10) / own
    if fault == "scaled" and accumulate > 1:
        gradient = [[g / accumulate for g in vector] for vector in gradient]
    if change == "precision":
        gradient = [[g * 1.02 for g in vector] for vector in gradient]
    tell(step, "gradients", gradient)
    momentum = 0.5 if fault == "moments" and "--resume" in options and step == 0 else 1
    weights = [[w - rate * momentum * g for w, g in zip(*pair)] for pair in zip(weights, gradient)]
    tell(step, "after", weights)
    write("step", step=step, optimizer="SGD", models=[0], gradient_norm=1.5, changed=True, learning_rates=[rate])
if "--save" in options:
    with open(options["--save"], "w", encoding="utf-8") as file:
        json.dump([weights, wanted], file)
    end("finished")
end("steps")
`;
