"""The elements of small XML files, read without trusting them."""

from pathlib import Path
from typing import Any
from xml.parsers import expat

Element = tuple[str, dict[str, str]]
"""The name of an element, and its attributes."""


def xml_elements(path: Path) -> list[Element]:
    """Return all elements of a file in their order, without texts.

    Raises:
        ValueError: If it is not well-formed XML, or declares entities, by which a small file can grow without limit.
    """
    found: list[Element] = []

    def refuse(*_declaration: Any) -> None:
        raise ValueError("it declares entities, which are not read")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda name, attributes: found.append((name, attributes))
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except (OSError, expat.ExpatError, ValueError) as error:
        raise ValueError(f"{path} is not a plain XML file ({error}).") from error
    return found
