"""The `.ha` language: from text to a model, or to everything that is wrong with the text."""

from hacheck.model.language.diagnostics import Diagnostic, Span
from hacheck.model.language.specification import Check, Instance, Loaded, Parameter, Specification, load

__all__ = ["Check", "Diagnostic", "Instance", "Loaded", "Parameter", "Span", "Specification", "load"]
