#!/usr/bin/python3
"""Words that the project's text is to lose, counted over the whole tree: names, comments, messages and documents alike.

usage: check_words.py [--show WORD]; --show prints every place of one word. ceilings.py holds the counts to ceilings; the
folders of CLEAN have none of the words.
"""

import re

import ceilings
import project

# The forms of a word, which are counted together and named by the first one, and what to write instead. Names are split:
# `credit_told_` and `CreditTold` are "credit told".
WORDS = {form.split("|")[0]: (form.split("|"), instead) for forms, instead in [
    ("tell|tells|telling, told|untold", "send, notify, report, advertise; suppressed"),
    ("hear|hears|heard|hearing", "receive, read"),
    ("believe|believes|believed", "assume, trust"),
    ("knows|knew, asks", "the field's verb: has, stores, requests, polls"),
    ("forget|forgets|forgot|forgotten|forgetting", "reset, discard, omit"),
    ("nobody, somebody|anybody, whoever, for people", "the subject: no client, any thread, the caller that"),
    ("beside, apart", "concurrently with, next to; on an independent worker set"),
    ("go on|goes on|going on|went on, pump|pumps|pumped", "advance, continue"),
    ("as long, such a", "while; this"),
    ("the works|its works|works of|work owner", "operations"),
    ("look again|looks again|a look", "reevaluate, schedule a check, poll, sample"),
    ("turn came|turn over|has turn, whose turn|its turn|their turn", "upload slot, time slice, quantum"),
    ("debt|debts, standing|standings", "deficit; state"),
    ("culprit|culprits, innocent|innocents, blame|blames|blamed, misfortune|misfortunes, verdict|verdicts, fate, struck, "
     "fruitless", "offending launch, collateral, attribution, recovery decision, resets without progress"),
    ("played again, put back|puts back, take back|takes back|taken back, give back|gives back|given back",
     "resubmitted, requeued, rolled back, refunded"),
    ("doom|dooms|doomed", "mark failed, fail dependents"),
    ("bury|buries|buried, exhume|exhumes, grave|graves, tombstone|tombstones, dying, unmake|unmakes",
     "defer free, reclaim, pending free, failed handle, roll back"),
    ("comeback|comebacks, goodbye|goodbyes, revive|revives|revived, what is gone, owe|owes|owed, greet|greets",
     "reconnect, shutdown, lost objects, pending ack, hello"),
    ("receipt|receipts", "acknowledgement, ack"),
    ("suspend|suspends|suspended|suspension|suspensions|unsuspend", "quarantine"),
    ("at rest|rests, stand still|stands still|stood still|standing still", "idle, drained, quiescent, halted"),
    ("boost|boosts|boosted", "nice level"),
    ("housekeeper|daemon care", "maintenance"),
    ("patience", "timeout"),
    ("in the way|in its way|what keeps it", "blocking lease"),
    ("laid out|lays out, pristine", "compiled; initial image"),
    ("writes left|before telling", "writes flushed, wait before signal"),
    ("orphan|orphans|orphaned, change hands|changes hands", "unassigned workers, ownership transfer"),
    ("stretch|stretches, piece|pieces", "extent, segment"),
    ("room", "space, capacity"),
    ("spare word|spare words", "parking slot"),
    ("careful|carefully", "instrumented (slow) path"),
    ("chance|chances", "rng"),
    ("trip|trips, spoiled, slept", "loop iteration, side effect seen, parked"),
    ("rouse|rouses|roused, attend|attends, wrote marked", "wake, service, on watched write"),
] for form in forms.split(", ")}

PHRASES = {}  # first word: [(all words, the word they count as)]
for name, (word_forms, _) in WORDS.items():
    for words in (form.split() for form in word_forms):
        PHRASES.setdefault(words[0], []).append((words, name))

CLEAN = ("daemon/api/", "daemon/card/", "daemon/core/", "daemon/session/")
# Terms of the model and of the firmware, which are not counted there.
UNDERSTOOD = {"piece", "room", "chance", "careful", "trip"}
UNDERSTOOD_IN = ("firmware/", "runtime/sim/")
SKIPPED = ("tests/lint/", "tests/fuzz/corpus/", "LICENSE")
JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
TOKENS = re.compile(r"[a-z0-9]+|\n|[^\s_/*#-]")  # words, ends of lines, and punctuation, which ends a phrase


def places(text):
    """Yields (word, line from 1) for every place of a word of WORDS."""
    tokens, lines = [], []
    line = 1
    for token in TOKENS.findall(JOINTS.sub(" ", text).lower()):
        if token == "\n":
            line += 1
        else:
            tokens.append(token)
            lines.append(line)
    for at, token in enumerate(tokens):
        for phrase, word in PHRASES.get(token, ()):
            if tokens[at:at + len(phrase)] == phrase:
                yield word, lines[at]


def texts(root):
    for path in project.files(root):
        content = None if path.startswith(SKIPPED) else project.text(path, root)
        if content:
            yield path, content


def counted(root):
    """Yields (path, word, line, the line's text) for every place that counts."""
    for path, text in texts(root):
        understood = UNDERSTOOD if path.startswith(UNDERSTOOD_IN) else ()
        lines = text.split("\n")
        for word, line in places(text):
            if word not in understood:
                yield path, word, line, lines[line - 1].strip()


def figures(root):
    """{("word", the word): how often it is there}."""
    found = {("word", word): 0 for word in WORDS}
    for _, word, _, _ in counted(root):
        found["word", word] += 1
    return found


def unclean(root):
    """A sentence for every place in a folder that has none of the words."""
    return [f"{path}:{line}: '{word}' is not used in this folder; write: {WORDS[word][1]}"
            for path, word, line, _ in counted(root) if path.startswith(CLEAN)]


def advice(key):
    return f"write: {WORDS[key[1]][1]} (check_words.py --show '{key[1]}' lists the places)"


if __name__ == "__main__":
    if shown := project.option("--show"):
        for path, word, line, text in counted(project.ROOT):
            if word == shown:
                print(f"{path}:{line}: {text}")
    else:
        project.report("words", unclean(project.ROOT) + ceilings.findings(figures(project.ROOT), advice))
