"""Trains the tiny Llama of this folder on the Jargon File, byte by byte.

    apt install python3-torch libopenblas0-pthread dict-jargon
    train.py FOLDER [--steps N]

Takes 70 minutes on two idle cores.

Reads the text of the Debian package dict-jargon, which is in the public domain, and writes model.safetensors (bfloat16, tensors
named as Hugging Face names them), config.json and training.log to FOLDER. Nothing else of ttfd needs torch. The last twentieth of the
text is not trained on: the log has its loss, too, in nats a byte.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import pathlib
import re
import struct
import subprocess
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

PACKAGE, SOURCE = "dict-jargon", pathlib.Path("/usr/share/dictd/jargon.dict.dz")
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 256, "hidden_size": 128, "intermediate_size": 384,
          "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "max_position_embeddings": 256,
          "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False, "hidden_act": "silu", "torch_dtype": "bfloat16"}
HIDDEN, HEADS, KV_HEADS, HEAD = CONFIG["hidden_size"], CONFIG["num_attention_heads"], CONFIG["num_key_value_heads"], CONFIG["head_dim"]
CONTEXT, BATCH, PEAK_RATE, WARM_UP, SEED = 256, 32, 4e-3, 100, 1


def text() -> bytes:
    """The entries of the Jargon File: a line of the name, then its paragraphs, a line each, in ASCII."""
    plain = gzip.decompress(SOURCE.read_bytes()).decode("utf-8")
    plain = plain[plain.index("\n(TM)\n"):] if "\n(TM)\n" in plain else plain
    plain = plain.translate(str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "—": "-", "–": "-", "…": "...", "{": None, "}": None}))
    entries = []
    for entry in re.split(r"\n(?=\S)", plain):
        name, *lines = entry.split("\n")
        body = "\n".join(lines)
        body = re.sub(r"^ /.*?/[^\n]*\n|^ [a-z]+\.[^\n]*\n", "", body)  # how it is pronounced, what part of speech it is
        paragraphs = [re.sub(r"\s+", " ", paragraph).strip() for paragraph in re.split(r"\n\s*\n", body)]
        paragraphs = [paragraph for paragraph in paragraphs if paragraph]
        if paragraphs:
            entries.append("\n".join([name.strip() + ":", *paragraphs]) + "\n\n")
    return "".join(entries).encode("ascii", "ignore")


class RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + CONFIG["rms_norm_eps"]) * self.weight


def linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.o_proj = linear(HIDDEN, HEADS * HEAD), linear(HEADS * HEAD, HIDDEN)
        self.k_proj, self.v_proj = linear(HIDDEN, KV_HEADS * HEAD), linear(HIDDEN, KV_HEADS * HEAD)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        def heads(y: torch.Tensor) -> torch.Tensor:
            return y.view(*x.shape[:2], -1, HEAD).transpose(1, 2)

        def turned(y: torch.Tensor) -> torch.Tensor:
            low, high = y.chunk(2, -1)
            return y * cos + torch.cat((-high, low), -1) * sin
        q, k, v = turned(heads(self.q_proj(x))), turned(heads(self.k_proj(x))), heads(self.v_proj(x))
        k, v = (y.repeat_interleave(HEADS // KV_HEADS, 1) for y in (k, v))
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(HEAD) + mask, -1)
        return self.o_proj((weights @ v).transpose(1, 2).reshape(*x.shape[:2], -1))


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width = CONFIG["intermediate_size"]
        self.gate_proj, self.up_proj, self.down_proj = linear(HIDDEN, width), linear(HIDDEN, width), linear(width, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(HIDDEN), RmsNorm(HIDDEN)
        self.self_attn, self.mlp = Attention(), Mlp()

    def forward(self, x: torch.Tensor, *angles: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x), *angles)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    """The names of its tensors are those of Hugging Face."""

    def __init__(self) -> None:
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(CONFIG["vocab_size"], HIDDEN)
        self.model.layers = nn.ModuleList(Layer() for _ in range(CONFIG["num_hidden_layers"]))
        self.model.norm = RmsNorm(HIDDEN)
        self.lm_head = linear(HIDDEN, CONFIG["vocab_size"])
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                deviation = 0.02 if "embed" in name else 1 / math.sqrt(parameter.shape[1])
                nn.init.normal_(parameter, std=deviation / (math.sqrt(2 * CONFIG["num_hidden_layers"]) if "o_proj" in name or "down" in name else 1))
        angles = torch.outer(torch.arange(CONTEXT), CONFIG["rope_theta"] ** (-torch.arange(0, HEAD, 2) / HEAD)).repeat(1, 2)
        self.angles = (angles.cos(), angles.sin(), torch.full((CONTEXT, CONTEXT), -math.inf).triu(1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.model.embed_tokens(tokens)
        for layer in self.model.layers:
            x = layer(x, *self.angles)
        return self.lm_head(self.model.norm(x))


def write_safetensors(path: pathlib.Path, model: nn.Module) -> None:
    """Eight bytes of the header's length, the header, the numbers: bfloat16, little-endian."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, parameter in sorted(model.named_parameters()):
        numbers = parameter.detach().to(torch.bfloat16).view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(parameter.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)


def loss_of(model: nn.Module, windows: torch.Tensor) -> torch.Tensor:
    logits = model(windows[:, :-1])
    return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), windows[:, 1:].reshape(-1))


def windows(data: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    return torch.stack([data[start:start + CONTEXT + 1] for start in starts.tolist()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=4000)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    data = text()
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", PACKAGE], capture_output=True, text=True, check=True).stdout
    log = (arguments.folder / "training.log").open("w", encoding="utf-8", buffering=1)

    def note(line: str) -> None:
        print(line, flush=True)
        log.write(line + "\n")
    model = Llama()
    note(f"text: {len(data)} bytes of the Jargon File, Debian package {PACKAGE} {version}, public domain; sha256 {hashlib.sha256(data).hexdigest()}")
    note(f"model: {sum(parameter.numel() for parameter in model.parameters())} parameters; {arguments.steps} steps of {BATCH} x {CONTEXT} bytes; "
         f"torch {torch.__version__}, seed {SEED}")
    bytes_ = torch.from_numpy(np.frombuffer(data, np.uint8).astype(np.int64))
    seen, unseen = bytes_[:len(bytes_) * 19 // 20], bytes_[len(bytes_) * 19 // 20:]
    unseen_windows = windows(unseen, torch.arange(0, len(unseen) - CONTEXT - 1, CONTEXT))
    matrices = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    rows = [parameter for parameter in model.parameters() if parameter.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": rows, "weight_decay": 0.0}], betas=(0.9, 0.98))
    began, mean = time.monotonic(), 0.0
    for step in range(1, arguments.steps + 1):
        rate = PEAK_RATE * (step / WARM_UP if step <= WARM_UP else 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / (arguments.steps - WARM_UP))))
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = loss_of(model, windows(seen, torch.randint(len(seen) - CONTEXT - 1, (BATCH,))))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        mean += loss.item()
        if step % 100 == 0 or step == arguments.steps:
            taken = step % 100 or 100
            line = f"step {step}: loss {mean / taken:.4f}"
            mean = 0.0
            if step % 500 == 0 or step == arguments.steps:
                with torch.no_grad():
                    line += f", of the text not trained on {np.mean([loss_of(model, part).item() for part in unseen_windows.split(BATCH)]):.4f}"
                write_safetensors(arguments.folder / "model.safetensors", model)
            note(line + f" ({time.monotonic() - began:.0f} s)")
    (arguments.folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
