"""The spectral operator and the exact projections that it is built on."""

from gola.operators.spectral.basis import DomainBasis
from gola.operators.spectral.projection import spectrum_of, with_spectra
from gola.operators.spectral.spectral import Spectral, SpectralConfig

__all__ = ["DomainBasis", "Spectral", "SpectralConfig", "spectrum_of", "with_spectra"]
