"""Rounds in which several processes grow one tree leaf by leaf: what is split, and when it counts.

An exchange between processes takes as long as thousands of documents. So leaves are split *ahead* of their turn: in
each round those that will probably be split later are split together with the one whose turn it is, and all their
histograms are exchanged at once. Nothing is lost by it: the best split of a leaf depends on no other leaf. What was
split ahead is a **node** with two children, which becomes a split of the tree when its gain is the largest of all
leaves, as it would be alone; whatever never has its turn is forgotten.

Everything here is decided by all processes alike, from numbers that all of them have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.growth_state import COMMON_PLACES
from rankforce.kernels.trees.leaf_table import LEAF_COLUMNS, NO_SLOT, SLOT

# Further columns of a table of nodes: its children are FIRST_CHILD (left) and the next; its best split is at BIN, sends
# MISSING values to the left, was VERIFIED by counting; so many documents have no value (N_MISSING); whether it failed
# for want of documents on a side, and is to be COUNTED; whether nobody looked for splits of its children (UNSEEN);
# whether it is in a job of this round (BUSY).
FIRST_CHILD, BIN, MISSING, VERIFIED, N_MISSING, COUNTED, UNSEEN, BUSY = range(LEAF_COLUMNS, LEAF_COLUMNS + 8)
NODE_COLUMNS = LEAF_COLUMNS + 8
NO_CHILD = -1

# Places in the plan of a round, after those that building needs.
# ROW_BYTES: about how much a member sends of documents that travel.
N_JOBS, N_BUILT, N_TRAVELLING, ROW_BYTES, N_RECORDS, N_FREE, FINISHED = range(COMMON_PLACES, COMMON_PLACES + 7)
ROUND_PLACES = COMMON_PLACES + 7

# A job of a round: what is done with a NODE. SPLIT: its documents are dealt to the children from CHILD on; of the one
# on side GIVEN (0 left, 1 right, BOTH) a histogram is built, in slot MADE; the other's is or will be in REST. RECOUNT:
# documents are counted, in slot MADE, in words FROM to TO. LOOK: it was split without histograms of the children, which
# are wanted now. N_ENTRIES histograms from ENTRY on are the job's.
NODE, TASK, CHILD, GIVEN, MADE, REST, FROM, TO, ENTRY, N_ENTRIES = range(10)
JOB_COLUMNS = 10
NUMBERS = 2  # of a job, beside histograms: documents that went left, and those without a value
ROOT, SPLIT, LOOK, RECOUNT, FAILED = range(5)  # values of TASK
LEFT_SIDE, RIGHT_SIDE, BOTH, NEITHER = range(4)  # values of GIVEN

# A histogram of a round: the slot it is in, its bytes, its node if entries are added up, else NO_NODE; and where its
# own bytes are in the message: that of value v of byte b at AT_PLACE + offsets[b] + v. One that TRAVELS is not in it:
# the rows of its documents are sent instead (``travelling.py``), and owners build it.
BUILT_SLOT, FIRST_BYTE, LAST_BYTE, BUILT_NODE, AT_PLACE, TRAVELS = range(6)
BUILT_COLUMNS = 6
NO_NODE = -1
FREE, TAKEN = -1, -2  # owners of slots that are no nodes

# The best split of an owner on its columns: places in a record. AT_SET begins four words where there are categories.
WORTH, COLUMN, AT_BIN, FLAGS, LEFT, AT_SET = range(6)
TO_LEFT, WAS_VERIFIED = 1, 2  # bits of FLAGS


class RoundTable(NamedTuple):
    """What members of a training know of a tree beside its ``TreeTable``. ``nodes`` is a TreeTable, too, of nodes.

    ``node_of`` int64 (leaves,); ``jobs`` int64 (…, JOB_COLUMNS); ``built`` int64 (…, BUILT_COLUMNS); ``owners`` int64
    (histograms,), the node that has each slot; ``pairs`` int64, of nodes that are free the first of each pair.
    ``heap_gain`` float64 and ``heap_node`` int64: work space.

    ``offsets`` int64 (bytes + 1,): how many values the bytes before take, which are sent of each histogram. ``edges``
    int64 (members + 1,): which bytes each member owns. ``message`` int64, with a part for each member from ``parts``
    int64 (members + 1,) on: at most ``most_sums`` histograms over its bytes, two ``numbers`` int64 (…, 2) for each job,
    and if rows travel, how many each member sends. ``scanned`` int64: the nodes that were searched, and ``records``
    int64, for each member and each of these nodes ``record`` numbers about the best split that it has found;
    ``worths`` are the same bits as float64. ``rank``: this member's.

    ``adding``: of two members each sends the other its part and adds what comes to its own histograms, of which the own
    part of the message has nothing then, but what the other has found. Of more, everybody's sums are in it.

    ``spans`` int64 (members, 2): the words of a row that hold each member's bytes; ``toll``: what rows cost on their
    way beside their size, in bytes per leaf and other member; ``most_row_bytes``: of a round no more leaves are begun.
    """

    nodes: Any
    node_of: Any
    jobs: Any
    built: Any
    owners: Any
    pairs: Any
    heap_gain: Any
    heap_node: Any
    offsets: Any
    edges: Any
    message: Any
    parts: Any
    numbers: Any
    scanned: Any
    records: Any
    worths: Any
    record: Any
    rank: Any
    adding: Any
    most_sums: Any
    spans: Any
    toll: Any
    most_row_bytes: Any


@uncounted_subroutine
def push(gain: Any, node: Any, size: Any, heap_gain: Any, heap_node: Any) -> Any:
    """Add to a heap of ``size`` entries, the largest gain first; return the new size."""
    place = size
    while place > 0 and heap_gain[(place - 1) // 2] < gain:
        above = (place - 1) // 2
        heap_gain[place] = heap_gain[above]
        heap_node[place] = heap_node[above]
        place = above
    heap_gain[place] = gain
    heap_node[place] = node
    return size + 1


@uncounted_subroutine
def pop(size: Any, heap_gain: Any, heap_node: Any) -> Any:
    """Take the first of a heap away; return the new size."""
    last = size - 1
    gain, node = heap_gain[last], heap_node[last]
    place = 0
    while 2 * place + 1 < last:
        below = 2 * place + 1
        if below + 1 < last and heap_gain[below + 1] > heap_gain[below]:
            below += 1
        if heap_gain[below] <= gain:
            break
        heap_gain[place] = heap_gain[below]
        heap_node[place] = heap_node[below]
        place = below
    heap_gain[place] = gain
    heap_node[place] = node
    return last


@uncounted_subroutine
def free_slot(slot: Any, owners: Any) -> Any:
    if slot != NO_SLOT:
        owners[slot] = FREE


@uncounted_subroutine
def take_slot(rounds: Any) -> Any:
    """A slot that is free; else that of the node which gains least: it will want it last, if at all."""
    owners, nodes, gain = rounds.owners, rounds.nodes.leaves, rounds.nodes.leaf_gain
    least = NO_SLOT
    for slot in range(len(owners)):
        owner = owners[slot]
        if owner == FREE:
            least = slot
            break
        if owner == TAKEN or nodes[owner, BUSY] == 1:
            continue
        if least == NO_SLOT or gain[owner] < gain[owners[least]]:
            least = slot
    if owners[least] >= 0:
        nodes[owners[least], SLOT] = NO_SLOT
    owners[least] = TAKEN
    return least
