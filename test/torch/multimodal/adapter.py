"""Op multimodal_batch by a real processor of transformers: PROCESSOR is qwen2-vl (one image has as many placeholders as it has
merged patches) or llava (each image has the same). FAULTY is one mistake around it."""

import os
from pathlib import Path

import torch
from PIL import Image
from transformers import LlavaProcessor, PreTrainedTokenizerFast, Qwen2VLProcessor
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

import lossproof

PROCESSOR = os.environ.get("PROCESSOR", "qwen2-vl")
FAULTY = os.environ.get("FAULTY", "")
IGNORED = -100
IMAGE = "<|image_pad|>"
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

FOLDER = Path(__file__).parents[3] / "src" / "tokenizers" / "families" / "qwen"
tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER)
tokenizer.add_special_tokens(
    {"additional_special_tokens": [IMAGE, "<|video_pad|>", "<|vision_start|>", "<|vision_end|>"]}
)


class OfImages(Qwen2VLProcessor):
    """Videos need torchvision, and there are none."""

    def check_argument_for_proper_class(self, argument_name, argument):
        if argument_name != "video_processor":
            super().check_argument_for_proper_class(argument_name, argument)


SIDE = 28
if PROCESSOR == "qwen2-vl":
    images = Qwen2VLImageProcessorPil(min_pixels=SIDE**2, max_pixels=16 * SIDE**2)
    processor = OfImages(images, tokenizer, chat_template=TEMPLATE)
else:
    images = CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = LlavaProcessor(
        images,
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token=IMAGE,
        num_additional_image_tokens=1,
    )
image_id = tokenizer.convert_tokens_to_ids(IMAGE)


def pictures(messages):
    return [
        Image.new("RGB", (part["width"], part["height"]), tuple(part["color"]))
        for message in messages
        for part in message["content"]
        if part["type"] == "image"
    ]


def processed(texts, pictures_of_rows, side):
    """What the processor makes of rows; it takes no list without an image."""
    given = [each for row in pictures_of_rows for each in row]
    more = {"images": given} if given else {}
    return processor(text=texts, padding=True, padding_side=side, return_tensors="pt", **more)


def text_of(messages, generates=False):
    return processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=generates)


@lossproof.op(padding_side=["left", "right"], max_length=True)
def multimodal_batch(conversations, padding_side="right", max_length=None):
    rows = [pictures(messages) for messages in conversations]
    if FAULTY == "images in another order":
        rows = [row[::-1] for row in rows]
    if FAULTY == "pixels of sorted rows":
        rows = sorted(rows, key=len)
    texts = [text_of(messages) for messages in conversations]
    batch = processed(texts, rows, padding_side)
    ids, mask = batch["input_ids"], batch["attention_mask"]
    if FAULTY == "placeholders not expanded":
        plain = tokenizer(texts, padding=True, padding_side=padding_side, return_tensors="pt")
        ids, mask = plain["input_ids"], plain["attention_mask"]
    labels = torch.full_like(ids, IGNORED)
    for row, messages in enumerate(conversations):
        start = int(mask[row].argmax())
        for at, message in enumerate(messages):
            if message["role"] == "assistant":
                begin, end = (start + length(messages[:upto], more) for upto, more in ((at, True), (at + 1, False)))
                labels[row, begin:end] = ids[row, begin:end]
    if FAULTY == "placeholders are trained":
        labels = torch.where(mask == 1, ids, IGNORED)
    if FAULTY == "prompt before expansion":
        labels[ids == image_id] = IGNORED
    if FAULTY == "placeholders are hidden":
        mask = mask * (ids != image_id)
    tokens, means = features(batch)
    if max_length is not None:
        kept = mask.cumsum(1) <= max_length
        if FAULTY != "cut inside an image" and (ids[~kept] == image_id).any():
            raise lossproof.Reject("an image is behind max_length")
        ids, labels = ids.where(kept, tokenizer.pad_token_id), labels.where(kept, IGNORED)
        mask = mask * kept
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "labels": labels,
        "image_token_id": image_id,
        "image_tokens": tokens,
        "image_means": means,
    }


def length(messages, generates):
    """Of the text up to here, in ids."""
    if FAULTY in ("prompt before expansion", "placeholders not expanded"):
        return len(tokenizer(text_of(messages, generates))["input_ids"])
    return processed([text_of(messages, generates)], [pictures(messages)], "right")["input_ids"].shape[1]


def features(batch):
    """(how many features the model makes of each image, the mean of its pixels)"""
    if "pixel_values" not in batch:
        return [], []
    pixels = batch["pixel_values"]
    if PROCESSOR == "llava":
        return [(pixels.shape[-1] // 14) ** 2] * len(pixels), pixels.mean((2, 3))
    sizes = batch["image_grid_thw"].prod(1)
    by_channel = pixels.unflatten(1, (3, -1)).mean(2)
    return sizes // images.merge_size**2, torch.stack([part.mean(0) for part in by_channel.split(sizes.tolist())])


if __name__ == "__main__":
    lossproof.serve(name=PROCESSOR, dtype="float32")
