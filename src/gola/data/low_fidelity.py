"""Which input channels are cheap approximations of which targets."""

from collections.abc import Iterable, Mapping, Sequence

from gola.data.sample import Channel
from gola.registry import unknown


def parse_approximations(texts: Iterable[str]) -> dict[str, str]:
    """Read approximations as a command line gives them.

    >>> parse_approximations(["pressure=coarse pressure"])
    {'pressure': 'coarse pressure'}
    """
    found: dict[str, str] = {}
    for text in texts:
        target, _, channel = (part.strip() for part in text.partition("="))
        if not target or not channel:
            raise ValueError(
                f"An approximation is a target and the input that approximates it, like p=p_coarse; got {text!r}."
            )
        found[target] = channel
    return found


def by_component(
    approximations: Mapping[str, str], inputs: Sequence[Channel], targets: Sequence[Channel]
) -> dict[str, str]:
    """Return approximations of channels from those of vectors, whose components are channels.

    >>> channels = [Channel(name=name) for name in ("U_x", "U_y", "coarse_x", "coarse_y")]
    >>> by_component({"U": "coarse"}, channels[2:], channels[:2])
    {'U_x': 'coarse_x', 'U_y': 'coarse_y'}
    """
    known = {channel.name for channel in inputs}
    found: dict[str, str] = {}
    for target, channel in approximations.items():
        ends = [one.name[len(target) :] for one in targets if one.name.startswith(f"{target}_")]
        pairs = {target + end: channel + end for end in ends if channel + end in known}
        is_channel = any(one.name == target for one in targets)
        found |= {target: channel} if is_channel or not pairs else pairs
    return found


def checked_approximations(
    approximations: Mapping[str, str], inputs: Sequence[Channel], targets: Sequence[Channel]
) -> dict[str, str]:
    """Check that these are targets, and inputs that approximate them."""
    for what, names, channels in (
        ("target", approximations.keys(), targets),
        ("input channel", approximations.values(), inputs),
    ):
        known = [channel.name for channel in channels]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{unknown(what, name, known)} An approximation is an input channel with values at the points"
                    " of each sample."
                )
    return dict(approximations)
