"""A Llama writes text: 32 prompts, 64 tokens each, in a recording that the card replays without the host.

The model is client/examples/llama/tiny: 853,120 parameters, trained on the Jargon File byte by byte. NumPy gets the card's own text and
says in double precision which token it would have written at each place. Its first two logits must differ by more than 0.1 at more than
90 % of the places, and its token must be the card's at all of these. Then the card writes the first tokens again while another client
computes: they must be the same, with about half of the device's time. The last line is "demo llama: verified" if all of this is so.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import time

import numpy as np

import daemon
import llama_reference
from daemon import Daemon, Failed

SHOWS = "a Llama writes text for 32 users, each step without the host, compared with NumPy"
TARGET = "ttfd_demo_llama"
BUILT = daemon.BUILT

MODEL = daemon.EXAMPLES / "llama/tiny"
TOKENS, SHARED_TOKENS = 64, 16  # that are written for each prompt, alone and concurrently with another client
STARTED = 20  # launches after which a client has uploaded its tensors
MARGIN, MIN_SHARE = 0.1, 0.9
PROMPTS = ["The kernel ", "A hacker is", "In the early days of Unix, ", "bug:\n", "The compiler ", "A program that", "Usenet ", "This term ",
           "When a computer ", "The first ", "It is said that ", "On the other hand, ", "real programmer:\n", "A disk ", "The machine ", "Many hackers ",
           "MIT ", "C is a language ", "The network ", "A user who ", "virus:\n", "This is considered ", "See also ", "The word ", "Some people ",
           "To crash ", "An operating system ", "The source code ", "A terminal ", "core dump:\n", "Emacs is", "The Jargon File "]
TIMEOUT_S = 240


def check(texts: list[list[int]], prompts: list[list[int]]) -> None:
    """Prints how often NumPy would have written the card's token; raises Failed if that is not often enough."""
    config = json.loads((MODEL / "config.json").read_text(encoding="utf-8"))
    weights = llama_reference.read_weights(MODEL / "model.safetensors")
    clear = equal = same = places = 0
    for text, prompt in zip(texts, prompts):
        made = llama_reference.logits(np.array(text[:-1]), config, weights)[len(prompt) - 1:]
        written = np.array(text[len(prompt):])
        second, first = np.sort(made, -1)[:, -2:].T
        is_clear, is_same = first - second > MARGIN, made.argmax(-1) == written
        places, clear, same, equal = places + len(written), clear + is_clear.sum(), same + is_same.sum(), equal + (is_clear & is_same).sum()
    print(f"NumPy in double precision writes the same token at {same} of {places} places. At {clear} of them, {clear / places:.1%}, its first two "
          f"logits differ by more than {MARGIN}: {equal} of these are the same", flush=True)
    if equal != clear or clear <= MIN_SHARE * places:
        raise Failed(f"the tokens must be the same at all places with clear logits, which must be more than {MIN_SHARE:.0%}")


def generate(served: Daemon, tokens: int) -> list[str | pathlib.Path]:
    """The command that writes so many tokens for each prompt, into tokens.json."""
    return [daemon.PYTHON, daemon.EXAMPLES / "llama/generate.py", MODEL, "--tokens", str(tokens), "--json", served.scratch / "tokens.json",
            *(word for prompt in PROMPTS for word in ("--prompt", prompt))]


def written(served: Daemon) -> dict[str, list[list[int]]]:
    """The prompts and the texts that an example has written."""
    return json.loads((served.scratch / "tokens.json").read_text(encoding="utf-8"))


class Load:
    """Another client with launches of its own, as many as it can, until the context ends."""

    def __init__(self, served: Daemon) -> None:
        self.command, self.environment = [daemon.PYTHON, pathlib.Path(__file__).with_name("load.py")], served.environment
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Load:
        self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()


def device_times(served: Daemon) -> dict[str, int]:
    """Device time in nanoseconds that each session has had, by the name of its client; of those that have launched something."""
    listed = subprocess.run([served.build / BUILT["ttfdctl"], "sessions", "--json"], env=served.environment, capture_output=True, check=True, timeout=30)
    return {session["client_name"]: session["device_ns"] for session in json.loads(listed.stdout)["sessions"]
            if session["launches"] >= STARTED}


def share_with_load(served: Daemon, alone: list[list[int]], prompts: list[list[int]]) -> None:
    """Writes the first tokens again while another client computes, and prints which share of the device's time each has had."""
    seen = []
    with Load(served), subprocess.Popen(generate(served, SHARED_TOKENS), env=served.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as client:
        deadline = time.monotonic() + TIMEOUT_S
        while client.poll() is None:
            if time.monotonic() > deadline:
                client.kill()
                raise Failed(f"generate.py was not done after {TIMEOUT_S} s")
            times = device_times(served)
            if times.keys() >= {"llama", "load"}:
                seen.append(times)
            time.sleep(0.1)
    if client.returncode != 0:
        raise Failed(f"generate.py ended with {client.returncode} while another client computed:\n{served.log()}")
    if len(seen) < 2:
        raise Failed("the other client has not computed at the same time")
    texts = written(served)["texts"]
    if texts != [text[:len(prompt) + SHARED_TOKENS] for text, prompt in zip(alone, prompts)]:
        raise Failed("while another client computes the model writes other tokens")
    llama, load = (seen[-1][name] - seen[0][name] for name in ("llama", "load"))
    print(f"while a client multiplies matrices without a pause the first {SHARED_TOKENS} tokens are the same; the model has had "
          f"{llama / (llama + load):.0%} of the device's time", flush=True)
    if not 0.4 <= llama / (llama + load) <= 0.6:
        raise Failed("two clients of one user should have had about half of it each")


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    with Daemon(build, "sim") as served:
        served.start()
        served.run_example("generate.py", generate(served, TOKENS), TIMEOUT_S)
        made = written(served)
        check(**made)
        share_with_load(served, made["texts"], made["prompts"])
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
    print("demo llama: verified", flush=True)
    return 0
