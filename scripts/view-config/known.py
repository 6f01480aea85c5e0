"""Writes what an installed trainer knows: its configuration keys with type, default and legal values, and LLaMA-Factory's
templates. `view --config` reads these files and never guesses a key.

    python scripts/view-config/known.py trl-names --out old.txt    # in an environment with an older TRL
    python scripts/view-config/known.py trl --formerly old.txt --out src/view/config/known/trl.json
    python scripts/view-config/known.py llama-factory --out src/view/config/known/llama-factory.json
    python scripts/view-config/known.py verl --out src/view/config/known/verl.json
    python scripts/view-config/known.py axolotl --out src/view/config/known/axolotl.json
    python scripts/view-config/known.py openrlhf --out src/view/config/known/openrlhf.json
    python scripts/view-config/known.py ms-swift --out src/view/config/known/ms-swift.json
    python scripts/view-config/known.py torchtune --out src/view/config/known/torchtune.json

Run it in an environment that has the trainer. `--formerly FILE` adds the keys that trl-names wrote.
"""

import argparse
import dataclasses
import enum
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import sys
import types
import typing


def plain(value):
    """A default that JSON has, or None for what is made anew or computed."""
    if value is dataclasses.MISSING:
        return None
    if isinstance(value, enum.Enum):
        value = value.value
    return value if isinstance(value, (bool, int, float, str)) else None


KINDS = {bool: "bool", int: "int", float: "float", str: "str", list: "list", tuple: "list", dict: "dict"}


def kinds_of(hint):
    """The kinds of value that a field takes, and its legal values where it has a list of them."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return {"str"}, list(typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        kinds, choices = set(), None
        for each in typing.get_args(hint):
            if each is type(None):
                continue
            own, listed = kinds_of(each)
            kinds |= own
            choices = choices if listed is None else listed
        return kinds, choices
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"str"}, [each.value for each in hint]
    kind = KINDS.get(origin or hint)
    return ({kind} if kind else {"any"}), None


def keys_of(classes):
    keys = {}
    for each in classes:
        hints = typing.get_type_hints(each)
        for field in dataclasses.fields(each):
            if not field.init:
                continue
            kinds, choices = kinds_of(hints[field.name])
            choices = choices or field.metadata.get("choices")
            entry = {"kinds": sorted(kinds), "default": plain(field.default)}
            if choices and all(isinstance(choice, str) for choice in choices):
                entry["choices"] = list(choices)
            # transformers lets these be JSON text, or a list of one.
            keys[field.name] = entry
    return dict(sorted(keys.items()))


def names_of(dataclass_types):
    return sorted({field.name for each in dataclass_types for field in dataclasses.fields(each) if field.init})


def trl():
    import trl
    from accelerate.commands.launch import launch_command_parser
    from trl import DatasetMixtureConfig, ModelConfig, ScriptArguments, SFTConfig
    from trl.scripts.utils import DatasetConfig

    common = (ScriptArguments, ModelConfig, DatasetMixtureConfig)
    keys = keys_of((ScriptArguments, SFTConfig, ModelConfig, DatasetMixtureConfig))
    others = {}
    for command, config in {"dpo": "DPOConfig", "grpo": "GRPOConfig", "kto": "KTOConfig", "reward": "RewardConfig", "rloo": "RLOOConfig"}.items():
        made = getattr(trl, config, None)
        if made is not None:
            others[command] = [name for name in names_of((*common, made)) if name not in keys]
    folder = pathlib.Path(trl.__file__).parent / "chat_templates"
    templates = {
        hashlib.sha256(file.read_text(encoding="utf-8").strip().encode()).hexdigest(): file.stem
        for file in sorted(folder.glob("*.jinja"))
        if (folder / f"{file.stem}_training.jinja").exists()
    }
    return {
        "trainer": "TRL",
        "version": importlib.metadata.version("trl"),
        "keys": keys,
        "launcher": sorted({action.dest for action in launch_command_parser()._actions} | {"accelerate_config", "env"}),
        "parts": {"datasets": keys_of((DatasetConfig,))},
        "others": others,
        "templates": templates,
    }


class Spy(dict):
    """A dict that notes which keys are asked for."""

    def __init__(self, values, asked):
        super().__init__(values)
        self.asked = asked

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)

    def __contains__(self, key):
        self.asked.add(key)
        return super().__contains__(key)

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)


def slots(formatter):
    """Slots as JSON: a text, {"token": ...}, or {"special": "bos_token"}."""
    return [{"special": next(iter(each))} if isinstance(each, set) else each for each in formatter.slots]


def llama_factory():
    # As our adapter imports it: what is stubbed has no part in configurations or templates.
    os.environ["DISABLE_VERSION_CHECK"] = "1"
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "src" / "python"))
    from lossproof.testing import stub

    with stub(["peft", "torchaudio", "omegaconf", "matplotlib", "einops", "av"]):
        return llama_factory_keys()


def llama_factory_keys():
    from llamafactory.data.mm_plugin import BasePlugin
    from llamafactory.data.parser import DatasetAttr, get_dataset_list
    from llamafactory.data.template import TEMPLATES
    from llamafactory.hparams import DataArguments, FinetuningArguments, GeneratingArguments, ModelArguments, TrainingArguments
    from llamafactory.hparams.training_args import RayArguments

    asked = {"entry": set(), "columns": set(), "tags": set()}
    for source in ("hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name", "file_name"):
        inner = {part: Spy({}, asked[part]) for part in ("columns", "tags")}
        get_dataset_list(["x"], {"x": Spy({source: "y", **inner}, asked["entry"])})
    defaults = {field.name: plain(field.default) for field in dataclasses.fields(DatasetAttr)}
    parts = {
        "dataset": {name: {"kinds": ["any"], "default": defaults.get(name)} for name in sorted(asked["entry"])},
        "columns": {name: {"kinds": ["str"], "default": defaults.get(name)} for name in sorted(asked["columns"])},
        "tags": {name: {"kinds": ["str"], "default": defaults.get(name)} for name in sorted(asked["tags"])},
    }
    templates = {
        name: {
            "class": type(made).__name__,
            "text": type(made.mm_plugin) is BasePlugin,
            "user": slots(made.format_user),
            "assistant": slots(made.format_assistant),
            "system": slots(made.format_system),
            "prefix": slots(made.format_prefix),
            "defaultSystem": made.default_system,
            "stops": list(made.stop_words),
            "thought": list(made.thought_words),
            "efficientEos": made.efficient_eos,
            "replaceEos": made.replace_eos,
        }
        for name, made in sorted(TEMPLATES.items())
    }
    classes = (ModelArguments, DataArguments, TrainingArguments, FinetuningArguments, GeneratingArguments)
    return {
        "trainer": "LLaMA-Factory",
        "version": importlib.metadata.version("llamafactory"),
        "keys": keys_of(classes),
        # Read by the launcher before the arguments are parsed.
        "launcher": [name for name in names_of((RayArguments,)) if name not in names_of(classes)],
        "parts": parts,
        "others": {},
        "templates": templates,
    }


def flattened(value, prefix=""):
    """Leaves of a nested mapping by their dotted names; an empty mapping is a leaf."""
    leaves = {}
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            leaves.update(flattened(inner, f"{prefix}{key}."))
        else:
            leaves[f"{prefix}{key}"] = inner
    return leaves


def key_of(value):
    """A key of which only its default is known."""
    kind = next((name for kind, name in KINDS.items() if type(value) is kind), "any")
    return {"kinds": [kind], "default": plain(value)}


def package(name):
    return pathlib.Path(importlib.util.find_spec(name).submodule_search_locations[0])


def verl():
    """Of each of its two ways to train: the keys of its configuration, and those that its code asks for besides."""
    import yaml
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    folder = package("verl")
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
    parts = {}
    ways = {"sft": ("sft_trainer_engine", "multiturn_sft_dataset.py", "rl_dataset.py"), "rl": ("ppo_trainer", "rl_dataset.py", "multiturn_sft_dataset.py")}
    for way, (name, own, other) in ways.items():
        with initialize_config_dir(str(folder / "trainer" / "config"), version_base=None):
            made = yaml.safe_load(OmegaConf.to_yaml(compose(name)))
        keys = {key: key_of(value) for key, value in flattened(made).items() if re.match(r"data\.|(actor_rollout_ref\.)?model\.[a-z_]+$", key)}
        text = (folder / "utils" / "dataset" / own).read_text(encoding="utf-8")
        read = set(re.findall(r'config\.get\(\s*"(\w+)"', text))
        for path, source in sources.items():
            # Evaluation and generation have configurations of their own.
            if path.name.startswith("sft_trainer") if way == "sft" else not re.match(r"sft_trainer|main_eval|main_generation", path.name):
                read |= set(re.findall(r'config\.data(?:\.|\.get\(\s*"|\[")(\w+)', source))
        for key, entry in keys.items():
            inner = key.removeprefix("data.").split(".")[0]
            # Kept in a field that nothing asks for is not read.
            uses = sum(
                len(re.findall(rf"""(?:\.|["']){inner}\b""", re.sub(rf"self\.{inner} = .*", "", source)))
                for path, source in sources.items()
                if path.name != other
            )
            # The tokenizer is that of the model: of this word alone, each use is another one's.
            if key.startswith("data.") and (uses == 0 or (way == "rl" and inner == "tokenizer")):
                entry["idle"] = True
        parts[way] = dict(sorted(keys.items()))
        more = sorted(f"data.{each}" for each in read - {"get", "keys"} if f"data.{each}" not in keys and not any(key.startswith(f"data.{each}.") for key in keys))
        parts[f"{way}-more"] = {key: {"kinds": ["any"], "default": None} for key in more}
    return {
        "trainer": "verl",
        "version": importlib.metadata.version("verl"),
        "keys": {**parts["rl"], **parts["sft"]},
        "launcher": [],
        "parts": parts,
        "others": {},
        "templates": {},
    }


def stubbed(names):
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "src" / "python"))
    from lossproof.testing import stub

    return stub(names)


def model_keys(model):
    """Fields of a pydantic model, as keys_of for dataclasses."""
    keys = {}
    for name, field in sorted(model.model_fields.items()):
        kinds, choices = kinds_of(unwrapped(field.annotation))
        # Names, or any other text.
        if str in typing.get_args(unwrapped(field.annotation)):
            choices = None
        entry = {"kinds": sorted(kinds), "default": plain(field.default)}
        if choices and all(isinstance(choice, str) for choice in choices):
            entry["choices"] = choices
        keys[name] = entry
    return keys


def unwrapped(hint):
    """Annotated[X, ...] is X, also within a union."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return unwrapped(typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(unwrapped(each) for each in typing.get_args(hint))]
    return hint


def axolotl():
    with stubbed(["colorama", "fire", "bitsandbytes", "peft", "addict", "modelscope", "posthog", "s3fs", "dotenv"]):
        import colorama

        colorama.Fore = type("Fore", (), {"CYAN": "", "RESET": ""})
        from axolotl.prompters import AlpacaPrompter
        from axolotl.utils.schemas.config import AxolotlInputConfig
        from axolotl.utils.schemas.datasets import SFTDataset

        folder = package("axolotl")
        keys = model_keys(AxolotlInputConfig)
        # Of plug-ins, and what is read of older configurations before the keys are looked at.
        more = set()
        for path in [*folder.glob("integrations/*/args.py"), *folder.glob("utils/schemas/*.py")]:
            text = path.read_text(encoding="utf-8")
            more |= set(re.findall(r"^    (\w+): ", text, re.M)) if path.name == "args.py" else set()
            more |= set(re.findall(r'data\.get\(\s*"(\w+)"|"(\w+)" in data\b', text) and [a or b for a, b in re.findall(r'data\.get\(\s*"(\w+)"|"(\w+)" in data\b', text)])
        alpaca = AlpacaPrompter()
        return {
            "trainer": "axolotl",
            "version": importlib.metadata.version("axolotl"),
            "keys": keys,
            "launcher": sorted(more - set(keys)),
            "parts": {"datasets": model_keys(SFTDataset)},
            "others": {},
            "templates": {
                "alpaca prompts": {
                    "system": alpaca.system_format.format(system=alpaca.system_prompt),
                    "systemWithoutInput": alpaca.system_format.format(system=alpaca.system_no_input_prompt),
                    "turn": alpaca.turn_format,
                    "turnWithoutInput": alpaca.turn_no_input_format,
                },
                **{file.stem: True for file in sorted((folder / "utils" / "chat_templates" / "templates").glob("*.jinja"))},
            },
        }


def openrlhf():
    """Options as they are declared: nothing is imported."""
    import ast

    parts = {}
    for way, name in {"sft": "train_sft", "ppo": "train_ppo_ray"}.items():
        keys = {}
        for node in ast.walk(ast.parse((package("openrlhf") / "cli" / f"{name}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
                given = {each.arg: each.value for each in node.keywords}
                literal = {}
                for key, value in given.items():
                    try:
                        literal[key] = ast.literal_eval(value)
                    except ValueError:
                        continue
                flag = str(literal.get("action", "")).startswith("store_")
                kind = "bool" if flag else "list" if "nargs" in literal else getattr(given.get("type"), "id", "any")
                entry = {"kinds": [kind], "default": plain(literal.get("default"))}
                if isinstance(literal.get("choices"), list):
                    entry["choices"] = literal["choices"]
                # A few are declared in a loop over the two models that have an optimizer.
                for model in ("actor", "critic"):
                    parts_of = node.args[0].values if isinstance(node.args[0], ast.JoinedStr) else [node.args[0]]
                    keys["".join(getattr(each, "value", "") if isinstance(each, ast.Constant) else model for each in parts_of).removeprefix("--")] = entry
        parts[way] = dict(sorted(keys.items()))
    return {
        "trainer": "OpenRLHF",
        "version": importlib.metadata.version("openrlhf"),
        "keys": {**parts["ppo"], **parts["sft"]},
        "launcher": [],
        "parts": parts,
        "others": {},
        "templates": {},
    }


SWIFT_STUBS = ["modelscope", "addict", "peft", "json_repair", "einops", "oss2", "attrdict", "dacite", "binpacking", "zstandard"]


def ms_swift():
    """Arguments as their classes declare them, from SftArguments up, and templates whose rows are text alone."""
    import ast
    import logging

    folder = package("swift")
    classes = {}
    for path in [*folder.glob("arguments/**/*.py"), *folder.glob("trainers/*.py"), *folder.glob("ray_utils/*.py"), *folder.glob("megatron/arguments/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Arguments", "ArgumentsMixin", "Args", "Mixin")):
                fields = {each.target.id: each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)}
                classes.setdefault(node.name, ([ast.unparse(base).split(".")[-1] for base in node.bases], fields))
    keys, waiting, seen = {}, ["SftArguments"], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in classes:
            continue
        seen.add(name)
        bases, fields = classes[name]
        waiting += bases
        for key, node in fields.items():
            hint = ast.unparse(node.annotation)
            kind = next((kind for kind in ("bool", "int", "float") if hint in (kind, f"Optional[{kind}]")), "any")
            try:
                default = plain(ast.literal_eval(node.value)) if node.value is not None else None
            except ValueError:
                default = None
            entry = {"kinds": ["str"] if re.match(r"Literal\['", hint) else [kind], "default": default}
            choices = ast.literal_eval(hint.removeprefix("Literal")) if hint.startswith("Literal") else [None]
            choices = [each for each in (choices if isinstance(choices, (list, tuple)) else [choices]) if each is not None]
            if choices and all(isinstance(each, str) for each in choices):
                entry["choices"] = choices
            keys.setdefault(key, entry)
    import dataclasses as own
    from transformers import Seq2SeqTrainingArguments

    for each in own.fields(Seq2SeqTrainingArguments):
        keys.setdefault(each.name, {"kinds": ["any"], "default": None})
    with stubbed(SWIFT_STUBS):
        import modelscope.utils.logger

        made = logging.getLogger("modelscope")
        made.addHandler(logging.NullHandler())
        modelscope.utils.logger.get_logger = lambda *_, **__: made
        from swift.template.base import Template
        from swift.template.register import TEMPLATE_MAPPING

        templates = {
            name: {
                "text": meta.template_cls is Template and not meta.is_thinking and not meta.non_thinking_prefix,
                "prefix": meta.prefix,
                "prompt": meta.prompt,
                "chatSep": meta.chat_sep,
                "suffix": meta.suffix,
                "systemPrefix": meta.system_prefix,
                "systemPrompt": meta.system_prompt if meta.is_post_system else None,
                "defaultSystem": meta.default_system,
                "addsBos": meta.auto_add_bos,
                "stops": [each for each in meta.stop_words if isinstance(each, str)],
            }
            for name, meta in sorted(TEMPLATE_MAPPING.items())
        }
    return {
        "trainer": "ms-swift",
        "version": importlib.metadata.version("ms-swift"),
        "keys": dict(sorted(keys.items())),
        # Set in the environment before the arguments are parsed.
        "launcher": ["ENV"],
        "parts": {},
        "others": {},
        "templates": {name: made if made["text"] else {"text": False} for name, made in templates.items()},
    }


def torchtune():
    """Keys that its recipes ask for, arguments of the functions that a configuration names, and what these write into rows."""
    import inspect

    import datasets
    import yaml
    from datasets.packaged_modules.json.json import JsonConfig
    from datasets.packaged_modules.parquet.parquet import ParquetConfig
    from torchtune import data
    from torchtune import datasets as builders
    from torchtune.models.llama3 import llama3_tokenizer
    from torchtune.models.llama3._tokenizer import SPECIAL_TOKENS
    from torchtune.models.qwen2 import Qwen2Tokenizer, qwen2_tokenizer
    from torchtune.models.qwen2._tokenizer import QWEN2_SPECIAL_TOKENS
    from torchtune.models.qwen2_5 import qwen2_5_tokenizer
    from torchtune.models.qwen2_5._tokenizer import QWEN2_5_SPECIAL_TOKENS, Qwen2_5Tokenizer

    def arguments(*functions):
        keys = {}
        for name, each in (item for function in functions for item in inspect.signature(function).parameters.items()):
            if each.kind is not each.VAR_KEYWORD and name not in ("self", "tokenizer", "special_tokens", "message_transform"):
                hint = typing.Any if isinstance(each.annotation, str) else each.annotation
                default = None if each.default is each.empty else each.default
                keys.setdefault(name, {"kinds": sorted(kinds_of(hint)[0]), "default": plain(default)})
        return dict(sorted(keys.items()))

    recipes = package("recipes")
    asked = set()
    for path in recipes.rglob("*.py"):
        asked |= {a or b for a, b in re.findall(r"""\bcfg(?:\.get\(\s*["'](\w+)|\.(\w+))""", path.read_text(encoding="utf-8"))}
    for path in recipes.rglob("*.yaml"):
        asked |= set(yaml.safe_load(path.read_text(encoding="utf-8")))
    load = {**arguments(datasets.load_dataset), **{each.name: {"kinds": ["any"], "default": None} for kind in (JsonConfig, ParquetConfig) for each in dataclasses.fields(kind)}}
    templates = {f"torchtune.data.{name}": getattr(data, name)().template for name in ("ChatMLTemplate", "GrammarErrorCorrectionTemplate", "SummarizeTemplate", "QuestionAnswerTemplate")}
    return {
        "trainer": "torchtune",
        "version": importlib.metadata.version("torchtune"),
        "keys": {key: {"kinds": ["any"], "default": None} for key in sorted(asked - {"get", "keys", "items", "pop"})},
        "launcher": [],
        "parts": {
            "chat_dataset": arguments(builders.chat_dataset),
            "instruct_dataset": arguments(builders.instruct_dataset),
            "alpaca_dataset": arguments(builders.alpaca_dataset),
            "text_completion_dataset": arguments(builders.text_completion_dataset),
            # What the function does not take itself reaches the class.
            "preference_dataset": arguments(builders.preference_dataset, builders.PreferenceDataset),
            "load_dataset": dict(sorted(load.items())),
            "llama3_tokenizer": arguments(llama3_tokenizer),
            "qwen2_tokenizer": arguments(qwen2_tokenizer, Qwen2Tokenizer),
            "qwen2_5_tokenizer": arguments(qwen2_5_tokenizer, Qwen2_5Tokenizer),
        },
        "others": {},
        "templates": {
            **templates,
            "alpaca": data.AlpacaToMessages().template,
            "llama3_tokenizer": SPECIAL_TOKENS,
            "qwen2_tokenizer": QWEN2_SPECIAL_TOKENS,
            "qwen2_5_tokenizer": QWEN2_5_SPECIAL_TOKENS,
        },
    }


def trl_names():
    import trl

    import transformers

    theirs = names_of((transformers.TrainingArguments,))
    made = names_of([getattr(trl, name) for name in ("ScriptArguments", "SFTConfig", "ModelConfig")])
    versions = {True: "transformers " + transformers.__version__, False: "TRL " + importlib.metadata.version("trl")}
    return "\n".join(f"{name} {versions[name in theirs]}" for name in made)


TRAINERS = {"trl": trl, "llama-factory": llama_factory, "verl": verl, "axolotl": axolotl, "openrlhf": openrlhf, "ms-swift": ms_swift, "torchtune": torchtune}


def printed(known):
    """One key per line, so that a new version of the trainer shows as a readable difference."""
    lines = []
    for name, value in known.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"    {json.dumps(key)}: {json.dumps(each, ensure_ascii=False)}" for key, each in value.items())
            lines.append(f"  {json.dumps(name)}: {{\n{inner}\n  }}")
        else:
            lines.append(f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainer", choices=[*TRAINERS, "trl-names"])
    # Trainers print to the standard output while they are imported.
    parser.add_argument("--out", metavar="FILE", type=pathlib.Path, required=True)
    parser.add_argument("--formerly", metavar="FILE", default=None)
    given = parser.parse_args()
    if given.trainer == "trl-names":
        given.out.write_text(trl_names() + "\n")
        return
    known = TRAINERS[given.trainer]()
    known["with"] = "transformers " + importlib.metadata.version("transformers")
    known["formerly"] = {}
    if given.formerly:
        lines = [line.split(" ", 1) for line in pathlib.Path(given.formerly).read_text().splitlines()]
        known["formerly"] = {name: version for name, version in lines if name not in known["keys"]}
    given.out.write_text(printed(known), encoding="utf-8")


if __name__ == "__main__":
    main()
