"""Wrong batches of conversations with images."""

from lossproof.examples import left_padded
from lossproof.examples.rows import multimodal
from lossproof.examples.rows.multimodal import IMAGE_ID, batch_of, cut, patches, row_of
from lossproof.examples.text.chat import IGNORED, STOP_ID

from ..registry import MUTANTS


def add(name, title, row, rows=()):
    return MUTANTS.add(name, title, left_padded, "multimodal_batch", row=row, rows=rows)


def rows_of(conversations, max_length):
    return [cut(row_of(messages), max_length) for messages in conversations]


def images_in(messages):
    return [part for message in messages for part in message["content"] if part["type"] == "image"]


@add("multimodal-trains-placeholders", "Everything but the text of questions is trained", "IMG-01")
def trains_placeholders(conversations, padding_side="right", max_length=None):
    """labels are a copy of the ids with words masked by their offsets in the text, where placeholders have none."""
    batch = multimodal.multimodal_batch(conversations, padding_side, max_length)
    labels = [
        [id if id == IMAGE_ID else label for id, label in zip(*row)]
        for row in zip(batch["input_ids"], batch["labels"])
    ]
    return dict(batch, labels=labels)


@add("multimodal-one-placeholder", "Placeholders are not expanded", "IMG-02")
def one_placeholder(conversations, padding_side="right", max_length=None):
    """The text went through the tokenizer, and only the images through the processor."""
    return shortened(conversations, padding_side, max_length, lambda image, at: 1)


@add("multimodal-size-rounded-down", "The number of placeholders is computed from a size rounded down", "IMG-02")
def rounded_down(conversations, padding_side="right", max_length=None):
    """The number is computed in the data set, the pixels in the collator: each has its own way to round."""
    size = lambda image, at: max(1, image["width"] // 28) * max(1, image["height"] // 28)  # noqa: E731
    return shortened(conversations, padding_side, max_length, size)


@add("multimodal-number-of-the-first", "Each image has as many placeholders as the first", "IMG-02")
def number_of_the_first(conversations, padding_side="right", max_length=None):
    """`image_grid_thw[0]` is read for all images of the row: right as long as a row has one."""
    return shortened(conversations, padding_side, max_length, lambda image, at: at)


def shortened(conversations, padding_side, max_length, count):
    """Rows in which an image has another number of placeholders: `count` is given the image and the number of the first."""
    rows = []
    for messages in conversations:
        ids, labels, pixels = row_of(messages)
        images = images_in(messages)
        end = len(ids)
        for image in reversed(images):
            end = max(at for at in range(end) if ids[at] == IMAGE_ID) + 1
            start = end - patches(image)
            number = count(image, patches(images[0]))
            ids[start:end], labels[start:end] = [IMAGE_ID] * number, [IGNORED] * number
            end = start
        rows.append(cut((ids, labels, pixels), max_length))
    return batch_of(rows, padding_side)


@add("multimodal-cut-inside-an-image", "Ids are cut at the limit, and pixels are not", "IMG-03")
def cut_inside(conversations, padding_side="right", max_length=None):
    """truncation=True of the tokenizer, which knows nothing of images."""
    rows = [row_of(messages) for messages in conversations]
    return batch_of([(ids[:max_length], labels[:max_length], images) for ids, labels, images in rows], padding_side)


@add("multimodal-pixels-of-cut-images-stay", "Placeholders of a cut image are removed, its pixels stay", "IMG-03")
def pixels_stay(conversations, padding_side="right", max_length=None):
    """The text is cut cleanly, and pixel_values were made before."""
    rows = rows_of(conversations, max_length)
    whole = [row_of(messages)[2] for messages in conversations]
    return batch_of([(ids, labels, images) for (ids, labels, _), images in zip(rows, whole)], padding_side)


@add("multimodal-last-image-first", "The images of a row are in the order of last to first", "IMG-04")
def last_first(conversations, padding_side="right", max_length=None):
    """Messages are walked from the end, to keep the newest images of a long conversation."""
    rows = rows_of(conversations, max_length)
    return batch_of([(ids, labels, images[::-1]) for ids, labels, images in rows], padding_side)


@add("multimodal-images-by-size", "The images of a row are sorted by size", "IMG-04")
def by_size(conversations, padding_side="right", max_length=None):
    """Images of one size are resized together, and not put back."""
    rows = rows_of(conversations, max_length)
    return batch_of([(ids, labels, sorted(images, key=len)) for ids, labels, images in rows], padding_side)


@add("multimodal-pixels-of-sorted-rows", "Pixels are of rows sorted by length, ids are not", "IMG-05")
def sorted_pixels(conversations, padding_side="right", max_length=None):
    """Rows of like length go together, and the order is undone for tensors with as many rows as the batch only."""
    rows = rows_of(conversations, max_length)
    batch = batch_of(rows, padding_side)
    pixels = batch_of(sorted(rows, key=lambda row: len(row[0])), padding_side)
    return dict(batch, image_tokens=pixels["image_tokens"], image_means=pixels["image_means"])


@add("multimodal-pixels-by-row", "Pixels are reordered by the index of the row", "IMG-05")
def pixels_by_row(conversations, padding_side="right", max_length=None):
    """The first index of pixel_values is taken for the row: right with one image in each."""
    batch = batch_of(rows_of(conversations, max_length), padding_side)
    last = len(conversations) - 1
    if len(batch["image_tokens"]) <= last:
        return batch
    turned = {name: batch[name][last::-1] + batch[name][last + 1 :] for name in ("image_tokens", "image_means")}
    return dict(batch, **turned)


@add("multimodal-prompt-before-expansion", "The prompt is measured before its placeholders are expanded", "IMG-06")
def prompt_before_expansion(conversations, padding_side="right", max_length=None):
    """len(tokenizer(prompt)) counts one token for each image: the end of the question is trained. Placeholders are masked."""
    rows = []
    for messages in conversations:
        ids, labels, images = row_of(messages)
        answer = next(at for at, label in enumerate(labels) if label != IGNORED)
        start = answer - sum(len(image) - 1 for image in images_before(ids[:answer], images))
        trained = [id if at >= start and id != IMAGE_ID else IGNORED for at, id in enumerate(ids[:answer])]
        rows.append(cut((ids, trained + labels[answer:], images), max_length))
    return batch_of(rows, padding_side)


def images_before(ids, images):
    """Those whose placeholders are among these ids."""
    left, found = ids.count(IMAGE_ID), []
    for image in images:
        if left <= 0:
            break
        found.append(image)
        left -= len(image)
    return found


@add("multimodal-dummy-image", "A row without images gets a black one", "IMG-07")
def dummy_image(conversations, padding_side="right", max_length=None):
    """So that each rank has something for its vision tower; the placeholder goes to the beginning of the row."""
    rows = rows_of(conversations, max_length)
    if not any(images for _, _, images in rows):
        return batch_of(rows, padding_side)
    black = [[-1.0, -1.0, -1.0]]
    filled = [
        row if row[2] else ([IMAGE_ID] + row[0], [IGNORED] + row[1], [black]) for row in rows
    ]
    return batch_of(filled, padding_side)


@add("multimodal-labels-of-the-longest", "Labels begin at the longest prompt of the batch", "IMG-07", ("MSK-16",))
def labels_of_the_longest(conversations, padding_side="right", max_length=None):
    """One prompt length for the batch, that of the row with the most placeholders."""
    rows = rows_of(conversations, max_length)
    starts = [next((at for at, label in enumerate(labels) if label != IGNORED), 0) for _, labels, _ in rows]
    cut_off = [([ids, [label if at >= max(starts) else IGNORED for at, label in enumerate(labels)], images])
               for ids, labels, images in rows]
    return batch_of(cut_off, padding_side)


@add("multimodal-attention-by-vocabulary", "The attention mask is 1 on ids of the tokenizer", "IMG-08")
def attention_by_vocabulary(conversations, padding_side="right", max_length=None):
    """Ids beyond the vocabulary are taken for padding, and the placeholder was added behind it."""
    batch = multimodal.multimodal_batch(conversations, padding_side, max_length)
    mask = [
        [int(on and id < IMAGE_ID) for id, on in zip(*row)] for row in zip(batch["input_ids"], batch["attention_mask"])
    ]
    return dict(batch, attention_mask=mask)


@add("multimodal-padding-is-trained", "Labels of a batch with images are padded with a stop token", "MSK-06")
def padding_is_trained(conversations, padding_side="right", max_length=None):
    """tokenizer.pad fills labels with its pad token, which is the stop token here."""
    batch = multimodal.multimodal_batch(conversations, padding_side, max_length)
    labels = [
        [label if on else STOP_ID for label, on in zip(*row)] for row in zip(batch["labels"], batch["attention_mask"])
    ]
    return dict(batch, labels=labels)
