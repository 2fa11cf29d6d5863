"""Answers: engines that decide what is asked of a model, all behind the one interface of `engine`."""
