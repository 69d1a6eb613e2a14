"""Which of several equal elements a selection takes: PyTorch's algorithms step by step, so that ties give the gradient to the same one.

`kthvalue` selects by partition around the median of three; `topk` by std::nth_element and std::sort, or std::partial_sort, as
libstdc++ writes them. All work on a list of places, compared by `less`.
"""

from __future__ import annotations

from collections.abc import Callable

Places = list[int]
Less = Callable[[int, int], bool]

FEW = 16
"""Up to so many elements std::sort sorts by insertion alone."""


def kth(count: int, k: int, less: Less) -> int:
    """The place of the k-th smallest element (k from 0), as PyTorch's quick select finds it."""
    at = list(range(count))

    def order(i: int, j: int) -> None:
        if less(at[j], at[i]):
            at[i], at[j] = at[j], at[i]

    left, right = 0, count - 1
    while right > left + 1:
        middle = (left + right) // 2
        at[middle], at[left + 1] = at[left + 1], at[middle]
        order(left + 1, right)
        order(left, right)
        order(left + 1, left)
        i, j, pivot = left + 1, right, at[left]
        while True:
            i, j = i + 1, j - 1
            while less(at[i], pivot):
                i += 1
            while less(pivot, at[j]):
                j -= 1
            if j < i:
                break
            at[i], at[j] = at[j], at[i]
        at[left], at[j] = at[j], at[left]
        if j <= k:
            left = i
        if j >= k:
            right = j - 1
    if right == left + 1:
        order(left, right)
    return at[k]


def first(count: int, k: int, less: Less) -> Places:
    """The places of the k smallest elements in order, as PyTorch's topk finds them."""
    at = list(range(count))
    if k * 64 <= count:
        heap_select(at, 0, k, count, less)
        sort_heap(at, 0, k, less)
    elif k:
        nth_element(at, k - 1, less)
        sort(at, k - 1, less)
    return at[:k]


def depth_of(count: int) -> int:
    """How many partitions may be made before the heap takes over."""
    return 2 * (max(count, 1).bit_length() - 1)


def nth_element(at: Places, nth: int, less: Less) -> None:
    begin, end, depth = 0, len(at), depth_of(len(at))
    while end - begin > 3:
        if depth == 0:
            heap_select(at, begin, nth + 1, end, less)
            at[begin], at[nth] = at[nth], at[begin]
            return
        depth -= 1
        cut = partition(at, begin, end, less)
        begin, end = (cut, end) if cut <= nth else (begin, cut)
    insertion_sort(at, begin, end, less)


def sort(at: Places, end: int, less: Less) -> None:
    partly_sort(at, 0, end, depth_of(end), less)
    insertion_sort(at, 0, end, less)


def partly_sort(at: Places, begin: int, end: int, depth: int, less: Less) -> None:
    """Quicksort that leaves short parts alone."""
    while end - begin > FEW:
        if depth == 0:
            heap_select(at, begin, end, end, less)
            sort_heap(at, begin, end, less)
            return
        depth -= 1
        cut = partition(at, begin, end, less)
        partly_sort(at, cut, end, depth, less)
        end = cut


def partition(at: Places, begin: int, end: int, less: Less) -> int:
    """Around the median of three, which it moves to the front; where the second part begins."""
    one, two, three = begin + 1, (begin + end) // 2, end - 1
    if not less(at[one], at[two]):
        one, two = two, one
    chosen = two if less(at[two], at[three]) else three if less(at[one], at[three]) else one
    at[begin], at[chosen] = at[chosen], at[begin]
    i, j = begin + 1, end
    while True:
        while less(at[i], at[begin]):
            i += 1
        j -= 1
        while less(at[begin], at[j]):
            j -= 1
        if i >= j:
            return i
        at[i], at[j] = at[j], at[i]
        i += 1


def insertion_sort(at: Places, begin: int, end: int, less: Less) -> None:
    for k in range(begin + 1, end):
        value, j = at[k], k
        while j > begin and less(value, at[j - 1]):
            at[j] = at[j - 1]
            j -= 1
        at[j] = value


def heap_select(at: Places, begin: int, middle: int, end: int, less: Less) -> None:
    """The smallest elements in front, as a heap with the largest of them first."""
    for parent in reversed(range((middle - begin) // 2)):
        sift(at, begin, parent, middle - begin, at[begin + parent], less)
    for k in range(middle, end):
        if less(at[k], at[begin]):
            value, at[k] = at[k], at[begin]
            sift(at, begin, 0, middle - begin, value, less)


def sort_heap(at: Places, begin: int, end: int, less: Less) -> None:
    for last in range(end - 1, begin, -1):
        value, at[last] = at[last], at[begin]
        sift(at, begin, 0, last - begin, value, less)


def sift(at: Places, begin: int, hole: int, count: int, value: int, less: Less) -> None:
    """Put a value into a hole of a heap: the hole sinks to the bottom, the value rises from there."""
    top, child = hole, 2 * hole + 2
    while child <= count:
        if child == count or less(at[begin + child], at[begin + child - 1]):
            child -= 1
        at[begin + hole] = at[begin + child]
        hole, child = child, 2 * child + 2
    while hole > top and less(at[begin + (hole - 1) // 2], value):
        at[begin + hole] = at[begin + (hole - 1) // 2]
        hole = (hole - 1) // 2
    at[begin + hole] = value
