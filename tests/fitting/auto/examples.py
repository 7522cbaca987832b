"""Automatic choices that take a moment."""

from dataclasses import replace

from gola.fitting.auto.auto import AutoConfig
from gola.fitting.auto.choice import choose
from gola.protocol import Session
from tests.fits import small_data, task_of

QUICK = AutoConfig(num_networks=2, num_steps=4, num_modes=3, symmetries=False, corrections=False)


def chosen(members=QUICK.members, session=None, **settings):
    samples = list(small_data(num_samples=6, num_points=60))
    config = replace(QUICK, members=members, **settings)
    return choose(config, task_of(samples, session=session or Session())), samples
