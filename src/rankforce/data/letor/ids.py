"""Ids of documents and queries in the text of a LETOR file."""

from __future__ import annotations

from rankforce.data.letor import offences
from rankforce.data.letor.words import document_id, word_at
from rankforce.files.limits import ID_REMEDY, longest_id
from rankforce.files.streams import Round
from rankforce.kernels import letor as kernels

MOST_QUERY_BYTES = 256


class BadId(Exception):
    """What is wrong with an id, at which place of the round, and what to do about it."""

    def __init__(self, place: int, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.place = place
        self.remedy = remedy


def document_ids(part: Round, places: list[int]) -> list[str]:
    """The document ids in the comments at these places; "" where there is none."""
    names = [document_id(part.text, place) for place in places]
    longest = longest_id()
    for place, name in zip(places, names, strict=True):
        if len(name) > longest:
            problem = f"the document id has {len(name):,} characters"
            raise BadId(place, problem, ID_REMEDY[0].upper() + ID_REMEDY[1:])
        if "\0" in name:
            raise BadId(place, "the document id holds a NUL character", "Remove it.")
    return names


def query_ids(part: Round, places: list[int], numbers: list[int]) -> list[str]:
    """The query ids as text: the words at these places, or numbers where the kernels have read one."""
    result = []
    known: dict[bytes, str] = {}
    for place, number in zip(places, numbers, strict=True):
        if place == kernels.NUMBER:
            result.append(str(number))
            continue
        word = word_at(part.text, place)
        if word not in known:
            known[word] = _query_id(word, place)
        result.append(known[word])
    return result


def _query_id(word: bytes, place: int) -> str:
    if not word:
        raise BadId(place - len("qid:"), "the query id after qid: is empty", offences.LINE)
    if len(word) > MOST_QUERY_BYTES:
        problem = f"the query id has more than {MOST_QUERY_BYTES} bytes"
        raise BadId(place, problem, "Number the queries, or check that the line is whole.")
    try:
        text = word.decode()
    except UnicodeDecodeError:
        raise BadId(place, "the query id is not UTF-8 text", "Convert the file to UTF-8.") from None
    if any(sign.isspace() for sign in text):  # a no-break space looks like the end of the word and is none
        remedy = "Words are separated by blanks or tabs."
        raise BadId(place, "the query id holds a white space of another kind", remedy)
    if any(byte < 32 or byte == 127 for byte in word):
        raise BadId(place, "the query id holds a control character", "Query ids are visible characters.")
    return text
