"""Example: a Llama continues texts, all at once.

    generate.py MODEL [--prompt TEXT]... [--tokens N] [--dtype bfp8]

MODEL is a folder as models are published: config.json, *.safetensors, and tokenizer.json unless tokens are bytes. The card decides each
token and reads it in the next step; the host reads the text at the end. --json FILE writes the tokens of all texts, prompts first.
"""

import argparse
import collections
import json
import pathlib
import sys
import time

import ttfd.tensor as tt
from model import Llama
from model_files import Config
from tokenizer import tokenizer_of
from ttfd.safetensors import SafetensorsFile

STEPS = 16  # that are enqueued together

def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, help="the folder of the model")
    parser.add_argument("--prompt", action="append", help="text to continue; again for more texts, of which 32 take the time of one")
    parser.add_argument("--tokens", type=int, default=64, help="to write for each prompt")
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "bfp8"], help="of the weights on the card")
    parser.add_argument("--rope", default="pairs", choices=["pairs", "halves"], help="convention of the rotary embedding")
    parser.add_argument("--json", type=pathlib.Path, help="file for the tokens")
    arguments = parser.parse_args()
    try:
        generate(arguments, Config.read(arguments.model / "config.json"))
    except (ValueError, OSError) as wrong:
        sys.exit(f"generate.py: {wrong}")


def generate(arguments: argparse.Namespace, config: Config) -> None:
    """ValueError, OSError: arguments or files are wrong."""
    tokenizer = tokenizer_of(arguments.model, config.vocab_size)
    prompts = [tokenizer.encode(text) for text in arguments.prompt or ["The "]]
    files = sorted(arguments.model.glob("*.safetensors"))
    if not files:
        raise ValueError(f"{arguments.model} has no *.safetensors")
    if not all(prompts):
        raise ValueError("a prompt is empty")
    if arguments.tokens < 1:
        raise ValueError(f"--tokens is {arguments.tokens}; it must be at least 1")
    if arguments.json and not arguments.json.parent.is_dir():
        raise ValueError(f"there is no folder {arguments.json.parent}")
    steps = max(map(len, prompts)) - 1 + arguments.tokens
    with tt.open(client_name="llama", call_timeout=3600) as card:
        began = time.monotonic()
        llama = Llama(card, config, collections.ChainMap(*map(SafetensorsFile, files)), users=len(prompts), context=steps + 1,
                      dtype=arguments.dtype, convention=arguments.rope)
        llama.start(prompts)
        with card.record() as step:
            llama.step()
        card.finish()
        print(f"{time.monotonic() - began:.1f} s to load; a recording of {step.launches} launches is a token of {len(prompts)} texts", flush=True)
        began = time.monotonic()
        for done in range(0, steps, STEPS):
            step.replay(times=min(STEPS, steps - done))
            card.finish()
            if sys.stderr.isatty():
                print(f"\r{min(done + STEPS, steps)} of {steps} tokens", end="", file=sys.stderr)
        taken = time.monotonic() - began
        tokens = llama.tokens()
    texts = [[int(token) for token in tokens[user, :len(prompt) + arguments.tokens]] for user, prompt in enumerate(prompts)]
    if arguments.json:
        arguments.json.write_text(json.dumps({"prompts": prompts, "texts": texts}), encoding="utf-8")
    print(f"{steps} steps in {taken:.2f} s, {1000 * taken / steps:.1f} ms each: {steps * len(prompts) / taken:.0f} tokens a second, read or written")
    for prompt, text in zip(prompts, texts):
        print(f"  {tokenizer.decode(prompt)!r} {tokenizer.decode(text[len(prompt):])!r}")


if __name__ == "__main__":
    main()
