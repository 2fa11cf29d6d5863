"""Engines that decide the properties of a model, all behind the one interface of `engine`."""
