"""How a sentence becomes the words that are scored: raw, PTB through its Java program, or plain without Java."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from streamsoccer.errors import StreamSoccerError, UsageError

__all__ = [
    "JAVA_REMEDY",
    "Convention",
    "Tokeniser",
    "find_java",
    "one_line",
    "package_folder",
    "plain",
    "ptb",
    "tokenise",
]

JAVA_REMEDY = "install a Java runtime (Debian: default-jre-headless), or set JAVA_HOME"


class Convention(StrEnum):
    """How texts are prepared and scores combined; scores under different conventions must not be compared."""

    RAW = "raw"
    PLAIN = "plain"
    PTB = "ptb"
    HALF = "half"

    @property
    def tokeniser(self) -> Tokeniser:
        return {Convention.RAW: Tokeniser.RAW, Convention.PLAIN: Tokeniser.PLAIN}.get(self, Tokeniser.PTB)

    @property
    def meaning(self) -> str:
        return {
            Convention.RAW: "strings as they are, split at spaces, one corpus (MatchTime, UniSoccer)",
            Convention.PLAIN: "lower-cased words near to PTB's, made without Java, one corpus",
            Convention.PTB: "PTB words, lower-cased, punctuation dropped, one corpus (COCO caption evaluation)",
            Convention.HALF: "PTB words; each half of each match is a corpus of its own, then the mean over halves "
            "(SoccerNet-Caption, for rows already paired)",
        }[self]


class Tokeniser(StrEnum):
    """What splits the text; the value is what a report prints."""

    RAW = "none: the string as it is, split at spaces"
    PLAIN = "plain: streamsoccer's approximation of PTB, lower-cased, punctuation dropped"
    PTB = "PTBTokenizer of Stanford CoreNLP 3.4.1 in pycocoevalcap, lower-cased, punctuation dropped"


_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_DROPPED = frozenset(["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", *".?!,:;-", "--", "...", *'"“”‘’–—…'])
# First match wins, so the order is the rule: clitics, runs of marks, numbers, initials, words, anything else.
_WORD = re.compile(
    r"""
    '(?:s|re|ve|ll|d|m)(?![^\W_])                   # a possessive after a bracket, as in '[PLAYER]'s
  | \.{2,} | --+ | [!?]{2,} | \$?\#?\+?\d+(?:[.,:/]\d+)+ | \+\d+
  | (?:[^\W\d_]\.){2,}                              # u.s., e.g.
  | (?:(?<=\s)|(?<=^))[^\W\d_]\.(?=\s|$)            # an initial, as in 'D. Zagreb'
  | \b(?:st|dr|mr|mrs|ms|jr|sr|vs)\.(?=\s)
  | [^\W_]+(?:[-&'.@/_][^\W_]+)*
  | \S
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(.+)(n't|'(?:s|re|ve|ll|d|m))")
_LINE_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain(text: str) -> str:
    """Split into lower-case words as PTB would where that takes no lexicon, and drop the same punctuation."""
    words: list[str] = []
    for word in _WORD.findall(text.lower().replace("’", "'")):
        if word == "cannot":
            words += ["can", "not"]
        elif (parts := _CLITIC.fullmatch(word)) is not None:
            words += parts.groups()
        elif word not in _DROPPED and not re.fullmatch(r"--+|\.\.+", word):
            words.append(_BRACKETS.get(word, word))
    return " ".join(words)


def find_java() -> str | None:
    """The Java program that scorers would start, or None."""
    if home := os.environ.get("JAVA_HOME"):
        program = Path(home) / "bin" / "java"
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    return shutil.which("java")


def one_line(text: str) -> str:
    """The text without line breaks of any kind: the Java programs read one text a line."""
    return _LINE_BREAKS.sub(" ", text)


def package_folder(module: str) -> Path:
    """Where a module of pycocoevalcap keeps its jar; says how to install it where it is absent."""
    spec = find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise UsageError("pycocoevalcap is not installed", remedy="pip install 'streamsoccer[score]'")
    return Path(next(iter(spec.submodule_search_locations))) / module


def ptb(texts: Sequence[str]) -> list[str]:
    """Run the package's PTB jar with the package's options; equal to its PTBTokenizer class, text by text.

    The class writes its input into the installed package, prints to the terminal, follows the locale, and loses count
    where a text holds a line break other than a newline; so the jar is started here.
    """
    java = find_java()
    if java is None:
        raise UsageError(
            "this convention needs PTB words, and there is no Java to make them",
            remedy=f"{JAVA_REMEDY}; or --convention raw or plain, which need none",
        )
    folder = package_folder("tokenizer")
    from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS, STANFORD_CORENLP_3_4_1_JAR

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt", newline="\n") as file:
        # The mark after the last text keeps the count right where trailing texts are empty.
        file.write("\n".join([*map(one_line, texts), "end"]))
        file.flush()
        jar = str(folder / STANFORD_CORENLP_3_4_1_JAR)
        command = [java, "-Dfile.encoding=UTF-8", "-cp", jar, "edu.stanford.nlp.process.PTBTokenizer"]
        options = ["-preserveLines", "-lowerCase", "-encoding", "UTF-8", file.name]
        try:
            done = subprocess.run([*command, *options], capture_output=True, check=False)
        except OSError as error:
            raise StreamSoccerError(f"Java cannot be started: {error}", where=java, remedy=JAVA_REMEDY) from error
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    if done.returncode != 0 or lines[len(texts) : len(texts) + 1] != ["end"]:
        tail = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise StreamSoccerError(
            f"the PTB tokeniser failed: {tail[0]}", where=jar, remedy="see that `java -version` runs"
        )
    dropped = frozenset(PUNCTUATIONS)
    return [" ".join(word for word in line.rstrip().split(" ") if word not in dropped) for line in lines[: len(texts)]]


def tokenise(texts: Sequence[str], tokeniser: Tokeniser) -> list[str]:
    """Each text as its words joined by single spaces, or as it is for `raw`."""
    match tokeniser:
        case Tokeniser.RAW:
            return list(texts)
        case Tokeniser.PLAIN:
            return [plain(text) for text in texts]
        case Tokeniser.PTB:
            return ptb(texts)
