"""The report in one look: the paper's five models on its four problems, and one paragraph."""

from collections.abc import Iterable, Iterator

from gola.report.page import Block, Table, Text
from paper.cells import Cell, cell_at, places_of
from paper.contenders import OURS, Contender
from paper.protocol import TITLES
from paper.published import TABLE_1, TABLE_2
from paper.report.sheets import MISSING, Number, number_of, problem_titles, usual
from paper.store import Store

_GOLA = "gola"
_CAPTION = (
    "The twenty numbers of the paper's Table 1, from {few} training samples, and the eight of Table 2, from {many}:"
    " ours, [the paper's], and ours divided by the paper's, bold where ours is at most the paper's; “–” has not run"
    " yet. Relative L2 error on {test} test samples. GCN, DeepONet and"
    " FNO see the full grid; GKN and GOLA see {points} points, drawn again in every epoch; GOLA has its default preset."
)


def summary(store: Store) -> list[Block]:
    """Return the table of twenty numbers and a paragraph on what they say."""
    protocol = store.protocol
    models = _models(store)
    rows = [
        [f"{contender.title}, {protocol.few}", *_texts(_at_few(store, contender, name) for name in protocol.problems)]
        for contender in models
    ] + [
        [f"{contender.title}, {protocol.many}", *_texts(_at_many(store, contender, name) for name in protocol.problems)]
        for contender in models
        if "table2" in contender.targets
    ]
    caption = _CAPTION.format(test=protocol.num_test, few=protocol.few, many=protocol.many, points=protocol.num_points)
    return [
        Table(heading=["model, samples", *problem_titles(store)], rows=rows, caption=caption),
        Text(_paragraph(store)),
    ]


def _models(store: Store) -> list[Contender]:
    """Return the operators that stand for the paper's models."""
    return [contender for contender in store.protocol.of_target("table1") if contender.is_papers]


def _texts(numbers: Iterable[Number]) -> Iterator[str]:
    for number in numbers:
        if number.mean is None:
            yield f"{MISSING} {number.published_text}"
        else:
            yield f"{number.mean:.4f} {number.published_text} {_ratio(number)}"


def _ratio(number: Number) -> str:
    reached = number.mean is not None and number.published is not None and number.mean <= number.published
    return f"**{number.ratio_text}**" if reached else number.ratio_text


def _at_few(store: Store, contender: Contender, problem: str) -> Number:
    return number_of(store, _few(store, contender, problem), TABLE_1.get(problem, {}).get(contender.operator))


def _at_many(store: Store, contender: Contender, problem: str) -> Number:
    cell = usual(problem, contender.operator, store.protocol)
    return number_of(store, cell, TABLE_2.get(problem, {}).get(contender.operator))


def _few(store: Store, contender: Contender, problem: str) -> Cell:
    protocol = store.protocol
    return cell_at(problem, contender, protocol.few, places_of(contender, protocol)[0], protocol)


def _paragraph(store: Store) -> str:
    protocol = store.protocol
    contenders = {contender.operator: contender for contender in _models(store)}
    if _GOLA not in contenders:
        return "There is no result of GOLA."
    few = [_at_few(store, contenders[_GOLA], problem) for problem in protocol.problems]
    many = [_at_many(store, contenders[_GOLA], problem) for problem in protocol.problems]
    parts = [f"GOLA reaches the paper's error {_reached(few)} from {protocol.few} samples and {_reached(many)} from"]
    parts.append(f"{protocol.many}.")
    for name in ("fno", "gkn"):
        if name in contenders:
            rivals = [_at_few(store, contenders[name], problem) for problem in protocol.problems]
            parts.append(f"From {protocol.few} samples it is {_below(few, rivals, contenders[name].title, store)}.")
    return " ".join([*parts, *_closed_forms(store)])


def _closed_forms(store: Store) -> list[str]:
    """Say where an operator in closed form is below every network, of ours and of the paper's."""
    protocol = store.protocol
    closed = [contender for contender in protocol.of_target("table1") if _is_closed(contender)]
    names = []
    for problem in protocol.problems:
        numbers = [_at_few(store, contender, problem) for contender in _models(store)]
        networks = [error for number in numbers for error in (number.mean, number.published) if error is not None]
        errors = [_at_few(store, contender, problem).mean for contender in closed]
        known = [error for error in errors if error is not None]
        names += [TITLES[problem]] if known and networks and min(known) < min(networks) else []
    if not names:
        return []
    forms = ", ".join(f"`{contender.operator}`" for contender in closed)
    return [f"A closed form ({forms}) is below all networks, ours and the paper's, on {', '.join(names)}."]


def _is_closed(contender: Contender) -> bool:
    return contender.published is None and contender.operator != OURS


def _reached(numbers: list[Number]) -> str:
    known = [(number.mean, number.published) for number in numbers if number.mean is not None and number.published]
    met = sum(mean <= published for mean, published in known)
    missing = f" ({len(numbers) - len(known)} missing)" if len(known) < len(numbers) else ""
    return f"on {met} of {len(known)} problems{missing}"


def _below(ours: list[Number], theirs: list[Number], title: str, store: Store) -> str:
    """Say on which problems we are below another operator."""
    known = [
        (TITLES[problem], own.mean < other.mean)
        for problem, own, other in zip(store.protocol.problems, ours, theirs, strict=True)
        if own.mean is not None and other.mean is not None
    ]
    names = [problem for problem, is_below in known if is_below]
    if not known:
        return f"not compared with our {title} yet"
    missing = f" ({len(ours) - len(known)} missing)" if len(known) < len(ours) else ""
    return f"below our {title} on {', '.join(names) or f'none of {len(known)} problems'}{missing}"
