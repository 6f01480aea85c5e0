"""Of vLLM's sampling parameters what the stand-ins read."""

from dataclasses import dataclass
from enum import Enum


class RequestOutputKind(Enum):
    CUMULATIVE = 0
    DELTA = 1
    FINAL_ONLY = 2


@dataclass
class SamplingParams:
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 16
    stop: object = None
    seed: int = 0
    output_kind: RequestOutputKind = RequestOutputKind.CUMULATIVE
